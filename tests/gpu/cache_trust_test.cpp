// SPDX-License-Identifier: Apache-2.0
// The cache against those who would plant files in it: docs/security.md says what holds.
#include <gmock/gmock.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/importer.h>
#include <raylift/gpu/cache/cache.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>

#define XXH_INLINE_ALL  // the secret that XXH3 has by default
#include <xxhash.h>

#include "cache/hash.h"
#include "scenes.h"
#include "support/paths.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

CacheOptions in(const fs::path& folder, std::vector<std::string>* warnings = nullptr) {
  CacheOptions options;
  options.folder = folder;
  if (warnings != nullptr) options.warn = [warnings](const std::string& line) { warnings->push_back(line); };
  return options;
}

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::lstat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

/// The warnings of a load by way of a cache; it has to succeed.
std::vector<std::string> warnings_of(const fs::path& folder) {
  std::vector<std::string> warnings;
  EXPECT_EQ(load(test::data("cube.dae"), LoadOptions{}, in(folder, &warnings)).unique_triangles(), 12U);
  return warnings;
}

TEST(CacheTrust, NobodyElseCanReadOrWriteWhatIsMade) {
  const TemporaryFolder root;
  const mode_t before = ::umask(0);
  (void)warnings_of(root.path() / "a" / "b");
  ::umask(before);
  EXPECT_EQ(mode_of(root.path() / "a"), 0700U);
  EXPECT_EQ(mode_of(root.path() / "a" / "b"), 0700U);
  const auto files = cache_contents(root.path() / "a" / "b").files;
  ASSERT_THAT(files, SizeIs(1));
  EXPECT_EQ(mode_of(files[0]), 0600U);
}

TEST(CacheTrust, AFolderThatOthersCanWriteToIsNotUsed) {
  const TemporaryFolder root;
  const fs::path folder = root.path() / "cache";
  (void)warnings_of(folder);
  const auto files = cache_contents(folder).files;
  for (const mode_t mode : {0770U, 0707U, 01777U}) {
    ASSERT_EQ(::chmod(folder.c_str(), mode), 0);
    EXPECT_THAT(warnings_of(folder), ElementsAre(AllOf(HasSubstr("others can write to the cache's folder"),
                                                       HasSubstr(folder.string()), HasSubstr("chmod"))));
    EXPECT_THROW((void)CacheFile(files[0]), Error);
    try {
      (void)make_cache(test::data("open_box.dae"), {}, {}, in(folder));
      ADD_FAILURE() << "was made";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      EXPECT_EQ(error.file(), folder.string());
    }
    EXPECT_EQ(cache_contents(folder).files, files);
  }
  ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
  EXPECT_THAT(warnings_of(folder), IsEmpty());
}

TEST(CacheTrust, AFileThatOthersCanWriteToIsMadeAgain) {
  const TemporaryFolder root;
  (void)warnings_of(root.path());
  const auto files = cache_contents(root.path()).files;
  ASSERT_THAT(files, SizeIs(1));
  ASSERT_EQ(::chmod(files[0].c_str(), 0620), 0);
  EXPECT_THAT(warnings_of(root.path()), ElementsAre(HasSubstr("others can write to the cache file")));
  EXPECT_EQ(mode_of(files[0]), 0600U);
  EXPECT_THAT(warnings_of(root.path()), IsEmpty());
}

TEST(CacheTrust, WhatBelongsToSomebodyElseIsNotUsed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const TemporaryFolder root;
  (void)warnings_of(root.path());
  const auto files = cache_contents(root.path()).files;
  ASSERT_THAT(files, SizeIs(1));
  ASSERT_EQ(::chown(files[0].c_str(), 4711, 0), 0);
  EXPECT_THAT(warnings_of(root.path()),
              ElementsAre(AllOf(HasSubstr("the cache file belongs to another user"), HasSubstr("4711"))));
  EXPECT_THAT(warnings_of(root.path()), IsEmpty());
  ASSERT_EQ(::chown(root.path().c_str(), 4711, 0), 0);
  EXPECT_THAT(warnings_of(root.path()), ElementsAre(HasSubstr("the cache's folder belongs to another user")));
}

