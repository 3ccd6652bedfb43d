// SPDX-License-Identifier: Apache-2.0
// How many triangles rays meet, and what they hit of some, on each device: against double arithmetic over all.
#include <gtest/gtest.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/gpu/memory/buffer.h>

#include <algorithm>

#include "gpu/hit_oracle.h"
#include "gpu/kernels.h"
#include "rays.h"
#include "support/devices.h"
#include "support/meshes.h"

namespace raylift {
namespace {

using test::closed_scene;
using test::HitOracle;
using test::HitsSeen;

// A filter that accepts any arguments gets the hit, as when there were two functions.
static_assert(requires(const GeometryView& view, const Ray& ray) {
  closest_hit(view, ray, [](auto...) { return true; });
});

class HitCounts : public test::OnDevice {
 protected:
  std::vector<HitsSeen> seen(const GpuGeometry& geometry, const std::vector<Ray>& rays) {
    std::vector<HitsSeen> result(rays.size());
    if (device().info().is_host) {
      std::transform(rays.begin(), rays.end(), result.begin(),
                     [&](const Ray& ray) { return test::ask(geometry.view(), ray); });
      return result;
    }
#ifdef RAYLIFT_WITH_CUDA
    const Stream stream(device());
    DeviceBuffer<Ray> device_rays(device(), rays.size());
    device_rays.copy_from(std::span<const Ray>(rays), stream);
    const DeviceBuffer<HitsSeen> found(device(), rays.size());
    stream.synchronize();
    EXPECT_EQ(test::ask_on_gpu(geometry.view(), device_rays.device(), found.device(), rays.size()), 0);
    found.copy_to(std::span(result), stream);
    stream.synchronize();
#endif
    return result;
  }
};
RAYLIFT_ON_BOTH_DEVICES(HitCounts);

// As many as are counted, in their order, and the same whoever asks.
void expect_listed(const HitsSeen& seen) {
  EXPECT_EQ(seen.listed, seen.all);
  EXPECT_EQ(seen.even_listed, seen.even);
  EXPECT_EQ(seen.visited, std::min(seen.all, HitsSeen::kListed));
  EXPECT_TRUE(seen.visits_as_listed);
  EXPECT_TRUE(seen.few_are_first);
  for (std::uint32_t i = 1; i < std::min(seen.all, HitsSeen::kListed); ++i)
    EXPECT_LE(seen.list[i - 1].t, seen.list[i].t);
}

TEST_P(HitCounts, AreThoseOfDoubleArithmetic) {
  Scene scene = closed_scene(10, 40);
  // Nested, so that rays meet many.
  for (std::size_t i = 0; i != 20; ++i) {
    Instance inner = scene.instances[i];
    inner.transform = to_eigen(inner.transform).scale(0.5);
    scene.instances.push_back(inner);
    inner.transform = to_eigen(inner.transform).scale(20);
    scene.instances.push_back(inner);
  }
  scene.bounds = world_bounds(scene);
  std::vector<Ray> rays = test::rays_in(scene, 3000, 1);
  for (std::size_t i = 0; i < rays.size(); i += 2) {
    rays[i].tmin = 100;
    rays[i].tmax = 1500;
  }
  const HitOracle oracle(scene);
  const std::vector<HitsSeen> two = seen(upload(scene, device(), test::with_bvh()), rays);
  const std::vector<HitsSeen> one = seen(upload(scene, device(), test::with_bvh(true)), rays);
  std::size_t compared = 0, most = 0;
  for (std::size_t i = 0; i != rays.size(); ++i) {
    std::vector<HitOracle::Crossing> all = oracle.all(rays[i]);
    if (!std::all_of(all.begin(), all.end(), [](const auto& crossing) { return crossing.sure; })) continue;
    ++compared;
    most = std::max(most, all.size());
    EXPECT_EQ(two[i].all, all.size()) << "ray " << i;
    EXPECT_EQ(one[i].all, all.size()) << "ray " << i;
    expect_listed(two[i]);
    expect_listed(one[i]);
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.t < b.t; });
    for (std::size_t k = 0; k != std::min<std::size_t>(all.size(), HitsSeen::kListed); ++k) {
      // Either of two hits that are as near may come first.
      const auto apart = [&](std::size_t a, std::size_t b) {
        return all[a].t + all[a].t_error < all[b].t - all[b].t_error;
      };
      if ((k != 0 && !apart(k - 1, k)) || (k + 1 != all.size() && !apart(k, k + 1))) continue;
      EXPECT_NEAR(double{two[i].list[k].t}, all[k].t, all[k].t_error) << "ray " << i << ", hit " << k;
      EXPECT_EQ(two[i].list[k].triangle, all[k].triangle) << "ray " << i << ", hit " << k;
      EXPECT_EQ(two[i].list[k].instance, all[k].instance) << "ray " << i << ", hit " << k;
    }
    std::erase_if(all, [](const auto& crossing) { return crossing.triangle % 2 != 0; });
    EXPECT_EQ(two[i].even, all.size()) << "ray " << i;
    if (all.empty()) {
      EXPECT_EQ(two[i].first_even, kNoTriangle) << "ray " << i;
    } else if (all.size() == 1 || all[1].t - all[1].t_error > all[0].t + all[0].t_error) {
      EXPECT_EQ(two[i].first_even, all[0].triangle) << "ray " << i;
      EXPECT_EQ(two[i].instance, all[0].instance) << "ray " << i;
    }
  }
  EXPECT_GT(compared, rays.size() * 9 / 10);
  EXPECT_GT(most, 20U);
}

