// SPDX-License-Identifier: Apache-2.0
// Overlaps are found where they are, as deep as they are, and not where solids only touch.
#include <gmock/gmock.h>
#include <raylift/geometry/checks/overlaps.h>
#include <tbb/global_control.h>

#include <numbers>

#include "checks/box_pairs.h"
#include "checks/overlap_mesh.h"
#include "expect_error.h"
#include "overlap_scenes.h"

namespace raylift {
namespace {

using Eigen::Vector3d;
using test::at;
using test::ball;
using test::box;
using test::Convex;
using test::RandomShapes;
using test::SolidScene;
using testing::IsEmpty;
using testing::SizeIs;

/// Expects one overlap of solids 0 and 1, and returns it.
Overlap the_overlap(const Scene& scene, const OverlapOptions& options = {}) {
  const OverlapReport report = find_overlaps(scene, options);
  EXPECT_THAT(report.overlaps, SizeIs(1));
  EXPECT_EQ(report.overlapping_pairs, report.overlaps.size());
  EXPECT_EQ(report.undecided_pairs, 0U);
  if (report.overlaps.empty()) return {};
  EXPECT_EQ(report.overlaps[0].first + report.overlaps[0].second, 1U);
  EXPECT_GE(report.overlaps[0].depth_at_most, report.overlaps[0].depth);
  return report.overlaps[0];
}

void expect_touching(const Scene& scene, std::uint64_t pairs, const char* what = "") {
  const OverlapReport report = find_overlaps(scene);
  EXPECT_THAT(report.overlaps, IsEmpty())
      << what << ", depth " << (report.overlaps.empty() ? 0 : report.overlaps[0].depth);
  EXPECT_EQ(report.touching_pairs, pairs) << what;
  EXPECT_EQ(report.undecided_pairs, 0U) << what;
}

/// The scene where it is, far from the origin, turned, and both.
std::vector<Transform> views() {
  const Transform turned = RandomShapes(1).rotation();
  Transform quarter = Transform::Identity();
  quarter.rotate(Eigen::AngleAxisd(std::numbers::pi / 2, Vector3d::UnitZ()));
  const Vector3d far(1e5, -1e5, 1e5);
  return {at({0, 0, 0}), at(far), quarter, turned, at(far) * turned};
}

TEST(Overlaps, AreNoneWhereThereIsNothing) {
  EXPECT_THAT(find_overlaps(Scene{}).overlaps, IsEmpty());
  SolidScene one;
  one.add(box({1, 1, 1}));
  EXPECT_EQ(find_overlaps(one.scene()).pairs, 0U);
}

TEST(Overlaps, OfSiblingsThatReachIntoEachOther) {
  SolidScene solids;
  solids.add(box({5, 5, 5}));
  solids.add(box({5, 3, 2}), at({9.25, 0, 0}));
  for (const Transform& view : views()) {
    const Overlap overlap = the_overlap(solids.moved(view));
    EXPECT_EQ(overlap.kind, OverlapKind::siblings_cross);
    EXPECT_EQ(overlap.first, 0U);
    EXPECT_EQ(overlap.pairs, 1U);
    EXPECT_NEAR(overlap.depth, 0.75, 1e-9);
    EXPECT_LE(overlap.depth_at_most, 0.75 * 1.011);
    const Vector3d place = view.inverse() * overlap.place;
    EXPECT_TRUE(std::abs(place.x() - 4.25) < 1e-6 || std::abs(place.x() - 5) < 1e-6) << place.transpose();
  }
}

TEST(Overlaps, OfBoxesWhoseOtherFacesLieInTheSamePlanes) {
  SolidScene solids;
  const std::uint32_t mesh = solids.add_mesh(box({5, 5, 5}));
  solids.place(mesh, at({0, 0, 0}));
  solids.place(mesh, at({9, 0, 0}));
  for (const Transform& view : views()) EXPECT_NEAR(the_overlap(solids.moved(view)).depth, 1, 1e-6);
}

TEST(Overlaps, OfAThinnessJustOverTheTolerance) {
  for (const double gap : {-1e-4, 1e-4}) {
    SolidScene solids;
    solids.add(box({5, 5, 5}));
    solids.add(box({5, 3, 2}), at({10 + gap, 0.5, 0.5}));
    for (const Transform& view : views()) {
      const OverlapReport report = find_overlaps(solids.moved(view));
      EXPECT_EQ(report.overlaps.size(), gap < 0 ? 1U : 0U);
      EXPECT_EQ(report.touching_pairs, 0U);
      if (gap < 0) {
        EXPECT_NEAR(report.overlaps.at(0).depth, -gap, 1e-9);
      }
    }
  }
}

TEST(Overlaps, OfADaughterThatComesThroughItsMother) {
  SolidScene solids;
  const std::uint32_t mother = solids.add(box({10, 10, 10}));
  solids.add(box({2, 2, 2}), at({8.5, 1, 1}), mother);
  for (const Transform& view : views()) {
    const Overlap overlap = the_overlap(solids.moved(view));
    EXPECT_EQ(overlap.kind, OverlapKind::crosses_mother);
    EXPECT_EQ(overlap.first, 1U) << "the daughter stands first";
    EXPECT_NEAR(overlap.depth, 0.5, 1e-9);
    EXPECT_NEAR((view.inverse() * overlap.place).x(), 10.5, 1e-6);
  }
}

TEST(Overlaps, OfADaughterWhollyOutside) {
  SolidScene solids;
  const std::uint32_t mother = solids.add(box({10, 10, 10}));
  solids.add(box({2, 2, 2}), at({20, 0, 0}), mother);
  const Overlap overlap = the_overlap(solids.scene());
  EXPECT_EQ(overlap.kind, OverlapKind::outside_mother);
  EXPECT_NEAR(overlap.depth, 12, 1e-6);
  EXPECT_NEAR(overlap.place.x(), 22, 1e-6);
}

TEST(Overlaps, OfADaughterThatTouchesItsMotherFromOutside) {
  SolidScene solids;
  const std::uint32_t mother = solids.add(box({10, 10, 10}));
  solids.add(box({10, 10, 2}), at({0, 0, 12}), mother);
  for (const Transform& view : views()) {
    const Overlap overlap = the_overlap(solids.moved(view));
    EXPECT_EQ(overlap.kind, OverlapKind::outside_mother);
    EXPECT_NEAR(overlap.depth, 4, 1e-6);
  }
}

TEST(Overlaps, OfADaughterAroundItsMother) {
  SolidScene solids;
  const std::uint32_t mother = solids.add(box({2, 2, 2}));
  solids.add(box({10, 10, 10}), at({0, 0, 0}), mother);
  const Overlap overlap = the_overlap(solids.scene());
  EXPECT_EQ(overlap.kind, OverlapKind::crosses_mother);
  EXPECT_NEAR(overlap.depth, 8 * std::sqrt(3), 1e-6);
}

TEST(Overlaps, OfASiblingInsideAnother) {
  for (const bool smaller_first : {false, true}) {
    SolidScene solids;
    solids.add(smaller_first ? ball(3) : ball(10));
    solids.add(smaller_first ? ball(10) : ball(3), at({1, 0, 0}));
    const Overlap overlap = the_overlap(solids.scene());
    EXPECT_EQ(overlap.kind, OverlapKind::contains_sibling);
    EXPECT_EQ(overlap.first, smaller_first ? 1U : 0U) << "the larger one stands first";
    // From the smaller one's far side, 8 mm but for what the larger one's facets lie inside of its sphere.
    EXPECT_GT(overlap.depth, 7.8);
    EXPECT_LE(overlap.depth, 9);
  }
}

TEST(Overlaps, OfASiblingInsideAnotherThatTouchesItsWall) {
  SolidScene solids;
  solids.add(box({10, 10, 10}));
  solids.add(box({2, 2, 2}), at({8, 1, 1}));
  for (const Transform& view : views()) {
    const Overlap overlap = the_overlap(solids.moved(view));
    EXPECT_EQ(overlap.kind, OverlapKind::contains_sibling);
    EXPECT_EQ(overlap.first, 0U);
    EXPECT_NEAR(overlap.depth, 4, 0.05);
  }
}

TEST(Overlaps, OfSolidsAtTheSamePlace) {
  for (const Mesh& mesh : {box({5, 4, 3}), ball(6)}) {
    SolidScene solids;
    const std::uint32_t index = solids.add_mesh(mesh);
    solids.place(index, at({0, 0, 0}));
    Transform mirrored = Transform::Identity();
    mirrored.scale(Vector3d(-1, 1, 1));
    solids.place(index, mirrored);
    for (const Transform& view : views()) {
      const Overlap overlap = the_overlap(solids.moved(view));
      EXPECT_EQ(overlap.kind, OverlapKind::siblings_coincide);
      EXPECT_GT(overlap.depth, 2);
      EXPECT_LT(overlap.depth, 6);
    }
  }
}

TEST(Overlaps, OfADaughterThatFillsAHollow) {
  Mesh shell = ball(10);
  test::append(shell, test::inside_out(ball(6)));
  for (const bool mother : {true, false}) {
    SolidScene solids;
    const std::uint32_t outer = solids.add(shell);
    solids.add(ball(6), at({0, 0, 0}), mother ? outer : kNone);
    if (!mother) {
      expect_touching(solids.scene(), 1, "beside each other, that is right");
      continue;
    }
    EXPECT_EQ(the_overlap(solids.scene()).kind, OverlapKind::outside_mother);
  }
}

TEST(Overlaps, OfAHollowWhoseWallADaughterEncloses) {
  Mesh shell = ball(10);
  test::append(shell, test::inside_out(ball(2)));
  SolidScene solids;
  const std::uint32_t outer = solids.add(shell);
  solids.add(ball(6), at({0, 0, 0}), outer);
  const Overlap overlap = the_overlap(solids.scene());
  EXPECT_EQ(overlap.kind, OverlapKind::crosses_mother);
  EXPECT_GT(overlap.depth, 3);
}

TEST(Overlaps, OfBarsThatCrossWithoutACornerInside) {
  SolidScene solids;
  solids.add(box({50, 1, 1}));
  solids.add(box({1.5, 50, 0.5}), at({3, 0, 0.25}));
  for (const Transform& view : views()) {
    const Overlap overlap = the_overlap(solids.moved(view));
    EXPECT_EQ(overlap.kind, OverlapKind::siblings_cross);
    // A face of the second, y = -1 to 1 and z = -0.25 to 0.75, in the middle of the first.
    EXPECT_GT(overlap.depth, 0.7);
    EXPECT_LE(overlap.depth, 1.5);
  }
}

TEST(Overlaps, OfThinPlatesThatCross) {
  SolidScene solids;
  const std::uint32_t plate = solids.add_mesh(box({50, 50, 0.01}));
  solids.place(plate, at({0, 0, 0}));
  Transform upright = Transform::Identity();
  upright.rotate(Eigen::AngleAxisd(std::numbers::pi / 2, Vector3d::UnitX()));
  solids.place(plate, upright);
  for (const Transform& view : views()) {
    const Overlap overlap = the_overlap(solids.moved(view));
    EXPECT_EQ(overlap.kind, OverlapKind::siblings_cross);
    EXPECT_NEAR(overlap.depth, 0.01, 1e-3);
  }
}

TEST(Overlaps, OfANeedleThroughTheMiddleOfAFace) {
  Mesh needle;
  needle.vertices = {{0.1F, 0, 0}, {-0.1F, 0.1F, 0}, {-0.1F, -0.1F, 0}, {0, 0, 20}};
  needle.triangles = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
  SolidScene solids;
  solids.add(box({100, 100, 5}), at({3.3, 7.1, 0}));
  solids.add(needle, at({0, 0, -22}));
  const Overlap overlap = the_overlap(solids.scene());
  EXPECT_NEAR(overlap.depth, 3, 1e-6) << "its point";
  EXPECT_NEAR(overlap.place.z(), -2, 1e-6);
}

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
    for (const Transform& view : views()) expect_touching(solids.moved(view), 1, one.what);
  }
}

