// SPDX-License-Identifier: Apache-2.0
// The cache: what comes out of it is what loading and uploading give, and nothing that is wrong with it does harm.
#include <gmock/gmock.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/cache/cache.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "devices.h"
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

/// A cache in a folder of its own, which keeps what it was warned of.
class Caching {
 public:
  CacheOptions options() {
    CacheOptions result;
    result.folder = folder();
    result.warn = [this](const std::string& line) { warnings.push_back(line); };
    return result;
  }
  [[nodiscard]] fs::path folder() const { return root_.path() / "cache"; }
  [[nodiscard]] const fs::path& root() const { return root_.path(); }
  [[nodiscard]] std::vector<fs::path> files() const { return cache_contents(folder()).files; }
  std::vector<std::string> warnings;

 private:
  TemporaryFolder root_;
};

void expect_same(const Scene& a, const Scene& b) {
  EXPECT_EQ(a.source, b.source);
  EXPECT_EQ(a.format, b.format);
  EXPECT_EQ(a.generator, b.generator);
  EXPECT_EQ(a.unit_mm, b.unit_mm);
  EXPECT_EQ(a.unit_from, b.unit_from);
  EXPECT_EQ(a.up_axis, b.up_axis);
  EXPECT_EQ(a.up_from, b.up_from);
  EXPECT_EQ(a.bounds.min, b.bounds.min);
  EXPECT_EQ(a.bounds.max, b.bounds.max);
  EXPECT_EQ(a.bindings, b.bindings);
  EXPECT_EQ(a.report.degenerate_triangles, b.report.degenerate_triangles);
  EXPECT_EQ(a.report.vertices_before_weld, b.report.vertices_before_weld);
  EXPECT_EQ(a.report.warnings, b.report.warnings);
  ASSERT_EQ(a.materials.size(), b.materials.size());
  for (std::size_t i = 0; i != a.materials.size(); ++i) {
    EXPECT_EQ(a.materials[i].name, b.materials[i].name);
    EXPECT_EQ(a.materials[i].color, b.materials[i].color);
  }
  ASSERT_EQ(a.meshes.size(), b.meshes.size());
  for (std::size_t i = 0; i != a.meshes.size(); ++i) {
    EXPECT_EQ(a.meshes[i].name, b.meshes[i].name);
    EXPECT_EQ(a.meshes[i].vertices, b.meshes[i].vertices);
    EXPECT_EQ(a.meshes[i].triangles, b.meshes[i].triangles);
    ASSERT_EQ(a.meshes[i].parts.size(), b.meshes[i].parts.size());
    for (std::size_t p = 0; p != a.meshes[i].parts.size(); ++p)
      EXPECT_EQ(a.meshes[i].parts[p].triangle_count, b.meshes[i].parts[p].triangle_count);
  }
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  ASSERT_EQ(a.instances.size(), b.instances.size());
  for (std::size_t i = 0; i != a.instances.size(); ++i) {
    EXPECT_EQ(a.path(a.instances[i]), b.path(b.instances[i]));
    EXPECT_EQ(a.copy_number(a.instances[i]), b.copy_number(b.instances[i]));
    EXPECT_EQ(a.instances[i].mesh, b.instances[i].mesh);
    EXPECT_EQ(a.instances[i].binding, b.instances[i].binding);
    EXPECT_EQ(a.instances[i].outside, b.instances[i].outside);
    EXPECT_EQ(a.instances[i].transform.matrix(), b.instances[i].transform.matrix());
  }
}

/// All bytes of an upload, by the arrays' names.
std::vector<std::pair<std::string, std::vector<std::byte>>> bytes_of(const GpuGeometry& geometry) {
  std::vector<std::pair<std::string, std::vector<std::byte>>> result;
  const Stream stream(geometry.device());
  for (const ArrayResidency& row : geometry.report().arrays) {
    std::vector<std::byte>& bytes = result.emplace_back(row.name, row.bytes).second;
    if (row.bytes != 0) geometry.array(find_view_array(row.name)->array).copy_to(bytes, stream);
  }
  stream.synchronize();
  return result;
}

