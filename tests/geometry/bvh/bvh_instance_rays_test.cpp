// SPDX-License-Identifier: Apache-2.0
// As bvh_rays_test.cpp, for rays through instances: seen from far, at the same place, and left out by what counts.
#include <gtest/gtest.h>
#include <raylift/geometry/bvh/bvh.h>
#include <raylift/geometry/bvh/scene_bvh.h>
#include <raylift/geometry/scene/eigen.h>

#include <cmath>
#include <vector>

#include "all_triangles.h"
#include "support/effort.h"
#include "support/triangles_and_rays.h"

namespace raylift {
namespace {

using Eigen::Vector3d;
using test::AllTriangles;
using test::bumpy_sphere;
using test::expect_nearest;
using test::Random;
using test::RandomRays;
using test::same;
using test::text;
using test::to_double;
using test::to_float;
using test::Triangles;

// Instances in all ways that there are: moved, turned, mirrored, sheared, scaled; some several times at the same place,
// some large enough to be taken to pieces.
Scene scene_of(const Triangles& mesh, std::uint32_t instances, bool rigid, std::uint32_t seed) {
  Scene scene;
  scene.meshes.push_back({"mesh", mesh.vertices, mesh.triangles, {}});
  Random random(seed);
  for (std::uint32_t i = 0; i < instances; ++i) {
    Instance instance;
    EigenTransform transform = EigenTransform::Identity();
    transform.translate(Vector3d(20 * random.vector()));
    const Eigen::AngleAxisd turn(3 * random.unit(), random.vector().normalized());
    if (i % 4 != 3) transform.rotate(turn);
    if (!rigid && i % 3 == 1) transform.scale(Vector3d(1, -0.5, 2));
    if (!rigid && i % 3 == 2) {
      Eigen::Matrix3d shear = Eigen::Matrix3d::Identity();
      shear(0, 1) = 2 * random.unit();
      shear(2, 0) = random.unit();
      transform.linear() = transform.linear() * shear;
    }
    if (!rigid && i == 0) transform.scale(10);
    instance.transform = transform;
    const int copies = i % 8 == 5 ? 5 : 1;
    for (int k = 0; k < copies; ++k) scene.instances.push_back(instance);
  }
  // The copies are not next to each other.
  for (std::size_t i = scene.instances.size() - 1; i > 0; --i)
    std::swap(scene.instances[i], scene.instances[random.below(i + 1)]);
  return scene;
}

// Rays that graze instances where these reach farthest along an axis, from `away` times the scene's size: there the box
// of an instance has no room but for its slack.
std::vector<Ray> grazing_rays(const Scene& scene, std::size_t count, double away, std::uint32_t seed) {
  Random random(seed);
  std::vector<Ray> rays;
  for (std::size_t i = 0; i < count; ++i) {
    const Instance& instance = scene.instances[random.below(scene.instances.size())];
    const int axis = random.between(0, 2);
    const double side = random.coin() ? 1 : -1;
    Vector3d extreme = Vector3d::Zero();
    double farthest = -1e300;
    for (const Float3& v : scene.meshes[instance.mesh].vertices) {
      const Vector3d at = to_eigen(instance.transform) * to_double(v);
      if (side * at[axis] <= farthest) continue;
      farthest = side * at[axis];
      extreme = at;
    }
    Vector3d direction = random.vector().normalized();
    direction[axis] = 0;
    if (direction.norm() < 0.1) direction[(axis + 1) % 3] = 1;
    direction.normalize();
    if (i % 2 == 0) direction[axis] = 1e-4 * random.unit();
    const double distance = away * 40 * (0.5 + 0.5 * std::abs(random.unit()));
    Vector3d from = extreme - distance * direction;
    // Inside or outside by up to what rounding may move it by.
    from[axis] += (random.coin() ? 1 : -1) * std::pow(2.0, random.between(-29, -21)) * (distance + 20);
    rays.push_back({LocalPoint(to_float(from)), 0, to_float(direction)});
  }
  return rays;
}

TEST(BvhRays, FindInstancesFromFar) {
  for (const double radius : {1.0, 1e-3, 3e-6})  // rounding moves a ray by more than the small ones
    for (const bool rigid : {true, false})
      for (const double away : {0.0, 1.0, 10.0, 60.0, 1000.0})
        for (const std::uint32_t instances : {1u, 24u}) {
          if (!rigid && away > 60) continue;
          SCOPED_TRACE(::testing::Message() << instances << " instances of " << radius << ", " << away << " sizes away"
                                            << (rigid ? ", rigid" : ""));
          const Scene scene = scene_of(bumpy_sphere(5, radius, 0), instances, rigid, 48 + instances);
          const SceneBvh bvh = build_bvh(scene, Vector3d::Zero());
          expect_nearest(bvh.view(), BvhLevels::scene, grazing_rays(scene, test::effort(500), away, 49),
                         radius < 1 ? 0 : test::effort(100));
        }
}

// Rays from the world's origin along an axis: what moves them is how the instance's place is rounded.
TEST(BvhRays, FindInstancesFromTheWorldsOrigin) {
  for (std::uint32_t seed = 60; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Scene scene = scene_of(bumpy_sphere(5, 3e-7, 0), 1, true, seed);
    const int axis = random.between(0, 2);
    Vector3d direction = Vector3d::Zero();
    direction[axis] = 1;
    scene.instances[0].transform = Transform::Translation(Vector3d(20 * direction));
    const SceneBvh bvh = build_bvh(scene, Vector3d::Zero());
    std::vector<Ray> rays;
    for (int i = 0; i < 500; ++i) {
      Vector3d from = 2e-6 * random.vector();
      from[axis] = 0;
      rays.push_back({LocalPoint(to_float(from)), 0, to_float(direction)});
    }
    expect_nearest(bvh.view(), BvhLevels::scene, rays, 0);
  }
}

TEST(BvhRays, FindTheFirstInstance) {
  const Scene scene = scene_of(bumpy_sphere(6, 4, 0.1), 60, false, 50);
  const SceneBvh bvh = build_bvh(scene, Vector3d::Zero());
  RandomRays random(40, 51);
  std::vector<Ray> rays(600);
  for (std::size_t i = 0; i < rays.size(); ++i) {
    rays[i] = random();
    if (i % 4 == 1) rays[i].tmin = -20;
    if (i % 4 == 2) rays[i].direction = to_float(-to_double(rays[i].origin));
  }
  expect_nearest(bvh.view(), BvhLevels::scene, rays, 200);
}

// One triangle of one instance does not count, or what a caller says does not.
TEST(BvhRays, PassWhatDoesNotCount) {
  const Scene scene = scene_of(bumpy_sphere(6, 4, 0.1), 40, false, 52);
  const SceneBvh bvh = build_bvh(scene, Vector3d::Zero());
  const BvhView view = bvh.view();
  const AllTriangles all(view, BvhLevels::scene);
  RandomRays random(30, 53);
  std::size_t passed = 0, shared = 0;
  for (int i = 0; i < 400; ++i) {
    const Ray ray = random();
    const Hit first = all.nearest(ray);
    if (!first.valid()) continue;
    const std::uint32_t triangle = first.triangle, instance = first.instance;
    const Hit second = all.nearest(
        ray, [&](std::uint32_t in, std::uint32_t of, bool, float) { return in != instance || of != triangle; });
    const bvh_detail::OtherThan other{triangle, instance};
    ASSERT_TRUE(same(bvh_detail::hit_of(view, ray, bvh_detail::nearest<true>(view, ray, other)), second))
        << "ray " << i;
    ASSERT_EQ(bvh_detail::hits_any<true>(view, ray, other), second.valid());
    passed += second.valid() ? 1 : 0;
    shared += second.valid() && second.triangle == triangle ? 1 : 0;

    const auto accept = [&](std::uint32_t in, std::uint32_t of, bool from_inside, float t) {
      return in % 3 != 0 && of % 5 != 0 && from_inside && t > 3;
    };
    const Hit leaving = all.nearest(ray, accept);
    const bvh_detail::AcceptedBy<decltype(accept)> accepted{accept};
    const Hit found = bvh_detail::hit_of(view, ray, bvh_detail::nearest<true>(view, ray, accepted));
    ASSERT_TRUE(same(found, leaving)) << "ray " << i << ": " << text(found) << " instead of " << text(leaving);
    ASSERT_EQ(bvh_detail::hits_any<true>(view, ray, accepted), leaving.valid());
    ASSERT_TRUE(!leaving.valid() || leaving.from_inside != 0);
  }
  EXPECT_GT(passed, 50u);
  EXPECT_GT(shared, 0u);
}

}  // namespace
}  // namespace raylift
