// SPDX-License-Identifier: Apache-2.0
// Photons through a geometry in host memory, whole or in part, on every device.
#include "working_copies.h"

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>

#include "shells.h"

namespace raylift::photon {
namespace {

class WorkingCopiesOfArrays : public test::OfPhotons {};
RAYLIFT_ON_BOTH_DEVICES(WorkingCopiesOfArrays);

Scene shells_with_skin() {
  Scene scene = shells(
      {{3000, {flat("RINDEX", 1), flat("ABSLENGTH", 3000)}}, {1000, {flat("RINDEX", 1.4), flat("RAYLEIGH", 500)}}});
  add_skin(scene, SurfaceModel::simple, {flat("DETECT", 0.3), flat("REFLECT_DIFFUSE", 0.4)});
  return scene;
}

UploadOptions mapped(bool flatten) {
  UploadOptions options;
  options.bvh = true;
  options.bvh_builder = UploadOptions::BvhBuilder::host;
  options.flatten = flatten;
  options.policy = PlacementPolicy::mapped;
  return options;
}

/// Whether `count` elements at two addresses of the device have the same bytes.
template <class T>
bool alike(const Device& device, const T* a, const T* b, std::size_t count, const Stream& stream) {
  const auto bytes = [&](const T* from) {
    std::vector<std::byte> all(count * sizeof(T));
    auto* const data = reinterpret_cast<std::byte*>(const_cast<T*>(from));
    Memory::external(device, data, all.size()).copy_to(all, stream);
    stream.synchronize();
    return all;
  };
  return bytes(a) == bytes(b);
}

// Where a part of an array is in device memory, both parts are copied.
TEST_P(WorkingCopiesOfArrays, HoldTheBytesOfWhatStepsRead) {
  Scene scene = shells_with_skin();
  scene.meshes[0] = test::sphere(7);  // arrays of several pages
  const Stream stream(device());
  bool split = false;
  for (const bool flatten : {false, true}) {
    const GpuGeometry whole = upload(scene, device(), mapped(flatten));
    for (const double share : {0.0, 0.2, 0.4, 0.6, 0.8}) {
      UploadOptions options = mapped(flatten);
      options.policy = PlacementPolicy::automatic;
      options.reserve = 0;
      options.budget = static_cast<std::uint64_t>(share * static_cast<double>(whole.report().bytes()));
      const GpuGeometry geometry = upload(scene, device(), options);
      WorkingCopies copies(geometry, stream, UINT64_MAX, UINT64_MAX);
      copies.copy(geometry, stream);
      const GeometryView &from = whole.view(), &to = copies.view();
      EXPECT_TRUE(alike(device(), to.bvh.nodes, from.bvh.nodes, from.bvh.node_count, stream));
      EXPECT_TRUE(alike(device(), to.bvh.pairs, from.bvh.pairs, from.bvh.pair_count, stream));
      EXPECT_TRUE(alike(device(), to.bvh.ids, from.bvh.ids, from.bvh.pair_count, stream));
      EXPECT_TRUE(alike(device(), to.solids, from.solids, from.solid_count, stream));
      EXPECT_TRUE(alike(device(), to.instances, from.instances, from.instance_count, stream));
      EXPECT_TRUE(alike(device(), to.optics.surfaces, from.optics.surfaces, from.optics.surface_count, stream));
      if (flatten) {
        EXPECT_TRUE(alike(device(), to.solid_ids, from.solid_ids, from.triangle_count, stream));
      }
      EXPECT_EQ(to.bvh.host_nodes + to.bvh.host_pairs + to.bvh.host_ids, 0U);
      EXPECT_EQ(to.vertices, geometry.view().vertices) << "steps read pairs";
      EXPECT_EQ(to.colors, geometry.view().colors);
      const auto reads = [](const ResidencyReport::Array& row) {
        return row.name == "nodes" || row.name == "pairs" || row.name == "pair_ids" || row.name == "solid_ids";
      };
      std::uint64_t far = 0;
      for (const ResidencyReport::Array& row : geometry.report().arrays) {
        if (reads(row) && row.host_bytes != 0) far += row.bytes;
        split = split || (reads(row) && row.where == Residency::split);
      }
      EXPECT_GE(copies.bytes(), far);
    }
  }
  EXPECT_TRUE(split || !device().info().splits_arrays);
}

TEST_P(WorkingCopiesOfArrays, LeaveOutWhatIsTooLarge) {
  const GpuGeometry geometry = upload(shells_with_skin(), device(), mapped(true));
  const Stream stream(device());
  const std::uint64_t pairs = geometry.view().bvh.pair_count * sizeof(bvh_detail::TrianglePair);
  for (const auto& [worthwhile, most] : {std::pair{pairs - 1, UINT64_MAX}, {UINT64_MAX, pairs - 1}}) {
    const WorkingCopies copies(geometry, stream, worthwhile, most);
    EXPECT_EQ(copies.view().bvh.pairs, geometry.view().bvh.pairs);
    EXPECT_EQ(copies.view().bvh.host_pairs, geometry.view().bvh.host_pairs);
    EXPECT_NE(copies.view().solids, geometry.view().solids);
    EXPECT_LE(copies.bytes(), most);
  }
  EXPECT_EQ(WorkingCopies(geometry, stream, 0, UINT64_MAX).bytes(), 0U);
  EXPECT_EQ(WorkingCopies(geometry, stream, UINT64_MAX, 0).bytes(), 0U);
}

TEST_P(WorkingCopiesOfArrays, PhotonsHaveTheSameBitsWhereverArraysAre) {
  const Scene scene = shells_with_skin();
  Source source;
  source.radius = 2500;
  for (const bool flatten : {false, true}) {
    UploadOptions options = mapped(flatten);
    options.policy = PlacementPolicy::automatic;
    const GpuGeometry whole = upload(scene, device(), options);
    const std::vector<Outcome> wanted = run(whole, source, {.seed = 5}, 50'000);
    options.reserve = 0;
    for (const double share : {0.9, 0.5, 0.25, 0.0}) {
      options.budget = static_cast<std::uint64_t>(share * static_cast<double>(whole.report().bytes()));
      const GpuGeometry part = upload(scene, device(), options);
      ASSERT_NE(part.report().host_bytes(), 0U);
      EXPECT_EQ(differing(run(part, source, {.seed = 5}, wanted.size()), wanted), 0U) << share;
    }
  }
}

TEST_P(WorkingCopiesOfArrays, MemoryIsCopiedToDeviceMemoryAlone) {
  const Stream stream(device());
  const Memory from = Memory::on_device(device(), 100);
  Memory small = Memory::on_device(device(), 99), mapped = Memory::mapped(device(), 100, {});
  for (Memory* const to : {&small, &mapped}) {
    try {
      from.copy_to(*to, stream);
      ADD_FAILURE() << "copied";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
    }
  }
}

}  // namespace
}  // namespace raylift::photon