TEST(CacheTrust, WhatBelongsToRootIsUsed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make root's files";
  const TemporaryFolder root;
  (void)warnings_of(root.path());
  const fs::path file = cache_contents(root.path()).files.at(0);
  ASSERT_EQ(::chmod(root.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  ASSERT_EQ(::seteuid(65534), 0);
  EXPECT_NO_THROW(CacheFile(file).verify());
  ASSERT_EQ(::seteuid(0), 0);
}

TEST(CacheTrust, ALinkIsNotFollowed) {
  const TemporaryFolder root;
  (void)warnings_of(root.path() / "a");
  const fs::path file = cache_contents(root.path() / "a").files.at(0);
  fs::create_directory(root.path() / "b");
  fs::permissions(root.path() / "b", fs::perms::owner_all);
  const fs::path link = root.path() / "b" / file.filename();
  fs::create_symlink(file, link);
  EXPECT_THROW((void)CacheFile(link), Error);
  EXPECT_THAT(cache_contents(root.path() / "b").files, IsEmpty());
  EXPECT_THAT(warnings_of(root.path() / "b"), ElementsAre(HasSubstr("link")));
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(link)));  // made again in its place
}

TEST(CacheTrust, PipesAndFoldersAreLeftAloneAndNotWaitedFor) {
  const TemporaryFolder root;
  (void)warnings_of(root.path());
  const fs::path file = cache_contents(root.path()).files.at(0);
  const std::string name = file.filename().string();
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((root.path() / ('.' + name + ".1-00000001.tmp")).c_str(), 0600), 0);
  fs::create_directory(root.path() / ('.' + name + ".1-00000002.tmp"));
  std::ofstream(root.path() / ('.' + name + ".1-00000003.tmp")) << "left over";
  EXPECT_THROW((void)CacheFile(file), Error);
  EXPECT_THROW((void)cache_key(file, {}, {}), Error);
  const CacheCleared cleared = clear_cache(root.path());
  EXPECT_EQ(cleared.files, 1U);
  EXPECT_EQ(cleared.bytes, 9U);
  EXPECT_EQ(std::distance(fs::directory_iterator(root.path()), fs::directory_iterator()), 3);
  EXPECT_THAT(warnings_of(root.path()), SizeIs(1));  // the pipe is no cache file; one takes its place
  EXPECT_THAT(warnings_of(root.path()), IsEmpty());
}

// ---- keys -----------------------------------------------------------------------------------------------------------

