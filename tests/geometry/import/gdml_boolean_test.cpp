// SPDX-License-Identifier: Apache-2.0
// Booleans of GDML: volumes against closed forms, and points against inequalities that stand here, by rays through the
// triangles.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "geometry/src/import/import_process.h"
#include "import/gdml/booleans/boolean.h"
#include "import/sandbox.h"
#include "support/effort.h"

namespace raylift::gdml {
namespace {

using testing::HasSubstr;

constexpr double kBooleanPi = std::numbers::pi;
constexpr Turn kFullTurn{0, 2 * kBooleanPi};

Transform moved(double x, double y, double z) {
  return Transform::Translation({x, y, z});
}
/// About x by `angle`, and moved.
Transform tilted(double angle, double x = 0, double y = 0, double z = 0) {
  Transform t = moved(x, y, z);
  t(1, 1) = t(2, 2) = std::cos(angle);
  t(2, 1) = std::sin(angle);
  t(1, 2) = -t(2, 1);
  return t;
}
Tube rod(double r, double z) {
  return {0, r, z, kFullTurn};
}

/// The solids of a file.
class Parts {
 public:
  std::uint32_t add(Shape shape, const std::string& kind = "solid") {
    solids.push_back({"s" + std::to_string(solids.size()), kind, std::move(shape)});
    return static_cast<std::uint32_t>(solids.size() - 1);
  }
  std::uint32_t make(BooleanKind kind, std::uint32_t a, std::uint32_t b, const Transform& placed = {}) {
    return add(Boolean{kind, {a, {}}, {b, placed}}, "boolean");
  }
  std::uint32_t subtract(std::uint32_t a, std::uint32_t b, const Transform& placed = {}) {
    return make(BooleanKind::subtract, a, b, placed);
  }
  std::uint32_t unite(std::uint32_t a, std::uint32_t b, const Transform& placed = {}) {
    return make(BooleanKind::add, a, b, placed);
  }
  [[nodiscard]] Surface surface(const Fineness& fineness = {}, double seconds = 1e6) const {
    return tessellate_boolean(solids, static_cast<std::uint32_t>(solids.size() - 1), fineness, "own.gdml", seconds);
  }

  std::vector<Solid> solids;
};

Double3 corner(const Surface& s, std::uint32_t i) {
  return s.vertices[i];
}
double six_volumes(const Double3& a, const Double3& b, const Double3& c) {
  return a.x * (b.y * c.z - b.z * c.y) + a.y * (b.z * c.x - b.x * c.z) + a.z * (b.x * c.y - b.y * c.x);
}
double inside_volume(const Surface& s) {
  double sum = 0;
  for (const UInt3& t : s.triangles) sum += six_volumes(corner(s, t.x), corner(s, t.y), corner(s, t.z));
  return sum / 6;
}
/// Each edge is one of exactly two triangles, which run through it in opposite directions.
bool two_at_each_edge(const Surface& s) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> uses;
  for (const UInt3& t : s.triangles)
    for (const auto& edge : {std::pair{t.x, t.y}, {t.y, t.z}, {t.z, t.x}}) ++uses[edge];
  return std::ranges::all_of(uses, [&](const auto& use) {
    const auto back = uses.find({use.first.second, use.first.first});
    return use.second == 1 && back != uses.end() && back->second == 1;
  });
}

/// A ray through all triangles, in a direction along nothing: whether the point is inside, and how near the surface is
/// along the ray.
struct Ray {
  bool inside = false;
  double nearest = 1e300;
};
Ray ray_from(const Surface& s, const Double3& p) {
  const Double3 d{0.28371, 0.51123, 0.81127};
  const auto from = [&p](const Double3& v) { return Double3{v.x - p.x, v.y - p.y, v.z - p.z}; };
  Ray ray;
  for (const UInt3& t : s.triangles) {
    const Double3 a = from(corner(s, t.x)), b = from(corner(s, t.y)), c = from(corner(s, t.z));
    const double u = six_volumes(d, b, c), v = six_volumes(d, c, a), w = six_volumes(d, a, b);
    if ((u < 0 || v < 0 || w < 0) && (u > 0 || v > 0 || w > 0)) continue;
    const double at = six_volumes(a, b, c) / (u + v + w);
    ray.nearest = std::min(ray.nearest, std::abs(at));
    if (at > 0) ray.inside = !ray.inside;
  }
  return ray;
}

using Has = std::function<bool(const Double3&)>;

/// Points in a box of half sizes `box`; those whose neighbours at `chord` the inequality has on the other side are left
/// out.
void expect_points(const Surface& surface, const Has& has, const Double3& box, double chord, int points = 1500) {
  const int count = test::effort(points);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> part(-1, 1);
  int wrong = 0, counted = 0;
  for (int i = 0; i < count; ++i) {
    const Double3 p{box.x * part(random), box.y * part(random), box.z * part(random)};
    const bool in = has(p);
    bool near = false;
    for (const double sign : {-1.0, 1.0})
      for (int axis = 0; axis < 3; ++axis) {
        Double3 q = p;
        q[axis] += sign * chord;
        near = near || has(q) != in;
      }
    if (near) continue;
    ++counted;
    if (ray_from(surface, p).inside != in) ++wrong;
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(counted, count / 2);
}

double whole_area(const Surface& s) {
  double twice = 0;
  for (const UInt3& t : s.triangles) {
    const Double3 a = corner(s, t.x), b = corner(s, t.y), c = corner(s, t.z);
    const Double3 u{b.x - a.x, b.y - a.y, b.z - a.z}, v{c.x - a.x, c.y - a.y, c.z - a.z};
    twice += std::hypot(u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x);
  }
  return twice / 2;
}

void expect_solid(const Surface& surface, double volume, double relative = 1e-3) {
  EXPECT_TRUE(two_at_each_edge(surface));
  EXPECT_NEAR(inside_volume(surface) / volume, 1, relative);
}

double square_of(double a) {
  return a * a;
}
bool in_rod(const Double3& p, double r) {
  return square_of(p.x) + square_of(p.y) <= square_of(r);
}

class GdmlBoolean : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_booleans()) GTEST_SKIP() << "Open CASCADE can't be used: raylift-occt.so is missing";
  }
  Parts parts_;
};

