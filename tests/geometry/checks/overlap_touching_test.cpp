// SPDX-License-Identifier: Apache-2.0
// Solids that only touch do not overlap, within a tolerance.
#include <gmock/gmock.h>
#include <raylift/geometry/checks/overlaps.h>
#include <raylift/geometry/scene/eigen.h>

#include "overlap_expectations.h"
#include "overlap_scenes.h"

namespace raylift {
namespace {

using Eigen::Vector3d;
using test::at;
using test::ball;
using test::box;
using test::Convex;
using test::expect_touching;
using test::SolidScene;
using test::the_overlap;
using test::views;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Overlaps, DoNotComeFromSharedFacesEdgesAndCorners) {
  const struct {
    const char* what;
    Vector3d place;
  } kCases[] = {{"a face", {2, 0, 0}},
                {"part of a face", {2, 0.7, 0.4}},
                {"part of an edge", {2, 2, 0.3}},
                {"an edge", {2, 2, 0}},
                {"a corner", {2, 2, 2}},
                {"other corner", {-2, 2, 2}},
                {"a face with an edge", {2, 1, 0}}};
  for (const auto& one : kCases) {
    SolidScene solids;
    const std::uint32_t mesh = solids.add_mesh(box({1, 1, 1}));
    solids.place(mesh, at({0, 0, 0}));
    solids.place(mesh, at(one.place));
    for (const EigenTransform& view : views()) expect_touching(solids.moved(view), 1, one.what);
  }
}

TEST(Overlaps, DoNotComeFromAnEdgeOrCornerOnAFace) {
  SolidScene solids;
  const std::uint32_t mesh = solids.add_mesh(box({1, 1, 1}));
  solids.place(mesh, at({0, 0, 0}));
  EigenTransform on_edge = at({0.1, 0.2, 1 + std::sqrt(2)});
  on_edge.rotate(Eigen::AngleAxisd(std::numbers::pi / 4, Vector3d::UnitX()));
  solids.place(mesh, on_edge);
  for (const EigenTransform& view : views()) expect_touching(solids.moved(view), 1, "edge on face");
  EigenTransform on_corner = at({0.1, 0.2, -1 - std::sqrt(3)});
  on_corner.rotate(Eigen::AngleAxisd(std::acos(1 / std::sqrt(3)), Vector3d(1, -1, 0).normalized()));  // (1, 1, 1) to z
  solids.place(mesh, on_corner);
  for (const EigenTransform& view : views()) expect_touching(solids.moved(view), 2, "corner on face");
}

TEST(Overlaps, DoNotComeFromDaughtersFlushWithTheirMother) {
  SolidScene solids;
  const std::uint32_t mother = solids.add(box({10, 10, 10}));
  solids.add(box({2, 2, 2}), at({8, 0, 0}), mother);     // flush with one face
  solids.add(box({2, 2, 2}), at({-8, 8, 8}), mother);    // in a corner
  solids.add(box({10, 2, 2}), at({0, -8, -8}), mother);  // along an edge, from face to face
  solids.add(box({2, 2, 2}), at({0, 0, 0}), mother);     // in the middle
  for (const EigenTransform& view : views()) expect_touching(solids.moved(view), 3);
}

TEST(Overlaps, DoNotComeFromADaughterThatFillsItsMother) {
  for (const Mesh& mesh : {box({5, 4, 3}), ball(6)}) {
    SolidScene solids;
    const std::uint32_t mother = solids.add(mesh);
    solids.place(0, at({0, 0, 0}), mother);
    for (const EigenTransform& view : views()) expect_touching(solids.moved(view), 1);
  }
}

TEST(Overlaps, DoNotComeFromSpheresNestedInEachOther) {
  SolidScene solids;
  std::uint32_t mother = kNone;
  for (const double radius : {10000., 9999.9, 9990., 5000., 4999.9})
    mother = solids.add(ball(radius, 4), at({0, 0, 0}), mother);
  for (const EigenTransform& view : views()) expect_touching(solids.moved(view), 0);
}

TEST(Overlaps, ComeFromNestedSpheresOfOtherFacets) {
  // As the photocathode once did: the corners of one come through the flat facets of the other.
  SolidScene solids;
  const std::uint32_t mother = solids.add(ball(100, 3));
  solids.add(ball(99.9, 4), at({0, 0, 0}), mother);
  const Overlap overlap = the_overlap(solids.scene());
  EXPECT_EQ(overlap.kind, Overlap::Kind::crosses_mother);
  double deepest = 0;
  const Convex outer(solids.scene(), 0);
  for (const Vector3d& v : test::world_vertices(solids.scene(), 1)) deepest = std::max(deepest, -outer.depth(v));
  EXPECT_GT(deepest, 0.3);
  EXPECT_NEAR(overlap.depth, deepest, 0.01 * deepest);
}

TEST(Overlaps, AreTouchesWithinAToleranceThatIsGiven) {
  SolidScene solids;
  solids.add(box({5, 5, 5}));
  solids.add(box({5, 3, 2}), at({9.5, 0, 0}));
  Overlap::Options options;
  options.tolerance = 0.4;
  EXPECT_THAT(find_overlaps(solids.scene(), options).overlaps, SizeIs(1));
  options.tolerance = 0.6;
  options.touching_examples = 5;
  const OverlapReport report = find_overlaps(solids.scene(), options);
  EXPECT_THAT(report.overlaps, IsEmpty());
  EXPECT_EQ(report.touching_pairs, 1U);
  EXPECT_THAT(report.touching, testing::ElementsAre(std::pair(0U, 1U)));
}

TEST(Overlaps, AreTouchesWithinWhatRoundingExplains) {
  const struct {
    double half;
    double depth;
    bool overlaps;
  } kCases[] = {{0.01, 0.8e-6, false}, {0.01, 1.5e-6, true}, {1000, 4e-4, false}, {1000, 6e-4, true}};
  for (const auto& one : kCases) {
    SolidScene solids;
    solids.add(box(Vector3d::Constant(one.half)));
    solids.add(box(Vector3d::Constant(0.7 * one.half)), at({1.7 * one.half - one.depth, 0, 0}));
    const OverlapReport report = find_overlaps(solids.scene());
    EXPECT_EQ(report.overlaps.size(), one.overlaps ? 1U : 0U) << one.half << ' ' << one.depth;
    EXPECT_EQ(report.touching_pairs, one.overlaps ? 0U : 1U);
  }
}

}  // namespace
}  // namespace raylift
