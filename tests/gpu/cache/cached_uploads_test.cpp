// SPDX-License-Identifier: Apache-2.0
// The cache of uploads and of the documents that a scene refers to: what comes out of it is what uploading gives.
#include <gmock/gmock.h>
#include <raylift/geometry/error.h>

#include <fstream>
#include <iterator>

#include "caching.h"
#include "gpu/src/cache/cache_files.h"
#include "gpu/src/upload/verify_upload.h"
#include "support/devices.h"
#include "support/paths.h"
#include "support/random_scenes.h"
#include "support/same_scene.h"
#include "support/thin_scene.h"

namespace raylift {
namespace {

namespace fs = std::filesystem;
using test::bytes_of;
using test::Caching;
using test::expect_same;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// What a load caches.
UploadOptions without_bvh() {
  UploadOptions options;
  options.bvh = false;
  return options;
}

class CachedDocuments : public ::testing::Test {
 protected:
  CachedDocuments() {
    options_.external = true;
    cube_ = test::bytes_in(test::data("cube.dae"));
    std::string main = cube_;
    const auto url = main.find("<instance_geometry url=\"#");
    EXPECT_NE(url, std::string::npos);
    main.insert(url + 24, "parts/other.dae");
    fs::create_directories(cache_.root() / "scene/parts");
    write("main.dae", main);
    write("parts/other.dae", cube_);
    main_ = cache_.root() / "scene/main.dae";
  }
  void write(const fs::path& name, const std::string& text) const {
    std::ofstream(cache_.root() / "scene" / name, std::ios::binary | std::ios::trunc) << text;
  }
  /// With another corner, and of the same length.
  void change_other(char corner) const {
    std::string text = cube_;
    text[text.find('1', text.find('>', text.find("<float_array")))] = corner;
    write("parts/other.dae", text);
  }
  Caching cache_;
  LoadOptions options_;
  std::string cube_;
  fs::path main_;
};

TEST_F(CachedDocuments, AreServedWhileAllHoldTheSame) {
  const Scene scene = load(main_, options_, cache_.options());
  EXPECT_THAT(cache_.files(), SizeIs(1));
  ASSERT_THAT(scene.files, SizeIs(1));
  std::vector<Progress::StageTime> times;
  const Progress progress([](std::string_view, std::uint64_t, std::uint64_t) { return true; }, &times);
  // Written anew, and elsewhere: contents count, not times.
  write("parts/other.dae", cube_);
  expect_same(load(main_, options_, cache_.options(), progress), scene);
  for (const Progress::StageTime& time : times) EXPECT_NE(time.stage, "preflight");
  EXPECT_TRUE(make_cache(main_, options_, without_bvh(), cache_.options()).hit);
  EXPECT_THAT(cache_.warnings, IsEmpty());
  EXPECT_THAT(file_hashes(main_, load(main_, options_, cache_.options()).files),
              ElementsAre(cache_key(main_.parent_path() / "parts/other.dae", {}, {}).source));
}

TEST_F(CachedDocuments, AreReadAgainWhereOneHasChanged) {
  const Scene before = load(main_, options_, cache_.options());
  EXPECT_FALSE(make_cache(main_, options_, without_bvh(), {cache_.folder(), false, true, {}, {}}).hit);
  change_other('7');
  const Scene after = load(main_, options_, cache_.options());
  EXPECT_NE(after.bounds.min, before.bounds.min);
  expect_same(after, load(main_, options_));
  const Device device = Device::host();
  EXPECT_TRUE(upload(main_, options_, device, without_bvh(), cache_.options()).hit);
  change_other('8');
  EXPECT_FALSE(upload(main_, options_, device, without_bvh(), cache_.options()).hit);
  EXPECT_FALSE(make_cache(main_, options_, without_bvh(), {cache_.folder(), false, true, {}, {}}).hit);
  fs::remove(main_.parent_path() / "parts/other.dae");
  EXPECT_THROW((void)load(main_, options_, cache_.options()), Error);
  EXPECT_THAT(cache_.warnings, IsEmpty());
}

TEST_F(CachedDocuments, HashesNothingThatIsNotAsItWasRead) {
  Scene scene = load(main_, options_);
  const auto hash = [&] { (void)file_hashes(main_, scene.files); };
  hash();
  for (const char* path : {"../cache", "/etc/passwd", "none", "parts"}) {
    scene.files.front().path = path;
    EXPECT_THROW(hash(), Error) << path;
  }
  scene.files.front().path = "parts/other.dae";
  ++scene.files.front().changed;
  EXPECT_THROW(hash(), Error);
}

class CachedUploads : public test::OnDevice {};
RAYLIFT_ON_BOTH_DEVICES(CachedUploads);

TEST_P(CachedUploads, AreTheSameAsOthers) {
  for (const char* name : {"detector.dae", "instances.dae", "materials.dae"})
    for (const unsigned kind : {0U, 1U, 2U, 3U})
      for (const std::uint64_t budget : {UINT64_MAX, std::uint64_t{100'000}}) {
        Caching cache;
        UploadOptions options;
        options.reserve = 0;
        options.flatten = (kind & 1U) != 0;
        options.bvh = (kind & 2U) != 0;
        options.budget = budget;
        const fs::path file = test::data(name);
        const GpuGeometry plain = upload(load(file), device(), options);
        const CachedUpload first = upload(file, LoadOptions{}, device(), options, cache.options());
        EXPECT_FALSE(first.hit);
        ASSERT_TRUE(first.cache);
        const CachedUpload second = upload(file, LoadOptions{}, device(), options, cache.options());
        EXPECT_TRUE(second.hit);
        EXPECT_FALSE(second.scene);
        expect_same(first.geometry, plain);
        expect_same(second.geometry, plain);
        EXPECT_THAT(cache.files(), ElementsAre(second.cache->path()));
        EXPECT_THAT(cache.warnings, IsEmpty());
        const Scene scene = second.outline();
        EXPECT_EQ(scene.path(scene.instances.back()), first.scene->path(first.scene->instances.back()));
      }
}

TEST_P(CachedUploads, KeepThinLayers) {
  const test::TemporaryFolder root;
  LoadOptions load_options;
  load_options.optics = root.write("film.json", test::kThinOptics);
  const fs::path file = root.write("film.dae", test::thin_film(0.0020246));
  Caching cache;
  const Scene scene = load(file, load_options);
  const GpuGeometry plain = upload(scene, device(), {});
  EXPECT_TRUE(plain.view().is_fine());
  EXPECT_TRUE(plain.has(ViewArray::vertex_rests));
  EXPECT_GT(verify_upload(scene, plain), 0U);
  for (const bool hit : {false, true}) {
    const CachedUpload cached = upload(file, load_options, device(), {}, cache.options());
    EXPECT_EQ(cached.hit, hit);
    EXPECT_TRUE(cached.geometry.view().is_fine());
    expect_same(cached.geometry, plain);
  }
  const Scene again = load(file, load_options, cache.options());
  for (std::size_t i = 0; i != scene.meshes.size(); ++i) EXPECT_EQ(again.meshes[i].rests, scene.meshes[i].rests);
  UploadOptions floats;
  floats.positions = UploadOptions::Positions::floats;
  const CachedUpload other = upload(file, load_options, device(), floats, cache.options());
  EXPECT_FALSE(other.hit);
  EXPECT_FALSE(other.geometry.view().is_fine());
  EXPECT_THAT(cache.warnings, IsEmpty());
}

TEST_P(CachedUploads, TakeTheSceneFromAFileThatWasMadeForOtherOptions) {
  Caching cache;
  const fs::path file = test::data("detector.dae");
  (void)load(file, LoadOptions{}, cache.options());
  std::vector<Progress::StageTime> times;
  const Progress progress([](std::string_view, std::uint64_t, std::uint64_t) { return true; }, &times);
  UploadOptions options;
  for (const unsigned kind : {1U, 2U, 3U}) {
    options.flatten = (kind & 1U) != 0;
    options.bvh = (kind & 2U) != 0;
    const CachedUpload made = upload(file, LoadOptions{}, device(), options, cache.options(), progress);
    EXPECT_FALSE(made.hit);
    expect_same(made.geometry, upload(load(file), device(), options));
    EXPECT_TRUE(upload(file, LoadOptions{}, device(), options, cache.options(), progress).hit);
  }
  for (const Progress::StageTime& time : times) EXPECT_NE(time.stage, "preflight");
  EXPECT_THAT(cache.files(), SizeIs(4));
}

TEST_P(CachedUploads, TakeWhatTheHostBuiltWhereTheDeviceIsToBuild) {
  Caching cache;
  const fs::path file = test::data("detector.dae");
  UploadOptions options;
  options.bvh = true;
  options.bvh_builder = UploadOptions::BvhBuilder::device;
  EXPECT_FALSE(upload(file, LoadOptions{}, device(), options, cache.options()).hit);
  EXPECT_TRUE(upload(file, LoadOptions{}, device(), options, cache.options()).hit);
  fs::remove(cache.files().at(0));
  (void)make_cache(file, {}, options, cache.options());
  EXPECT_TRUE(upload(file, LoadOptions{}, device(), options, cache.options()).hit);
}

TEST_P(CachedUploads, TakeAFileWithAHierarchyWhereNoneIsAskedFor) {
  Caching cache;
  const fs::path file = test::data("detector.dae");
  UploadOptions options;
  options.bvh = true;
  (void)make_cache(file, {}, options, cache.options());
  options.bvh = false;
  const CachedUpload without = upload(file, LoadOptions{}, device(), options, cache.options());
  EXPECT_TRUE(without.hit);
  EXPECT_FALSE(without.geometry.has(ViewArray::nodes));
  expect_same(without.geometry, upload(load(file), device(), options));
  expect_same(load(file, LoadOptions{}, cache.options()), load(file));
  EXPECT_THAT(cache.files(), SizeIs(1));
}

TEST_P(CachedUploads, OfManyChunksAreTheSame) {
  Caching cache;
  const Scene scene = test::random_scene(1, 7, 60'000);
  UploadOptions options;
  options.reserve = 0;
  options.chunk_bytes = 1U << 20;
  const fs::path path = cache.root() / "f";
  write_cache_file(path, {}, scene, options);
  const CacheFile file(path);
  expect_same(cached_scene(file), scene);
  for (const std::uint64_t budget : {UINT64_MAX, std::uint64_t{7'000'000}, std::uint64_t{0}}) {
    options.budget = budget;
    const GpuGeometry plain = upload(scene, device(), options);
    std::vector<ArraySource> sources;
    for (const CacheSection& section : file.sections())
      if (section.kind == CacheSection::Kind::array) sources.push_back(file.source(section));
    const ResidentArrays resident = upload(sources, device(), options);
    const Stream stream(device());
    for (const auto& [name, bytes] : bytes_of(plain)) {
      const auto row = std::find_if(resident.report.arrays.begin(), resident.report.arrays.end(),
                                    [&, &wanted = name](const ResidencyReport::Array& r) { return r.name == wanted; });
      ASSERT_NE(row, resident.report.arrays.end());
      std::vector<std::byte> back(row->bytes);
      resident.arrays[row - resident.report.arrays.begin()].copy_to(back, stream);
      stream.synchronize();
      EXPECT_EQ(back, bytes) << name << " budget " << budget;
    }
  }
}

TEST_P(CachedUploads, DoNotTakeDamagedArrays) {
  Caching cache;
  const fs::path file = test::data("detector.dae");
  const CachedUpload good = upload(file, LoadOptions{}, device(), {}, cache.options());
  for (const CacheSection& section : good.cache->sections()) {
    if (section.bytes() == 0) continue;
    {
      std::fstream out(good.cache->path(), std::ios::in | std::ios::out | std::ios::binary);
      out.seekg(static_cast<std::streamoff>(section.offset + section.bytes() / 2));
      const auto old = static_cast<char>(out.get());
      out.seekp(static_cast<std::streamoff>(section.offset + section.bytes() / 2)).put(static_cast<char>(old ^ 4));
    }
    cache.warnings.clear();
    const bool read_on_upload = section.name != "scene_tree";
    const CachedUpload again = upload(file, LoadOptions{}, device(), {}, cache.options());
    EXPECT_EQ(again.hit, !read_on_upload) << section.name;
    expect_same(again.geometry, good.geometry);
    if (!read_on_upload) {
      EXPECT_THROW((void)again.outline(), Error);
      cache.warnings.clear();
      EXPECT_FALSE(make_cache(file, {}, {}, cache.options()).hit);
    }
    ASSERT_THAT(cache.warnings, SizeIs(1));
    EXPECT_THAT(cache.warnings[0], HasSubstr("section '" + section.name + "'"));
    EXPECT_TRUE(upload(file, LoadOptions{}, device(), {}, cache.options()).hit);
  }
}

}  // namespace
}  // namespace raylift
