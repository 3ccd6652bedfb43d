// SPDX-License-Identifier: Apache-2.0
// What a program adds to an upload, on each device: arrays of its own, a BVH that it has built, and a geometry of
// nothing until there is one.
#include <raylift/geometry/bvh/scene_bvh.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/gpu/rays/trace.h>
#include <raylift/gpu/upload/colors.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <array>
#include <bit>

#include "gpu/src/cache/cache_files.h"
#include "support/devices.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/random_scenes.h"

namespace raylift {
namespace {

using test::expect_error;
using test::random_scene;

UploadOptions no_reserve() {
  UploadOptions options;
  options.reserve = 0;
  return options;
}

class OwnArrays : public test::OnDevice {
 protected:
  template <class T>
  std::vector<T> read(const Memory& array) {
    const Stream stream(device());
    std::vector<T> values(array.bytes() / sizeof(T));
    array.copy_to(std::as_writable_bytes(std::span(values)), stream);
    stream.synchronize();
    return values;
  }
};
RAYLIFT_ON_BOTH_DEVICES(OwnArrays);

TEST_P(OwnArrays, AreThereUnderTheirNames) {
  const Scene scene = random_scene(3);
  const std::vector<float> weights{1, 2, 3.5F};
  for (const bool flat : {false, true}) {
    UploadOptions options = no_reserve();
    options.flatten = flat;
    options.arrays = {array_source("weights", ArrayRank::nodes, weights),
                      array_source("nothing", ArrayRank::nodes, std::vector<int>())};
    GpuGeometry geometry = upload(scene, device(), options);
    EXPECT_EQ(read<float>(geometry.array("weights")), weights);
    EXPECT_EQ(geometry.array("nothing").bytes(), 0U);
    EXPECT_TRUE(geometry.has("weights") && geometry.has("vertices") && !geometry.has("wights"));
    EXPECT_EQ(geometry.array("vertices").device(), geometry.array(ViewArray::vertices).device());
    EXPECT_EQ(geometry.report().arrays.back().name, "nothing");
    EXPECT_EQ(geometry.report().bytes(), upload(scene, device(),
                                                [&] {
                                                  UploadOptions alone = options;
                                                  alone.arrays.clear();
                                                  return alone;
                                                }())
                                                 .report()
                                                 .bytes() +
                                             3 * sizeof(float));
    (void)expect_error(ErrorKind::usage, [&] { (void)geometry.array("wights"); });
    const Stream stream(device());
    const std::array<float, 3> others{7, 8, 9};
    geometry.array("weights").copy_from(std::as_bytes(std::span(others)), stream);
    stream.synchronize();
    EXPECT_EQ(read<float>(geometry.array("weights")), (std::vector<float>{7, 8, 9}));
  }
}

TEST_P(OwnArrays, SharePlanAndBudgetWithTheScene) {
  const Scene scene = random_scene(3, 5, 20'000);
  const std::vector<std::uint32_t> table(1'000'000, 5);
  UploadOptions options = no_reserve();
  options.bvh = false;
  options.budget = 5'000'000;  // the table and little more
  options.arrays = {array_source("table", ArrayRank::nodes, table)};
  const GpuGeometry first = upload(scene, device(), options);
  EXPECT_EQ(first.array("table").where(), Residency::device) << "nodes come first";
  EXPECT_LE(first.report().device_bytes(), options.budget);
  options.arrays = {array_source("table", ArrayRank::attributes, table)};
  const GpuGeometry last = upload(scene, device(), options);
  EXPECT_EQ(last.array("table").where(), Residency::mapped) << "attributes come last";
  EXPECT_LE(last.report().device_bytes(), options.budget);
  EXPECT_EQ(read<std::uint32_t>(last.array("table")), table);
}

TEST_P(OwnArrays, HaveNamesOfTheirOwn) {
  const std::vector<int> values{1, 2};
  const auto own = [&](const char* name) { return array_source(name, ArrayRank::attributes, values); };
  const auto expect_refused = [&](const std::vector<ArraySource>& arrays) {
    UploadOptions options = no_reserve();
    options.arrays = arrays;
    const std::string name(arrays.back().name);
    const Error error = expect_error(ErrorKind::usage, [&] { (void)upload(random_scene(3), device(), options); });
    EXPECT_NE(error.problem().find(name), std::string::npos) << error.problem();
  };
  expect_refused({own("vertices")});
  expect_refused({own("solid_ids")});  // of a flat scene only, but confusing enough
  expect_refused({own("mine"), own("mine")});
  UploadOptions options = no_reserve();
  options.arrays = {own("mine")};
  const ArraySource source = own("mine");
  (void)expect_error(ErrorKind::usage, [&] { (void)upload({&source, 1}, device(), options); });
  options.arrays = {own("yours")};
  const ResidentArrays both = upload({&source, 1}, device(), options);
  ASSERT_EQ(both.arrays.size(), 2U);
  EXPECT_EQ(read<int>(both.arrays[1]), values);
}

TEST_P(OwnArrays, ComeWithGeometryOutOfTheCacheAndStayOutOfIt) {
  const test::TemporaryFolder folder;
  CacheOptions cache;
  cache.folder = folder.path();
  UploadOptions options = no_reserve();
  const std::vector<float> weights{1, 2, 3.5F};
  options.arrays = {array_source("weights", ArrayRank::nodes, weights)};
  for (const bool hit : {false, true}) {
    const CachedUpload uploaded = upload(test::data("detector.dae"), {}, device(), options, cache);
    EXPECT_EQ(uploaded.hit, hit);
    EXPECT_EQ(read<float>(uploaded.geometry.array("weights")), weights);
    ASSERT_TRUE(uploaded.cache);
    for (const CacheSection& section : uploaded.cache->sections()) EXPECT_NE(section.name, "weights");
  }
}

// A BVH that was built before ---------------------------------------------------------------------------------------

class PrebuiltBvhs : public OwnArrays {
 protected:
  void expect_same(const GpuGeometry& a, const GpuGeometry& b) {
    EXPECT_EQ(a.view().bvh_levels, b.view().bvh_levels);
    for (const ViewArray array : {ViewArray::nodes, ViewArray::pairs, ViewArray::pair_ids})
      EXPECT_EQ(read<std::byte>(a.array(array)), read<std::byte>(b.array(array))) << info(array).name;
  }
  void expect_refused(const Scene& scene, const SceneBvh& bvh, bool flat = false) {
    UploadOptions options = no_reserve();
    options.flatten = flat;
    options.prebuilt_bvh = &bvh;
    (void)expect_error(ErrorKind::usage, [&] { (void)upload(scene, device(), options); });
  }
};
RAYLIFT_ON_BOTH_DEVICES(PrebuiltBvhs);

TEST_P(PrebuiltBvhs, AreUsedAsTheyAre) {
  const Scene scene = random_scene(3);
  const Double3 origin = default_origin(scene.bounds);
  const SceneBvh two = build_bvh(scene, origin);
  const SceneBvh one = build_bvh(flatten(scene, origin));
  for (const bool flat : {false, true}) {
    UploadOptions options = no_reserve();
    options.flatten = flat;
    const GpuGeometry built = upload(scene, device(), options);
    options.prebuilt_bvh = flat ? &one : &two;
    std::vector<Progress::StageTime> times;
    const Progress progress([](std::string_view, std::uint64_t, std::uint64_t) { return true; }, &times);
    const GpuGeometry geometry = upload(scene, device(), options, progress);
    for (const Progress::StageTime& time : times) EXPECT_NE(time.stage, "bvh") << "it was built all the same";
    expect_same(geometry, built);
    if (flat) expect_same(upload(flatten(scene, origin), {}, device(), options), built);
    options.bvh = false;
    EXPECT_FALSE(upload(scene, device(), options).has(ViewArray::nodes));
  }
}

TEST_P(PrebuiltBvhs, MayBeOfAnyShape) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    Scene scene = random_scene(seed, 1 + 3 * seed, 300);
    scene.instances[seed].transform = to_eigen(scene.instances[seed].transform).scale(0.0);  // no ray hits that
    const SceneBvh bvh = build_bvh(scene, default_origin(scene.bounds), {seed != 2, 1 + seed});
    UploadOptions options = no_reserve();
    options.prebuilt_bvh = &bvh;
    const GpuGeometry geometry = upload(scene, device(), options);
    EXPECT_EQ(geometry.view().bvh.node_count, bvh.nodes.size());
  }
  Scene nothing = random_scene(1);
  for (Instance& instance : nothing.instances) instance.transform = to_eigen(instance.transform).scale(0.0);
  const SceneBvh none = build_bvh(nothing, default_origin(nothing.bounds));
  UploadOptions options = no_reserve();
  options.prebuilt_bvh = &none;
  const GpuGeometry empty = upload(nothing, device(), options);
  EXPECT_EQ(empty.view().bvh_levels, 0U);
}

TEST_P(PrebuiltBvhs, OfAnotherSceneAreRefused) {
  const Scene scene = random_scene(3);
  const Double3 origin = default_origin(scene.bounds);
  expect_refused(scene, SceneBvh{});
  expect_refused(scene, build_bvh(random_scene(3, 4), origin));
  expect_refused(scene, build_bvh(random_scene(3, 5, 701), origin));
  expect_refused(scene, build_bvh(scene, Double3(origin.x, origin.y, origin.z + 1)));
  expect_refused(scene, build_bvh(flatten(scene, origin)));
  expect_refused(scene, build_bvh(scene, origin), true);
  Scene moved = scene;
  moved.instances[4].transform(0, 3) += 2;
  expect_refused(scene, build_bvh(moved, origin));
  Scene fewer = scene;
  fewer.instances.pop_back();
  expect_refused(scene, build_bvh(fewer, origin));
  expect_refused(fewer, build_bvh(scene, origin));
}

TEST_P(PrebuiltBvhs, ThatLeadNowhereAreRefused) {
  const Scene scene = random_scene(3);
  const Double3 origin = default_origin(scene.bounds);
  const auto expect_refused_with = [&](const auto& fault) {
    SceneBvh bvh = build_bvh(scene, origin);
    fault(bvh);
    expect_refused(scene, bvh);
  };
  const auto first_inner = [](SceneBvh& bvh) -> bvh_detail::BvhNode& {
    return *std::find_if(bvh.nodes.begin() + bvh.instance_nodes, bvh.nodes.end(),
                         [](const bvh_detail::BvhNode& node) { return node.inner != 0; });
  };
  const auto first_leaf = [](SceneBvh& bvh) -> bvh_detail::BvhNode& {
    return *std::find_if(bvh.nodes.begin() + bvh.instance_nodes, bvh.nodes.end(),
                         [](const bvh_detail::BvhNode& node) { return node.pairs != 0; });
  };
  const auto first_instance = [](SceneBvh& bvh) -> bvh_detail::InstanceNode& {
    return reinterpret_cast<bvh_detail::InstanceNode&>(*std::find_if(
        bvh.nodes.begin(), bvh.nodes.end(),
        [](const bvh_detail::BvhNode& node) { return std::bit_cast<bvh_detail::InstanceNode>(node).zero == 0; }));
  };
  expect_refused_with([&](SceneBvh& bvh) { first_inner(bvh).first_child = 0xFFFFFFFF; });
  expect_refused_with([&](SceneBvh& bvh) { first_inner(bvh).first_child = bvh.instance_nodes; });  // a cycle
  expect_refused_with([&](SceneBvh& bvh) { first_inner(bvh).inner |= 2; });
  expect_refused_with(
      [&](SceneBvh& bvh) { first_leaf(bvh).first_pair = static_cast<std::uint32_t>(bvh.pairs.size()); });
  expect_refused_with([&](SceneBvh& bvh) { first_leaf(bvh).first_pair = 0xFFFFFFFF; });
  expect_refused_with([&](SceneBvh& bvh) { bvh.nodes[0].first_child = bvh.instance_nodes; });
  expect_refused_with([&](SceneBvh& bvh) { first_instance(bvh).instance = 99; });
  expect_refused_with([&](SceneBvh& bvh) { first_instance(bvh).root = 0; });
  expect_refused_with([&](SceneBvh& bvh) { first_instance(bvh).root = 0xFFFFFFFF; });
  expect_refused_with([&](SceneBvh& bvh) { first_instance(bvh).to_mesh.m[0] = std::nanf(""); });
  expect_refused_with([&](SceneBvh& bvh) { bvh.ids[0].triangle[0] = 0xFFFFFFF0; });
  expect_refused_with([&](SceneBvh& bvh) { bvh.ids[0].triangle[0] = kNoTriangle; });
  expect_refused_with([&](SceneBvh& bvh) { bvh.ids.pop_back(); });
  expect_refused_with([&](SceneBvh& bvh) { bvh.roots.pop_back(); });
  expect_refused_with([&](SceneBvh& bvh) { bvh.roots[0] = 0; });
  expect_refused_with([&](SceneBvh& bvh) { bvh.instance_nodes = static_cast<std::uint32_t>(bvh.nodes.size() + 1); });
  const test::TemporaryFolder folder;
  CacheOptions cache;
  cache.folder = folder.path();
  const SceneBvh bvh = build_bvh(scene, origin);
  UploadOptions options;
  options.prebuilt_bvh = &bvh;
  (void)expect_error(ErrorKind::usage, [&] { (void)upload(test::data("detector.dae"), {}, device(), options, cache); });
}

// Nothing yet -------------------------------------------------------------------------------------------------------

class EmptyGeometry : public OwnArrays {
 protected:
  template <typename... Member>
  static bool all_zero(const Member&... member) {
    return ((member == Member{}) && ...);
  }