TEST(Overlaps, DoNotComeFromAnEdgeOrCornerOnAFace) {
  SolidScene solids;
  const std::uint32_t mesh = solids.add_mesh(box({1, 1, 1}));
  solids.place(mesh, at({0, 0, 0}));
  Transform on_edge = at({0.1, 0.2, 1 + std::sqrt(2)});
  on_edge.rotate(Eigen::AngleAxisd(std::numbers::pi / 4, Vector3d::UnitX()));
  solids.place(mesh, on_edge);
  for (const Transform& view : views()) expect_touching(solids.moved(view), 1, "edge on face");
  Transform on_corner = at({0.1, 0.2, -1 - std::sqrt(3)});
  on_corner.rotate(Eigen::Quaterniond::FromTwoVectors(Vector3d(1, 1, 1), Vector3d(0, 0, 1)));
  solids.place(mesh, on_corner);
  for (const Transform& view : views()) expect_touching(solids.moved(view), 2, "corner on face");
}

TEST(Overlaps, DoNotComeFromDaughtersFlushWithTheirMother) {
  SolidScene solids;
  const std::uint32_t mother = solids.add(box({10, 10, 10}));
  solids.add(box({2, 2, 2}), at({8, 0, 0}), mother);     // flush with one face
  solids.add(box({2, 2, 2}), at({-8, 8, 8}), mother);    // in a corner
  solids.add(box({10, 2, 2}), at({0, -8, -8}), mother);  // along an edge, from face to face
  solids.add(box({2, 2, 2}), at({0, 0, 0}), mother);     // in the middle
  for (const Transform& view : views()) expect_touching(solids.moved(view), 3);
}

