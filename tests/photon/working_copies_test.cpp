// SPDX-License-Identifier: Apache-2.0
// Photons through a geometry in host memory, whole or in part, on every device.
#include "working_copies.h"

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>

#include <cstring>

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

std::vector<std::byte> bytes_of(const Memory& memory, std::size_t bytes, const Stream& stream) {
  std::vector<std::byte> all(bytes);
  memory.copy_to(all, stream);
  stream.synchronize();
  return all;
}

TEST_P(WorkingCopiesOfArrays, HoldTheBytesOfWhatStepsRead) {
  for (const bool flatten : {false, true}) {
    const GpuGeometry geometry = upload(shells_with_skin(), device(), mapped(flatten));
    const Stream stream(device());
    const WorkingCopies copies(geometry, stream, UINT64_MAX, UINT64_MAX);
    const GeometryView &from = geometry.view(), &to = copies.view();
    EXPECT_NE(to.bvh.nodes, from.bvh.nodes);
    EXPECT_NE(to.bvh.pairs, from.bvh.pairs);
    EXPECT_NE(to.solids, from.solids);
    EXPECT_NE(to.optics.rows, from.optics.rows);
    EXPECT_EQ(to.vertices, from.vertices) << "steps read pairs";
    EXPECT_EQ(to.colors, from.colors);
    EXPECT_EQ(to.solid_ids == from.solid_ids, !flatten);
    EXPECT_EQ(to.bvh.pair_count, from.bvh.pair_count);
    EXPECT_EQ(to.bvh.host_pairs, 0U);
    EXPECT_NE(from.bvh.host_pairs, 0U);
    const std::size_t bytes = from.bvh.pair_count * sizeof(*from.bvh.pairs);
    const Memory copied = Memory::external(
        device(), reinterpret_cast<std::byte*>(const_cast<bvh_detail::TrianglePair*>(to.bvh.pairs)), bytes);
    EXPECT_EQ(bytes_of(copied, bytes, stream), bytes_of(geometry.array(ViewArray::pairs), bytes, stream));
  }
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

// Where a part of an array is in device memory, both parts are copied.
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