  void expect_empty(GpuGeometry& geometry) {
    // Member by member, as what lies between members may hold anything. One that is added must be added here.
    const auto& [vertices, triangles, meshes, instances, triangle_parts, part_materials, material_codes, solid_ids,
                 colors, material_colors, solid_colors, solids, daughters, vertex_rests, vertex_count, triangle_count,
                 mesh_count, instance_count, material_count, solid_count, bvh_levels, bvh, origin, reach, optics] =
        geometry.view();
    EXPECT_TRUE(
        all_zero(vertices, triangles, meshes, instances, triangle_parts, part_materials, material_codes, solid_ids));
    EXPECT_TRUE(all_zero(colors, material_colors, solid_colors, solids, daughters, vertex_rests, vertex_count,
                         triangle_count, mesh_count));
    EXPECT_TRUE(
        all_zero(instance_count, material_count, solid_count, bvh_levels, origin[0], origin[1], origin[2], reach));
    const auto& [nodes, pairs, ids, node_count, pair_count, host_nodes, host_pairs, host_ids, frames] = bvh;
    EXPECT_TRUE(all_zero(nodes, pairs, ids, node_count, pair_count, host_nodes, host_pairs, host_ids, frames));
    const auto& [rows, buckets, materials, surfaces, points, borders, channels, channel_types, surface_count,
                 border_bucket_count, channel_type_count, raster] = optics;
    EXPECT_TRUE(all_zero(rows, buckets, materials, surfaces, points, borders, channels, channel_types));
    EXPECT_TRUE(all_zero(surface_count, border_bucket_count, channel_type_count));
    EXPECT_TRUE(raster == GeometryView{}.optics.raster);
    EXPECT_TRUE(geometry.report().arrays.empty());
    EXPECT_EQ(geometry.report().bytes(), 0U);
    EXPECT_FALSE(geometry.has(ViewArray::vertices));
    const Stream stream(device());
    const std::vector<std::uint32_t> one{0};
    const auto expect_usage = [](const auto& function) { (void)expect_error(ErrorKind::usage, function); };
    expect_usage([&] { (void)geometry.device(); });
    expect_usage([&] { (void)geometry.array(ViewArray::vertices); });
    expect_usage([&] { (void)geometry.array("mine"); });
    expect_usage([&] { trace(geometry, nullptr, nullptr, 0, stream); });
    expect_usage([&] { set_colors(geometry, one, stream); });
    expect_usage([&] { color_solids(geometry, one, 0, stream); });
    expect_usage([&] { reset_colors(geometry, stream); });
  }
};
RAYLIFT_ON_BOTH_DEVICES(EmptyGeometry);

TEST_P(EmptyGeometry, IsAnErrorToUseAndNoCrash) {
  GpuGeometry geometry;
  expect_empty(geometry);
  geometry = upload(random_scene(3), device());
  EXPECT_EQ(geometry.view().mesh_count, 5U);
  GpuGeometry& itself = geometry;
  geometry = std::move(itself);
  EXPECT_EQ(geometry.view().mesh_count, 5U);
  const GpuGeometry other = std::move(geometry);
  EXPECT_EQ(other.view().mesh_count, 5U);
  expect_empty(geometry);  // NOLINT(bugprone-use-after-move)
}

TEST_P(EmptyGeometry, GivesItsArraysBackWhenItIsReplaced) {
  const std::uint64_t before = device().memory_info().free_bytes;
  GpuGeometry geometry = upload(random_scene(3), device());
  geometry = GpuGeometry();
  EXPECT_EQ(device().memory_info().free_bytes, before);
}

// Sources -----------------------------------------------------------------------------------------------------------

TEST_P(OwnArrays, ComeFromAnyArray) {
  std::vector<float> vector{1, 2, 3};
  const std::vector<float> constant = vector;
  std::array<float, 3> array{1, 2, 3};
  float plain[]{1, 2, 3};
  const auto add = [&](std::vector<ArraySource>& sources, ArraySource source) { sources.push_back(std::move(source)); };
  std::vector<ArraySource> sources;
  add(sources, array_source("a", ArrayRank::nodes, vector));
  add(sources, array_source("b", ArrayRank::nodes, constant));
  add(sources, array_source("c", ArrayRank::nodes, array));
  add(sources, array_source("d", ArrayRank::nodes, std::span(vector)));
  add(sources, array_source("e", ArrayRank::nodes, std::span<const float>(constant)));
  add(sources, array_source("f", ArrayRank::nodes, std::span<const float, 3>(array)));
  add(sources, array_source("g", ArrayRank::nodes, std::vector<float>{1, 2, 3}));
  add(sources, array_source("h", ArrayRank::nodes, std::array<float, 3>{1, 2, 3}));
  add(sources, array_source("i", ArrayRank::nodes, plain));
  for (const ArraySource& source : sources) {
    EXPECT_EQ(source.element_bytes, sizeof(float));
    EXPECT_EQ(source.count, 3U);
  }
  const ResidentArrays resident = upload(sources, device(), no_reserve());
  for (const Memory& one : resident.arrays) EXPECT_EQ(read<float>(one), vector);
  // By value: what changes after the source was made is no matter to those, and to the others it is.
  vector[0] = 9;
  EXPECT_EQ(read<float>(upload({&sources[0], 1}, device()).arrays[0])[0], 9);
  (void)expect_error(ErrorKind::usage, [&] { (void)view_source(ViewArray::vertices, vector); });
  EXPECT_EQ(view_source(ViewArray::colors, std::vector<std::uint32_t>{1, 2}).count, 2U);
}

template <class Values>
concept CanBeASource = requires(Values&& values) {
  array_source("name", ArrayRank::nodes, std::forward<Values>(values));
};
static_assert(CanBeASource<std::vector<int>&> && CanBeASource<const std::vector<int>&> &&
              CanBeASource<std::vector<int>>);
static_assert(!CanBeASource<std::vector<bool>&> && !CanBeASource<int>);

}  // namespace
}  // namespace raylift
