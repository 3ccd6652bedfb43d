// SPDX-License-Identifier: Apache-2.0
// Solids that only touch overlap by facets that lie off the true surfaces. Such overlaps are listed apart from true
// ones. How far facets lie off is known in closed form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <raylift/geometry/checks/overlaps.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "geometry/import/gdml_scene.h"

namespace raylift {
namespace {

using test::gdml_physvol;
using test::gdml_position;
using test::gdml_volume;
using test::GdmlParts;
using test::load_gdml;
using testing::IsEmpty;
using testing::SizeIs;

constexpr double kTurn = 2 * std::numbers::pi;

/// A box "box" of 200 mm in the world, of a volume that holds `content`; `volumes` stand before it.
GdmlParts in_a_box(const std::string& solids, const std::string& volumes, const std::string& content) {
  GdmlParts parts;
  parts.solids = R"(<box name="box" x="200" y="200" z="200"/>)" + solids;
  parts.structure = volumes + gdml_volume("Box", "Water", "box", content) +
                    gdml_volume("World", "Air", "w", gdml_physvol("b", "Box"));
  return parts;
}
OverlapReport overlaps_of(const GdmlParts& parts, const Fineness& fineness = {}) {
  LoadOptions options;
  options.fineness = fineness;
  return find_overlaps(load_gdml(parts, options));
}
/// By solid of the volume "D", which lies in the box.
OverlapReport daughter(const std::string& solid, const std::string& place = "", const Fineness& fineness = {}) {
  return overlaps_of(in_a_box(solid, gdml_volume("D", "Glass", "d"), gdml_physvol("d", "D", place)), fineness);
}

/// By how much facets of `steps` a turn reach beyond a circle of that radius, and stay behind it: corners lie on a
/// circle of the same area.
double beyond(double radius, double steps) {
  const double step = kTurn / steps;
  return radius * (std::sqrt(step / std::sin(step)) - 1);
}
double behind(double radius, double steps) {
  const double step = kTurn / steps;
  return radius * (1 - std::sqrt(step / std::sin(step)) * std::cos(step / 2));
}

void expect_by_tessellation(const OverlapReport& report, double depth, double facets) {
  EXPECT_THAT(report.overlaps, IsEmpty());
  EXPECT_EQ(report.overlapping_pairs, 0U);
  EXPECT_EQ(report.touching_pairs, 0U);
  ASSERT_THAT(report.by_tessellation, SizeIs(1));
  EXPECT_EQ(report.tessellation_pairs, report.by_tessellation[0].pairs);
  EXPECT_NEAR(report.by_tessellation[0].depth, depth, 1e-4);
  EXPECT_NEAR(report.by_tessellation[0].facets, facets, 1e-6);
}

void expect_true(const OverlapReport& report, double depth, double facets) {
  EXPECT_THAT(report.by_tessellation, IsEmpty());
  EXPECT_EQ(report.tessellation_pairs, 0U);
  EXPECT_EQ(report.overlapping_pairs, 1U);
  ASSERT_THAT(report.overlaps, SizeIs(1));
  EXPECT_NEAR(report.overlaps[0].depth, depth, 1e-4);
  EXPECT_NEAR(report.overlaps[0].facets, facets, 1e-6);
}

const std::string kTube = R"(<tube name="d" rmax="100" z="100" deltaphi="360" aunit="deg"/>)";
const std::string kOrb = R"(<orb name="d" r="100"/>)";

TEST(OverlapsByTessellation, AreThoseOfATubeThatTouchesItsMother) {
  const Fineness steps{0, 72, Fineness::Fit::volume};
  expect_by_tessellation(daughter(kTube, "", steps), beyond(100, 72), beyond(100, 72));
  // A turn of 90 degrees has 18 facets, so that a corner lies at each face of the box.
  const OverlapReport inscribed = daughter(kTube, "", {0, 72, Fineness::Fit::inscribed});
  EXPECT_THAT(inscribed.overlaps, IsEmpty());
  EXPECT_THAT(inscribed.by_tessellation, IsEmpty());
  EXPECT_EQ(inscribed.touching_pairs, 1U);
}

TEST(OverlapsByTessellation, AreThoseOfAnOrbThatTouchesItsMother) {
  const double both = (100 + beyond(100, 72)) * (100 + beyond(100, 72)) / 100 - 100;
  const OverlapReport report = daughter(kOrb, "", {0, 72, Fineness::Fit::volume});
  expect_by_tessellation(report, both, both);
}

TEST(OverlapsByTessellation, AreNotThoseThatAreDeeper) {
  const double facets = beyond(100, 72);
  for (const double out : {0.5, 2.}) {
    SCOPED_TRACE(out);
    const OverlapReport report = daughter(kTube, gdml_position(out * facets, 0, 0), {0, 72, Fineness::Fit::volume});
    expect_true(report, (1 + out) * facets, facets);
  }
  // Inscribed facets have no part in it.
  const std::string half = R"(<tube name="d" rmax="100" z="300" deltaphi="360" aunit="deg"/>)";
  expect_true(daughter(half, "", {0, 72, Fineness::Fit::inscribed}), 50, 0);
}

TEST(OverlapsByTessellation, MayBeTrueOnes) {
  // The middles of facets face the box, so that a tube which sticks out by more than they lie behind it overlaps by the
  // rest: as one that only touches may.
  const double facets = beyond(100, 72);
  const std::string out = gdml_position(behind(100, 72) + 0.5 * facets, 0, 0) + R"(<rotation z="2.5" unit="deg"/>)";
  expect_by_tessellation(daughter(kTube, out, {0, 72, Fineness::Fit::volume}), 0.5 * facets, facets);
}

TEST(OverlapsByTessellation, AreThoseOfSiblingsThatTouch) {
  const std::string solids =
      R"(<tube name="in" rmax="50" z="100" deltaphi="360" aunit="deg"/>
         <tube name="out" rmin="50" rmax="80" z="100" deltaphi="360" aunit="deg"/>)";
  const std::string volumes = gdml_volume("In", "Glass", "in") + gdml_volume("Out", "Air", "out");
  const Fineness steps{0, 72, Fineness::Fit::volume};
  const OverlapReport same =
      overlaps_of(in_a_box(solids, volumes, gdml_physvol("i", "In") + gdml_physvol("o", "Out")), steps);
  EXPECT_THAT(same.overlaps, IsEmpty());
  EXPECT_THAT(same.by_tessellation, IsEmpty()) << "the same facets";
  // What is known of a mesh is of all its walls.
  const double facets = beyond(50, 72) + std::max(behind(50, 72), beyond(80, 72));
  const std::string turned = R"(<rotation z="2.5" unit="deg"/>)";
  expect_by_tessellation(
      overlaps_of(in_a_box(solids, volumes, gdml_physvol("i", "In") + gdml_physvol("o", "Out", turned)), steps),
      beyond(50, 72) + behind(50, 72), facets);
  expect_true(overlaps_of(in_a_box(solids, volumes,
                                   gdml_physvol("i", "In", gdml_position(0.5, 0, 0)) + gdml_physvol("o", "Out")),
                          steps),
              0.5, facets);
}

TEST(OverlapsByTessellation, DoNotComeFromASphereInAShellOfItsRadius) {
  const std::string solids = R"(<sphere name="s" rmax="50" deltaphi="360" deltatheta="180" aunit="deg"/>
      <sphere name="shell" rmin="50" rmax="80" deltaphi="360" deltatheta="180" aunit="deg"/>)";
  const OverlapReport report =
      overlaps_of(in_a_box(solids, gdml_volume("S", "Glass", "s") + gdml_volume("Shell", "Air", "shell"),
                           gdml_physvol("s", "S") + gdml_physvol("o", "Shell")));
  EXPECT_THAT(report.overlaps, IsEmpty());
  EXPECT_THAT(report.by_tessellation, IsEmpty());
}

