// SPDX-License-Identifier: Apache-2.0
// Cache files with right checksums over planted arrays: what could lead a ray or a kernel astray is
// refused, by uploads and by verify() alike.
#include <gmock/gmock.h>
#include <raylift/geometry/error.h>

#include <bit>
#include <cstring>
#include <functional>
#include <map>

#include "gpu/src/cache/cache_files.h"
#include "support/paths.h"
#include "support/random_scenes.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;
using testing::HasSubstr;

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
bvh_detail::BvhNode& mesh_node(Sections& sections) {
  for (bvh_detail::BvhNode& node : as<bvh_detail::BvhNode>(sections, ViewArray::nodes))
    if (std::bit_cast<bvh_detail::InstanceNode>(node).zero != 0 && node.inner != 0 && node.pairs != 0) return node;
  throw std::logic_error("the scene has no such node");
}
bvh_detail::InstanceNode& instance_node(Sections& sections) {
  for (bvh_detail::BvhNode& node : as<bvh_detail::BvhNode>(sections, ViewArray::nodes))
    if (std::bit_cast<bvh_detail::InstanceNode>(node).zero == 0)
      return reinterpret_cast<bvh_detail::InstanceNode&>(node);
  throw std::logic_error("the scene has no such node");
}

/// The first node of the room for another tree over the instances.
bvh_detail::BvhNode& empty_node(Sections& sections) {
  for (bvh_detail::BvhNode& node : as<bvh_detail::BvhNode>(sections, ViewArray::nodes))
    if (std::bit_cast<bvh_detail::InstanceNode>(node).zero != 0 && node.inner == 0 && node.pairs == 0) return node;
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
      {"out of its order", [](Sections& s) { as<bvh_detail::BvhNode>(s, ViewArray::nodes)[0].first_child = 0; }},
      {"node", [](Sections& s) { mesh_node(s).inner = 0x11111111u, mesh_node(s).pairs = 0; }},
      {"node", [](Sections& s) { mesh_node(s).inner = 0; }},
      {"slots make no sense", [](Sections& s) { mesh_node(s).inner |= 2; }},
      {"slots make no sense", [](Sections& s) { mesh_node(s).pairs = 0xFFFFFFFFu; }},
      {"pairs are not there", [](Sections& s) { mesh_node(s).first_pair = 0xFFFFFFFFu; }},
      {"pairs are not there",
       [](Sections& s) {
         mesh_node(s).first_pair = static_cast<std::uint32_t>(as<bvh_detail::PairIds>(s, ViewArray::pair_ids).size());
       }},
      {"leads nowhere", [](Sections& s) { instance_node(s).root = 0x7FFFFFFFu; }},
      {"leads to no mesh", [](Sections& s) { instance_node(s).root = 0; }},
      {"leads nowhere", [](Sections& s) { instance_node(s).instance = 15; }},
      {"not finite", [](Sections& s) { instance_node(s).to_mesh.m[7] = std::nanf(""); }},
      {"mixed",
       [](Sections& s) {
         bvh_detail::InstanceNode placed{};
         placed.root = static_cast<std::uint32_t>(as<bvh_detail::BvhNode>(s, ViewArray::nodes).size() - 2);
         as<bvh_detail::BvhNode>(s, ViewArray::nodes).back() = std::bit_cast<bvh_detail::BvhNode>(placed);
       }},
      {"no room", [](Sections& s) { empty_node(s).pairs = 1; }},
      {"node", [](Sections& s) { s["nodes"].resize(s["nodes"].size() - sizeof(bvh_detail::BvhNode)); }},
      {"node", [](Sections& s) { s["nodes"].resize(s["nodes"].size() + sizeof(bvh_detail::BvhNode)); }},
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
      bvh_detail::BvhNode node{};
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
      const bvh_detail::InstanceNode kept = instance_node(s);
      s["nodes"].clear();
      chain(s, kBvhMaxDepth + 1, 0);
      bvh_detail::InstanceNode placed = kept;
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
      {"pair_ids", [](Sections& s) { as<bvh_detail::PairIds>(s, A::pair_ids)[5].triangle[0] = kNoTriangle; }},
      {"pair_ids", [](Sections& s) { as<bvh_detail::PairIds>(s, A::pair_ids)[5].triangle[0] |= 1u << 31; }},
      {"pair_ids", [](Sections& s) { s["pair_ids"].resize(8); }},
      {"pairs", [](Sections& s) { as<bvh_detail::TrianglePair>(s, A::pairs).back().vertex[3][2] = std::nanf(""); }},
      {"triangles", [](Sections& s) { as<UInt3>(s, A::triangles)[7].y = 1u << 31; }},
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
      {"solid_colors", [](Sections& s) { s["solid_colors"].resize(4); }},
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

/// The first bucket with a pair.
OpticsView::BorderBucket& full_bucket(Sections& sections) {
  for (OpticsView::BorderBucket& bucket : as<OpticsView::BorderBucket>(sections, ViewArray::border_surfaces))
    if (bucket.slots[0].from != 0xFFFFFFFFU) return bucket;
  throw std::logic_error("the scene has no such bucket");
}

TEST_F(Planted, OpticsThatLeadOutOfTheirArraysAreNotTaken) {
  using A = ViewArray;
  constexpr std::uint32_t kLarge = 0xFFFFFFF0U;
  const auto materials = [](Sections& s) { return as<MaterialOptics>(s, A::optical_materials); };
  const auto surfaces = [](Sections& s) { return as<SurfaceOptics>(s, A::optical_surfaces); };
  const auto types = [](Sections& s) { return as<OpticsView::ChannelType>(s, A::channel_types); };
  const std::vector<std::pair<const char*, std::function<void(Sections&)>>> faults{
      {"solids", [](Sections& s) { as<SolidView>(s, A::solids)[2].surface_in = 6; }},
      {"solids", [](Sections& s) { as<SolidView>(s, A::solids)[2].surface_out = 6; }},
      {"solids", [](Sections& s) { as<SolidView>(s, A::solids)[2].skin = 0xFFFE; }},
      {"optical_rows", [](Sections& s) { as<OpticsView::TableRow>(s, A::optical_rows)[9].v[3] = std::nanf(""); }},
      {"optical_rows", [](Sections& s) { as<OpticsView::TableRow>(s, A::optical_rows)[0].v[0] = HUGE_VALF; }},
      {"optical_rows", [](Sections& s) { as<OpticsView::TableRow>(s, A::optical_rows)[0].slope = HUGE_VALF; }},
      {"optical_rows", [](Sections& s) { as<OpticsView::TableRow>(s, A::optical_rows)[1].wavelength = std::nanf(""); }},
      {"optical_rows", [](Sections& s) { as<OpticsView::TableRow>(s, A::optical_rows)[1].over_wavelength = 2; }},
      {"optical_rows", [](Sections& s) { s["optical_rows"].resize(s["optical_rows"].size() - 32); }},
      {"optical_rows", [](Sections& s) { s.erase("optical_rows"); }},
      {"optical_rows", [](Sections& s) { as<std::uint32_t>(s, A::optical_buckets)[500] = kLarge; }},
      {"optical_buckets", [](Sections& s) { s["optical_buckets"].resize(s["optical_buckets"].size() - 4); }},
      {"optical_buckets", [](Sections& s) { s["optical_buckets"].resize(2 * kTableEntries * 4); }},
      {"optical_buckets", [](Sections& s) { s.erase("optical_buckets"); }},
      {"optical_points", [](Sections& s) { as<Curve::Point>(s, A::optical_points)[3].y = std::nanf(""); }},
      {"optical_points", [](Sections& s) { as<Curve::Point>(s, A::optical_points)[3].x = HUGE_VALF; }},
      {"optical_points", [](Sections& s) { s.erase("optical_points"); }},
      {"optical_rows", [&](Sections& s) { materials(s)[1].losses = kLarge; }},
      {"optical_rows", [&](Sections& s) { materials(s)[1].losses = 100'000; }},
      {"optical_materials", [&](Sections& s) { materials(s)[0].scintillation[2].spectrum.first = kLarge; }},
      {"optical_materials", [&](Sections& s) { materials(s)[0].scintillation[0].spectrum.count = kLarge; }},
      {"optical_materials",
       [&](Sections& s) {
         materials(s)[2].shifting[1].spectrum = {kLarge, kLarge};
       }},
      {"optical_materials", [](Sections& s) { s["optical_materials"].resize(272); }},
      {"optical_surfaces", [&](Sections& s) { surfaces(s)[0].table = kLarge; }},
      {"optical_rows", [&](Sections& s) { surfaces(s)[1].rows = kLarge; }},
      {"optical_rows", [&](Sections& s) { surfaces(s)[5].rows = 100'000; }},
      {"optical_surfaces", [&](Sections& s) { surfaces(s)[5].angles.count = kLarge; }},
      {"optical_surfaces", [&](Sections& s) { surfaces(s)[4].reemission.spectrum.first = kLarge; }},
      {"optical_surfaces", [&](Sections& s) { surfaces(s)[4].model = static_cast<SurfaceModel>(8); }},
      {"optical_surfaces", [&](Sections& s) { surfaces(s)[4].type = static_cast<SurfaceType>(8); }},
      {"optical_surfaces", [](Sections& s) { s["optical_surfaces"].resize(80U * 65536); }},
      {"border_surfaces", [](Sections& s) { full_bucket(s).slots[0].surface = 6; }},
      {"border_surfaces", [](Sections& s) { full_bucket(s).slots[0].from = 15; }},
      {"border_surfaces", [](Sections& s) { full_bucket(s).slots[0].to = 0xFFFFFFFFU; }},
      {"border_surfaces", [](Sections& s) { full_bucket(s).slots[0].from ^= 1; }},
      {"border_surfaces", [](Sections& s) { s["border_surfaces"].resize(s["border_surfaces"].size() + 32); }},
      {"channels", [](Sections& s) { as<OpticsView::Channel>(s, A::channels)[4].type = 2; }},
      {"channels", [](Sections& s) { s["channels"].resize(8); }},
      {"channel_types", [&](Sections& s) { types(s)[0].efficiency = kLarge; }},
      {"channel_types", [&](Sections& s) { types(s)[0].angle_efficiency.count = kLarge; }},
      {"channel_types", [&](Sections& s) { types(s)[1].time.first = kLarge; }},
      {"channel_types",
       [&](Sections& s) {
         types(s)[1].charge = {kLarge, 1};
       }},
      {"channels", [](Sections& s) { s["channel_types"].clear(); }},
  };
  for (const bool flatten : {false, true})
    for (std::size_t i = 0; i != faults.size(); ++i) {
      make(flatten, faults[i].second);
      EXPECT_THAT(refusal(), HasSubstr("section '" + std::string(faults[i].first) + "'")) << i;
    }
}

/// Behind the flags and the origin stands the raster.
TEST_F(Planted, ARasterThatIsNoneIsNotTaken) {
  for (const Raster& raster : std::vector<Raster>{{60, 5, 0},
                                                  {0, 5, 0},
                                                  {60, 5, 1},
                                                  {std::nanf(""), 5, 188},
                                                  {60, 0, 188},
                                                  {60, 5, 0xFFFFFFFFU},
                                                  {60, -5, 188}}) {
    make(false, [&](Sections& s) { std::memcpy(s["scene"].data() + 28, &raster, sizeof raster); });
    EXPECT_THAT(refusal(), HasSubstr("raster has no wavelengths")) << raster.start << ' ' << raster.step;
  }
}

TEST_F(Planted, APairWithoutASecondTriangleHasNone) {
  make(false, [](Sections& s) {
    for (bvh_detail::PairIds& ids : as<bvh_detail::PairIds>(s, ViewArray::pair_ids))
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
