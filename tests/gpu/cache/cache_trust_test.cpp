// SPDX-License-Identifier: Apache-2.0
// The cache against those who would plant files in it: docs/security.md says what holds.
#include <gmock/gmock.h>
#include <raylift/geometry/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#define XXH_INLINE_ALL  // the secret that XXH3 has by default
#include <xxhash.h>

#include "cache/hash.h"
#include "geometry/src/import/importer.h"
#include "gpu/src/cache/cache_files.h"
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
TEST(CacheKeys, MayBeWorkedOutAhead) {
  const TemporaryFolder root;
  const fs::path source = root.path() / "cube.dae";
  fs::copy_file(test::data("cube.dae"), source);
  std::vector<std::string> warnings;
  CacheOptions options = in(root.path() / "cache", &warnings);
  options.source_hash = std::make_shared<const SourceHashAhead>(hash_source_ahead(source, {}));
  ASSERT_TRUE(options.source_hash->valid());
  EXPECT_EQ(options.source_hash->get().hash, cache_key(source, {}, {}).source);
  (void)load(source, LoadOptions{}, options);
  const std::string name = cache_file_name(cache_key(source, {}, {}));
  const auto made = cache_contents(root.path() / "cache").files;
  ASSERT_THAT(made, SizeIs(1));
  EXPECT_TRUE(made[0].filename().string().starts_with(name.substr(0, 64))) << "the key is the one of the hash";

  // One that is given is believed: this one belongs to no file there is.
  SourceHash other = options.source_hash->get();
  other.hash.bytes[0] ^= 1;
  options.source_hash = std::make_shared<const SourceHashAhead>(other);
  (void)load(source, LoadOptions{}, options);
  EXPECT_THAT(cache_contents(root.path() / "cache").files, SizeIs(2));
  // That of another file is not.
  other.source = root.path() / "other.dae";
  other.hash.bytes[0] ^= 2;
  options.source_hash = std::make_shared<const SourceHashAhead>(other);
  (void)load(source, LoadOptions{}, options);
  EXPECT_THAT(cache_contents(root.path() / "cache").files, SizeIs(2));
  EXPECT_THAT(warnings, IsEmpty());
}

TEST(CacheKeys, AreNotOfAFileThatChangedSinceItWasHashed) {
  const TemporaryFolder root;
  const fs::path source = root.path() / "cube.dae";
  fs::copy_file(test::data("cube.dae"), source);
  std::vector<std::string> warnings;
  CacheOptions options = in(root.path() / "cache", &warnings);
  options.source_hash = std::make_shared<const SourceHashAhead>(hash_source(source));
  std::ofstream(source, std::ios::app) << "\n";
  (void)load(source, LoadOptions{}, options);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("was changed while it was loaded")));
  EXPECT_THAT(cache_contents(root.path() / "cache").files, IsEmpty());
}

TEST(CacheKeys, AreNotWorkedOutAheadOfWhatIsNotCached) {
  const TemporaryFolder root;
  EXPECT_FALSE(hash_source_ahead(root.path() / "none.dae", {}).valid());
  EXPECT_FALSE(hash_source_ahead(root.path(), {}).valid());
  EXPECT_FALSE(hash_source_ahead(root.write("a.obj", "v 0 0 0"), {}).valid());
  const fs::path large = root.write("large.stl", "");
  fs::resize_file(large, (std::uint64_t{1} << 30) + 1);
  EXPECT_FALSE(hash_source_ahead(large, {}).valid());
  LoadOptions few;
  few.limits.file_bytes = 2;
  EXPECT_FALSE(hash_source_ahead(root.write("b.stl", "abc"), few).valid());
}

/// As docs/cache_format.md says; the digits are those of printf() in the locale "C".
TEST(CacheKeys, HaveTheirNumbersExactly) {
  const TemporaryFolder root;
  const fs::path file = root.write("a.stl", "abc");
  LoadOptions load;
  load.unit_mm = 25.4;
  load.weld.tolerance = 0.1;
  UploadOptions upload;
  upload.bvh = false;
  upload.origin = Double3{-1.5, 0, 1e-300};
  upload.raster = {300.1F, 0.25F, 7};
  const std::string text =
      "extension=stl\nimporter=" + importer_version() +
      "\nreader=raylift\nunit=0x1.9666666666666p+4\nup=file\nweld=0x1.999999999999ap-4\nexternal=0\nrepair=0\n"
      "drop_degenerate=0\noptics=none\nsensor_materials=1\ncompute_rayleigh=1\nstrict_optics=0\n"
      "max_file_size=8589934592\nmax_text_size=17179869184\nmax_expansion=100\nmax_documents=1000\nmax_depth=512\n"
      "max_instances=5000000\nmax_nodes=10000000\nmax_triangles=1000000000\nmax_polygon=10000\n"
      "rests=0\nflatten=0\norigin=-0x1.8p+0 0x0p+0 0x1.56e1fc2f8f359p-997\nraster=300.100006 0.25 7\npositions=0\n"
      "bvh=0\n";
  EXPECT_EQ(cache_key(file, load, upload).options, detail::hash128(text.data(), text.size()));
}

TEST(CacheKeys, KnowTheImportersVersion) {
  EXPECT_THAT(importer_version(), testing::MatchesRegex("raylift [0-9]+, assimp [0-9]+\\.[0-9]+\\.[0-9]+"));
  std::string text =
      "extension=stl\nimporter=" + importer_version() +
      "\nreader=raylift\nunit=file\nup=file\nweld=0x0p+0\nexternal=0\nrepair=0\ndrop_degenerate=0\noptics=none\nsensor_"
      "materials="
      "1\ncompute_rayleigh=1\nstrict_optics=0\n"
      "max_file_size=8589934592\nmax_text_size=17179869184\nmax_expansion=100\nmax_documents=1000\nmax_depth=512\n"
      "max_instances=5000000\nmax_nodes=10000000\nmax_triangles=1000000000\nmax_polygon=10000\n"
      "rests=0\nflatten=0\norigin=default\nraster=0 0 0\npositions=0\nbvh=0\n";
  const TemporaryFolder root;
  const fs::path file = root.write("a.stl", "abc");
  UploadOptions plain;
  plain.bvh = false;
  EXPECT_EQ(cache_key(file, {}, plain).options, detail::hash128(text.data(), text.size()));
  text.replace(text.find("assimp "), 7, "assimp 9");
  EXPECT_NE(cache_key(file, {}, plain).options, detail::hash128(text.data(), text.size()));
}

}  // namespace
}  // namespace raylift
