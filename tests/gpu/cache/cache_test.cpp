// SPDX-License-Identifier: Apache-2.0
// The cache of scenes: what comes out of it is what loading gives, and nothing that is wrong with it does harm.
#include <gmock/gmock.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>

#include <fstream>

#include "caching.h"
#include "gpu/src/cache/cache_files.h"
#include "support/devices.h"
#include "support/paths.h"
#include "support/same_scene.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;
using test::Caching;
using test::expect_same;
using test::TemporaryFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Cache, GivesBackTheScene) {
  for (const char* name : {"detector.dae", "instances.dae", "materials.dae", "units_inch_y_up.dae", "units_none.dae"}) {
    Caching cache;
    const Scene scene = load(test::data(name));
    expect_same(load(test::data(name), LoadOptions{}, cache.options()), scene);
    ASSERT_THAT(cache.files(), SizeIs(1));
    expect_same(load(test::data(name), LoadOptions{}, cache.options()), scene);
    expect_same(cached_scene(CacheFile(cache.files()[0])), scene);
    EXPECT_THAT(cache.warnings, IsEmpty());
    const CacheSummary summary = cache_summary(CacheFile(cache.files()[0]));
    EXPECT_EQ(summary.triangles, scene.unique_triangles());
    EXPECT_EQ(summary.instances, scene.instances.size());
    EXPECT_EQ(summary.source, test::data(name).string());
  }
}

TEST(Cache, KnowsAFileByItsContents) {
  Caching cache;
  const fs::path a = cache.root() / "a.dae";
  const fs::path b = cache.root() / "b.DAE";
  fs::copy_file(test::data("cube.dae"), a);
  fs::copy_file(test::data("cube.dae"), b);
  (void)load(a, LoadOptions{}, cache.options());
  EXPECT_EQ(load(b, LoadOptions{}, cache.options()).source, b.string());
  EXPECT_THAT(cache.files(), SizeIs(1));
  fs::copy_file(test::data("open_box.dae"), a, fs::copy_options::overwrite_existing);
  expect_same(load(a, LoadOptions{}, cache.options()), load(a));
  EXPECT_THAT(cache.files(), SizeIs(2));
}

/// What is laid over the file's own optics, as a sidecar beside it, is a part of what is cached.
TEST(Cache, NoticesChangesOfTheSidecarAndItsColumns) {
  Caching cache;
  const test::TemporaryFolder root;
  const fs::path file = root.path() / "a.dae";
  fs::copy_file(test::data("materials.dae"), file);
  const auto index = [&] {
    const Scene scene = load(file, LoadOptions{}, cache.options());
    expect_same(scene, load(file));
    return scene.optics.materials.empty() ? 0 : scene.optics.materials[0].table("RINDEX")->values[0];
  };
  const auto cached = [&] { return cache.files().size(); };
  EXPECT_EQ(index(), 0);
  (void)root.write("n.csv", "300,1.5\n600,1.4\n");
  (void)root.write("a.optics.json", R"({"raylift_optics": 1, "materials": {"*": {
      "RINDEX": {"csv": "n.csv", "wavelength_nm": 1, "values": 2}}}})");
  EXPECT_EQ(index(), 1.5);
  EXPECT_EQ(index(), 1.5);
  EXPECT_EQ(cached(), 2U);
  (void)root.write("n.csv", "300,1.6\n600,1.4\n");
  EXPECT_EQ(index(), 1.6);
  EXPECT_EQ(cached(), 3U);
  LoadOptions off;
  off.optics_beside = false;
  EXPECT_TRUE(load(file, off, cache.options()).optics.empty());
  EXPECT_EQ(cached(), 3U);  // as without a sidecar
  fs::remove(root.path() / "n.csv");
  EXPECT_THROW((void)load(file, LoadOptions{}, cache.options()), Error);
}