TEST_F(GdmlBoolean, SubtractsARodThatEndsAtTheSurface) {
  // The rod's end lies in the box's face, exactly.
  const std::uint32_t box = parts_.add(Box{20, 20, 10}), tool = parts_.add(rod(3, 6));
  parts_.subtract(box, tool, moved(0, 0, 2));
  const Surface surface = parts_.surface();
  expect_solid(surface, 4000 - kBooleanPi * 9 * 6);
  const Has has = [](const Double3& p) {
    return std::abs(p.x) <= 10 && std::abs(p.y) <= 10 && std::abs(p.z) <= 5 && !(in_rod(p, 3) && p.z >= -1);
  };
  expect_points(surface, has, {12, 12, 6}, 0.1);
}

TEST_F(GdmlBoolean, SubtractsARodThroughBothFaces) {
  const std::uint32_t box = parts_.add(Box{20, 20, 10}), tool = parts_.add(rod(3, 10));
  parts_.subtract(box, tool);
  expect_solid(parts_.surface(), 4000 - kBooleanPi * 90);
}

TEST_F(GdmlBoolean, CrossesTubes) {
  const std::uint32_t tube = parts_.add(Tube{8, 10, 40, kFullTurn}), tool = parts_.add(rod(5, 60));
  parts_.subtract(tube, tool, tilted(kBooleanPi / 2));
  const Surface surface = parts_.surface();
  EXPECT_TRUE(two_at_each_edge(surface));
  const Has has = [](const Double3& p) {
    return in_rod(p, 10) && !in_rod(p, 8) && std::abs(p.z) <= 20 &&
           !(square_of(p.x) + square_of(p.z) <= 25 && std::abs(p.y) <= 30);
  };
  expect_points(surface, has, {11, 11, 21}, 0.1);
}

TEST_F(GdmlBoolean, CutsASphereWithABox) {
  const std::uint32_t ball = parts_.add(Orb{10}), box = parts_.add(Box{40, 40, 20});
  parts_.subtract(ball, box, moved(0, 0, -10));
  const Surface surface = parts_.surface();
  expect_solid(surface, 2.0 / 3 * kBooleanPi * 1000);
  EXPECT_TRUE(std::ranges::all_of(surface.vertices, [](const Double3& p) { return p.z > -1e-4; }));
}

