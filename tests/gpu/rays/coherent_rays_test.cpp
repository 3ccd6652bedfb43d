// SPDX-License-Identifier: Apache-2.0
// Rays that lie close together, which trace() may take through the tree as one: each hits what it hits alone.
#include <gtest/gtest.h>
#include <raylift/gpu/rays/query.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "rays.h"
#include "support/devices.h"

namespace raylift {
namespace {

using test::closed_scene;
using test::trace_all;
using test::with_bvh;

std::array<std::uint32_t, 8> bits_of(const Hit& hit) {
  return std::bit_cast<std::array<std::uint32_t, 8>>(hit);
}

/// What each ray hits on its own, by the host's code. Returns how many hit something.
std::size_t expect_hits_of_single_rays(const Scene& scene, const std::vector<Ray>& rays, const Device& device) {
  std::size_t found = 0;
  for (const bool flat : {false, true}) {
    const GpuGeometry alone = upload(scene, Device::host(), with_bvh(flat));
    const std::vector<Hit> hits = trace_all(upload(scene, device, with_bvh(flat)), rays);
    for (std::size_t i = 0; i != rays.size(); ++i) {
      const Hit wanted = closest_hit(alone.view(), rays[i]);
      found += wanted.valid() ? 1 : 0;
      EXPECT_EQ(hits[i].triangle, wanted.triangle) << "ray " << i << ", flat " << flat;
      if (!wanted.valid()) {
        EXPECT_EQ(std::bit_cast<std::uint32_t>(hits[i].t), std::bit_cast<std::uint32_t>(wanted.t)) << "ray " << i;
        EXPECT_EQ(hits[i].instance, 0U) << "ray " << i;
        continue;
      }
      EXPECT_EQ(hits[i].t, wanted.t) << "ray " << i;
      EXPECT_EQ(hits[i].u, wanted.u) << "ray " << i;
      EXPECT_EQ(hits[i].v, wanted.v) << "ray " << i;
      EXPECT_EQ(hits[i].normal, wanted.normal) << "ray " << i;
      EXPECT_EQ(hits[i].instance, wanted.instance) << "ray " << i;
      EXPECT_EQ(hits[i].from_inside, wanted.from_inside) << "ray " << i;
      if (testing::Test::HasFailure()) return found;
    }
  }
  return found;
}

/// Through a square of pixels that are `pixel` wide at a distance of 1, in tiles of 8 x 4.
std::vector<Ray> camera(Float3 eye, Eigen::Vector3d towards, double pixel, std::size_t side = 96) {
  towards.normalize();
  const Eigen::Vector3d across = towards.unitOrthogonal(), up = towards.cross(across);
  std::vector<Ray> rays(side * side);
  for (std::size_t i = 0; i != rays.size(); ++i) {
    const std::size_t tile = i / 32, column = tile % (side / 8) * 8 + i % 8, row = tile / (side / 8) * 4 + i % 32 / 8;
    const double middle = 0.5 * static_cast<double>(side);
    const Eigen::Vector3d d =
        towards + pixel * ((static_cast<double>(column) - middle) * across + (static_cast<double>(row) - middle) * up);
    rays[i].origin = LocalPoint(eye);
    rays[i].direction = {static_cast<float>(d.x()), static_cast<float>(d.y()), static_cast<float>(d.z())};
  }
  return rays;
}

class CoherentRays : public test::OnDevice {
 protected:
  const Scene scene_ = closed_scene(24, 40);
};
RAYLIFT_ON_BOTH_DEVICES(CoherentRays);

TEST_P(CoherentRays, OfACameraHitWhatTheyHitAlone) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(-1, 1);
  std::size_t found = 0;
  for (const double pixel : {1e-5, 3e-4, 2e-3, 2e-2, 0.2})
    for (const float far : {0.0F, 3000.0F, 1e6F}) {
      const double z = unit(random), y = unit(random), x = unit(random);
      const Eigen::Vector3d towards(x, y, z);
      const Eigen::Vector3f eye = -far * towards.normalized().cast<float>();
      SCOPED_TRACE("pixel " + std::to_string(pixel) + ", eye at " + std::to_string(far));
      const std::vector<Ray> rays = camera({eye.x(), eye.y(), eye.z()}, towards, far > 1e5F ? 1e-3 * pixel : pixel);
      found += expect_hits_of_single_rays(scene_, rays, device());
    }
  EXPECT_GT(found, 15'000U);
}

TEST_P(CoherentRays, AlongAnAxisAndOffset) {
  for (int axis = 0; axis != 3; ++axis)
    for (const float sign : {-1.0F, 1.0F}) {
      constexpr std::size_t kSide = 64;
      std::vector<Ray> rays(kSide * kSide);
      for (std::size_t i = 0; i != rays.size(); ++i) {
        const std::size_t column = i % kSide, row = i / kSide;
        float origin[3], direction[3] = {};
        direction[axis] = sign;
        origin[axis] = -2500 * sign;
        origin[(axis + 1) % 3] = -1600 + 50 * static_cast<float>(column);
        origin[(axis + 2) % 3] = -1600 + 50 * static_cast<float>(row);
        rays[i].origin = LocalPoint(origin[0], origin[1], origin[2]);
        rays[i].direction = {direction[0], direction[1], direction[2]};
      }
      EXPECT_GT(expect_hits_of_single_rays(scene_, rays, device()), 100U);
    }
}

// Stretches, lengths and rays that are none differ within a group, and the last group is short.
TEST_P(CoherentRays, OfDifferentStretches) {
  std::vector<Ray> rays = camera({-2500, 100, 50}, {1, 0.05, -0.03}, 0.01);
  rays.resize(rays.size() - 13);
  std::mt19937 random(2);
  std::uniform_real_distribution<float> length(-6, 6), unit(0, 1);
  for (std::size_t i = 0; i != rays.size(); ++i) {
    Ray& ray = rays[i];
    const float scale = std::exp(length(random));
    ray.direction = {ray.direction.x * scale, ray.direction.y * scale, ray.direction.z * scale};
    if (i % 3 == 0) ray.tmin = 2500 / scale * unit(random);
    if (i % 5 == 0) ray.tmax = 4000 / scale * unit(random);
    if (i % 640 == 7) ray.tmin = -1000 / scale;
    if (i % 96 == 11) ray.direction.y = std::numeric_limits<float>::quiet_NaN();
    if (i % 960 == 13) ray.origin.z = std::numeric_limits<float>::infinity();
    if (i % 800 == 17) ray.direction = {0, 0, 0};
  }
  EXPECT_GT(expect_hits_of_single_rays(scene_, rays, device()), 100U);
}

// Two solids at the same place, and walls that touch: what is hit is decided by exact arithmetic.
TEST_P(CoherentRays, OnFacesThatCoincide) {
  Scene scene = scene_;
  const std::size_t count = scene.instances.size();
  for (std::size_t i = 0; i != count; ++i)
    for (int copy = 0; copy != 4; ++copy) scene.instances.push_back(scene.instances[i]);
  scene.bounds = world_bounds(scene);
  EXPECT_GT(expect_hits_of_single_rays(scene, camera({-2500, 100, 50}, {1, 0.05, -0.03}, 0.01), device()), 100U);
}

// Through vertices and along edges.
TEST_P(CoherentRays, ThroughVertices) {
  Scene scene = closed_scene(24, 1);
  scene.instances[0].transform = Transform::Identity();
  scene.bounds = world_bounds(scene);
  std::vector<Ray> rays;
  for (const Float3& v : scene.meshes[0].vertices) rays.push_back({LocalPoint(0, 0, 0), 0, v});
  const GpuGeometry geometry = upload(scene, device(), with_bvh(true));
  for (const Hit& hit : trace_all(geometry, rays)) ASSERT_TRUE(hit.valid());
  EXPECT_GT(expect_hits_of_single_rays(scene, rays, device()), 100U);
}

// As many as make each warp's share hundreds: groups that stay together between others, in any order.
TEST_P(CoherentRays, AmongOthers) {
  const std::vector<Ray> others = test::rays_in(scene_, 4096, 3),
                         pixels = camera({-2500, 100, 50}, {1, 0.05, -0.03}, 0.01);
  std::vector<Ray> unique = others;
  unique.insert(unique.end(), pixels.begin(), pixels.begin() + 4096);
  // Runs of groups, and single groups, of both kinds.
  const auto kind = [](std::size_t group) { return (group / 5 + group / 16) % 3 == 0 || group % 37 == 5; };
  const std::size_t count = device().info().is_host ? 100'013 : (std::size_t{1} << 21) + (1 << 18) + 13;
  std::vector<std::uint32_t> which(count);
  std::vector<Ray> rays(count);
  for (std::size_t i = 0; i != count; ++i) {
    which[i] = static_cast<std::uint32_t>(i % 4096 + (kind(i / 32) ? 4096 : 0));
    rays[i] = unique[which[i]];
  }
  for (const bool flat : {false, true}) {
    const GpuGeometry alone = upload(scene_, Device::host(), with_bvh(flat));
    std::vector<Hit> wanted;
    wanted.reserve(unique.size());
    for (const Ray& ray : unique) wanted.push_back(closest_hit(alone.view(), ray));
    const GpuGeometry geometry = upload(scene_, device(), with_bvh(flat));
    // And shares between: of one group, and of three.
    for (const std::size_t some : {count, std::size_t{100'001}, std::size_t{300'033}}) {
      if (some > count) continue;
      const std::vector<Hit> hits =
          trace_all(geometry, std::vector<Ray>(rays.begin(), rays.begin() + static_cast<std::ptrdiff_t>(some)));
      for (std::size_t i = 0; i != some; ++i)
        ASSERT_EQ(bits_of(hits[i]), bits_of(wanted[which[i]])) << "ray " << i << " of " << some;
    }
  }
}

// Whole groups that are none, and one ray of the last group.
TEST_P(CoherentRays, ThatAreNone) {
  std::vector<Ray> rays = camera({-2500, 100, 50}, {1, 0.05, -0.03}, 0.01);
  constexpr std::size_t kGroup = 32;
  rays.resize(40 * kGroup + 1);
  for (std::size_t i = 7 * kGroup; i != 9 * kGroup; ++i) rays[i].direction.x = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t i = 12 * kGroup; i != 13 * kGroup; ++i) rays[i].tmax = i % 2 == 0 ? 0 : -5;
  rays.back().origin.y = std::numeric_limits<float>::quiet_NaN();
  EXPECT_GT(expect_hits_of_single_rays(scene_, rays, device()), 100U);
}

}  // namespace
}  // namespace raylift