TEST(Cache, KeepsOptionsApart) {
  const fs::path file = test::data("cube.dae");
  std::vector<CacheKey> keys;
  const auto add = [&](auto change) {
    LoadOptions load;
    UploadOptions upload;
    change(load, upload);
    keys.push_back(cache_key(file, load, upload));
  };
  add([](LoadOptions&, UploadOptions&) {});
  add([](LoadOptions& load, UploadOptions&) { load.reader = LoadOptions::Reader::assimp; });
  add([](LoadOptions& load, UploadOptions&) { load.unit_mm = 1; });
  add([](LoadOptions& load, UploadOptions&) { load.unit_mm = 1.0000000000000002; });
  add([](LoadOptions& load, UploadOptions&) { load.up_axis = UpAxis::x; });
  add([](LoadOptions& load, UploadOptions&) { load.weld.enabled = false; });
  add([](LoadOptions& load, UploadOptions&) { load.weld.tolerance = 1e-300; });
  add([](LoadOptions& load, UploadOptions&) { load.repair = true; });
  add([](LoadOptions& load, UploadOptions&) { load.drop_degenerate = true; });
  add([](LoadOptions& load, UploadOptions&) { load.sensor_materials = false; });
  add([](LoadOptions& load, UploadOptions&) { load.compute_rayleigh = false; });
  add([](LoadOptions& load, UploadOptions&) { load.strict_optics = true; });
  add([](LoadOptions& load, UploadOptions&) { load.limits.triangles = 5; });
  add([](LoadOptions&, UploadOptions& upload) { upload.flatten = true; });
  add([](LoadOptions&, UploadOptions& upload) { upload.origin = Eigen::Vector3d(0, 0, 0); });
  add([](LoadOptions&, UploadOptions& upload) { upload.origin = Eigen::Vector3d(0, 1, 0); });
  add([](LoadOptions&, UploadOptions& upload) { upload.bvh = false; });
  add([](LoadOptions&, UploadOptions& upload) { upload.bvh_options.pair_triangles = false; });
  add([](LoadOptions&, UploadOptions& upload) { upload.bvh_options.leaf_pairs = 1; });
  add([](LoadOptions&, UploadOptions& upload) { upload.bvh_builder = UploadOptions::BvhBuilder::device; });
  for (std::size_t i = 0; i != keys.size(); ++i)
    for (std::size_t j = 0; j != i; ++j) EXPECT_NE(keys[i], keys[j]) << i << ' ' << j;
  // What makes no difference to the arrays makes none here.
  LoadOptions load;
  load.isolate = true;
  load.limits.isolate_seconds = 1;
  UploadOptions upload;
  upload.budget = 5;
  upload.policy = PlacementPolicy::mapped;
  EXPECT_EQ(cache_key(file, load, upload), keys[0]);
}

TEST(Cache, RefusesWhatALimitRefuses) {
  Caching cache;
  (void)load(test::data("cube.dae"), LoadOptions{}, cache.options());
  LoadOptions strict;
  strict.limits.triangles = 5;
  EXPECT_THROW((void)load(test::data("cube.dae"), strict, cache.options()), Error);
  strict = {};
  strict.limits.file_bytes = 5;
  EXPECT_THROW((void)load(test::data("cube.dae"), strict, cache.options()), Error);
}

TEST(Cache, LeavesErrorsOfTheSourceAsTheyAre) {
  Caching cache;
  for (const fs::path& file : {fs::path("/does/not/exist.dae"), cache.root(), cache.root() / "x.unknown"}) {
    const auto message = [](auto call) -> std::string {
      try {
        call();
      } catch (const Error& error) {
        return error.what();
      }
      return {};
    };
    const std::string without = message([&] { (void)load(file); });
    EXPECT_FALSE(without.empty());
    EXPECT_EQ(message([&] { (void)load(file, LoadOptions{}, cache.options()); }), without);
  }
  EXPECT_FALSE(fs::exists(cache.folder()));
}

TEST(Cache, MakesAFileAgainThatIsOfSomethingElse) {
  Caching cache;
  (void)load(test::data("cube.dae"), LoadOptions{}, cache.options());
  const fs::path cube = cache.files().at(0);
  (void)load(test::data("open_box.dae"), LoadOptions{}, cache.options());
  for (const fs::path& other : cache.files())
    if (other != cube) fs::copy_file(other, cube, fs::copy_options::overwrite_existing);
  expect_same(load(test::data("cube.dae"), LoadOptions{}, cache.options()), load(test::data("cube.dae")));
  ASSERT_THAT(cache.warnings, SizeIs(1));
  EXPECT_THAT(cache.warnings[0], HasSubstr("another source"));
  expect_same(cached_scene(CacheFile(cube)), load(test::data("cube.dae")));
}

TEST(Cache, MakesAFileAgainThatIsCutOff) {
  Caching cache;
  const Scene scene = load(test::data("cube.dae"), LoadOptions{}, cache.options());
  const fs::path path = cache.files().at(0);
  const std::uint64_t whole = fs::file_size(path);
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{100}, std::uint64_t{4096}, whole / 2, whole - 1}) {
    cache.warnings.clear();
    fs::resize_file(path, size);
    expect_same(load(test::data("cube.dae"), LoadOptions{}, cache.options()), scene);
    EXPECT_THAT(cache.warnings, SizeIs(1)) << size;
    EXPECT_EQ(fs::file_size(path), whole);
  }
}