TEST_F(GdmlBoolean, IntersectsASphereWithABox) {
  const std::uint32_t ball = parts_.add(Orb{10}), box = parts_.add(Box{15, 15, 15});
  parts_.make(BooleanKind::intersect, ball, box);
  const Has has = [](const Double3& p) {
    return in_rod(p, std::sqrt(100 - square_of(p.z))) && std::max({std::abs(p.x), std::abs(p.y), std::abs(p.z)}) <= 7.5;
  };
  // A cube less than a ball: 8 cubic millimetres and six caps of height 2.5 that it lacks.
  expect_solid(parts_.surface(), 4.0 / 3 * kBooleanPi * 1000 - 6 * kBooleanPi * square_of(2.5) * (10 - 2.5 / 3));
  expect_points(parts_.surface(), has, {8, 8, 8}, 0.1);
}

TEST_F(GdmlBoolean, IntersectsManyOneByOne) {
  const std::uint32_t ball = parts_.add(Orb{10}), tool = parts_.add(rod(6, 40));
  const std::uint32_t two = parts_.make(BooleanKind::intersect, ball, tool);
  parts_.make(BooleanKind::intersect, two, tool, tilted(kBooleanPi / 2));
  const Has has = [](const Double3& p) { return in_rod(p, 6) && square_of(p.x) + square_of(p.z) <= 36; };
  const Surface surface = parts_.surface();
  expect_points(surface, has, {7, 7, 7}, 0.1);  // the ball has all of it
  expect_solid(surface, 16.0 / 3 * 216, 2e-3);
}

TEST_F(GdmlBoolean, UnitesWhatTouches) {
  const std::uint32_t tube = parts_.add(rod(5, 10)), wide = parts_.add(rod(8, 4));
  parts_.unite(tube, wide, moved(0, 0, 7));
  expect_solid(parts_.surface(), kBooleanPi * (250 + 256));
}

TEST_F(GdmlBoolean, UnitesTheSameSolidTwice) {
  const std::uint32_t tube = parts_.add(rod(5, 10));
  parts_.unite(tube, tube);
  expect_solid(parts_.surface(), kBooleanPi * 250);
}

TEST_F(GdmlBoolean, TakesHolesOutOfAPolycone) {
  const std::uint32_t cone = parts_.add(Polycone{kFullTurn, {{0, 10, -20}, {0, 10, 0}, {5, 20, 0}, {5, 20, 15}}});
  const std::uint32_t hole = parts_.add(rod(2, 50));
  const std::uint32_t one = parts_.subtract(cone, hole, moved(12, 0, 0));
  const std::uint32_t two = parts_.subtract(one, hole, moved(-12, 0, 0));
  parts_.subtract(two, hole, tilted(kBooleanPi / 2, 0, 0, -10));
  const Surface surface = parts_.surface();
  const Has has = [](const Double3& p) {
    const double r = std::hypot(p.x, p.y);
    const bool body = (p.z >= -20 && p.z <= 0 && r <= 10) || (p.z >= 0 && p.z <= 15 && r >= 5 && r <= 20);
    return body && std::hypot(std::abs(p.x) - 12, p.y) > 2 && std::hypot(p.x, p.z + 10) > 2;
  };
  EXPECT_TRUE(two_at_each_edge(surface));
  expect_points(surface, has, {21, 21, 21}, 0.15);
}

