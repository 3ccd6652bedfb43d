// SPDX-License-Identifier: Apache-2.0
// Boundaries between media on each device, case by case; boundary_walk_test.cpp takes photons through whole scenes.
#include <raylift/geometry/scene/eigen.h>

#include <Eigen/Geometry>
#include <cmath>
#include <random>

#include "boundaries.h"
#include "support/effort.h"

namespace raylift {
namespace {

using test::Boxes;
using test::Corner;
using test::inside;
using test::kForever;

class Boundaries : public test::BoundariesOnDevice {};

TEST_P(Boundaries, OfBoxesThatTouchLeadFromOneIntoTheOther) {
  for (const bool flat : {false, true}) {
    Boxes boxes;
    const auto world = boxes.add({-500, -500, -500}, {500, 500, 500});
    const auto left = boxes.add({0, 0, 0}, {100, 100, 100}, world, 1, {33, 7, -11});
    const auto right = boxes.add({100, 0, 0}, {200, 100, 100}, world, 3, {-77, 5, 12}, true);
    const GpuGeometry geometry = put(boxes, flat);
    const FineRay ray{LocalPoint(40.1F, 50.2F, 49.7F), {1, 0, 0}, kForever};
    const Boundary first = next(geometry, ray, inside(left));
    ASSERT_TRUE(first.crosses());
    EXPECT_EQ(first.from, left);
    EXPECT_EQ(first.to, right);
    EXPECT_EQ(first.material_from, left);
    EXPECT_EQ(first.material_to, right);
    EXPECT_NEAR(first.t, 59.9, 1e-4);
    EXPECT_NEAR(first.point.point.x, 100, 1e-4);
    EXPECT_EQ(solid_at(boxes, flat, first), left);
    EXPECT_TRUE(first.from_inside);
    EXPECT_NEAR(first.normal.x, 1, 1e-6);
    EXPECT_FALSE(first.inconsistent);
    // On behind it.
    const Boundary second = next(geometry, {first.point, {1, 0, 0}, kForever}, first.after);
    EXPECT_EQ(second.from, right);
    EXPECT_EQ(second.to, world);
    EXPECT_NEAR(second.point.point.x, 200, 1e-4);
    EXPECT_FALSE(second.inconsistent);
    // Reflected: back to the other wall.
    const Boundary back = next(geometry, {first.point, {-1, 0, 0}, kForever}, inside(left));
    EXPECT_EQ(back.to, world);
    EXPECT_NEAR(back.point.point.x, 0, 1e-4);
    EXPECT_NEAR(back.normal.x, -1, 1e-6);
    // Nothing within the free path.
    const Boundary none = next(geometry, {ray.origin, {1, 0, 0}, 59}, inside(left));
    EXPECT_FALSE(none.crosses());
    EXPECT_EQ(none.t, 59);
    EXPECT_EQ(none.after.solid, left);
  }
}

TEST_P(Boundaries, AreCrossedByPointsThatWereRoundedAcrossThem) {
  Boxes boxes;
  const auto world = boxes.add({-500, -500, -500}, {500, 500, 500});
  const auto left = boxes.add({0, 0, 0}, {100, 100, 100}, world, 2);
  const auto right = boxes.add({100, 0, 0}, {200, 100, 100}, world, 1);
  const GpuGeometry geometry = put(boxes);
  for (const int steps : {-3, -1, 0, 1, 3}) {
    const float x = 100 + static_cast<float>(steps) * 0x1p-17F;
    for (const float slope : {1.0F, 0.1F, 0.003F}) {
      // The photon is in the left box, and moves to the right.
      const Boundary exit = next(geometry, {LocalPoint(x, 50.3F, 20.9F), {slope, 0.2F, 0.1F}, kForever}, inside(left));
      EXPECT_EQ(exit.to, right) << steps << ' ' << slope;
      EXPECT_LE(exit.t * slope, 1e-4F);
      EXPECT_FALSE(exit.inconsistent);
      // It is in the right one, and moves on in that.
      const Boundary far = next(geometry, {LocalPoint(x, 50.3F, 20.9F), {slope, 0.2F, 0.1F}, kForever}, inside(right));
      EXPECT_GT(far.t * 0.3F, 1) << steps << ' ' << slope;
      EXPECT_EQ(far.from, right);
      EXPECT_FALSE(far.inconsistent);
    }
  }
}

TEST_P(Boundaries, OfFlushDaughtersLeaveTheirMothersToo) {
  for (const bool flat : {false, true}) {
    Boxes boxes;
    const auto world = boxes.add({-500, -500, -500}, {500, 500, 500});
    const auto mother = boxes.add({0, 0, 0}, {100, 100, 100}, world);
    const auto daughter = boxes.add({50, 0, 20}, {100, 100, 80}, mother, 2, {9, 9, 9});
    const auto grandchild = boxes.add({60, 10, 30}, {100, 60, 70}, daughter, 3);
    const auto sibling = boxes.add({100, 0, 0}, {200, 100, 100}, world, 1, {-3, 1, 2});
    const GpuGeometry geometry = put(boxes, flat);
    std::vector<std::uint32_t> seen;
    Containment in = inside(mother);
    FineRay ray{LocalPoint(10.3F, 30.1F, 50.7F), {1, 0.01F, 0.02F}, kForever};
    for (int i = 0; i != 5; ++i) {
      const Boundary step = next(geometry, ray, in);
      EXPECT_FALSE(step.inconsistent);
      seen.push_back(step.to);
      in = step.after;
      ray.origin = step.point;
    }
    EXPECT_EQ(seen, (std::vector<std::uint32_t>{daughter, grandchild, sibling, world, kNoSolid}));
    // And back again.
    const Boundary back = next(geometry, {LocalPoint(150, 30, 50), {-1, 0, 0}, kForever}, inside(sibling));
    EXPECT_EQ(back.to, grandchild);
    EXPECT_EQ(solid_at(boxes, flat, back), sibling);
  }
}

TEST_P(Boundaries, OfFoilsComeOneByOne) {
  Boxes boxes;
  const auto world = boxes.add({-500, -500, -500}, {500, 500, 500});
  const double thickness[] = {0.02, 0.05, 0.2, 0.5, 1};
  double x = 10;
  for (int i = 0; i != 5; ++i) {
    boxes.add({x, -100, -100}, {x + thickness[i], 100, 100}, world, 1 + static_cast<unsigned>(i) % 3);
    x += thickness[i];
  }
  const GpuGeometry geometry = put(boxes);
  for (const float slope : {0.0F, 1.0F, 10.0F}) {
    Containment in = inside(world);
    FineRay ray{LocalPoint(9.5F, 0.3F, 0.7F), {1, slope, 0}, kForever};
    for (std::uint32_t i = 1; i <= 6; ++i) {
      const Boundary step = next(geometry, ray, in);
      EXPECT_EQ(step.to, i == 6 ? world : i) << slope;
      EXPECT_FALSE(step.inconsistent);
      in = step.after;
      ray.origin = step.point;
    }
  }
}

/// Boxes with a gap of half the tolerance between them, which makes both faces one place.
class Gap {
 public:
  explicit Gap(Boxes& boxes, unsigned cuts = 1) {
    world = boxes.add({-500, -500, -500}, {500, 500, 500});
    left = boxes.add({96, 8, 48}, {100, 16, 52}, world, cuts);
    right = boxes.add({100 + kWidth, 8, 48}, {104, 16, 52}, world, cuts);
  }
  static constexpr float kWidth = 0x1p-13F;
  std::uint32_t world, left, right;
};

TEST_P(Boundaries, BelongToOnePlaceBehindTheEndOfTheRayToo) {
  Boxes boxes;
  const Gap gap(boxes);
  const GpuGeometry geometry = put(boxes);
  ASSERT_NEAR(geometry.view().reach, 500, 0.1);  // the tolerance is 2^-21 of it
  const Boundary one = next(geometry, {LocalPoint(98, 10, 50.2F), {1, 0, 0}, 2 + Gap::kWidth / 4}, inside(gap.left));
  EXPECT_EQ(one.t, 2);
  EXPECT_EQ(one.to, gap.right);
  EXPECT_FALSE(one.inconsistent);
}

TEST_P(Boundaries, BelongToOnePlaceFarAlongARayAtALowAngle) {
  Boxes boxes;
  const Gap gap(boxes, 64);  // small triangles: of large ones t is known less well, and they are looked at again
  const GpuGeometry geometry = put(boxes);
  // Through the gap in 128 times its width, where faces are no longer near along the ray.
  const Boundary one =
      next(geometry, {LocalPoint(100 - 0x1p-7F, 10, 50.2F), {0x1p-7F, 1, 0}, kForever}, inside(gap.left));
  EXPECT_FLOAT_EQ(one.t, 1);
  EXPECT_EQ(one.to, gap.right);
  EXPECT_FALSE(one.inconsistent);
}

TEST_P(Boundaries, AtAnEdgeOfFourBoxesLeadIntoTheOppositeOne) {
  Boxes boxes;
  const auto world = boxes.add({-500, -500, -500}, {500, 500, 500});
  const auto a = boxes.add({0, 0, 0}, {100, 100, 100}, world, 1);
  boxes.add({100, 0, 0}, {200, 100, 100}, world, 2);
  boxes.add({0, 100, 0}, {100, 200, 100}, world, 3);
  const auto d = boxes.add({100, 100, 0}, {200, 200, 100}, world, 1, {5, 5, 5});
  const GpuGeometry geometry = put(boxes);
  const Boundary across = next(geometry, {LocalPoint(50, 50, 50), {1, 1, 0.125F}, kForever}, inside(a));
  EXPECT_EQ(across.to, d);
  EXPECT_EQ(across.t, 50);
  EXPECT_FALSE(across.inconsistent);
  // From the edge itself, in any of the four, into any direction: the state decides, and soon the place does.
  for (std::uint32_t solid = 1; solid <= 4; ++solid)
    for (int k = 0; k != 16; ++k) {
      const double angle = 0.1 + k * 0.3926990816987241;
      const Float3 direction{static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)), 0.01F};
      Containment in = inside(solid);
      Boundary step = next(geometry, {LocalPoint(100, 100, 50), direction, 20}, in);
      for (int i = 0; i != 4 && step.crosses(); ++i) {
        EXPECT_LT(step.t, 1e-3F);
        in = step.after;
        step = next(geometry, {step.point, direction, 20}, in);
      }
      const std::uint32_t expected = direction.x > 0 ? (direction.y > 0 ? 4U : 2U) : (direction.y > 0 ? 3U : 1U);
      EXPECT_EQ(in.solid, expected) << "in " << solid << ", direction " << k;
    }
}