TEST(CacheKeys, AreSha256OfTheSlicesHashes) {
  const TemporaryFolder root;
  // sha256sum of 'abc', and of the 32 bytes of that.
  EXPECT_EQ(detail::sha256("abc", 3).hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(cache_key(root.write("a.stl", "abc"), {}, {}).source.hex(),
            "4f8b42c22dd3729b519ba6f68d2da7cc5b2d606d05daed5ad5128cc03e6c6358");
}

/// Two texts that XXH3 has the same hash for, by its construction: a lane whose low half equals the secret's counts
/// only by its sum with other such lanes.
std::array<std::string, 2> with_equal_xxh3() {
  std::array<std::string, 2> texts{std::string(600, 'x'), std::string(600, 'x')};
  for (int text = 0; text != 2; ++text)
    for (std::size_t stripe = 0; stripe != 2; ++stripe) {
      std::memcpy(texts[text].data() + 64 * stripe, XXH3_kSecret + 8 * stripe, 4);
      const std::uint32_t high = stripe == static_cast<std::size_t>(text) ? 2000 : 1000;
      std::memcpy(texts[text].data() + 64 * stripe + 4, &high, sizeof high);
    }
  return texts;
}

TEST(CacheKeys, TellFilesApartThatXxh3DoesNot) {
  const auto texts = with_equal_xxh3();
  ASSERT_NE(texts[0], texts[1]);
  ASSERT_EQ(detail::hash128(texts[0].data(), texts[0].size()), detail::hash128(texts[1].data(), texts[1].size()));
  const TemporaryFolder root;
  EXPECT_NE(cache_key(root.write("a.stl", texts[0]), {}, {}), cache_key(root.write("b.stl", texts[1]), {}, {}));
}

/// The text of docs/cache_format.md, with the importer's version in it.
TEST(CacheKeys, KnowTheImportersVersion) {
  EXPECT_THAT(importer_version(), testing::MatchesRegex("assimp [0-9]+\\.[0-9]+\\.[0-9]+"));
  std::string text = "extension=stl\nimporter=" + importer_version() +
                     "\nunit=file\nup=file\nweld=0x0p+0\nrepair=0\ndrop_degenerate=0\n"
                     "max_file_size=8589934592\nmax_text_size=17179869184\nmax_depth=512\nmax_instances=20000000\n"
                     "max_nodes=40000000\nmax_triangles=1000000000\nmax_polygon=10000\nflatten=0\norigin=default\n"
                     "bvh=0\n";
  const TemporaryFolder root;
  const fs::path file = root.write("a.stl", "abc");
  EXPECT_EQ(cache_key(file, {}, {}).options, detail::hash128(text.data(), text.size()));
  text.replace(text.find("assimp "), 7, "assimp 9");
  EXPECT_NE(cache_key(file, {}, {}).options, detail::hash128(text.data(), text.size()));
}

// ---- arrays ---------------------------------------------------------------------------------------------------------

using Sections = std::map<std::string, std::vector<std::byte>, std::less<>>;

/// A scene's cache file whose sections can be changed, all checksums being right afterwards.
class Planted : public testing::Test {
 protected:
  void make(bool flatten, const std::function<void(Sections&)>& change) {
    UploadOptions options;
    options.bvh = true;
    options.flatten = flatten;
    write_cache_file(path_, {}, test::random_scene(1), options);
    std::vector<ArraySource> arrays;
    std::vector<CacheMetadata> metadata;
    Sections bytes;
    {
      const CacheFile file(path_);
      for (const CacheSection& section : file.sections()) {
        bytes[section.name].resize(section.bytes());
        file.read(section, 0, section.bytes(), bytes[section.name].data(), StoreMode::cached);
      }
      change(bytes);
      for (const CacheSection& section : file.sections()) {
        const auto found = bytes.find(section.name);
        if (found == bytes.end()) continue;
        if (section.kind == CacheSection::Kind::metadata)
          metadata.push_back({section.name, found->second});
        else
          arrays.push_back({section.name, section.rank, section.element_bytes,
                            found->second.size() / section.element_bytes,
                            [from = found->second, size = section.element_bytes](std::size_t first, std::size_t count,
                                                                                 std::byte* target, StoreMode mode) {
                              copy_bytes(from.data() + first * size, target, count * size, mode);
                            }});
      }
    }
    write_cache_file(path_, {}, arrays, metadata);
  }

  /// What an upload says, which verify() has to say too.
  std::string refusal() {
    std::string result = "taken";
    try {
      (void)upload_cached(CacheFile(path_), Device::host(), with_bvh());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::malformed);
      EXPECT_EQ(error.file(), path_.string());
      result = error.element() + ": " + error.problem();
    }
    try {
      CacheFile(path_).verify();
      EXPECT_EQ(result, "taken");
    } catch (const Error& error) {
      EXPECT_EQ(error.element() + ": " + error.problem(), result);
    }
    return result;
  }
  static UploadOptions with_bvh() {
    UploadOptions options;
    options.bvh = true;
    return options;
  }

  TemporaryFolder root_;
  fs::path path_ = root_.path() / "file.raylift";
};