TEST(OverlapsByTessellation, CountTheScaleOfSolids) {
  // Ten times as large along x and y, by the placement.
  const std::string small = R"(<tube name="d" rmax="10" z="100" deltaphi="360" aunit="deg"/>)";
  const OverlapReport report = daughter(small, R"(<scale x="10" y="10" z="1"/>)", {0, 72, Fineness::Fit::volume});
  expect_by_tessellation(report, beyond(100, 72), beyond(100, 72));
}

TEST(OverlapsByTessellation, AreNotThoseOfSolidsInTheSamePlace) {
  // 1 um thick, which is less than the facets lie off.
  const std::string foil = R"(<tube name="d" rmin="50" rmax="50.001" z="100" deltaphi="360" aunit="deg"/>)";
  const OverlapReport report =
      overlaps_of(in_a_box(foil, gdml_volume("D", "Glass", "d"), gdml_physvol("a", "D") + gdml_physvol("b", "D")));
  EXPECT_THAT(report.by_tessellation, IsEmpty());
  ASSERT_THAT(report.overlaps, SizeIs(1));
  EXPECT_EQ(report.overlaps[0].kind, Overlap::Kind::siblings_coincide);
}

TEST(OverlapsByTessellation, AreKnownAfterAnIsolatedImport) {
  LoadOptions options;
  options.fineness.steps = 72;
  const test::TemporaryFolder folder;
  const std::string file = folder.write(
      "scene.gdml", test::gdml_document(in_a_box(kTube, gdml_volume("D", "Glass", "d"), gdml_physvol("d", "D"))));
  const Scene here = load(file, options);
  options.isolate = true;
  const Scene there = load(file, options);
  ASSERT_EQ(here.meshes.size(), there.meshes.size());
  for (std::size_t i = 0; i != here.meshes.size(); ++i) EXPECT_EQ(here.meshes[i].deviation, there.meshes[i].deviation);
  EXPECT_EQ(find_overlaps(there).tessellation_pairs, 1U);
}

}  // namespace
}  // namespace raylift
