// SPDX-License-Identifier: Apache-2.0
// Overlaps against other ways to find them: separating axes, intervals, half-spaces, spheres.
#include <gmock/gmock.h>
#include <raylift/geometry/checks/overlaps.h>
#include <raylift/geometry/scene/eigen.h>
#include <tbb/global_control.h>

#include "overlap_expectations.h"
#include "overlap_scenes.h"
#include "support/effort.h"

namespace raylift {
namespace {

using Eigen::Vector3d;
using test::at;
using test::ball;
using test::box;
using test::Convex;
using test::RandomShapes;
using test::SolidScene;
using test::the_overlap;
using test::views;

/// Depth and place hold by the solids' own planes, and no sample of their surfaces is deeper than the bound.
void expect_true(const Scene& scene, const Overlap& overlap, const Convex& a, const Convex& b, const char* what) {
  const double in_a = a.depth(to_eigen(overlap.place));
  const double in_b = b.depth(to_eigen(overlap.place));
  EXPECT_NEAR(std::max(in_a, in_b), overlap.depth, 1e-6) << what;
  EXPECT_NEAR(std::min(in_a, in_b), 0, 1e-6) << what << ": on the surface of one of them";
  double deepest = 0;
  for (const std::uint32_t solid : {0U, 1U}) {
    const Convex& other = solid == 0 ? b : a;
    const std::vector<Vector3d> vertices = test::world_vertices(scene, solid);
    for (const UInt3& t : scene.meshes[scene.instances[solid].mesh].triangles)
      for (int u = 0; u <= 12; ++u)
        for (int v = 0; u + v <= 12; ++v)
          deepest = std::max(deepest,
                             other.depth((u * vertices[t.x] + v * vertices[t.y] + (12 - u - v) * vertices[t.z]) / 12));
  }
  EXPECT_LE(deepest, overlap.depth_at_most + 1e-9) << what;
  EXPECT_GE(overlap.depth * 1.011, deepest) << what;
}

TEST(Overlaps, AgreeWithSeparatingAxes) {
  RandomShapes random(7);
  int overlapping = 0;
  for (int i = 0; i != test::effort(600); ++i) {
    SolidScene solids;
    for (int k = 0; k != 2; ++k) {
      const Mesh mesh = i % 2 == 0 ? box(random.vector(1, 8)) : random.tetrahedron();
      solids.add(mesh, i % 4 < 2 ? random.affine(9) : at(random.vector(-7, 7)) * random.rotation());
    }
    const Convex a(solids.scene(), 0);
    const Convex b(solids.scene(), 1);
    const double truth = test::penetration(a, b);
    if (std::abs(truth) < 1e-3) continue;
    const OverlapReport report = find_overlaps(solids.scene());
    ASSERT_EQ(!report.overlaps.empty(), truth > 0) << "pair " << i << ", " << truth << " mm";
    EXPECT_EQ(report.touching_pairs, 0U);
    if (truth < 0) continue;
    ++overlapping;
    expect_true(solids.scene(), report.overlaps[0], a, b, ("pair " + std::to_string(i)).c_str());
  }
  EXPECT_GT(overlapping, test::effort(150));
  EXPECT_LT(overlapping, test::effort(450));
}

TEST(Overlaps, AgreeWithIntervalsOfBoxesOnAGrid) {
  // Whole numbers: faces, edges and corners coincide more often than not.
  RandomShapes random(10);
  int overlapping = 0, touching = 0;
  const auto whole = [&](double low, double high) { return Vector3d(random.vector(low, high).array().floor()); };
  const std::vector<EigenTransform> where = views();
  for (int i = 0; i != test::effort(1500); ++i) {
    Bounds boxes[2];
    for (Bounds& one : boxes) {
      const Vector3d low = whole(0, 5);
      one = {low, low + whole(1, 5)};
    }
    const Vector3d low[] = {to_eigen(boxes[0].min), to_eigen(boxes[1].min)};
    const Vector3d high[] = {to_eigen(boxes[0].max), to_eigen(boxes[1].max)};
    const bool mother = i % 3 == 0;
    SolidScene solids;
    solids.add(box(low[0], high[0]));
    solids.add(box(low[1], high[1]), at({0, 0, 0}), mother ? 0 : kNone);
    const Vector3d common = high[0].cwiseMin(high[1]) - low[0].cwiseMax(low[1]);
    const bool bad = mother ? !boxes[0].contains(boxes[1]) : common.minCoeff() > 0;
    const Vector3d room = (low[1] - low[0]).cwiseMin(high[0] - high[1]);
    const bool touch = !bad && (mother ? room.minCoeff() == 0 : common.minCoeff() == 0);
    const OverlapReport report = find_overlaps(solids.moved(where[static_cast<std::size_t>(i) % where.size()]));
    ASSERT_EQ(report.overlaps.size(), bad ? 1U : 0U) << "pair " << i;
    ASSERT_EQ(report.touching_pairs, touch ? 1U : 0U) << "pair " << i;
    ASSERT_EQ(report.undecided_pairs, 0U);
    overlapping += bad ? 1 : 0;
    touching += touch ? 1 : 0;
    if (!bad) continue;
    const Overlap& overlap = report.overlaps[0];
    EXPECT_EQ(overlap.kind == Overlap::Kind::siblings_coincide,
              !mother && boxes[0].min == boxes[1].min && boxes[0].max == boxes[1].max);
    if (mother) {
      EXPECT_EQ(overlap.kind == Overlap::Kind::outside_mother, common.minCoeff() <= 0) << "pair " << i;
    }
  }
  EXPECT_GT(overlapping, test::effort(500));
  EXPECT_GT(touching, test::effort(100));
}

TEST(Overlaps, AgreeWithHalfSpacesOfMothers) {
  RandomShapes random(8);
  int crossing = 0;
  for (int i = 0; i != 400; ++i) {
    SolidScene solids;
    const std::uint32_t mother =
        solids.add(i % 2 == 0 ? box(random.vector(8, 12)) : random.tetrahedron(), random.affine(3));
    solids.add(random.tetrahedron(), at(random.vector(-4, 4)) * random.rotation() * Eigen::Scaling(0.3), mother);
    const Convex outer(solids.scene(), 0);
    double least = 1e300;
    for (const Vector3d& v : test::world_vertices(solids.scene(), 1)) least = std::min(least, outer.depth(v));
    if (std::abs(least) < 1e-3) continue;
    const OverlapReport report = find_overlaps(solids.scene());
    ASSERT_EQ(!report.overlaps.empty(), least < 0) << "pair " << i << ", " << least << " mm";
    crossing += least < 0 ? 1 : 0;
    // Outside of a corner, the distance is more than that to the farthest plane.
    if (least < 0) {
      EXPECT_GE(report.overlaps[0].depth * 1.011, -least);
    }
  }
  EXPECT_GT(crossing, 50);
  EXPECT_LT(crossing, 350);
}

TEST(Overlaps, OfSpheresAreAsDeepAsTheirRadiiSay) {
  for (const double apart : {12.0, 18.0, 19.9}) {
    SolidScene solids;
    const std::uint32_t mesh = solids.add_mesh(ball(10, 5));
    solids.place(mesh, at({0, 0, 0}));
    solids.place(mesh, at({apart, 0, 0}) * RandomShapes(3).rotation());
    const Overlap overlap = the_overlap(solids.scene());
    EXPECT_NEAR(overlap.depth, 20 - apart, 0.02);
    // Within the lens that both have in common.
    EXPECT_NEAR(overlap.place.x, apart / 2, 10 - apart / 2 + 0.01);
  }
}

TEST(Overlaps, AreTheSameForAnyNumberOfThreads) {
  SolidScene solids;
  RandomShapes random(9);
  for (int i = 0; i != (kSanitized ? 30 : 60); ++i)
    solids.add(i % 2 == 0 ? ball(3, 2) : random.tetrahedron(), random.affine(12));
  std::vector<OverlapReport> reports;
  for (const std::size_t threads : {1, 2, 8}) {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
    reports.push_back(find_overlaps(solids.scene()));
  }
  EXPECT_GT(reports[0].overlaps.size(), kSanitized ? 5U : 20U);
  for (const OverlapReport& report : reports) {
    ASSERT_EQ(report.overlaps.size(), reports[0].overlaps.size());
    for (std::size_t i = 0; i != report.overlaps.size(); ++i) {
      const Overlap& a = report.overlaps[i];
      const Overlap& b = reports[0].overlaps[i];
      EXPECT_EQ(std::tuple(a.kind, a.first, a.second, a.depth, a.depth_at_most),
                std::tuple(b.kind, b.first, b.second, b.depth, b.depth_at_most));
      EXPECT_EQ(a.place, b.place);
    }
  }
}

}  // namespace
}  // namespace raylift
