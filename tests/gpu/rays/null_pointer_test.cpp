// SPDX-License-Identifier: Apache-2.0
// Every call that takes an array refuses a null pointer before anything runs, on each device.
#include <gtest/gtest.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/rays/arrays.h>
#include <raylift/gpu/rays/trace.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/src/bvh/bvh_build.h"
#include "support/devices.h"
#include "support/expect_error.h"
#include "support/random_scenes.h"

namespace raylift {
namespace {

class NullPointers : public test::OnDevice {};

TEST_P(NullPointers, AreRefusedWhereThereAreElements) {
  const GpuGeometry geometry = upload(test::random_scene(1), device());
  const GeometryView& view = geometry.view();
  const Stream stream(device());
  const DeviceBuffer<Ray> rays(device(), 3);
  const DeviceBuffer<Hit> hits(device(), 3);
  const DeviceBuffer<std::uint32_t> numbers(device(), 3);
  const DeviceBuffer<float> floats(device(), 9);
  RayArrays no_origins, no_directions, both;
  no_origins.directions.data = no_directions.origins.data = both.origins.data = both.directions.data = floats.device();
  const std::vector<std::pair<std::string, std::function<void(std::size_t)>>> calls{
      {"trace: rays", [&](std::size_t n) { trace(geometry, nullptr, hits.device(), n, stream); }},
      {"trace: hits", [&](std::size_t n) { trace(geometry, rays.device(), nullptr, n, stream); }},
      {"trace of a BVH: rays", [&](std::size_t n) { trace(device(), BvhView{}, nullptr, hits.device(), n, stream); }},
      {"trace of a BVH: hits", [&](std::size_t n) { trace(device(), BvhView{}, rays.device(), nullptr, n, stream); }},
      {"count_hits: rays", [&](std::size_t n) { count_hits(geometry, nullptr, numbers.device(), n, stream); }},
      {"count_hits: numbers", [&](std::size_t n) { count_hits(geometry, rays.device(), nullptr, n, stream); }},
      {"all_hits: ends", [&](std::size_t n) { all_hits(geometry, rays.device(), nullptr, hits.device(), n, stream); }},
      {"pack_rays: origins", [&](std::size_t n) { pack_rays(device(), no_origins, rays.device(), n, stream); }},
      {"pack_rays: directions", [&](std::size_t n) { pack_rays(device(), no_directions, rays.device(), n, stream); }},
      {"pack_rays: rays", [&](std::size_t n) { pack_rays(device(), both, nullptr, n, stream); }},
      {"unpack_hits: hits", [&](std::size_t n) { unpack_hits(geometry, nullptr, {}, n, stream); }},
      {"build_bvh: vertices",
       [&](std::size_t n) { (void)build_bvh(device(), nullptr, n, view.triangles, 0, {}, stream); }},
      {"build_bvh: triangles",
       [&](std::size_t n) { (void)build_bvh(device(), view.vertices, 3, nullptr, n, {}, stream); }},
      {"Memory::external: data", [&](std::size_t n) { (void)Memory::external(device(), nullptr, n); }},
  };
  for (const auto& pair : calls) {
    const auto& call = pair.second;
    SCOPED_TRACE(pair.first);
    const Error error = test::expect_error(ErrorKind::usage, [&] { call(3); });
    EXPECT_NE(std::string(error.what()).find("an array of 3 elements is a null pointer"), std::string::npos);
    EXPECT_NO_THROW(call(0)) << "no element, no array";
  }
  EXPECT_NO_THROW(stream.synchronize());
}

RAYLIFT_ON_BOTH_DEVICES(NullPointers);

}  // namespace
}  // namespace raylift