// Boxes that touch: both of the faces between them are there, on any ray, also along the boxes' edges and diagonals.
TEST_P(HitCounts, ListFacesThatCoincide) {
  Scene scene = closed_scene(4, 1);
  scene.meshes = {test::cube()};
  scene.instances.assign(30, scene.instances[0]);
  for (std::size_t i = 0; i != 30; ++i) {
    scene.instances[i].mesh = 0;
    scene.instances[i].transform = Transform::Translation({static_cast<double>(i), 0, 0});
  }
  scene.bounds = world_bounds(scene);
  std::vector<Ray> rays;
  std::mt19937 random(1);
  for (int i = 0; i != 500; ++i) {
    const auto part = [&] { return static_cast<float>(random() % 9) / 8; };
    rays.push_back({LocalPoint(-1, part(), part()), 0, {1, 0, 0}});
  }
  for (const bool flat : {false, true})
    for (const HitsSeen& one : seen(upload(scene, device(), test::with_bvh(flat)), rays)) {
      expect_listed(one);
      if (one.all == 0) continue;  // along a face
      ASSERT_EQ(one.all, 60U);
      for (std::uint32_t i = 0; i != HitsSeen::kListed; ++i)
        ASSERT_EQ(one.list[i].t, 1 + static_cast<float>((i + 1) / 2));
    }
}

// Through its vertices and edges too, each surface counts once.
TEST_P(HitCounts, AreOddFromWithinAClosedSolid) {
  Scene scene = closed_scene(24, 1);
  scene.instances[0].transform = Transform::Identity();
  scene.bounds = world_bounds(scene);
  std::vector<Ray> rays;
  const Mesh& mesh = scene.meshes[0];
  for (const Float3& v : mesh.vertices) rays.push_back({LocalPoint(0, 0, 0), 0, v});
  for (const UInt3& t : mesh.triangles) {
    const Float3 a = mesh.vertices[t.x], b = mesh.vertices[t.y];
    rays.push_back({LocalPoint(0, 0, 0), 0, {0.5F * (a.x + b.x), 0.5F * (a.y + b.y), 0.5F * (a.z + b.z)}});
  }
  for (const bool flat : {false, true})
    for (const HitsSeen& one : seen(upload(scene, device(), test::with_bvh(flat)), rays)) EXPECT_EQ(one.all % 2, 1U);
}

}  // namespace
}  // namespace raylift