TEST(Cache, GoesOnWhereItCannotWrite) {
  Caching cache;
  CacheOptions options = cache.options();
  std::ofstream(cache.root() / "a file") << "x";
  options.folder = cache.root() / "a file" / "cache";
  expect_same(load(test::data("cube.dae"), LoadOptions{}, options), load(test::data("cube.dae")));
  EXPECT_THAT(cache.warnings, SizeIs(1));
  EXPECT_THROW((void)make_cache(test::data("cube.dae"), {}, {}, options), Error);
}

TEST(Cache, TakesNoFileThatChangesWhileItIsLoaded) {
  Caching cache;
  const fs::path file = cache.root() / "a.dae";
  fs::copy_file(test::data("cube.dae"), file);
  const Progress change([&](std::string_view stage, std::uint64_t, std::uint64_t) {
    if (stage == "preflight") fs::copy_file(test::data("open_box.dae"), file, fs::copy_options::overwrite_existing);
    return true;
  });
  (void)load(file, LoadOptions{}, cache.options(), change);
  EXPECT_THAT(cache.files(), IsEmpty());
  EXPECT_THAT(cache.warnings, ElementsAre(HasSubstr("changed")));
}

TEST(Cache, LeavesFormatsAloneThatReadFurtherFiles) {
  Caching cache;
  const fs::path file = cache.root() / "a.obj";
  std::ofstream(file) << "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
  (void)load(file, LoadOptions{}, cache.options());
  EXPECT_FALSE(fs::exists(cache.folder()));
  EXPECT_THAT(cache.warnings, IsEmpty());
  EXPECT_THROW((void)make_cache(file, {}, {}, cache.options()), Error);
  EXPECT_TRUE(can_be_cached("x.dae.gz"));
  EXPECT_FALSE(can_be_cached("x.gz"));
  EXPECT_FALSE(can_be_cached("dae"));
}

TEST(Cache, MayBeReadOnlyOrWriteOnly) {
  Caching cache;
  CacheOptions options = cache.options();
  options.write = false;
  (void)load(test::data("cube.dae"), LoadOptions{}, options);
  EXPECT_THAT(cache.files(), IsEmpty());
  (void)make_cache(test::data("cube.dae"), {}, {}, cache.options());
  EXPECT_TRUE(make_cache(test::data("cube.dae"), {}, {}, cache.options()).hit);
  options = cache.options();
  options.read = false;
  EXPECT_FALSE(make_cache(test::data("cube.dae"), {}, {}, options).hit);
}

TEST(Cache, IsWhereTheEnvironmentSays) {
  const auto folder = [](const char* own, const char* xdg, const char* home) {
    const auto set = [](const char* name, const char* value) {
      value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
    };
    set("RAYLIFT_CACHE_DIR", own);
    set("XDG_CACHE_HOME", xdg);
    set("HOME", home);
    return default_cache_folder();
  };
  const std::string home_before = std::getenv("HOME") == nullptr ? "/" : std::getenv("HOME");
  EXPECT_EQ(folder("/own", "/xdg", "/home/me"), "/own");
  EXPECT_EQ(folder("", "/xdg", "/home/me"), "/xdg/raylift");
  EXPECT_EQ(folder(nullptr, "relative", "/home/me"), "/home/me/.cache/raylift");
  EXPECT_EQ(folder(nullptr, nullptr, "/home/me"), "/home/me/.cache/raylift");
  EXPECT_THROW(folder(nullptr, nullptr, nullptr), Error);
  ::setenv("HOME", home_before.c_str(), 1);
}

TEST(Cache, ListsOnlyWhatIsItsOwn) {
  Caching cache;
  const std::string hex = "0123456789abcdef0123456789abcdef";
  const std::string source = hex + hex;
  EXPECT_THAT(cache_contents(cache.folder()).files, IsEmpty());
  fs::create_directories(cache.folder());
  const std::string name = source + "-" + hex + ".raylift";
  for (const std::string& file :
       {name, "x" + name, name + "x", hex + ".raylift", hex + "-" + hex + ".raylift", std::string("photo.raylift"),
        "." + name + ".12-00ff.tmp", std::string(".other.tmp"), "." + name})
    std::ofstream(cache.folder() / file) << "x";
  EXPECT_THAT(cache_contents(cache.folder()).files, ElementsAre(cache.folder() / name));
  EXPECT_THAT(cache_contents(cache.folder()).left_over, ElementsAre(cache.folder() / ("." + name + ".12-00ff.tmp")));
  EXPECT_THROW((void)cache_contents(cache.folder() / name), Error);
}

}  // namespace
}  // namespace raylift