void expect_same(const GpuGeometry& a, const GpuGeometry& b) {
  EXPECT_EQ(bytes_of(a), bytes_of(b));
  for (const auto count : {&GeometryView::vertex_count, &GeometryView::triangle_count, &GeometryView::mesh_count,
                           &GeometryView::instance_count, &GeometryView::material_count})
    EXPECT_EQ(a.view().*count, b.view().*count);
  EXPECT_EQ(std::memcmp(a.view().origin, b.view().origin, sizeof a.view().origin), 0);
  EXPECT_EQ(a.view().reach, b.view().reach);
  EXPECT_EQ(a.view().material_codes == nullptr, b.view().material_codes == nullptr);
  EXPECT_EQ(a.view().triangle_parts == nullptr, b.view().triangle_parts == nullptr);
}

/// A scene whose only solid is the cube of another document, and that document with another size of the cube.
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
    std::ifstream file(test::data("cube.dae"), std::ios::binary);
    cube_.assign(std::istreambuf_iterator<char>(file), {});
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
  std::vector<StageTime> times;
  const Progress progress([](std::string_view, std::uint64_t, std::uint64_t) { return true; }, &times);
  // Written anew, and elsewhere: contents count, not times.
  write("parts/other.dae", cube_);
  expect_same(load(main_, options_, cache_.options(), progress), scene);
  for (const StageTime& time : times) EXPECT_NE(time.stage, "preflight");
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

TEST_P(CachedUploads, TakeTheSceneFromAFileThatWasMadeForOtherOptions) {
  Caching cache;
  const fs::path file = test::data("detector.dae");
  (void)load(file, LoadOptions{}, cache.options());
  std::vector<StageTime> times;
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
  for (const StageTime& time : times) EXPECT_NE(time.stage, "preflight");
  EXPECT_THAT(cache.files(), SizeIs(4));
}

TEST_P(CachedUploads, TakeWhatTheHostBuiltWhereTheDeviceIsToBuild) {
  Caching cache;
  const fs::path file = test::data("detector.dae");
  UploadOptions options;
  options.bvh = true;
  options.bvh_builder = BvhBuilder::device;
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
                                    [&, &wanted = name](const ArrayResidency& r) { return r.name == wanted; });
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
  add([](LoadOptions& load, UploadOptions&) { load.unit_mm = 1; });
  add([](LoadOptions& load, UploadOptions&) { load.unit_mm = 1.0000000000000002; });
  add([](LoadOptions& load, UploadOptions&) { load.up_axis = UpAxis::x; });
  add([](LoadOptions& load, UploadOptions&) { load.weld.enabled = false; });
  add([](LoadOptions& load, UploadOptions&) { load.weld.tolerance = 1e-300; });
  add([](LoadOptions& load, UploadOptions&) { load.repair = true; });
  add([](LoadOptions& load, UploadOptions&) { load.drop_degenerate = true; });
  add([](LoadOptions& load, UploadOptions&) { load.sensor_materials = false; });
  add([](LoadOptions& load, UploadOptions&) { load.strict_optics = true; });
  add([](LoadOptions& load, UploadOptions&) { load.limits.triangles = 5; });
  add([](LoadOptions&, UploadOptions& upload) { upload.flatten = true; });
  add([](LoadOptions&, UploadOptions& upload) { upload.origin = Eigen::Vector3d(0, 0, 0); });
  add([](LoadOptions&, UploadOptions& upload) { upload.origin = Eigen::Vector3d(0, 1, 0); });
  add([](LoadOptions&, UploadOptions& upload) { upload.bvh = false; });
  add([](LoadOptions&, UploadOptions& upload) { upload.bvh_options.pair_triangles = false; });
  add([](LoadOptions&, UploadOptions& upload) { upload.bvh_options.leaf_pairs = 1; });
  add([](LoadOptions&, UploadOptions& upload) { upload.bvh_builder = BvhBuilder::device; });
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
