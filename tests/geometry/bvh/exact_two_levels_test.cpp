// SPDX-License-Identifier: Apache-2.0
// As exact_test.cpp, through instances: against the exact answer in the mesh's frame, and the placed plane in the
// world.
#include <gtest/gtest.h>
#include <raylift/geometry/bvh/bvh.h>
#include <raylift/geometry/bvh/scene_bvh.h>
#include <raylift/geometry/scene/eigen.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <bit>

#include "exact_tally.h"
#include "geometry/src/bvh/bvh_batch.h"
#include "support/exact_oracle.h"
#include "support/exact_shapes.h"
#include "support/inside_rays.h"

namespace raylift {
namespace {

using test::ClosedShape;
using test::compare;
using test::Crossings;
using test::first_t;
using test::inside_rays;
using test::InsideRays;
using test::print_head;
using test::rays_around;
using test::Rows;
using test::ShapeModel;
using test::Tally;
using test::tracers;
using test::Vector3d;

constexpr long double kWorldBound = 4;  // steps of a float, see compare_two_levels

// A ray in a mesh's frame, as a traversal has it: rounded to double at each sum, and to float in the end.
Ray in_mesh(const Affine& to_mesh, const Ray& ray) {
  const float* m = to_mesh.m;
  const auto row = [](const float* r, Float3 v, double shift) {
    volatile double sum = double{r[0]} * v.x + double{r[1]} * v.y;
    sum = sum + double{r[2]} * v.z;
    return static_cast<float>(sum + shift);
  };
  Ray result = ray;
  result.origin = LocalPoint(row(m, ray.origin, m[3]), row(m + 4, ray.origin, m[7]), row(m + 8, ray.origin, m[11]));
  result.direction = {row(m, ray.direction, 0), row(m + 4, ray.direction, 0), row(m + 8, ray.direction, 0)};
  return result;
}

// One mesh, placed in several ways.
Scene placed_scene(const ClosedShape& shape, std::uint32_t instances, double away, std::uint32_t seed) {
  Scene scene;
  scene.source = "made in a test";
  scene.materials.push_back({"m", {}});
  scene.nodes.push_back({"world", kNone, std::nullopt});
  scene.bindings.push_back({0});
  const auto count = static_cast<std::uint32_t>(shape.mesh.triangles.size());
  scene.meshes.push_back({shape.name, shape.mesh.vertices, shape.mesh.triangles, {{0, count}}});
  double reach = 0;
  for (const Float3& v : shape.mesh.vertices) reach = std::max(reach, test::to_double(v).norm());
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> unit(-1, 1);
  const auto vector = [&] {
    const double x = unit(random), y = unit(random), z = unit(random);
    return Vector3d(x, y, z);
  };
  for (std::uint32_t i = 0; i != instances; ++i) {
    EigenTransform transform = EigenTransform::Identity();
    transform.translate(Vector3d(away * reach * Vector3d(1, -0.5, 0.25) + 1.5 * reach * vector()));
    if (i % 4 != 0) transform.rotate(Eigen::AngleAxisd(3 * unit(random), vector().normalized()));
    if (i % 4 == 1) transform.scale(Vector3d(1, -1, 0.5));  // mirrored
    if (i % 4 == 2) {
      Eigen::Matrix3d shear = Eigen::Matrix3d::Identity();
      shear(0, 1) = 0.7;
      shear(2, 0) = -0.4;
      transform.linear() = transform.linear() * shear;
    }
    if (i % 4 == 3) transform.scale(std::pow(10.0, unit(random)));
    scene.instances.push_back({0, 0, 0, kNone, transform});
  }
  scene.bounds = world_bounds(scene);
  return scene;
}

// The transforms that rays get into the meshes by, out of the tree.
std::vector<Affine> transforms(const SceneBvh& bvh, std::size_t instances) {
  std::vector<Affine> all(instances);
  for (std::uint32_t i = 0; i != bvh.instance_nodes; ++i) {
    const auto node = std::bit_cast<bvh_detail::InstanceNode>(bvh.nodes[i]);
    if (node.zero == 0) all.at(node.instance) = node.to_mesh;
  }
  return all;
}

// World rays that start inside of an instance: the start's image in the mesh's frame is checked, as it is rounded.
std::vector<Ray> rays_in_scene(const ClosedShape& shape, const Scene& scene, const std::vector<Affine>& to_mesh,
                               std::size_t count, std::uint32_t seed) {
  std::vector<Ray> rays;
  if (!shape.convex) return rays;
  InsideRays random(shape, seed);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t k = i % scene.instances.size();
    const Ray local = random(static_cast<test::Aim>(i / scene.instances.size() % test::kAims));
    const EigenTransform to_world = to_eigen(scene.instances[k].transform);
    Ray ray;
    ray.origin = LocalPoint(test::to_float(to_world * test::to_double(local.origin)));
    ray.direction = test::to_float(to_world.linear() * test::to_double(local.direction));
    if (random.inside(in_mesh(to_mesh[k], ray).origin)) rays.push_back(ray);
  }
  return rays;
}

// Besides what compare() looks at: how far t is from where the ray meets the placed plane in the world, in steps of a
// float at |origin| + |translation| + t |direction|, over the transform's condition.
Tally compare_two_levels(const ClosedShape& shape, double away, std::size_t count, std::uint32_t seed,
                         long double& worst_world) {
  const Scene scene = placed_scene(shape, 8, away, seed);
  Tally sum;
  for (const Bvh::Options& options : {Bvh::Options{true, 3}, {false, 1}}) {
    const SceneBvh bvh = build_bvh(scene, Vector3d::Zero(), options);
    const std::vector<Affine> to_mesh = transforms(bvh, scene.instances.size());
    std::vector<Ray> rays = rays_in_scene(shape, scene, to_mesh, count, seed);
    ClosedShape world = shape;  // its vertices in the world, to aim at
    world.mesh.vertices.clear();
    for (const Instance& instance : scene.instances)
      for (const Float3& v : shape.mesh.vertices)
        world.mesh.vertices.push_back(test::to_float(to_eigen(instance.transform) * test::to_double(v)));
    world.center = to_eigen(scene.bounds.center());
    const std::vector<Ray> around = rays_around(world, count, seed);
    rays.insert(rays.end(), around.begin(), around.end());
    // By instance: what the transformed ray passes.
    struct Found {
      Crossings crossings;
      Ray ray;
    };
    std::vector<std::vector<Found>> found(rays.size());
    tbb::parallel_for(std::size_t{0}, rays.size(), [&](std::size_t i) {
      for (const Affine& m : to_mesh) {
        found[i].push_back({{}, in_mesh(m, rays[i])});
        found[i].back().crossings.find(shape.mesh, found[i].back().ray);
      }
    });
    for (const auto& [name, trace] : tracers()) {
      if (name == "single") continue;
      std::vector<Hit> hits(rays.size());
      trace(bvh.view(), BvhLevels::scene, rays.data(), hits.data(), rays.size());
      for (std::size_t i = 0; i < rays.size(); ++i) {
        long double first = std::numeric_limits<long double>::infinity();
        for (const Found& f : found[i]) first = std::min(first, first_t(f.crossings, f.ray));
        if (!hits[i].valid()) {
          ++sum.hits;
          sum.lost += std::isfinite(first) ? 1 : 0;
          continue;
        }
        const Found& own = found[i].at(hits[i].instance);
        compare(shape.mesh, own.crossings, own.ray, hits[i], first, sum);
        const EigenTransform to_world = to_eigen(scene.instances[hits[i].instance].transform);
        const test::Corners v = test::corners(shape.mesh, hits[i].triangle);
        const Vector3d a = to_world * test::to_double(v.a), b = to_world * test::to_double(v.b),
                       c = to_world * test::to_double(v.c), o = test::to_double(rays[i].origin),
                       d = test::to_double(rays[i].direction);
        const Vector3d normal = (b - a).cross(c - a).normalized();
        const Eigen::Matrix3d linear = to_world.linear();
        const double condition = linear.norm() * linear.inverse().norm() / 3;
        const double size = o.norm() + to_world.translation().norm() + hits[i].t * d.norm();
        const long double distance = std::abs(normal.dot(o + double(hits[i].t) * d - a));
        worst_world = std::max(worst_world, distance / (test::ulp(size) * condition));
      }
    }
  }
  return sum;
}

void run_two_levels(const std::vector<double>& aways, std::size_t count) {
  Rows<Tally> rows;
  std::uint32_t seed = 100;
  long double worst_world = 0;
  for (const double away : aways)
    for (const ShapeModel& model : test::shape_zoo()) {
      SCOPED_TRACE(model.name + ", " + std::to_string(static_cast<int>(away)) + " sizes away");
      const ClosedShape shape = test::place(model, {1, {0, 0, 0}, seed++});
      const Tally tally = compare_two_levels(shape, away, count, seed, worst_world);
      EXPECT_TRUE(tally.clean()) << tally.example;
      rows.add(model.name, tally);
    }
  print_head("two levels");
  rows.print_all();
  std::printf(
      "In the world a hit lies off the placed plane by %.3Lg steps of |origin| + |translation| + t |direction|, times "
      "the transform's condition, at most.\n",
      worst_world);
  EXPECT_LE(worst_world, kWorldBound);
  std::fflush(stdout);
}

TEST(Exact, HitsInTwoLevels) {
  run_two_levels({0}, 150);
}
TEST(SlowExact, HitsInTwoLevels) {
  run_two_levels({0, 10, 1000}, 1'000);
}

}  // namespace
}  // namespace raylift
