// SPDX-License-Identifier: Apache-2.0
// Device memory out of a program's own allocator, on each device: what comes from it, what placement makes of it, and
// that all of it goes back.
#include <raylift/geometry/bvh/scene_bvh.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <algorithm>

#include "gpu/arena.h"
#include "gpu/test_backend.h"
#include "support/devices.h"
#include "support/expect_error.h"
#include "support/random_scenes.h"
#include "support/triangles_and_rays.h"

namespace raylift {
namespace {

using test::Arena;
using test::random_scene;

class Resources : public test::OnDevice {
 protected:
  UploadOptions from(const std::shared_ptr<Arena>& arena) {
    UploadOptions options;
    options.reserve = 0;
    options.memory = arena;
    return options;
  }
  std::vector<std::byte> bytes_of(const Memory& array) {
    const Stream stream(device());
    std::vector<std::byte> bytes(array.bytes());
    array.copy_to(bytes, stream);
    stream.synchronize();
    return bytes;
  }
  /// Where arrays lie, and that they are what they would be elsewhere.
  void expect_in(const Arena& arena, const GpuGeometry& geometry, const GpuGeometry& plain) {
    std::uint64_t whole = 0;
    for (const ResidencyReport::Array& row : geometry.report().arrays) {
      const Memory& array = geometry.array(row.name);
      if (row.bytes != 0) {
        EXPECT_EQ(arena.has(array.device()), row.where == Residency::device) << row.name;
      }
      EXPECT_EQ(array.where(), row.where);
      if (row.where == Residency::device) whole += row.bytes;
      EXPECT_EQ(bytes_of(array), bytes_of(plain.array(row.name))) << row.name;
    }
    EXPECT_EQ(arena.given_bytes(), whole);
  }
};
RAYLIFT_ON_BOTH_DEVICES(Resources);

TEST_P(Resources, GiveEveryByteOfWholeArraysAndGetItBack) {
  const Scene scene = random_scene(3);
  const auto arena = std::make_shared<Arena>(device(), std::size_t{16} << 20);
  const Stream stream(device());
  for (const bool async : {false, true}) {
    const GpuGeometry plain = upload(scene, device());
    const std::uint64_t free = device().memory_info().free_bytes;
    {
      const GpuGeometry geometry =
          async ? upload_async(scene, device(), stream, from(arena)) : upload(scene, device(), from(arena));
      stream.synchronize();
      EXPECT_EQ(device().memory_info().free_bytes, free) << "taken beside the resource";
      expect_in(*arena, geometry, plain);
      EXPECT_EQ(geometry.report().device_bytes(), arena->given_bytes());
    }
    EXPECT_EQ(arena->given_bytes(), 0U);
    EXPECT_EQ(arena->faults(), 0);
  }
  EXPECT_EQ(arena->streams(), (std::set<StreamHandle>{nullptr, stream.handle()}));
}

TEST_P(Resources, LiveAsLongAsTheirArrays) {
  std::weak_ptr<Arena> watched;
  {
    GpuGeometry geometry;
    {
      const auto arena = std::make_shared<Arena>(device(), std::size_t{16} << 20);
      watched = arena;
      geometry = upload(random_scene(3), device(), from(arena));
    }
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

TEST_P(Resources, ThatSayWhatTheyHaveAreAllThatPlacementUses) {
  const Scene scene = random_scene(4, 5, 40'000);
  const std::size_t bytes = std::size_t{5} << 20;
  const auto arena = std::make_shared<Arena>(device(), bytes);
  arena->state_free();
  const GpuGeometry plain = upload(scene, device());
  const GpuGeometry geometry = upload(scene, device(), from(arena));
  EXPECT_EQ(geometry.report().free_before, bytes);
  EXPECT_EQ(geometry.report().free_after, *arena->free_bytes());
  EXPECT_GT(geometry.report().host_bytes(), 0U);
  EXPECT_GT(geometry.report().device_bytes(), 0U);
  for (const ResidencyReport::Array& row : geometry.report().arrays) {
    EXPECT_NE(row.where, Residency::split) << row.name;
    EXPECT_FALSE(row.fell_back) << row.name;
  }
  expect_in(*arena, geometry, plain);
}

TEST_P(Resources, ThatRunOutAreFollowedByTheNextBestPlace) {
  const Scene scene = random_scene(4, 5, 40'000);
  const auto arena = std::make_shared<Arena>(device(), std::size_t{5} << 20);
  const GpuGeometry plain = upload(scene, device());
  const GpuGeometry geometry = upload(scene, device(), from(arena));
  const auto& rows = geometry.report().arrays;
  EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [](const ResidencyReport::Array& row) { return row.fell_back; }));
  expect_in(*arena, geometry, plain);
  UploadOptions strict = from(std::make_shared<Arena>(device(), std::size_t{1} << 20));
  strict.policy = PlacementPolicy::device;
  (void)test::expect_error(ErrorKind::out_of_device_memory, [&] { (void)upload(scene, device(), strict); });
}

TEST_P(Resources, CountInTheBudget) {
  const Scene scene = random_scene(4, 5, 40'000);
  const auto arena = std::make_shared<Arena>(device(), std::size_t{64} << 20);
  UploadOptions options = from(arena);
  options.budget = 3'000'000;
  const GpuGeometry geometry = upload(scene, device(), options);
  EXPECT_LE(geometry.report().device_bytes(), options.budget);
  EXPECT_LE(arena->given_bytes(), options.budget);
  EXPECT_GT(arena->given_bytes(), 0U);
}

TEST_P(Resources, MustAlign) {
  const auto arena = std::make_shared<Arena>(device(), std::size_t{16} << 20);
  arena->misalign();
  (void)test::expect_error(ErrorKind::usage, [&] { (void)upload(random_scene(3), device(), from(arena)); });
  EXPECT_EQ(arena->given_bytes(), 0U);
  EXPECT_EQ(arena->faults(), 0);
  (void)test::expect_error(ErrorKind::usage, [&] { (void)Memory::from(nullptr, device(), nullptr, 1); });
}

TEST_P(Resources, GetEverythingBackWhenSomethingFails) {
  const Scene scene = random_scene(7, 3, 40'000);
  const auto backend = std::make_shared<test::TestBackend>(device().backend());
  const auto arena = std::make_shared<Arena>(device(), std::size_t{64} << 20);
  for (const bool async : {false, true})
    for (const int nth : {0, 1, 2}) {
      const Device wrapped(backend);
      backend->fail(test::TestBackend::copy, nth);
      (void)test::expect_error(ErrorKind::device, [&] {
        (void)(async ? upload_async(scene, wrapped, nullptr, from(arena)) : upload(scene, wrapped, from(arena)));
      });
      EXPECT_EQ(arena->given_bytes(), 0U);
      EXPECT_EQ(arena->faults(), 0);
    }
}

/// A BVH that the device builds is first in memory of its own.
TEST_P(Resources, HaveWhatTheDeviceBuilt) {
  const test::Triangles mesh = test::bumpy_sphere(200, 100, 0.1);
  FlatScene flat;
  flat.vertices.assign(mesh.vertices.begin(), mesh.vertices.end());
  flat.triangles.assign(mesh.triangles.begin(), mesh.triangles.end());
  flat.material_codes.resize(flat.triangles.size());
  flat.solid_ids.resize(flat.triangles.size());
  flat.colors.resize(flat.triangles.size());
  ASSERT_GE(flat.triangles.size(), kLargeMesh);
  const auto arena = std::make_shared<Arena>(device(), std::size_t{64} << 20);
  UploadOptions options = from(arena);
  options.bvh_builder = UploadOptions::BvhBuilder::device;
  UploadOptions elsewhere = options;
  elsewhere.memory = nullptr;
  const GpuGeometry geometry = upload(flat, {}, device(), options);
  expect_in(*arena, geometry, upload(flat, {}, device(), elsewhere));
  for (const ResidencyReport::Array& row : geometry.report().arrays)
    EXPECT_EQ(row.where, Residency::device) << row.name;
}

}  // namespace
}  // namespace raylift