TEST(Overlaps, DoNotComeFromADaughterThatFillsItsMother) {
  for (const Mesh& mesh : {box({5, 4, 3}), ball(6)}) {
    SolidScene solids;
    const std::uint32_t mother = solids.add(mesh);
    solids.place(0, at({0, 0, 0}), mother);
    for (const Transform& view : views()) expect_touching(solids.moved(view), 1);
  }
}

TEST(Overlaps, DoNotComeFromSpheresNestedInEachOther) {
  SolidScene solids;
  std::uint32_t mother = kNone;
  for (const double radius : {10000., 9999.9, 9990., 5000., 4999.9})
    mother = solids.add(ball(radius, 4), at({0, 0, 0}), mother);
  for (const Transform& view : views()) expect_touching(solids.moved(view), 0);
}

TEST(Overlaps, ComeFromNestedSpheresOfOtherFacets) {
  // As the photocathode once did: the corners of one come through the flat facets of the other.
  SolidScene solids;
  const std::uint32_t mother = solids.add(ball(100, 3));
  solids.add(ball(99.9, 4), at({0, 0, 0}), mother);
  const Overlap overlap = the_overlap(solids.scene());
  EXPECT_EQ(overlap.kind, OverlapKind::crosses_mother);
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
  OverlapOptions options;
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

TEST(Overlaps, LookAtMothersAndSiblingsOnly) {
  SolidScene solids;
  const std::uint32_t a = solids.add(box({10, 10, 10}));
  const std::uint32_t b = solids.add(box({10, 10, 10}), at({20, 0, 0}));
  solids.add(box({3, 3, 3}), at({5, 0, 0}), a);
  solids.add(box({3, 3, 3}), at({15, 0, 0}), b);
  EXPECT_THAT(find_overlaps(solids.scene()).overlaps, IsEmpty());
  solids.add(box({3, 3, 3}), at({12, 0, 0}), b);  // over its mother's wall by 1 mm, and into its sibling by 3
  const OverlapReport report = find_overlaps(solids.scene());
  ASSERT_THAT(report.overlaps, SizeIs(2));
  EXPECT_EQ(report.overlaps[0].kind, OverlapKind::siblings_cross);
  EXPECT_EQ(std::pair(report.overlaps[0].first, report.overlaps[0].second), std::pair(3U, 4U));
  EXPECT_NEAR(report.overlaps[0].depth, 3, 0.01);
  EXPECT_EQ(report.overlaps[1].kind, OverlapKind::crosses_mother);
  EXPECT_EQ(std::pair(report.overlaps[1].first, report.overlaps[1].second), std::pair(4U, 1U));
  EXPECT_NEAR(report.overlaps[1].depth, 1, 1e-6);
}

TEST(Overlaps, CountSolidsWithoutAnInside) {
  Mesh open = box({5, 5, 5});
  open.triangles.pop_back();
  SolidScene solids;
  solids.add(open);
  solids.add(box({5, 5, 5}), at({1, 0, 0}));
  Transform flat = Transform::Identity();
  flat.linear()(2, 2) = 0;
  solids.place(1, flat);
  solids.add(test::inside_out(box({5, 5, 5})));
  solids.add(Mesh{});
  const OverlapReport report = find_overlaps(solids.scene());
  EXPECT_EQ(report.solids, 4U);
  EXPECT_EQ(report.untested_solids, 3U);
  EXPECT_EQ(report.pairs, 0U);
  EXPECT_THAT(report.overlaps, IsEmpty());
}

TEST(Overlaps, PutPairsTogetherThatAreAlike) {
  SolidScene solids;
  const std::uint32_t world = solids.add(ball(2000));
  const std::uint32_t outer = solids.add_mesh(box({3, 3, 3}));
  const std::uint32_t inner = solids.add_mesh(box({1, 1, 1}));
  RandomShapes random(5);
  for (int i = 0; i != 100; ++i) {
    const Transform placed = at({12.0 * i - 600, 0, 0}) * random.rotation();
    const std::uint32_t mother = solids.place(outer, placed, world);
    // The last ten poke through another wall.
    solids.place(inner, placed * at(i < 90 ? Vector3d(2.5, 0, 0) : Vector3d(0, 2.25, 0)), mother);
  }
  const OverlapReport report = find_overlaps(solids.scene());
  ASSERT_THAT(report.overlaps, SizeIs(2));
  EXPECT_EQ(report.overlapping_pairs, 100U);
  EXPECT_EQ(report.overlaps[0].pairs, 90U);
  EXPECT_EQ(report.overlaps[0].first, 2U) << "the first such pair";
  EXPECT_EQ(report.overlaps[1].pairs, 10U);
  EXPECT_EQ(report.overlaps[1].second, 181U);
  EXPECT_EQ(report.tests, 102U) << "and one for the place of each in the world";
}

TEST(Overlaps, TellPairsApartThatAreNotAlike) {
  SolidScene solids;
  const std::uint32_t outer = solids.add_mesh(box({3, 3, 3}));
  const std::uint32_t inner = solids.add_mesh(box({1, 1, 1}));
  const std::uint32_t octahedron = solids.add_mesh(ball(1, 0));  // of the same size
  Transform turned = at({1.75, 0, 0});
  turned.rotate(Eigen::AngleAxisd(std::numbers::pi / 4, Vector3d::UnitZ()));
  const auto add_pair = [&](const Transform& place, std::uint32_t mesh, const Transform& daughter) {
    const std::uint32_t first = solids.place(outer, place);
    solids.place(mesh, place * daughter, first);
  };
  add_pair(at({0, 0, 0}), inner, at({1.75, 0, 0}));                                   // inside
  add_pair(at({100, 0, 0}), inner, turned);                                           // a corner comes out
  add_pair(at({200, 0, 0}), octahedron, turned);                                      // inside
  add_pair(at({300, 0, 0}), inner, at({2.5, 0, 0}));                                  // a face comes out
  add_pair(at({400, 0, 0}) * Eigen::Scaling(2.0), inner, at({2.5, 0, 0}));            // twice as far
  add_pair(at({500, 0, 0}) * Eigen::Scaling(2.0, 1.0, 1.0), inner, at({2.5, 0, 0}));  // likewise
  add_pair(at({600, 0, 0}) * Eigen::Scaling(1.0, 1.0, 2.0), inner, at({2.5, 0, 0}));  // not
  solids.place(inner, at({701.75, 0, 0}));                                            // without a mother
  solids.place(outer, at({700, 0, 0}));
  const OverlapReport report = find_overlaps(solids.scene());
  std::vector<std::tuple<std::uint32_t, OverlapKind, int>> found;  // depth in hundredths
  for (const Overlap& overlap : report.overlaps) {
    EXPECT_EQ(overlap.pairs, 1U);
    found.emplace_back(std::min(overlap.first, overlap.second), overlap.kind,
                       static_cast<int>(std::lround(100 * overlap.depth)));
  }
  EXPECT_THAT(found, testing::UnorderedElementsAre(std::tuple(2U, OverlapKind::crosses_mother, 16),
                                                   std::tuple(6U, OverlapKind::crosses_mother, 50),
                                                   std::tuple(8U, OverlapKind::crosses_mother, 100),
                                                   std::tuple(10U, OverlapKind::crosses_mother, 100),
                                                   std::tuple(12U, OverlapKind::crosses_mother, 50),
                                                   std::tuple(14U, OverlapKind::contains_sibling, 225)));
}

TEST(Overlaps, SeesThroughVerticesThatWereNotWelded) {
  SolidScene solids;
  solids.add(test::unwelded(ball(5)));
  solids.add(test::unwelded(ball(5)), at({9, 0, 0}));
  EXPECT_EQ(the_overlap(solids.scene()).kind, OverlapKind::siblings_cross);
}

/// Depth and place hold by the solids' own planes, and no sample of their surfaces is deeper than the bound.
void expect_true(const Scene& scene, const Overlap& overlap, const Convex& a, const Convex& b, const char* what) {
  const double in_a = a.depth(overlap.place);
  const double in_b = b.depth(overlap.place);
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
  for (int i = 0; i != 600; ++i) {
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
  EXPECT_GT(overlapping, 150);
  EXPECT_LT(overlapping, 450);
}

TEST(Overlaps, AgreeWithIntervalsOfBoxesOnAGrid) {
  // Whole numbers: faces, edges and corners coincide more often than not.
  RandomShapes random(10);
  int overlapping = 0, touching = 0;
  const auto whole = [&](double low, double high) { return Vector3d(random.vector(low, high).array().floor()); };
  for (int i = 0; i != 1500; ++i) {
    Bounds boxes[2];
    for (Bounds& one : boxes) {
      one.min = whole(0, 5);
      one.max = one.min + whole(1, 5);
    }
    const bool mother = i % 3 == 0;
    SolidScene solids;
    solids.add(box(boxes[0].min, boxes[0].max));
    solids.add(box(boxes[1].min, boxes[1].max), at({0, 0, 0}), mother ? 0 : kNone);
    const Vector3d common = boxes[0].max.cwiseMin(boxes[1].max) - boxes[0].min.cwiseMax(boxes[1].min);
    const bool bad = mother ? !boxes[0].contains(boxes[1]) : common.minCoeff() > 0;
    const Vector3d room = (boxes[1].min - boxes[0].min).cwiseMin(boxes[0].max - boxes[1].max);
    const bool touch = !bad && (mother ? room.minCoeff() == 0 : common.minCoeff() == 0);
    const OverlapReport report = find_overlaps(solids.moved(views()[static_cast<std::size_t>(i) % 5]));
    ASSERT_EQ(report.overlaps.size(), bad ? 1U : 0U) << "pair " << i;
    ASSERT_EQ(report.touching_pairs, touch ? 1U : 0U) << "pair " << i;
    ASSERT_EQ(report.undecided_pairs, 0U);
    overlapping += bad ? 1 : 0;
    touching += touch ? 1 : 0;
    if (!bad) continue;
    const Overlap& overlap = report.overlaps[0];
    EXPECT_EQ(overlap.kind == OverlapKind::siblings_coincide,
              !mother && boxes[0].min == boxes[1].min && boxes[0].max == boxes[1].max);
    if (mother) {
      EXPECT_EQ(overlap.kind == OverlapKind::outside_mother, common.minCoeff() <= 0) << "pair " << i;
    }
  }
  EXPECT_GT(overlapping, 500);
  EXPECT_GT(touching, 100);
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
    EXPECT_NEAR(overlap.place.x(), apart / 2, 10 - apart / 2 + 0.01);
  }
}

TEST(Overlaps, AreTheSameForAnyNumberOfThreads) {
  SolidScene solids;
  RandomShapes random(9);
  for (int i = 0; i != 60; ++i) solids.add(i % 2 == 0 ? ball(3, 2) : random.tetrahedron(), random.affine(12));
  std::vector<OverlapReport> reports;
  for (const std::size_t threads : {1, 2, 8}) {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
    reports.push_back(find_overlaps(solids.scene()));
  }
  EXPECT_GT(reports[0].overlaps.size(), 20U);
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

TEST(Overlaps, TellHowFarTheyAreAndCanBeCancelled) {
  SolidScene solids;
  RandomShapes random(9);
  for (int i = 0; i != 60; ++i) solids.add(ball(3, 2), random.affine(12));
  std::vector<std::string> stages;
  const Progress listening([&](std::string_view stage, std::uint64_t done, std::uint64_t total) {
    if (stages.empty() || stages.back() != stage) stages.emplace_back(stage);
    EXPECT_LE(done, total);
    return true;
  });
  (void)find_overlaps(solids.scene(), {}, listening);
  EXPECT_THAT(stages, testing::ElementsAre("check", "overlap trees", "overlaps", "overlap depths"));
  for (const std::string& last : stages) {
    const Progress stopping([&](std::string_view stage, std::uint64_t, std::uint64_t) { return stage != last; });
    test::expect_error(ErrorKind::cancelled, [&] { (void)find_overlaps(solids.scene(), {}, stopping); });
  }
}

TEST(Overlaps, RefuseWhatMakesNoSense) {
  SolidScene solids;
  solids.add(ball(3, 2));
  solids.place(7, at({0, 0, 0}));
  const Error error = test::expect_error(ErrorKind::usage, [&] { (void)find_overlaps(solids.scene()); });
  EXPECT_THAT(error.what(), testing::HasSubstr("instance 1"));
  for (const double tolerance : {-1.0, std::nan("")}) {
    OverlapOptions options;
    options.tolerance = tolerance;
    test::expect_error(ErrorKind::usage, [&] { (void)find_overlaps(Scene{}, options); });
  }
  SceneCheck other;
  other.meshes.resize(3);
  test::expect_error(ErrorKind::usage, [&] { (void)find_overlaps(Scene{}, other); });
}

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
      one.min = random.vector(0, 20).array().floor();
      one.max = one.min + Vector3d(random.vector(0, 4).array().floor());
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> want;
    for (std::uint32_t i = 0; i != boxes.size(); ++i)
      for (std::uint32_t k = i + 1; k != boxes.size(); ++k)
        if ((boxes[i].min.cwiseMax(boxes[k].min).array() <= boxes[i].max.cwiseMin(boxes[k].max).array()).all())
          want.emplace_back(i, k);
    EXPECT_EQ(meeting_boxes(boxes), want);
  }
}

}  // namespace
}  // namespace raylift
