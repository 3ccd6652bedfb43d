// SPDX-License-Identifier: Apache-2.0
// What the search for overlaps stands on: inside or outside of a mesh, its nearest triangle, boxes that meet.
#include <gtest/gtest.h>
#include <raylift/geometry/scene/eigen.h>

#include "checks/box_pairs.h"
#include "checks/overlap_mesh.h"
#include "overlap_scenes.h"

namespace raylift {
namespace {

using Eigen::Vector3d;
using test::ball;
using test::box;
using test::RandomShapes;

TEST(MeshTree, TellsInsideFromOutsideWhereRaysMeetEdges) {
  // Every ray from the lattice that is parallel to an axis or a diagonal meets edges and corners.
  Mesh mesh = box({4, 4, 4});
  test::append(mesh, test::inside_out(box({2, 2, 2})));
  const overlap::MeshTree tree(mesh);
  for (double x = -4.5; x <= 4.5; x += 0.75)
    for (double y = -4.5; y <= 4.5; y += 0.75)
      for (double z = -4.5; z <= 4.5; z += 0.75) {
        const double far = std::max({std::abs(x), std::abs(y), std::abs(z)});
        if (far == 4 || far == 2) continue;
        EXPECT_EQ(tree.inside({x, y, z}), far > 2 && far < 4) << x << ' ' << y << ' ' << z;
      }
}

TEST(MeshTree, TriesAnotherRayWhereOneMeetsACorner) {
  const Vector3d first_tried = Vector3d(0.5362817, 0.6184935, 0.5743021).normalized();
  const overlap::MeshTree tree(ball(1, 2));
  for (std::uint32_t i = 0; i != tree.vertex_count(); ++i)
    for (const double away : {0.25, 0.5, 1.0, 1.75, 3.0}) {
      const Vector3d point = tree.vertex(i) - away * first_tried;
      if (point.norm() > 0.95 && point.norm() < 1.01) continue;  // the facets lie somewhere there
      EXPECT_EQ(tree.inside(point), point.norm() < 1) << i << ' ' << away;
    }
}

TEST(MeshTree, TakesWhatPiecesOfAMeshShareAsInside) {
  Mesh mesh = box({2, 2, 2});
  test::append(mesh, box({2, 2, 2}), 1, {1, 1, 1});
  const overlap::MeshTree tree(mesh);
  EXPECT_TRUE(tree.inside({0.5, 0.6, 0.7})) << "in both";
  EXPECT_TRUE(tree.inside({-1.5, -1.6, -1.7}));
  EXPECT_FALSE(tree.inside({-1.5, -1.6, 2.7}));
}

TEST(MeshTree, FindsTheNearestTriangle) {
  RandomShapes random(11);
  const Mesh mesh = ball(10, 3);
  const overlap::MeshTree tree(mesh);
  for (int i = 0; i != 200; ++i) {
    const overlap::PlacedMesh placed(tree, random.affine(10));
    const Vector3d point = random.vector(-30, 30);
    double least = 1e300;
    for (std::uint32_t k = 0; k != mesh.triangles.size(); ++k)
      least = std::min(least, overlap::distance(point, placed.corners(k)));
    EXPECT_DOUBLE_EQ(placed.nearest(point).distance, least);
    EXPECT_EQ(placed.nearest(point, 0.999 * least).triangle, kNone);
    EXPECT_DOUBLE_EQ(placed.nearest(point, 1.001 * least).distance, least);
  }
}

TEST(MeetingBoxes, AreThoseThatHaveAPointInCommon) {
  RandomShapes random(12);
  for (const int count : {0, 1, 2, 5, 300}) {
    std::vector<Bounds> boxes(static_cast<std::size_t>(count));
    for (Bounds& one : boxes) {
      const Vector3d low = random.vector(0, 20).array().floor();
      one = {low, low + Vector3d(random.vector(0, 4).array().floor())};
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> want;
    for (std::uint32_t i = 0; i != boxes.size(); ++i)
      for (std::uint32_t k = i + 1; k != boxes.size(); ++k)
        if ((to_eigen(boxes[i].min).cwiseMax(to_eigen(boxes[k].min)).array() <=
             to_eigen(boxes[i].max).cwiseMin(to_eigen(boxes[k].max)).array())
                .all())
          want.emplace_back(i, k);
    EXPECT_EQ(meeting_boxes(boxes), want);
  }
}

}  // namespace
}  // namespace raylift