TEST_P(Boundaries, OfSolidsThatOverlapAreSaidToBe) {
  Boxes boxes;
  const auto world = boxes.add({-500, -500, -500}, {500, 500, 500});
  const auto first = boxes.add({0, 0, 0}, {100, 100, 100}, world);
  const auto later = boxes.add({60, 20, 20}, {160, 80, 80}, world);
  const GpuGeometry geometry = put(boxes);
  const Boundary into = next(geometry, {LocalPoint(10, 50, 50), {1, 0, 0}, kForever}, inside(first));
  EXPECT_EQ(into.to, later);  // the later one wins
  EXPECT_NEAR(into.t, 50, 1e-4);
  EXPECT_TRUE(into.inconsistent);
  EXPECT_FALSE(into.after.consistent());
  const Boundary out = next(geometry, {into.point, {1, 0, 0}, kForever}, into.after);
  EXPECT_EQ(out.to, world);  // behind the first one's wall the set is in order again
  EXPECT_NEAR(out.point.point.x, 160, 1e-4);
  EXPECT_TRUE(out.after.consistent());
  const Boundary end = next(geometry, {out.point, {1, 0, 0}, kForever}, out.after);
  EXPECT_EQ(end.to, kNoSolid);
  EXPECT_FALSE(end.inconsistent);
  // A state that the place contradicts: no exit ahead.
  EXPECT_TRUE(next(geometry, {LocalPoint(450, 0, 0), {1, 0, 0}, kForever}, inside(first)).inconsistent);
}

