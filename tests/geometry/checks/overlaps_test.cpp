// SPDX-License-Identifier: Apache-2.0
// Overlaps are found where they are, as deep as they are; which pairs are examined, and how they are reported.
#include <gmock/gmock.h>
#include <raylift/geometry/checks/overlaps.h>
#include <raylift/geometry/scene/eigen.h>

#include "overlap_expectations.h"
#include "overlap_scenes.h"
#include "support/effort.h"
#include "support/expect_error.h"

namespace raylift {
namespace {

using Eigen::Vector3d;
using test::at;
using test::ball;
using test::box;
using test::expect_touching;
using test::RandomShapes;
using test::SolidScene;
using test::the_overlap;
using test::views;
using testing::IsEmpty;
using testing::SizeIs;

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
  for (const EigenTransform& view : views()) {
    const Overlap overlap = the_overlap(solids.moved(view));
    EXPECT_EQ(overlap.kind, Overlap::Kind::siblings_cross);
    EXPECT_EQ(overlap.first, 0U);
    EXPECT_EQ(overlap.pairs, 1U);
    EXPECT_NEAR(overlap.depth, 0.75, 1e-9);
    EXPECT_LE(overlap.depth_at_most, 0.75 * 1.011);
    const Vector3d place = view.inverse() * to_eigen(overlap.place);
    EXPECT_TRUE(std::abs(place.x() - 4.25) < 1e-6 || std::abs(place.x() - 5) < 1e-6) << place.transpose();
  }
}

TEST(Overlaps, OfBoxesWhoseOtherFacesLieInTheSamePlanes) {
  SolidScene solids;
  const std::uint32_t mesh = solids.add_mesh(box({5, 5, 5}));
  solids.place(mesh, at({0, 0, 0}));
  solids.place(mesh, at({9, 0, 0}));
  for (const EigenTransform& view : views()) EXPECT_NEAR(the_overlap(solids.moved(view)).depth, 1, 1e-6);
}

TEST(Overlaps, OfAThinnessJustOverTheTolerance) {
  for (const double gap : {-1e-4, 1e-4}) {
    SolidScene solids;
    solids.add(box({5, 5, 5}));
    solids.add(box({5, 3, 2}), at({10 + gap, 0.5, 0.5}));
    for (const EigenTransform& view : views()) {
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
  for (const EigenTransform& view : views()) {
    const Overlap overlap = the_overlap(solids.moved(view));
    EXPECT_EQ(overlap.kind, Overlap::Kind::crosses_mother);
    EXPECT_EQ(overlap.first, 1U) << "the daughter stands first";
    EXPECT_NEAR(overlap.depth, 0.5, 1e-9);
    EXPECT_NEAR((view.inverse() * to_eigen(overlap.place)).x(), 10.5, 1e-6);
  }
}

TEST(Overlaps, OfADaughterWhollyOutside) {
  SolidScene solids;
  const std::uint32_t mother = solids.add(box({10, 10, 10}));
  solids.add(box({2, 2, 2}), at({20, 0, 0}), mother);
  const Overlap overlap = the_overlap(solids.scene());
  EXPECT_EQ(overlap.kind, Overlap::Kind::outside_mother);
  EXPECT_NEAR(overlap.depth, 12, 1e-6);
  EXPECT_NEAR(overlap.place.x, 22, 1e-6);
}

TEST(Overlaps, OfADaughterThatTouchesItsMotherFromOutside) {
  SolidScene solids;
  const std::uint32_t mother = solids.add(box({10, 10, 10}));
  solids.add(box({10, 10, 2}), at({0, 0, 12}), mother);
  for (const EigenTransform& view : views()) {
    const Overlap overlap = the_overlap(solids.moved(view));
    EXPECT_EQ(overlap.kind, Overlap::Kind::outside_mother);
    EXPECT_NEAR(overlap.depth, 4, 1e-6);
  }
}

TEST(Overlaps, OfADaughterAroundItsMother) {
  SolidScene solids;
  const std::uint32_t mother = solids.add(box({2, 2, 2}));
  solids.add(box({10, 10, 10}), at({0, 0, 0}), mother);
  const Overlap overlap = the_overlap(solids.scene());
  EXPECT_EQ(overlap.kind, Overlap::Kind::crosses_mother);
  EXPECT_NEAR(overlap.depth, 8 * std::sqrt(3), 1e-6);
}

TEST(Overlaps, OfASiblingInsideAnother) {
  for (const bool smaller_first : {false, true}) {
    SolidScene solids;
    solids.add(smaller_first ? ball(3) : ball(10));
    solids.add(smaller_first ? ball(10) : ball(3), at({1, 0, 0}));
    const Overlap overlap = the_overlap(solids.scene());
    EXPECT_EQ(overlap.kind, Overlap::Kind::contains_sibling);
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
  for (const EigenTransform& view : views()) {
    const Overlap overlap = the_overlap(solids.moved(view));
    EXPECT_EQ(overlap.kind, Overlap::Kind::contains_sibling);
    EXPECT_EQ(overlap.first, 0U);
    EXPECT_NEAR(overlap.depth, 4, 0.05);
  }
}

TEST(Overlaps, OfSolidsAtTheSamePlace) {
  for (const Mesh& mesh : {box({5, 4, 3}), ball(6)}) {
    SolidScene solids;
    const std::uint32_t index = solids.add_mesh(mesh);
    solids.place(index, at({0, 0, 0}));
    EigenTransform mirrored = EigenTransform::Identity();
    mirrored.scale(Vector3d(-1, 1, 1));
    solids.place(index, mirrored);
    for (const EigenTransform& view : views()) {
      const Overlap overlap = the_overlap(solids.moved(view));
      EXPECT_EQ(overlap.kind, Overlap::Kind::siblings_coincide);
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
    EXPECT_EQ(the_overlap(solids.scene()).kind, Overlap::Kind::outside_mother);
  }
}

TEST(Overlaps, OfAHollowWhoseWallADaughterEncloses) {
  Mesh shell = ball(10);
  test::append(shell, test::inside_out(ball(2)));
  SolidScene solids;
  const std::uint32_t outer = solids.add(shell);
  solids.add(ball(6), at({0, 0, 0}), outer);
  const Overlap overlap = the_overlap(solids.scene());
  EXPECT_EQ(overlap.kind, Overlap::Kind::crosses_mother);
  EXPECT_GT(overlap.depth, 3);
}

TEST(Overlaps, OfBarsThatCrossWithoutACornerInside) {
  SolidScene solids;
  solids.add(box({50, 1, 1}));
  solids.add(box({1.5, 50, 0.5}), at({3, 0, 0.25}));
  for (const EigenTransform& view : views()) {
    const Overlap overlap = the_overlap(solids.moved(view));
    EXPECT_EQ(overlap.kind, Overlap::Kind::siblings_cross);
    // A face of the second, y = -1 to 1 and z = -0.25 to 0.75, in the middle of the first.
    EXPECT_GT(overlap.depth, 0.7);
    EXPECT_LE(overlap.depth, 1.5);
  }
}

TEST(Overlaps, OfThinPlatesThatCross) {
  SolidScene solids;
  const std::uint32_t plate = solids.add_mesh(box({50, 50, 0.01}));
  solids.place(plate, at({0, 0, 0}));
  EigenTransform upright = EigenTransform::Identity();
  upright.rotate(Eigen::AngleAxisd(std::numbers::pi / 2, Vector3d::UnitX()));
  solids.place(plate, upright);
  for (const EigenTransform& view : views()) {
    const Overlap overlap = the_overlap(solids.moved(view));
    EXPECT_EQ(overlap.kind, Overlap::Kind::siblings_cross);
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
  EXPECT_NEAR(overlap.place.z, -2, 1e-6);
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
  EXPECT_EQ(report.overlaps[0].kind, Overlap::Kind::siblings_cross);
  EXPECT_EQ(std::pair(report.overlaps[0].first, report.overlaps[0].second), std::pair(3U, 4U));
  EXPECT_NEAR(report.overlaps[0].depth, 3, 0.01);
  EXPECT_EQ(report.overlaps[1].kind, Overlap::Kind::crosses_mother);
  EXPECT_EQ(std::pair(report.overlaps[1].first, report.overlaps[1].second), std::pair(4U, 1U));
  EXPECT_NEAR(report.overlaps[1].depth, 1, 1e-6);
}

TEST(Overlaps, CountSolidsWithoutAnInside) {
  Mesh open = box({5, 5, 5});
  open.triangles.pop_back();
  SolidScene solids;
  solids.add(open);
  solids.add(box({5, 5, 5}), at({1, 0, 0}));
  EigenTransform flat = EigenTransform::Identity();
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
    const EigenTransform placed = at({12.0 * i - 600, 0, 0}) * random.rotation();
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
  EigenTransform turned = at({1.75, 0, 0});
  turned.rotate(Eigen::AngleAxisd(std::numbers::pi / 4, Vector3d::UnitZ()));
  const auto add_pair = [&](const EigenTransform& place, std::uint32_t mesh, const EigenTransform& daughter) {
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
  std::vector<std::tuple<std::uint32_t, Overlap::Kind, int>> found;  // depth in hundredths
  for (const Overlap& overlap : report.overlaps) {
    EXPECT_EQ(overlap.pairs, 1U);
    found.emplace_back(std::min(overlap.first, overlap.second), overlap.kind,
                       static_cast<int>(std::lround(100 * overlap.depth)));
  }
  EXPECT_THAT(found, testing::UnorderedElementsAre(std::tuple(2U, Overlap::Kind::crosses_mother, 16),
                                                   std::tuple(6U, Overlap::Kind::crosses_mother, 50),
                                                   std::tuple(8U, Overlap::Kind::crosses_mother, 100),
                                                   std::tuple(10U, Overlap::Kind::crosses_mother, 100),
                                                   std::tuple(12U, Overlap::Kind::crosses_mother, 50),
                                                   std::tuple(14U, Overlap::Kind::contains_sibling, 225)));
}

TEST(Overlaps, SeesThroughVerticesThatWereNotWelded) {
  SolidScene solids;
  solids.add(test::unwelded(ball(5)));
  solids.add(test::unwelded(ball(5)), at({9, 0, 0}));
  EXPECT_EQ(the_overlap(solids.scene()).kind, Overlap::Kind::siblings_cross);
}

TEST(Overlaps, TellHowFarTheyAreAndCanBeCancelled) {
  SolidScene solids;
  RandomShapes random(9);
  for (int i = 0; i != (kSanitized ? 30 : 60); ++i) solids.add(ball(3, 2), random.affine(12));
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
    Overlap::Options options;
    options.tolerance = tolerance;
    test::expect_error(ErrorKind::usage, [&] { (void)find_overlaps(Scene{}, options); });
  }
  SceneCheck other;
  other.meshes.resize(3);
  test::expect_error(ErrorKind::usage, [&] { (void)find_overlaps(Scene{}, other); });
}

}  // namespace
}  // namespace raylift
