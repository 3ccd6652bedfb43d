// SPDX-License-Identifier: Apache-2.0
// Rays with a NaN meet nothing, in every query, and take no step through the tree to find that out.
#include <gtest/gtest.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/rays/boundary.h>
#include <raylift/gpu/rays/trace.h>

#include <algorithm>
#include <cmath>

#include "bvh/bvh_lanes.h"
#include "geometry/src/bvh/bvh_batch.h"
#include "rays.h"
#include "support/devices.h"
#include "support/random_scenes.h"

namespace raylift {
namespace {

using test::with_bvh;

/// Rays through the middle of the random scene's meshes, and each with a NaN in one of its eight numbers.
struct Rays {
  std::vector<Ray> sound;
  std::vector<Ray> unsound;

  explicit Rays(const GeometryView& view) {
    for (int i = 0; i != 16; ++i) {
      Ray ray;
      ray.origin = LocalPoint(static_cast<float>(-view.origin[0]) + static_cast<float>(i * 5), 300, 7);
      ray.direction = {0.01F * static_cast<float>(i), -1, 0.02F};
      ray.tmax = 10'000;
      sound.push_back(ray);
      for (int k = 0; k != 8; ++k) {
        Ray wrong = ray;
        float* const numbers[] = {&wrong.origin.x,    &wrong.origin.y,    &wrong.origin.z,    &wrong.tmin,
                                  &wrong.direction.x, &wrong.direction.y, &wrong.direction.z, &wrong.tmax};
        *numbers[k] = k % 2 == 0 ? std::nanf("") : -std::nanf("");
        unsound.push_back(wrong);
      }
    }
  }
};

class NanRays : public test::OnDevice {
 protected:
  std::size_t hits(const GpuGeometry& geometry, const std::vector<Ray>& rays) {
    const Stream stream(device());
    DeviceBuffer<Ray> on_device(device(), rays.size());
    on_device.copy_from(std::span<const Ray>(rays), stream);
    const DeviceBuffer<Hit> found(device(), rays.size());
    trace(geometry, on_device.device(), found.device(), rays.size(), stream);
    std::vector<Hit> hits(rays.size());
    device().backend()->copy_to_host(hits.data(), found.device(), hits.size() * sizeof(Hit), stream.handle());
    stream.synchronize();
    return count(hits);
  }
  static std::size_t count(const std::vector<Hit>& hits) {
    return static_cast<std::size_t>(std::count_if(hits.begin(), hits.end(), [](const Hit& h) { return h.valid(); }));
  }
};
RAYLIFT_ON_BOTH_DEVICES(NanRays);

TEST_P(NanRays, MeetNothingInABatch) {
  for (const bool flat : {false, true}) {
    const GpuGeometry geometry = upload(test::random_scene(1), device(), with_bvh(flat));
    const Rays rays(geometry.view());
    EXPECT_GT(hits(geometry, rays.sound), 8U);
    EXPECT_EQ(hits(geometry, rays.unsound), 0U);
  }
}

/// Counts the nodes that are visited, and one more: also where there is none left it is asked how far to look.
struct Steps {
  static constexpr bool kSmall = false;
  float tmin;
  int* count;
  [[nodiscard]] float farthest() const {
    ++*count;
    return std::numeric_limits<float>::infinity();
  }
  [[nodiscard]] bool done() const { return false; }
  [[nodiscard]] static float around() { return 0; }
  bool offer(const BvhView&, const bvh_detail::Impression&, bvh_detail::Site) { return false; }
  void decide(const BvhView&, const Ray&, bvh_detail::Site) {}
};

template <bool kScene>
int steps(const BvhView& bvh, const Ray& ray) {
  int count = 0;
  bvh_detail::Stack<kScene> stack;
  Steps query{ray.tmin, &count};
  bvh_detail::traverse<kScene>(bvh, ray, stack, query);
  return count;
}

TEST(NanRaysOnTheHost, TakeNoStepInAnyQuery) {
  for (const bool flat : {false, true}) {
    const GpuGeometry geometry = upload(test::random_scene(1), Device::host(), with_bvh(flat));
    const GeometryView& view = geometry.view();
    const Rays rays(view);
    const auto accept = [](std::uint32_t, std::uint32_t, bool, float) { return true; };
    const auto steps_of = [&](const Ray& ray) {
      return flat ? steps<false>(view.bvh, ray) : steps<true>(view.bvh, ray);
    };
    for (const Ray& ray : rays.sound) EXPECT_GT(steps_of(ray), 1);
    for (const Ray& ray : rays.unsound) {
      EXPECT_EQ(steps_of(ray), 1);
      EXPECT_FALSE(closest_hit(view, ray).valid());
      EXPECT_FALSE(closest_hit(view, ray, accept).valid());
      EXPECT_FALSE(any_hit(view, ray));
      if (std::isnan(ray.tmin)) continue;  // a FineRay has none
      const Boundary next = next_boundary(view, fine_ray(ray), {});
      EXPECT_FALSE(next.crosses());
      EXPECT_EQ(next.triangle, kNoTriangle);
      const bool nowhere = std::isnan(ray.origin.x + ray.origin.y + ray.origin.z);
      EXPECT_TRUE(!nowhere || locate(view, ray.origin).solid == kNoSolid);
    }
  }
}

TEST(NanRaysOnTheHost, MeetNothingWithAnyInstructions) {
  for (const bool flat : {false, true}) {
    const GpuGeometry geometry = upload(test::random_scene(1), Device::host(), with_bvh(flat));
    const Rays rays(geometry.view());
    const BvhLevels levels = flat ? BvhLevels::mesh : BvhLevels::scene;
    std::vector<decltype(&bvh::trace_portable)> ways{bvh::trace_portable};
    if (bvh::has_avx2()) ways.push_back(bvh::trace_avx2);
    if (bvh::has_avx512()) ways.push_back(bvh::trace_avx512);
    for (const auto& trace_with : ways) {
      std::vector<Hit> hits(rays.unsound.size());
      trace_with(geometry.view().bvh, levels, rays.unsound.data(), hits.data(), hits.size());
      for (const Hit& hit : hits) EXPECT_FALSE(hit.valid());
    }
  }
}

}  // namespace
}  // namespace raylift