TEST_P(Boundaries, BehindAnOverlapThatEndedAreSaidToBe) {
  Boxes boxes;
  const auto world = boxes.add({-500, -500, -500}, {500, 500, 500});
  const auto first = boxes.add({0, 0, 0}, {100, 100, 100}, world);
  const auto inner = boxes.add({20, 20, 20}, {80, 80, 80}, first);
  boxes.add({40, 40, 40}, {60, 60, 60}, world);  // the innermost solid stays the deeper one
  const GpuGeometry geometry = put(boxes);
  const Boundary out = next(geometry, {LocalPoint(30, 50.3F, 50.2F), {1, 0, 0}, kForever}, inside(inner));
  EXPECT_EQ(out.t, 50);
  EXPECT_EQ(out.to, first);
  EXPECT_TRUE(out.after.consistent());
  EXPECT_TRUE(out.inconsistent);
}

TEST_P(Boundaries, OfASolidWithinAnotherThatIsNotItsMotherLeadBackIntoThat) {
  Boxes boxes;
  const auto world = boxes.add({-500, -500, -500}, {500, 500, 500});
  const auto first = boxes.add({0, 0, 0}, {100, 100, 100}, world);
  const auto later = boxes.add({60, 20, 20}, {90, 80, 80}, world);
  const GpuGeometry geometry = put(boxes);
  const Boundary out = next(geometry, {LocalPoint(70, 50.3F, 50.2F), {1, 0, 0}, kForever}, {later, {first, kNoSolid}});
  EXPECT_EQ(out.t, 20);
  EXPECT_EQ(out.to, first);
  EXPECT_TRUE(out.after.consistent());
}