template <class T>
std::span<T> as(Sections& sections, ViewArray array) {
  auto& bytes = sections.find(info(array).name)->second;
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

/// The first node with inner children that is not over instances.
BvhNode& mesh_node(Sections& sections) {
  for (BvhNode& node : as<BvhNode>(sections, ViewArray::nodes))
    if (std::bit_cast<InstanceNode>(node).zero != 0 && node.inner != 0 && node.pairs != 0) return node;
  throw std::logic_error("the scene has no such node");
}
InstanceNode& instance_node(Sections& sections) {
  for (BvhNode& node : as<BvhNode>(sections, ViewArray::nodes))
    if (std::bit_cast<InstanceNode>(node).zero == 0) return reinterpret_cast<InstanceNode&>(node);
  throw std::logic_error("the scene has no such node");
}

TEST_F(Planted, NothingIsTaken) {
  for (const bool flatten : {false, true}) {
    make(flatten, [](Sections&) {});
    EXPECT_EQ(refusal(), "taken");
  }
}

TEST_F(Planted, LinksOfNodesAreNotTaken) {
  const std::vector<std::pair<const char*, std::function<void(Sections&)>>> faults{
      {"out of its order", [](Sections& s) { mesh_node(s).first_child += 1; }},
      {"out of its order", [](Sections& s) { mesh_node(s).first_child = 0; }},
      {"out of its order", [](Sections& s) { as<BvhNode>(s, ViewArray::nodes)[0].first_child = 0; }},
      {"node", [](Sections& s) { mesh_node(s).inner = 0x11111111u, mesh_node(s).pairs = 0; }},
      {"node", [](Sections& s) { mesh_node(s).inner = 0; }},
      {"slots make no sense", [](Sections& s) { mesh_node(s).inner |= 2; }},
      {"slots make no sense", [](Sections& s) { mesh_node(s).pairs = 0xFFFFFFFFu; }},
      {"pairs are not there", [](Sections& s) { mesh_node(s).first_pair = 0xFFFFFFFFu; }},
      {"pairs are not there",
       [](Sections& s) {
         mesh_node(s).first_pair = static_cast<std::uint32_t>(as<PairIds>(s, ViewArray::pair_ids).size());
       }},
      {"leads nowhere", [](Sections& s) { instance_node(s).root = 0x7FFFFFFFu; }},
      {"leads to no mesh", [](Sections& s) { instance_node(s).root = 0; }},
      {"leads nowhere", [](Sections& s) { instance_node(s).instance = 15; }},
      {"not finite", [](Sections& s) { instance_node(s).to_mesh.m[7] = std::nanf(""); }},
      {"mixed",
       [](Sections& s) {
         InstanceNode placed{};
         placed.root = static_cast<std::uint32_t>(as<BvhNode>(s, ViewArray::nodes).size() - 2);
         as<BvhNode>(s, ViewArray::nodes).back() = std::bit_cast<BvhNode>(placed);
       }},
      {"node", [](Sections& s) { s["nodes"].resize(s["nodes"].size() - sizeof(BvhNode)); }},
      {"node", [](Sections& s) { s["nodes"].resize(s["nodes"].size() + sizeof(BvhNode)); }},
  };
  for (std::size_t i = 0; i != faults.size(); ++i) {
    make(false, faults[i].second);
    EXPECT_THAT(refusal(), AllOf(HasSubstr("section 'nodes'"), HasSubstr(faults[i].first))) << i;
  }
  make(true, [](Sections& s) { mesh_node(s).first_child = 0; });
  EXPECT_THAT(refusal(), HasSubstr("out of its order"));
}

/// A chain of nodes, each with one child: as deep as traversal's stack allows, and deeper.
TEST_F(Planted, TreesThatAreTooDeepAreNotTaken) {
  const auto chain = [](Sections& s, std::uint32_t levels, std::uint32_t first) {
    for (std::uint32_t i = 0; i != levels; ++i) {
      BvhNode node{};
      std::memset(node.exponent, 127, 3);
      std::memset(node.upper, 255, sizeof node.upper);
      if (i + 1 != levels) node.inner = 1, node.first_child = first + i + 1;
      const auto* const bytes = reinterpret_cast<const std::byte*>(&node);
      s["nodes"].insert(s["nodes"].end(), bytes, bytes + sizeof node);
    }
  };
  for (const std::uint32_t more : {0U, 1U}) {
    make(true, [&](Sections& s) {
      s["nodes"].clear();
      chain(s, kBvhMaxDepth + more, 0);
    });
    EXPECT_THAT(refusal(), HasSubstr(more == 0 ? "taken" : "more than 32 levels"));
    make(false, [&](Sections& s) {
      const InstanceNode kept = instance_node(s);
      s["nodes"].clear();
      chain(s, kBvhMaxDepth + 1, 0);
      InstanceNode placed = kept;
      placed.root = kBvhMaxDepth + 1;
      std::memcpy(s["nodes"].data() + kBvhMaxDepth * sizeof placed, &placed, sizeof placed);
      chain(s, kBvhMaxDepth + more, kBvhMaxDepth + 1);
    });
    EXPECT_THAT(refusal(), HasSubstr(more == 0 ? "taken" : "more than 32 levels"));
  }
}

TEST_F(Planted, NumbersOutOfRangeAreNotTaken) {
  using A = ViewArray;
  const std::vector<std::pair<const char*, std::function<void(Sections&)>>> faults{
      {"pair_ids", [](Sections& s) { as<PairIds>(s, A::pair_ids)[5].triangle[0] = kNoTriangle; }},
      {"pair_ids", [](Sections& s) { as<PairIds>(s, A::pair_ids)[5].triangle[0] |= 1u << 31; }},
      {"pair_ids", [](Sections& s) { s["pair_ids"].resize(8); }},
      {"pairs", [](Sections& s) { as<TrianglePair>(s, A::pairs).back().vertex[3][2] = std::nanf(""); }},
      {"triangles", [](Sections& s) { as<uint3>(s, A::triangles)[7].y = 1u << 31; }},
      {"triangles", [](Sections& s) { s["vertices"].resize(12); }},
      {"meshes", [](Sections& s) { as<MeshView>(s, A::meshes)[0].first_triangle = 0xFFFFFFFFu; }},
      {"instances", [](Sections& s) { as<InstanceView>(s, A::instances)[3].mesh = 5; }},
      {"instances", [](Sections& s) { as<InstanceView>(s, A::instances)[3].solid_id = 15; }},
      {"instances", [](Sections& s) { as<InstanceView>(s, A::instances)[3].outside = 3; }},
      {"instances", [](Sections& s) { as<InstanceView>(s, A::instances)[3].first_material = 100; }},
      {"instances", [](Sections& s) { as<std::uint16_t>(s, A::triangle_parts).back() = 999; }},
      {"instances", [](Sections& s) { s["instances"].resize(112); }},
      {"triangle_parts", [](Sections& s) { s["triangle_parts"].resize(2); }},
      {"triangle_parts", [](Sections& s) { s.erase("triangle_parts"); }},
      {"part_materials", [](Sections& s) { as<std::uint16_t>(s, A::part_materials)[0] = 3; }},
      {"solids", [](Sections& s) { as<SolidView>(s, A::solids)[2].mother = 15; }},
      {"solids", [](Sections& s) { as<SolidView>(s, A::solids)[2].mother = 2; }},
      {"solids", [](Sections& s) { as<SolidView>(s, A::solids)[2].depth = 1; }},
      {"solids", [](Sections& s) { as<SolidView>(s, A::solids)[2].daughter_count = 99; }},
      {"solids", [](Sections& s) { as<SolidView>(s, A::solids)[2].material = 3; }},
      {"vertices", [](Sections& s) { s.erase("vertices"); }},
  };
  for (std::size_t i = 0; i != faults.size(); ++i) {
    make(false, faults[i].second);
    EXPECT_THAT(refusal(), HasSubstr("section '" + std::string(faults[i].first) + "'")) << i;
  }
  const std::vector<std::pair<const char*, std::function<void(Sections&)>>> of_flat{
      {"solid_ids", [](Sections& s) { as<std::uint32_t>(s, A::solid_ids)[9] = 15; }},
      {"material_codes", [](Sections& s) { as<MaterialCode>(s, A::material_codes)[9].inside = 3; }},
      {"colors", [](Sections& s) { s["colors"].clear(); }},
      {"instances", [](Sections& s) { s["instances"].clear(); }},
      {"meshes", [](Sections& s) { s["meshes"].clear(); }},
  };
  for (const auto& [section, fault] : of_flat) {
    make(true, fault);
    EXPECT_THAT(refusal(), HasSubstr("section '" + std::string(section) + "'"));
  }
}

TEST_F(Planted, APairWithoutASecondTriangleHasNone) {
  make(false, [](Sections& s) {
    for (PairIds& ids : as<PairIds>(s, ViewArray::pair_ids))
      if (ids.triangle[1] != kNoTriangle) {
        ids.triangle[1] = kNoTriangle;
        return;
      }
    FAIL() << "no pair of two";
  });
  EXPECT_THAT(refusal(), HasSubstr("a triangle has no number"));
}

}  // namespace
}  // namespace raylift