TEST_F(GdmlBoolean, TakesAChainOfHolesAtOnce) {
  const std::uint32_t hole = parts_.add(rod(2, 10));
  std::uint32_t plate = parts_.add(Box{66, 55, 10});
  for (int i = 0; i < 30; ++i) plate = parts_.subtract(plate, hole, moved(-27.5 + 11 * (i % 6), -22 + 11 * (i / 6), 0));
  expect_solid(parts_.surface(), 36'300 - 30 * kBooleanPi * 40);
}

TEST_F(GdmlBoolean, NestsTenOperations) {
  // Spheres of growing radius, added and taken away in turn: shells.
  std::uint32_t all = parts_.add(Orb{11});
  for (int i = 10; i >= 1; --i)
    all = parts_.make(i % 2 == 0 ? BooleanKind::subtract : BooleanKind::add, all,
                      parts_.add(Orb{static_cast<double>(i)}));
  double sum = 0;
  for (int i = 11; i >= 1; --i) sum += (i % 2 == 1 ? 1 : -1) * 4.0 / 3 * kBooleanPi * std::pow(i, 3);
  expect_solid(parts_.surface({0.02, 0, Fineness::Fit::inscribed}), sum, 1e-2);
}

TEST_F(GdmlBoolean, MirrorsWithin) {
  // A wedge whose mirror image is another one.
  const std::uint32_t wedge = parts_.add(Trap{10, 0, 0, 10, 10, 4, 0.2, 10, 10, 4, 0.2});
  const std::uint32_t box = parts_.add(Box{30, 30, 4});
  Transform mirror;
  mirror(0, 0) = -1;
  mirror(0, 3) = 1;
  const std::uint32_t mirrored = parts_.add(Transformed{{wedge, mirror}});
  parts_.subtract(box, mirrored);
  const Surface surface = parts_.surface();
  expect_solid(surface, 3600 - 4 * 70);
  const Has has = [](const Double3& p) {
    const double x = 1 - p.x, width = 3.5 - 3 * (p.y / 10);
    const bool cut = std::abs(p.y) <= 5 && std::abs(x - p.y * std::tan(0.2)) <= width;
    return std::max(std::abs(p.x), std::abs(p.y)) <= 15 && std::abs(p.z) <= 2 && !cut;
  };
  expect_points(surface, has, {16, 16, 3}, 1e-3);
}

TEST_F(GdmlBoolean, StretchesOperands) {
  Transform stretch;
  stretch(0, 0) = 2;
  stretch(2, 2) = 0.5;
  const std::uint32_t ball = parts_.add(Orb{10}), box = parts_.add(Box{60, 60, 60});
  parts_.subtract(box, ball, stretch);
  expect_solid(parts_.surface(), 216'000 - 4.0 / 3 * kBooleanPi * 1000);
}

TEST_F(GdmlBoolean, CopesWithWhatNearlyCoincides) {
  // A cap whose rim lies a millionth of a millimetre beside the tube's.
  const double z = 100 - 1e-6;
  const std::uint32_t tube = parts_.add(rod(60, 200)), ball = parts_.add(Sphere{0, 75, kFullTurn, {0, std::acos(0.6)}});
  parts_.unite(tube, ball, moved(0, 0, z - 45));
  expect_solid(parts_.surface(), kBooleanPi * 3600 * 200 + kBooleanPi * 900 * (75 - 10));
}

TEST_F(GdmlBoolean, KeepsThinWiresRound) {
  const std::uint32_t wire = parts_.add(rod(0.075, 10'000)), bead = parts_.add(rod(0.2, 1));
  parts_.unite(wire, bead);
  expect_solid(parts_.surface(), kBooleanPi * (square_of(0.075) * 9'999 + 0.04));
}

TEST_F(GdmlBoolean, SplitsPartsThatTouchAlongAnEdge) {
  const std::uint32_t wedge = parts_.add(Tube{0, 5, 10, {0, kBooleanPi / 2}});
  Transform half;  // by half a turn about z
  half(0, 0) = half(1, 1) = -1;
  parts_.unite(wedge, wedge, half);
  expect_solid(parts_.surface(), kBooleanPi * 125);
}

TEST_F(GdmlBoolean, RefusesWhatLeavesNothing) {
  const std::uint32_t small = parts_.add(rod(3, 6), "tube"), large = parts_.add(Orb{10}, "orb");
  parts_.subtract(small, large);
  try {
    static_cast<void>(parts_.surface());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::malformed);
    EXPECT_THAT(error.problem(), HasSubstr("leaves nothing"));
    EXPECT_THAT(error.problem(), HasSubstr("tube 's0'"));
    EXPECT_THAT(error.problem(), HasSubstr("orb 's1'"));
    EXPECT_EQ(error.element(), "boolean 's2'");
  }
}

TEST_F(GdmlBoolean, RefusesOperandsThatMakeNoSolid) {
  const std::uint32_t box = parts_.add(Box{20, 20, 20}), tube = parts_.add(Tube{5, 3, 10, kFullTurn});
  parts_.subtract(box, tube);
  EXPECT_THROW(static_cast<void>(parts_.surface()), Error);
}

TEST_F(GdmlBoolean, KnowsHowFarFacetsDeviate) {
  // The inscribed facets of a rod lie behind its surface, and those of a hole beyond it.
  parts_.subtract(parts_.add(rod(50, 40)), parts_.add(rod(20, 60)));
  const Surface surface = parts_.surface();
  double outward = 0, inward = 0;
  for (const UInt3& t : surface.triangles)
    for (const auto& [i, k] : {std::pair{t.x, t.y}, {t.y, t.z}, {t.z, t.x}}) {
      const Double3 a = corner(surface, i), b = corner(surface, k);
      const double r = std::hypot((a.x + b.x) / 2, (a.y + b.y) / 2);
      const double ends = std::hypot(a.x, a.y) - std::hypot(b.x, b.y);
      if (std::abs(ends) > 1e-6) continue;  // across an end face
      if (r > 35) {
        inward = std::max(inward, 50 - r);
      } else {
        outward = std::max(outward, 20 - r);
      }
    }
  EXPECT_GT(inward, 0.01);
  EXPECT_GT(outward, 0.001);
  // Known to be no less, and no more than what is found between the samples.
  EXPECT_GE(surface.deviation.inward, inward);
  EXPECT_LE(surface.deviation.inward, 1.2 * inward);
  EXPECT_GE(surface.deviation.outward, outward);
  EXPECT_LE(surface.deviation.outward, 1.2 * outward + 1e-3);
  parts_.subtract(parts_.add(Box{4, 4, 4}), parts_.add(Box{2, 2, 2}), tilted(0.3));
  EXPECT_LT(parts_.surface().deviation.outward + parts_.surface().deviation.inward, 1e-4);
}

TEST_F(GdmlBoolean, KeepsVolumeAndAreaAtTheDefault) {
  // A shell whose two surfaces lose areas that add up, while their volumes nearly cancel; and a half ball.
  const double r = 100, d = 98, z = 50;
  parts_.subtract(parts_.add(rod(r, 2 * z)), parts_.add(rod(d, 2 * z)));
  Surface surface = parts_.surface();
  expect_solid(surface, 2 * z * kBooleanPi * (r * r - d * d));
  EXPECT_NEAR(whole_area(surface) / (2 * kBooleanPi * (2 * z * (r + d) + r * r - d * d)), 1, 1e-3);
  Parts half;
  half.make(BooleanKind::intersect, half.add(Orb{r}), half.add(Box{4 * r, 4 * r, 2 * r}), moved(0, 0, r));
  surface = half.surface();
  expect_solid(surface, 2. / 3 * kBooleanPi * r * r * r);
  EXPECT_NEAR(whole_area(surface) / (3 * kBooleanPi * r * r), 1, 1e-3);
  for (const Double3& p : surface.vertices) {
    const double beyond = std::hypot(p.x, p.y, p.z) - r;
    EXPECT_TRUE(std::abs(beyond) < 1e-6 * r || std::abs(p.z) < 1e-6) << beyond;  // whatever the fit is
  }
}

TEST_F(GdmlBoolean, MakesNoChordBelowAMillionthOfTheSize) {
  parts_.subtract(parts_.add(Box{20, 20, 20}), parts_.add(rod(5, 40)));
  const Surface surface = parts_.surface({1e-300, 0, Fineness::Fit::volume});
  expect_solid(surface, 8000 - 20 * kBooleanPi * 25, 2e-6);
  EXPECT_LT(surface.triangles.size(), 20'000U);
  // Nor more facets of a turn than primitives have.
  EXPECT_LT(parts_.surface({0, 100'000, Fineness::Fit::volume}).triangles.size(), 20'000U);
}

TEST_F(GdmlBoolean, EndsWhenItsTimeIsOver) {
  std::uint32_t all = parts_.add(rod(20, 300), "tube");
  for (int i = 1; i < 12; ++i) all = parts_.unite(all, parts_.add(rod(20 + i, 300), "tube"), tilted(0.25 * i));
  try {
    (void)parts_.surface({}, 0.05);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::limit);
    EXPECT_THAT(error.what(), HasSubstr("the operation on 12 operands takes longer than 0.05 s"));
    EXPECT_THAT(error.what(), HasSubstr("its operands: tube 's"));
    EXPECT_THAT(error.element(), HasSubstr("boolean 's"));
    EXPECT_THAT(error.advice(), HasSubstr("LoadLimits::isolate_seconds"));
  }
}

TEST_F(GdmlBoolean, TakesAStatedChord) {
  const std::uint32_t ball = parts_.add(Orb{10}), box = parts_.add(Box{40, 40, 20});
  parts_.subtract(ball, box, moved(0, 0, -10));
  EXPECT_GT(parts_.surface({0.01, 0, Fineness::Fit::inscribed}).triangles.size(),
            3 * parts_.surface({0.1, 0, Fineness::Fit::inscribed}).triangles.size());
}

TEST_F(GdmlBoolean, AreMadeInTheSandboxOfImports) {
  if (const ImportSandbox sandbox = import_sandbox(); !sandbox.landlock || !sandbox.seccomp)
    GTEST_SKIP() << "no Landlock or no seccomp: an older kernel, or a build with a sanitizer";
  const std::uint32_t ball = parts_.add(Orb{10}), tool = parts_.add(Ellipsoid{3, 4, 20, 0, 0});
  parts_.subtract(ball, tool);
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      import::enter_sandbox("/dev/null", {});
      ::_exit(two_at_each_edge(parts_.surface()) ? 0 : 1);
    } catch (const Error&) {
      ::_exit(2);
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

/// Each kind of solid, half of it cut away; its own inequality is that of membership.h, so only volumes are compared.
struct HalfCase {
  const char* name;
  Shape shape;
  double volume;  // of the whole, symmetric about y = 0
};
class GdmlBooleanOperand : public testing::TestWithParam<HalfCase> {};

double frustum(double a, double b, double h) {
  return kBooleanPi * h / 3 * (a * a + a * b + b * b);
}

TEST_P(GdmlBooleanOperand, IsHalvedByABox) {
  if (!has_booleans()) GTEST_SKIP() << "Open CASCADE can't be used: raylift-occt.so is missing";
  Parts parts;
  const std::uint32_t solid = parts.add(GetParam().shape), box = parts.add(Box{200, 100, 200});
  parts.subtract(solid, box, moved(0, 50, 0));
  expect_solid(parts.surface(), GetParam().volume / 2);
}

INSTANTIATE_TEST_SUITE_P(
    Solids, GdmlBooleanOperand,
    testing::Values(
        HalfCase{"box", Box{4, 6, 8}, 192}, HalfCase{"orb", Orb{3}, 36 * kBooleanPi},
        HalfCase{"shell", Sphere{2, 3, kFullTurn, {0, kBooleanPi}}, 4.0 / 3 * kBooleanPi * 19},
        HalfCase{"shellSegment", Sphere{2, 3, {-1, 2}, {0.5, 1}}, 2.0 / 3 * 19 * (std::cos(0.5) - std::cos(1.5))},
        HalfCase{"segment", Tube{2, 5, 4, {-0.5, 1}}, 42},
        HalfCase{"cutTube", CutTube{{2, 5, 8, kFullTurn}, {0.3, 0, -1}, {0.2, 0, 1}}, kBooleanPi * 21 * 8},
        HalfCase{"cone", Cone{1, 4, 1, 2, 6, kFullTurn}, frustum(4, 2, 6) - kBooleanPi * 6},
        HalfCase{"pointedCone", Cone{0, 4, 0, 0, 6, kFullTurn}, frustum(4, 0, 6)},
        HalfCase{"torus", Torus{1, 2, 6, kFullTurn}, 2 * square_of(kBooleanPi) * 6 * 3},
        HalfCase{"polycone", Polycone{kFullTurn, {{0, 2, -4}, {0, 4, 0}, {0, 4, 3}, {0, 0, 5}}},
                 frustum(2, 4, 4) + kBooleanPi * 48 + frustum(4, 0, 2)},
        HalfCase{"genericPolycone", GenericPolycone{kFullTurn, {{2, 0}, {6, 0}, {4, 3}, {2, 3}}},
                 frustum(6, 4, 3) - kBooleanPi * 12},
        HalfCase{"polyhedra", Polyhedra{{0, 2 * kBooleanPi}, 6, {{0, 3, -2}, {0, 3, 2}}},
                 4 * 6 * 9 * std::tan(kBooleanPi / 6)},
        HalfCase{"hollowPolyhedra", Polyhedra{{-0.8, 1.6}, 4, {{1, 3, -2}, {1, 3, 2}}}, 4 * 4 * 8 * std::tan(0.2)},
        HalfCase{"genericPolyhedra", GenericPolyhedra{{0, 2 * kBooleanPi}, 4, {{1, 0}, {4, 0}, {4, 5}, {1, 5}}},
                 2 * 15 * 5},
        HalfCase{"trd", Trd{4, 6, 2, 8, 9}, 9.0 / 6 * (8 + 48 + 4 * 25)},
        HalfCase{"trap", Trap{8, 0.2, 0, 6, 4, 4, 0, 6, 4, 4, 0}, 192}, HalfCase{"para", Para{4, 6, 8, 0, 0.3, 0}, 192},
        HalfCase{"xtru", Xtru{{{-2, -3}, {4, -3}, {1, 0}, {4, 3}, {-2, 3}}, {{-3, {0, 0}, 1}, {5, {1, 0}, 0.5}}},
                 27 * 8 * (1 + 0.5 + 0.25) / 3},
        HalfCase{"ellipticalTube", EllipticalTube{3, 5, 4}, kBooleanPi * 15 * 8},
        HalfCase{"ellipsoid", Ellipsoid{3, 5, 4, 0, 0}, 4.0 / 3 * kBooleanPi * 60},
        HalfCase{"cutEllipsoid", Ellipsoid{3, 5, 4, -2, 4}, kBooleanPi * 60 * (1.5 - (1 + 0.125) / 3)},
        HalfCase{"ellipticalCone", EllipticalCone{0.4, 0.6, 10, 4}, kBooleanPi * 0.24 * (std::pow(14, 3) - 216) / 3},
        HalfCase{"paraboloid", Paraboloid{1, 5, 4}, kBooleanPi * 8 * 13},
        HalfCase{"pointedParaboloid", Paraboloid{0, 5, 4}, kBooleanPi * 8 * 12.5},
        HalfCase{"hype", Hype{1, 3, 0.2, 0.4, 8},
                 kBooleanPi*(8 * 8 + 128.0 / 3 * (square_of(std::tan(0.4)) - square_of(std::tan(0.2))))},
        HalfCase{"arb8", Arb8{{{{-2, -3}, {-2, 3}, {4, 3}, {4, -3}, {-1, -1}, {-1, 1}, {1, 1}, {1, -1}}}, 5},
                 10.0 / 6 * (36 + 4 + 4 * 4 * 4)},
        HalfCase{"twistedBox", TwistedBox{0.6, 6, 4, 8}, 192},
        HalfCase{"twistedTrd", TwistedTrd{0.6, 6, 4, 4, 6, 8}, 8.0 / 6 * (24 + 24 + 100)},
        HalfCase{"twistedTube", TwistedTube{0.8, 2, 5, 8, 1.2},
                 0.6 * 21 * square_of(std::cos(0.4)) * (8 + 2 * square_of(std::tan(0.4)) * 8 / 6)},
        HalfCase{"tet", Tet{{{{0, -3, 0}, {0, 3, 0}, {5, 0, 0}, {1, 0, 7}}}}, 35}),
    [](const auto& one) { return std::string(one.param.name); });

// Without Open CASCADE too ------------------------------------------------------------------------------------------

TEST(GdmlBoxes, AreCombinedExactly) {
  Parts parts;
  const std::uint32_t box = parts.add(Box{20, 20, 10}), tool = parts.add(Box{4, 4, 10});
  const std::uint32_t one = parts.subtract(box, tool, moved(3, 0, 5));
  parts.subtract(one, tool, moved(-8, 8, 0));  // along two faces
  const Surface surface = parts.surface();
  expect_solid(surface, 4000 - 80 - 160, 1e-12);
}

TEST(GdmlBoxes, AreIntersected) {
  Parts parts;
  const std::uint32_t box = parts.add(Box{20, 20, 10});
  const std::uint32_t both = parts.make(BooleanKind::intersect, box, box, moved(5, 6, 7));
  parts.make(BooleanKind::intersect, both, box, moved(-3, 0, 1));
  expect_solid(parts.surface(), 12 * 14 * 3, 1e-12);
}

TEST(GdmlBoxes, GetVerticesOfTheirOwnWhereTheyTouchAlongAnEdge) {
  Parts parts;
  const std::uint32_t box = parts.add(Box{2, 2, 2});
  parts.unite(box, box, moved(2, 2, 0));
  const Surface surface = parts.surface();
  expect_solid(surface, 16, 1e-12);
  EXPECT_EQ(surface.vertices.size(), 16U);
}

TEST(GdmlBoxes, OfACathodeAreUnitedOnAGrid) {
  // Bars across each other in a frame, as DUNE's cathodes have them: 1,361 boxes.
  Parts parts;
  MultiUnion grid;
  const std::uint32_t upright = parts.add(Box{2, 2, 680}), across = parts.add(Box{2, 680, 2}),
                      knot = parts.add(Box{4, 6, 6});
  const std::uint32_t plate = parts.add(Box{1, 680, 680});
  for (int i = 0; i < 34; ++i) {
    grid.parts.push_back({upright, moved(0, -330 + 20 * i, 0)});
    grid.parts.push_back({across, moved(0, 0, -330 + 20 * i)});
    for (int j = 0; j < 38; ++j) grid.parts.push_back({knot, moved(0, -330 + 20 * i, -330 + 17 * j)});
  }
  grid.parts.push_back({plate, {}});
  ASSERT_EQ(grid.parts.size(), 1361U);
  parts.add(std::move(grid), "multiUnion");
  const Surface surface = parts.surface();
  EXPECT_TRUE(two_at_each_edge(surface));
  const Has has = [](const Double3& p) {
    const double y = p.y + 330, z = p.z + 330;
    const auto near = [](double a, double pitch, int count, double half) {
      const double at = std::clamp(std::round(a / pitch), 0.0, count - 1.0) * pitch;
      return std::abs(a - at) <= half;
    };
    const bool frame = std::abs(p.y) <= 340 && std::abs(p.z) <= 340;
    const bool bars = std::abs(p.x) <= 1 && frame && (near(y, 20, 34, 1) || near(z, 20, 34, 1));
    return (std::abs(p.x) <= 0.5 && frame) || bars || (std::abs(p.x) <= 2 && near(y, 20, 34, 3) && near(z, 17, 38, 3));
  };
  expect_points(surface, has, {2.5, 345, 345}, 1e-3, 300);
}

TEST(GdmlBoxes, AreRefusedWhereNothingIsLeft) {
  Parts parts;
  const std::uint32_t box = parts.add(Box{2, 2, 2});
  parts.subtract(box, box);
  EXPECT_THROW(static_cast<void>(parts.surface()), Error);
}

TEST(GdmlBoxes, MayBeNestedThousandsDeep) {
  Parts parts;
  const std::uint32_t box = parts.add(Box{2, 2, 2});
  std::uint32_t all = box;
  for (int i = 1; i < 5000; ++i) all = parts.unite(all, box, moved(2.0 * (i % 100), 2.0 * (i / 100), 0));
  expect_solid(parts.surface(), 8 * 5000, 1e-12);
}

TEST(GdmlBooleanLimits, AreNamed) {
  Parts parts;
  std::uint32_t all = parts.add(Box{2, 2, 2});
  const std::uint32_t ball = parts.add(Orb{1});
  for (int i = 0; i < 40; ++i) all = parts.unite(all, all, moved(0.1, 0, 0));  // 2^40 boxes
  try {
    static_cast<void>(parts.surface());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::limit);
    EXPECT_THAT(error.problem(), HasSubstr("more than 20000 operands"));
  }
  for (int i = 0; i < 3000; ++i)
    all = parts.make(i % 2 == 0 ? BooleanKind::subtract : BooleanKind::add, ball, i == 0 ? ball : all);
  try {
    static_cast<void>(parts.surface());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::limit);
    EXPECT_THAT(error.problem(), HasSubstr("more than 1000 deep"));
  }
}

TEST(GdmlBooleanLimits, NameWhatTheBuildLacks) {
  if (has_booleans()) GTEST_SKIP() << "Open CASCADE can be used";
  Parts parts;
  const std::uint32_t box = parts.add(Box{20, 20, 20}, "box"), ball = parts.add(Orb{3}, "orb");
  parts.subtract(box, ball);
  try {
    static_cast<void>(parts.surface());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_THAT(error.problem(), HasSubstr("orb 's1'"));
    EXPECT_THAT(error.advice(), HasSubstr("RAYLIFT_OCCT"));
  }
}

}  // namespace
}  // namespace raylift::gdml