/// An isolated face ahead that the set agrees with does not hide what the start changes before it.
TEST_P(Boundaries, AtTheStartComeBeforeThoseOfSolidsThatOverlap) {
  Boxes boxes;
  const auto world = boxes.add({-500, -500, -500}, {500, 500, 500});
  const auto first = boxes.add({0, 0, 0}, {100, 100, 100}, world);
  boxes.add({60, 20, 20}, {160, 80, 80}, world);
  const GpuGeometry geometry = put(boxes);
  const Boundary into = next(geometry, {LocalPoint(0x1p-14F, 50, 40), {1, 0, 0}, kForever}, inside(world));
  EXPECT_EQ(into.to, first);
  EXPECT_LE(std::fabs(into.t), 0x1p-14F);
}

TEST_P(Boundaries, AtAnEdgeAtTheStartComeBeforeADaughterOutsideOfItsMother) {
  Boxes boxes;
  const auto world = boxes.add({-500, -500, -500}, {500, 500, 500});
  const auto mother = boxes.add({96, 96, 46}, {100, 100, 54}, world);
  boxes.add({150, 30, 0}, {170, 70, 100}, mother);
  const GpuGeometry geometry = put(boxes);
  // Past the edge of the mother, which it should not be in any more.
  const float beside = 100 + 0x1p-12F;
  const Boundary out = next(geometry, {LocalPoint(beside, beside, 50), {1, -1, 0}, kForever}, inside(mother));
  EXPECT_EQ(out.to, world);
  EXPECT_EQ(out.t, 0);
  EXPECT_EQ(out.triangle, kNoTriangle);
}

