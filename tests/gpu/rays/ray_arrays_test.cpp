// SPDX-License-Identifier: Apache-2.0
// Rays from arrays, and hits into arrays, on each device: what the scene and plain loops say.
#include <gtest/gtest.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/rays/arrays.h>
#include <raylift/gpu/rays/trace.h>

#include <random>

#include "support/devices.h"
#include "support/random_scenes.h"

namespace raylift {
namespace {

class RayArraysOn : public test::OnDevice {
 protected:
  template <class T>
  DeviceBuffer<T> put(const std::vector<T>& values) {
    DeviceBuffer<T> buffer(device(), values.size());
    buffer.copy_from(std::span<const T>(values), stream());
    stream().synchronize();
    return buffer;
  }
  template <class T>
  std::vector<T> get(const DeviceBuffer<T>& buffer) {
    std::vector<T> values(buffer.size());
    buffer.copy_to(std::span<T>(values), stream());
    stream().synchronize();
    return values;
  }
  const Stream& stream() {
    if (!stream_) stream_.emplace(device());
    return *stream_;
  }

 private:
  std::optional<Stream> stream_;
};

TEST_P(RayArraysOn, PackAnyStrideAndSubtractInDouble) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> near(-1, 1);
  constexpr std::size_t kRays = 1001;
  std::vector<double> origins(kRays * 5);  // five columns, of which the last three count
  for (double& x : origins) x = 3e9 + near(random);
  std::vector<float> directions(3 * kRays);  // column by column
  for (float& x : directions) x = static_cast<float>(near(random));
  const auto device_origins = put(origins);
  const auto device_directions = put(directions);
  const DeviceBuffer<Ray> rays(device(), kRays);
  RayArrays arrays;
  arrays.origins = {reinterpret_cast<const std::byte*>(device_origins.device() + 2), 40, 8, true};
  arrays.directions = {reinterpret_cast<const std::byte*>(device_directions.device()), 4, 4 * kRays, false};
  for (double& x : arrays.shift) x = 3e9;
  arrays.tmin = 0.5F;
  arrays.tmax = 7;
  pack_rays(device(), arrays, rays.device(), kRays, stream());
  const std::vector<Ray> packed = get(rays);
  for (std::size_t i = 0; i != kRays; ++i) {
    ASSERT_EQ(packed[i].origin.x, static_cast<float>(origins[5 * i + 2] - 3e9)) << i;
    ASSERT_EQ(packed[i].origin.z, static_cast<float>(origins[5 * i + 4] - 3e9)) << i;
    ASSERT_EQ(packed[i].direction.x, directions[i]);
    ASSERT_EQ(packed[i].direction.y, directions[kRays + i]);
    ASSERT_EQ(packed[i].direction.z, directions[2 * kRays + i]);
    ASSERT_EQ(packed[i].tmin, 0.5F);
    ASSERT_EQ(packed[i].tmax, 7);
  }
}

TEST_P(RayArraysOn, UnpackWhatTheSceneSaysOfEachHit) {
  const Scene scene = test::random_scene(6, 4, 200);
  for (const bool flatten : {false, true}) {
    UploadOptions options;
    options.bvh = true;
    options.flatten = flatten;
    const GpuGeometry geometry = upload(scene, device(), options);
    std::mt19937 random(5);
    std::uniform_real_distribution<float> place(-500, 3000);
    std::vector<Ray> rays(5000);
    for (Ray& ray : rays) {
      ray.origin = LocalPoint(place(random), place(random), place(random));
      ray.direction = {place(random) - 1500, place(random) - 1500, place(random) - 1500};
    }
    const auto device_rays = put(rays);
    const DeviceBuffer<Hit> hits(device(), rays.size());
    trace(geometry, device_rays.device(), hits.device(), rays.size(), stream());
    const DeviceBuffer<std::uint8_t> valid(device(), rays.size()), from_inside(device(), rays.size());
    const DeviceBuffer<std::uint32_t> instances(device(), rays.size()), solids(device(), rays.size());
    const DeviceBuffer<std::uint16_t> inside(device(), rays.size()), outside(device(), rays.size());
    unpack_hits(
        geometry, hits.device(),
        {valid.device(), from_inside.device(), instances.device(), solids.device(), inside.device(), outside.device()},
        rays.size(), stream());
    const auto host_hits = get(hits);
    const auto is_valid = get(valid), leaves = get(from_inside);
    const auto instance = get(instances), solid = get(solids);
    const auto in = get(inside), out = get(outside);
    std::size_t found = 0;
    for (std::size_t i = 0; i != rays.size(); ++i) {
      ASSERT_EQ(is_valid[i] != 0, host_hits[i].triangle != kNoTriangle);
      if (is_valid[i] == 0) {
        ASSERT_EQ(instance[i], kNone);
        ASSERT_EQ(solid[i], kNone);
        ASSERT_EQ(in[i], MaterialCode::none);
        continue;
      }
      ++found;
      ASSERT_EQ(leaves[i], host_hits[i].from_inside);
      ASSERT_EQ(instance[i], flatten ? 0U : host_hits[i].instance);
      // The triangle's solid and materials, counted through the scene.
      std::uint32_t first = 0, expected = kNone;
      if (flatten) {
        for (std::uint32_t s = 0; s != scene.instances.size(); ++s) {
          const auto here = static_cast<std::uint32_t>(scene.meshes[scene.instances[s].mesh].triangles.size());
          if (host_hits[i].triangle < first + here) {
            expected = s;
            break;
          }
          first += here;
        }
      } else {
        expected = host_hits[i].instance;
        for (std::uint32_t m = 0; m != scene.instances[expected].mesh; ++m)
          first += static_cast<std::uint32_t>(scene.meshes[m].triangles.size());
      }
      ASSERT_EQ(solid[i], expected) << "ray " << i;
      const Instance& placed = scene.instances[expected];
      const std::uint32_t in_mesh = host_hits[i].triangle - first;
      std::size_t part = 0;
      const auto& parts = scene.meshes[placed.mesh].parts;
      while (in_mesh >= parts[part].first_triangle + parts[part].triangle_count) ++part;
      ASSERT_EQ(in[i], MaterialCode::pack(scene.material(placed, part)));
      ASSERT_EQ(out[i], MaterialCode::pack(placed.outside));
    }
    EXPECT_GT(found, 100U);
  }
}

RAYLIFT_ON_BOTH_DEVICES(RayArraysOn);

}  // namespace
}  // namespace raylift