TEST_P(Boundaries, LocateFindsTheSolidsAroundAPoint) {
  for (const bool flat : {false, true}) {
    Boxes boxes;
    const auto world = boxes.add({-500, -500, -500}, {500, 500, 500});
    const auto mother = boxes.add({0, 0, 0}, {100, 100, 100}, world);
    const auto daughter = boxes.add({50, 0, 20}, {100, 100, 80}, mother, 2, {9, 9, 9}, true);
    const auto sibling = boxes.add({90, 150, 0}, {200, 250, 100}, world);
    const auto overlapping = boxes.add({150, 200, 50}, {300, 300, 150}, world);
    const GpuGeometry geometry = put(boxes, flat);
    const std::vector<Float3> points{{-600, 0, 0}, {-100, 3, 8},   {10, 10, 10},   {75, 50, 50},
                                     {75, 50, 90}, {100, 200, 20}, {170, 220, 70}, {280, 280, 140}};
    const std::vector<Containment> in = find(geometry, points);
    const std::uint32_t expected[] = {kNoSolid, world, mother, daughter, mother, sibling, overlapping, overlapping};
    for (std::size_t i = 0; i != points.size(); ++i) {
      EXPECT_EQ(in[i].solid, expected[i]) << "point " << i;
      EXPECT_EQ(in[i].consistent(), i != 6);
    }
    EXPECT_EQ(in[6].exceptions[0], sibling);
  }
}

TEST_P(Boundaries, OfNothingAreNone) {
  Boxes boxes;
  boxes.add({0, 0, 0}, {1, 1, 1});
  const GpuGeometry geometry = put(boxes);
  const Boundary none = next(geometry, {LocalPoint(5, 5, 5), {1, 0, 0}, kForever}, {});
  EXPECT_FALSE(none.crosses());
  EXPECT_FALSE(none.inconsistent);
  EXPECT_EQ(none.material_from, MaterialCode::none);
}

// Boxes that touch and that are flush with their mother, at the world's origin and away from it, where vertices, moves
// and points are rounded.
TEST_P(Boundaries, DirectionDecidesWhatAPointOnFacesIsIn) {
  for (const Corner& moved : {Corner(0, 0, 0), Corner(4000.1, -700.3, 30.7)}) {
    Boxes boxes;
    std::vector<Eigen::AlignedBox3d> solids;
    const auto add = [&](Corner low, Corner high, std::uint32_t mother) {
      solids.emplace_back(low, high);
      return boxes.add(low + moved, high + moved, mother, 1, moved);
    };
    const auto world = add({-300, -300, -300}, {300, 300, 300}, kNone);
    const auto left = add({0, 0, 0}, {100, 100, 100}, world);
    add({100, 0, 0}, {200, 100, 100}, world);
    add({0, 0, 0}, {50, 50, 50}, left);
    std::mt19937 random(7);
    std::uniform_real_distribution<double> unit(-1, 1);
    const double planes[] = {-300, 0, 50, 100, 200, 300};
    std::vector<Float3> points, directions;
    std::vector<std::uint32_t> right;
    while (points.size() != 20'000) {
      Corner direction(unit(random), unit(random), unit(random)), point;
      // Beside a face, the direction is to tell its side.
      if (direction.cwiseAbs().minCoeff() < 0.05) continue;
      for (int a = 0; a != 3; ++a)
        point[a] = random() % 2 == 0 ? planes[random() % std::size(planes)]
                                     : 50 * std::round(5 * unit(random)) + 25 + 20 * unit(random);
      const Corner beyond = point + 0.1 * direction;
      std::uint32_t solid = kNoSolid;
      for (std::uint32_t i = 0; i != solids.size(); ++i)
        if (solids[i].contains(beyond)) solid = i;
      point += moved;
      points.push_back({static_cast<float>(point.x()), static_cast<float>(point.y()), static_cast<float>(point.z())});
      directions.push_back(
          {static_cast<float>(direction.x()), static_cast<float>(direction.y()), static_cast<float>(direction.z())});
      right.push_back(solid);
    }
    for (const bool flat : {false, true}) {
      const GpuGeometry geometry = put(boxes, flat);
      const std::vector<Containment> found = find(geometry, points, directions);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i != points.size(); ++i)
        if (!found[i].consistent() || found[i].solid != right[i]) {
          if (++wrong < 5)
            ADD_FAILURE() << points[i].x << ", " << points[i].y << ", " << points[i].z << " along " << directions[i].x
                          << ", " << directions[i].y << ", " << directions[i].z << ": " << found[i].solid << " for "
                          << right[i];
        }
      EXPECT_EQ(wrong, 0U) << "flat " << flat << ", moved by " << moved.x();
    }
  }
}

class SameBits : public test::BoundariesOnDevice {
 protected:
  void expect_same_bits(UploadOptions::Positions positions);
};

void SameBits::expect_same_bits(UploadOptions::Positions positions) {
  Boxes boxes;
  const auto world = boxes.add({-500, -500, -500}, {500, 500, 500});
  for (int i = 0; i != 27; ++i) {
    const Corner low(100 * (i % 3) - 150, 100 * (i / 3 % 3) - 150, 100 * (i / 9) - 150);
    boxes.add(low, low + Corner(100, 100, 100), world, 1 + static_cast<unsigned>(i) % 3, 0.1 * low, i % 5 == 0);
  }
  UploadOptions options;
  options.positions = positions;
  options.reserve = 0;
  options.origin = Eigen::Vector3d::Zero();
  Scene scene = boxes.scene();
  if (positions == UploadOptions::Positions::fine)  // turned: transforms that no floats are
    for (Instance& instance : scene.instances)
      instance.transform =
          EigenTransform(Eigen::AngleAxisd(0.7, Eigen::Vector3d(0.36, -0.48, 0.8))) * to_eigen(instance.transform);
  scene.bounds = world_bounds(scene);
  const GpuGeometry geometry = upload(scene, device(), options);
  const GpuGeometry on_host = upload(scene, Device::host(kHostBudget), options);
  std::mt19937 random(4);
  std::uniform_real_distribution<float> unit(-1, 1);
  std::vector<FineRay> rays(test::effort(20'000U));
  std::vector<Containment> in;
  for (std::size_t i = 0; i != rays.size(); ++i) {
    FineRay& ray = rays[i];
    ray = {LocalPoint(200 * unit(random), 200 * unit(random), 200 * unit(random)),
           {unit(random), unit(random), unit(random)},
           kForever};
    if (i % 3 == 0) ray.origin.point.x = 50 * std::round(ray.origin.point.x / 50);  // on faces, edges and corners
    if (i % 9 == 0) ray.origin.point.y = 50 * std::round(ray.origin.point.y / 50);
    if (i % 27 == 0) ray.origin.point.z = 50 * std::round(ray.origin.point.z / 50);
    if (positions == UploadOptions::Positions::fine)
      ray.origin.rest = {1e-6F * unit(random), 1e-7F * unit(random), 1e-8F * unit(random)};
    in.push_back(locate(on_host.view(), ray.origin));
  }
  const std::vector<Boundary> found = next(geometry, rays, in);
  for (std::size_t i = 0; i != rays.size(); ++i) {
    const Boundary expected = next_boundary(on_host.view(), rays[i], in[i]);
    ASSERT_EQ(found[i].t, expected.t) << "ray " << i;
    ASSERT_EQ(found[i].point, expected.point);
    ASSERT_EQ(found[i].normal, expected.normal) << "ray " << i;
    ASSERT_EQ(found[i].from, expected.from);
    ASSERT_EQ(found[i].to, expected.to) << "ray " << i;
    ASSERT_EQ(found[i].triangle, expected.triangle) << "ray " << i;
    ASSERT_EQ(found[i].instance, expected.instance);
    ASSERT_EQ(found[i].inconsistent, expected.inconsistent);
    ASSERT_FALSE(expected.inconsistent) << "ray " << i << " from " << rays[i].origin.point.x << ", "
                                        << rays[i].origin.point.y << ", " << rays[i].origin.point.z << " along "
                                        << rays[i].direction.x << ", " << rays[i].direction.y << ", "
                                        << rays[i].direction.z << " in " << in[i].solid
                                        << (in[i].consistent() ? "" : "!") << " to " << expected.to
                                        << (expected.after.consistent() ? "" : "!") << " at " << expected.t;
  }
}

TEST_P(SameBits, OfBoundariesAsOnTheHost) {
  expect_same_bits(UploadOptions::Positions::floats);
  expect_same_bits(UploadOptions::Positions::fine);
}
RAYLIFT_ON_BOTH_DEVICES(SameBits);

RAYLIFT_ON_BOTH_DEVICES(Boundaries);

}  // namespace
}  // namespace raylift
