// SPDX-License-Identifier: Apache-2.0
// The surfaces of GDML's primitives, against closed forms and the solids' own inequalities.
#include "import/gdml/shapes/tessellate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "import/gdml/shapes/closed_surface.h"
#include "import/gdml/shapes/revolve.h"
#include "import/sanitized.h"
#include "support/effort.h"
#include "surfaces.h"

namespace raylift::gdml {
namespace {

using Point = Eigen::Vector3d;

using std::numbers::pi;
constexpr Turn kWholeTurn{0, 2 * pi}, kThetas{0, pi};

double times_itself(double x) {
  return x * x;
}
double radius_of(const Point& p) {
  return std::hypot(p.x(), p.y());
}
bool lies_within(double value, double low, double high) {
  return low <= value && value <= high;
}
bool in_turn(const Point& p, const Turn& turn) {
  const double angle = std::fmod(std::atan2(p.y(), p.x()) - turn.start + 8 * pi, 2 * pi);
  return angle <= turn.delta;
}
/// Between two points of a profile that ascends.
double line_at(double z, double z1, double r1, double z2, double r2) {
  return r1 + (r2 - r1) * (z - z1) / (z2 - z1);
}

struct SolidCase {
  std::string name;
  Shape shape;
  double volume;
  double area;  // 0: no closed form at hand
  std::function<bool(const Point&)> contains;
};

/// Whether the point is on the inner side of each edge of a convex section, which turns counterclockwise.
bool in_section(const Point& p, const std::array<Point2, 4>& corners) {
  for (std::size_t k = 0; k != 4; ++k) {
    const Point2 &a = corners[k], &b = corners[(k + 1) % 4];
    if ((b.x - a.x) * (p.y() - a.y) - (b.y - a.y) * (p.x() - a.x) < 0) return false;
  }
  return true;
}

/// The section of a trapezoid at z, from the definition of a GDML trap.
std::array<Point2, 4> trap_section(const Trap& t, double z) {
  const double up = z / t.z + 0.5, y = t.y1 + (t.y2 - t.y1) * up, low = t.x1 + (t.x3 - t.x1) * up,
               high = t.x2 + (t.x4 - t.x2) * up;
  const double lean = (t.y1 * std::tan(t.alpha1) * (1 - up) + t.y2 * std::tan(t.alpha2) * up) / 2;
  const double cx = z * std::tan(t.theta) * std::cos(t.phi), cy = z * std::tan(t.theta) * std::sin(t.phi);
  return {Point2{cx - lean - low / 2, cy - y / 2}, Point2{cx - lean + low / 2, cy - y / 2},
          Point2{cx + lean + high / 2, cy + y / 2}, Point2{cx + lean - high / 2, cy + y / 2}};
}
auto in_trap(const Trap& t) {
  return [t](const Point& p) { return std::abs(p.z()) <= t.z / 2 && in_section(p, trap_section(t, p.z())); };
}
auto in_tube(const Tube& t) {
  return [t](const Point& p) {
    return std::abs(p.z()) <= t.z / 2 && lies_within(radius_of(p), t.rmin, t.rmax) && in_turn(p, t.phi);
  };
}
auto in_sphere(const Sphere& s) {
  return [s](const Point& p) {
    const double theta = std::acos(p.z() / p.norm());
    return lies_within(p.norm(), s.rmin, s.rmax) && in_turn(p, s.phi) &&
           lies_within(theta, s.theta.start, s.theta.start + s.theta.delta);
  };
}
auto in_ellipsoid(const Ellipsoid& e) {
  return [e](const Point& p) {
    const bool uncut = e.zcut1 == 0 && e.zcut2 == 0;
    return times_itself(p.x() / e.ax) + times_itself(p.y() / e.by) + times_itself(p.z() / e.cz) <= 1 &&
           (uncut || lies_within(p.z(), e.zcut1, e.zcut2));
  };
}
/// In a turn of a polygon in r and z: by parity.
auto in_profile(const std::vector<RzPoint>& corners, const Turn& turn) {
  return [=](const Point& p) {
    bool in = false;
    for (std::size_t i = 0; i != corners.size(); ++i) {
      const RzPoint &a = corners[i], &b = corners[(i + 1) % corners.size()];
      if ((a.z > p.z()) != (b.z > p.z()) && radius_of(p) < line_at(p.z(), a.z, a.r, b.z, b.r)) in = !in;
    }
    return in && in_turn(p, turn);
  };
}
/// Radii count to the sides of a regular polygon.
auto in_polyhedra(const std::vector<RzPoint>& corners, const Turn& turn, std::uint32_t sides, bool tangent) {
  return [=](const Point& p) {
    const double step = turn.delta / sides;
    const double angle = std::fmod(std::atan2(p.y(), p.x()) - turn.start + 8 * pi, 2 * pi);
    if (angle > turn.delta) return false;
    const double to_side = radius_of(p) * std::cos(std::fmod(angle, step) - step / 2);
    const double r = tangent ? to_side : to_side / std::cos(step / 2);
    return in_profile(corners, {0, 7})({r, 0, p.z()});
  };
}
double twisted_z(double twist, double z, const Point& p) {
  return twist * p.z() / z;
}
Point turned_back(const Point& p, double angle) {
  return Eigen::AngleAxisd(-angle, Point::UnitZ()) * p;
}
double integral_of(double from, double to, const std::function<double(double)>& f) {
  constexpr int kParts = 20'000;
  double sum = 0;
  for (int i = 0; i != kParts; ++i) sum += f(from + (to - from) * (i + 0.5) / kParts);
  return sum * (to - from) / kParts;
}

std::vector<SolidCase> straight_cases() {
  std::vector<SolidCase> cases;
  const auto trap = [&](const char* name, const Shape& shape, const Trap& as, double volume, double area) {
    cases.push_back({name, shape, volume, area, in_trap(as)});
  };
  trap("box", Box{1, 2, 3}, {3, 0, 0, 2, 1, 1, 0, 2, 1, 1, 0}, 6, 22);
  trap("trd", Trd{4, 2, 6, 3, 5}, {5, 0, 0, 6, 4, 4, 0, 3, 2, 2, 0}, 5. * (24 + 6 + 4 * 3 * 4.5) / 6, 0);
  trap("wedge", Trd{0, 4, 2, 2, 3}, {3, 0, 0, 2, 0, 0, 0, 2, 4, 4, 0}, 12, 0);
  trap("ridge", Trd{4, 0, 3, 3, 3}, {3, 0, 0, 3, 4, 4, 0, 3, 0, 0, 0}, 18, 0);
  trap("pyramid", Trd{4, 0, 3, 0, 3}, {3, 0, 0, 3, 4, 4, 0, 0, 0, 0, 0}, 12, 0);
  const Trap leaning{4, 0.3, 0.5, 2, 1, 1.5, 0.2, 3, 1.5, 2.25, 0.2};
  trap("trap", leaning, leaning,
       integral_of(-2, 2,
                   [&](double z) {
                     const auto s = trap_section(leaning, z);
                     return (s[2].y - s[1].y) * (s[1].x - s[0].x + s[2].x - s[3].x) / 2;
                   }),
       0);
  trap("para", Para{2, 3, 4, 0.3, 0.4, 0.5}, {4, 0.4, 0.5, 3, 2, 2, 0.3, 3, 2, 2, 0.3}, 24, 0);

  const Tet tet{{Double3{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}}};
  const auto in_tet = [](const Point& p) { return p.minCoeff() >= 0 && p.x() + p.y() / 2 + p.z() / 3 <= 1; };
  cases.push_back({"tet", tet, 1, 0, in_tet});
  cases.push_back(
      {"tet, the other way", Tet{{tet.corners[1], tet.corners[0], tet.corners[2], tet.corners[3]}}, 1, 0, in_tet});
  cases.push_back(
      {"tessellated",
       Tessellated{{tet.corners.begin(), tet.corners.end()}, {{0, 2, 1, 1}, {0, 1, 3, 3}, {1, 2, 3, 3}, {2, 0, 3, 3}}},
       1, 0, in_tet});

  // The edge from x to y has two more corners on the one side, closed by triangles without an area.
  cases.push_back(
      {"tessellated, with flat facets",
       Tessellated{{tet.corners[0], tet.corners[1], tet.corners[2], tet.corners[3], {0.5, 1, 0}, {0.25, 1.5, 0}},
                   {{0, 5, 4, 4},
                    {0, 2, 5, 5},
                    {0, 4, 1, 1},
                    {0, 1, 3, 3},
                    {1, 2, 3, 3},
                    {2, 0, 3, 3},
                    {1, 4, 2, 2},
                    {4, 5, 2, 2}}},
       1, 0, in_tet});

  // A letter L, 3 by 3, of which 2 by 2 lack; below twice as large, above moved.
  const std::vector<Point2> letter{{0, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 3}, {0, 3}};
  const std::vector<Xtru::Section> sections{{-1, {0, 0}, 2}, {0, {0, 0}, 1}, {2, {1, 0}, 1}};
  const auto in_letter = [](const Point& p) {
    if (!lies_within(p.z(), -1, 2)) return false;
    const double scale = p.z() < 0 ? 1 - p.z() : 1, x = (p.x() - std::max(p.z(), 0.) / 2) / scale, y = p.y() / scale;
    return lies_within(x, 0, 3) && lies_within(y, 0, 3) && (x <= 1 || y <= 1);
  };
  std::vector<Point2> clockwise(letter.rbegin(), letter.rend());
  clockwise.insert(clockwise.begin() + 2, {1, 2});  // on a straight side
  clockwise.push_back(clockwise.front());
  cases.push_back({"xtru", Xtru{letter, sections}, 5 * 2 + 5 * 7. / 3, 0, in_letter});
  cases.push_back({"xtru, clockwise", Xtru{clockwise, sections}, 5 * 2 + 5 * 7. / 3, 0, in_letter});
  return cases;
}

std::vector<SolidCase> round_cases() {
  std::vector<SolidCase> cases;
  const auto tube = [&](const char* name, const Tube& t, double volume, double area) {
    cases.push_back({name, t, volume, area, in_tube(t)});
  };
  tube("tube", {0, 2, 3, kWholeTurn}, 12 * pi, 2 * 4 * pi + 12 * pi);
  tube("pipe", {1, 2, 3, kWholeTurn}, 9 * pi, 2 * 3 * pi + 18 * pi);
  tube("thin pipe", {1.999, 2, 3, kWholeTurn}, 3 * pi * (4 - times_itself(1.999)), 0);
  for (const Turn& turn : {Turn{0.3, 1.7}, Turn{-2, 4.5}, Turn{0, pi / 2}, Turn{1, 0.05}, Turn{0.01, 0.085},
                           Turn{0.04, 0.1}, Turn{0.0871, 0.0001}, Turn{pi / 36 - 1e-4, 0.5}, Turn{20, 6.28}}) {
    tube("segment of a tube", {0, 2, 3, turn}, 6 * turn.delta, 4 * turn.delta + 6 * turn.delta + 12);
    tube("segment of a pipe", {1, 2, 3, turn}, 4.5 * turn.delta, 3 * turn.delta + 9 * turn.delta + 6);
  }
  const auto sphere = [&](const char* name, const Sphere& s) {
    const double solid_angle = s.phi.delta * (std::cos(s.theta.start) - std::cos(s.theta.start + s.theta.delta));
    cases.push_back({name, s, solid_angle * (std::pow(s.rmax, 3) - std::pow(s.rmin, 3)) / 3, 0, in_sphere(s)});
  };
  cases.push_back({"orb", Orb{2}, 32 * pi / 3, 16 * pi, in_sphere({0, 2, kWholeTurn, kThetas})});
  sphere("sphere", {0, 2, kWholeTurn, kThetas});
  sphere("shell", {1, 2, kWholeTurn, kThetas});
  sphere("thin shell", {1.9999, 2, kWholeTurn, kThetas});
  sphere("hemisphere", {1, 2, kWholeTurn, {0, pi / 2}});
  sphere("mirror", {1.8, 2, kWholeTurn, {2.5, pi - 2.5}});
  sphere("mirror's segment", {1.8, 2, {0.2, 0.6}, {0.5, 0.4}});
  sphere("slice", {0, 2, {-1, 5}, kThetas});
  sphere("slice of a shell", {1, 2, {-1, 2}, kThetas});
  sphere("waist", {0, 2, kWholeTurn, {1, 1}});
  sphere("narrow ring", {7, 13, kWholeTurn, {2.616, 0.0945}});
  sphere("small part", {1, 2, {0.03, 0.02}, {0.03, 0.02}});

  const auto cone = [&](const char* name, const Cone& c) {
    const auto disc = [](double a, double b) { return a * a + a * b + b * b; };
    cases.push_back(
        {name, c, c.phi.delta / 6 * c.z * (disc(c.rmax1, c.rmax2) - disc(c.rmin1, c.rmin2)), 0, [c](const Point& p) {
           const double h = c.z / 2;
           return std::abs(p.z()) <= h && in_turn(p, c.phi) &&
                  lies_within(radius_of(p), line_at(p.z(), -h, c.rmin1, h, c.rmin2),
                              line_at(p.z(), -h, c.rmax1, h, c.rmax2));
         }});
  };
  cone("cone", {0, 2, 0, 1, 3, kWholeTurn});
  cone("tip", {0, 2, 0, 0, 3, kWholeTurn});
  cone("tip below", {0, 0, 0, 2, 3, kWholeTurn});
  cone("hollow cone", {1, 2, 0.5, 0.7, 3, kWholeTurn});
  cone("hollow tip", {1, 2, 0, 1, 3, {1, 2}});
  cone("sharp rim", {1, 2, 1, 1, 3, kWholeTurn});

  const auto torus = [&](const char* name, const Torus& t) {
    cases.push_back({name, t, t.phi.delta * pi * t.rtor * (times_itself(t.rmax) - times_itself(t.rmin)),
                     t.phi.delta >= 6.28 ? 4 * pi * pi * t.rtor * (t.rmax + t.rmin) : 0, [t](const Point& p) {
                       return lies_within(std::hypot(radius_of(p) - t.rtor, p.z()), t.rmin, t.rmax) &&
                              in_turn(p, t.phi);
                     }});
  };
  torus("torus", {0, 1, 3, kWholeTurn});
  torus("hollow torus", {0.5, 1, 3, kWholeTurn});
  torus("bend", {0, 1, 3, {0.3, 1.6}});
  torus("bent pipe", {0.9, 1, 3, {0.3, 1.6}});
  torus("nearly closed torus", {0, 1, 1.0001, kWholeTurn});

  const auto cut = [&](const char* name, const CutTube& c, double volume) {
    cases.push_back({name, c, volume, 0, [c](const Point& p) {
                       const Point low = to_eigen(c.low), high = to_eigen(c.high), up(0, 0, c.tube.z / 2);
                       return lies_within(radius_of(p), c.tube.rmin, c.tube.rmax) && in_turn(p, c.tube.phi) &&
                              low.dot(p + up) <= 0 && high.dot(p - up) <= 0;
                     }});
  };
  cut("cutTube", {{1, 2, 5, kWholeTurn}, {0.3, 0.1, -1}, {-0.5, 0.2, 1}}, 15 * pi);
  cut("cut rod", {{0, 2, 5, kWholeTurn}, {0, 0, -1}, {0.6, 0, 0.8}}, 20 * pi);
  // The integral of x over the segment is 8 / 3 sin(delta).
  cut("cut segment", {{0, 2, 5, {0, 1}}, {0, 0, -1}, {0.5, 0, 1}}, 10 - 0.5 * 8 / 3 * std::sin(1));

  const auto ellipsoid = [&](const char* name, const Ellipsoid& e) {
    const bool uncut = e.zcut1 == 0 && e.zcut2 == 0;
    const double low = uncut ? -1 : std::max(e.zcut1 / e.cz, -1.), high = uncut ? 1 : std::min(e.zcut2 / e.cz, 1.);
    const auto to = [](double z) { return z - z * z * z / 3; };
    cases.push_back({name, e, pi * e.ax * e.by * e.cz * (to(high) - to(low)), 0, in_ellipsoid(e)});
  };
  ellipsoid("ellipsoid", {1, 2, 3, 0, 0});
  ellipsoid("ellipsoid cut beyond its ends", {1, 2, 3, -5, 1e6});
  ellipsoid("half an ellipsoid", {3, 2, 1, 0, 1});
  ellipsoid("window", {3, 3, 2, 0.3, 1.1});
  ellipsoid("cap", {3, 3, 2, 1.9, 2});
  ellipsoid("flat cap", {3, 3, 2, 1.999, 2});
  ellipsoid("low cap", {3, 3, 2, -2, -1});
  ellipsoid("thin slice", {3, 3, 2, 0.01, 0.03});
  cases.push_back({"eltube", EllipticalTube{1, 2, 3}, 12 * pi, 0, [](const Point& p) {
                     return times_itself(p.x()) + times_itself(p.y() / 2) <= 1 && std::abs(p.z()) <= 3;
                   }});
  const auto elcone = [&](const char* name, const EllipticalCone& e) {
    const double h = std::min(e.zcut, e.zmax);
    cases.push_back({name, e, pi * e.dx * e.dy * (std::pow(e.zmax + h, 3) - std::pow(e.zmax - h, 3)) / 3, 0,
                     [e, h](const Point& p) {
                       return std::abs(p.z()) <= h &&
                              times_itself(p.x() / e.dx) + times_itself(p.y() / e.dy) <= times_itself(e.zmax - p.z());
                     }});
  };
  elcone("elcone", {0.4, 0.8, 3, 1});
  elcone("elcone's tip", {0.4, 0.8, 3, 4});
  const auto paraboloid = [&](const char* name, const Paraboloid& q) {
    cases.push_back({name, q, pi * q.dz * (times_itself(q.rlo) + times_itself(q.rhi)), 0, [q](const Point& p) {
                       return std::abs(p.z()) <= q.dz &&
                              times_itself(radius_of(p)) <=
                                  line_at(p.z(), -q.dz, times_itself(q.rlo), q.dz, times_itself(q.rhi));
                     }});
  };
  paraboloid("paraboloid", {1, 2, 3});
  paraboloid("bowl", {0, 2, 3});
  paraboloid("tall bowl", {0, 0.01, 30});
  const auto hype = [&](const char* name, const Hype& h) {
    const auto disc = [&](double r, double stereo) {
      return pi * h.z * (r * r + times_itself(std::tan(stereo) * h.z / 2) / 3);
    };
    cases.push_back({name, h, disc(h.rmax, h.outst) - disc(h.rmin, h.inst), 0, [h](const Point& p) {
                       return std::abs(p.z()) <= h.z / 2 &&
                              lies_within(radius_of(p), std::hypot(h.rmin, std::tan(h.inst) * p.z()),
                                          std::hypot(h.rmax, std::tan(h.outst) * p.z()));
                     }});
  };
  hype("hype", {1, 2, 0.3, 0.4, 6});
  hype("full hype", {0, 2, 0, 0.7, 6});
  hype("hype with a straight hole", {1, 2, 0, 0.4, 6});
  hype("hype with a cone in it", {0, 2, 0.2, 0.4, 6});
  return cases;
}

std::vector<SolidCase> profile_cases() {
  std::vector<SolidCase> cases;
  const auto outline = [](const std::vector<ZPlane>& planes) {
    std::vector<RzPoint> corners;
    for (const ZPlane& plane : planes) corners.push_back({plane.rmax, plane.z});
    for (auto plane = planes.rbegin(); plane != planes.rend(); ++plane) corners.push_back({plane->rmin, plane->z});
    return corners;
  };
  /// Pappus, for each edge: the integral of r^2 / 2 over z.
  const auto moment = [](const std::vector<RzPoint>& corners) {
    double sum = 0;
    for (std::size_t i = 0; i != corners.size(); ++i) {
      const RzPoint &a = corners[i], &b = corners[(i + 1) % corners.size()];
      sum += (a.r * a.r + a.r * b.r + b.r * b.r) * (b.z - a.z) / 6;
    }
    return std::abs(sum);
  };
  const std::vector<ZPlane> steps{{0, 1, -2}, {0, 1, -1}, {0, 3, -1}, {1, 3, 0}, {1, 2, 0}, {2, 2, 2}};
  const std::vector<ZPlane> down(steps.rbegin(), steps.rend());
  const std::vector<ZPlane> pinched{{0, 2, -2}, {0, 0, 0}, {0, 2, 2}}, straight{{1, 2, 0}, {1, 2, 1}, {1, 2, 3}};
  const std::vector<ZPlane> rim{{1, 2, -2}, {2, 2, 0}, {1, 2, 2}},
      nothing_between{{1, 2, -2}, {2, 2, 0}, {2, 2, 1}, {1, 2, 2}};
  for (const Turn& turn : {kWholeTurn, Turn{0.5, 2}})
    for (const auto& planes : {steps, down, pinched, straight, rim, nothing_between}) {
      cases.push_back({"polycone " + std::to_string(cases.size()), Polycone{turn, planes},
                       turn.delta * moment(outline(planes)), 0, in_profile(outline(planes), turn)});
      const double side = turn.delta / 5;
      cases.push_back({"polyhedra " + std::to_string(cases.size()), Polyhedra{turn, 5, planes},
                       10 * std::tan(side / 2) * moment(outline(planes)), 0,
                       in_polyhedra(outline(planes), turn, 5, true)});
    }
  const std::vector<RzPoint> crown{{0, 0}, {3, 0}, {3, 2}, {2, 1}, {1, 3}, {0, 1}};
  const std::vector<RzPoint> clockwise(crown.rbegin(), crown.rend()), ring{{1, 0}, {2, 0}, {2, 1}, {1.5, 0.2}};
  for (const Turn& turn : {kWholeTurn, Turn{-1, 3.5}})
    for (const auto& corners : {crown, clockwise, ring}) {
      cases.push_back({"genericPolycone", GenericPolycone{turn, corners}, turn.delta * moment(corners), 0,
                       in_profile(corners, turn)});
      cases.push_back({"genericPolyhedra", GenericPolyhedra{turn, 7, corners},
                       7 * std::sin(turn.delta / 7) * moment(corners), 0, in_polyhedra(corners, turn, 7, false)});
    }
  return cases;
}

std::vector<SolidCase> warped_cases() {
  std::vector<SolidCase> cases;
  const auto arb8 = [&](const char* name, std::array<Point2, 8> corners, double dz) {
    const Arb8 file{corners, dz};
    std::array<Point2, 8> turned = corners;
    double area = 0;  // of twice the section in the middle, four times
    for (std::size_t k = 0; k != 4; ++k) {
      const std::size_t next = (k + 1) % 4;
      area += (corners[k].x + corners[k + 4].x) * (corners[next].y + corners[next + 4].y) -
              (corners[k].y + corners[k + 4].y) * (corners[next].x + corners[next + 4].x);
    }
    if (area < 0) {
      std::swap(turned[1], turned[3]);
      std::swap(turned[5], turned[7]);
    }
    const auto section = [turned, dz](double z) {
      std::array<Point2, 4> s;
      for (std::size_t k = 0; k != 4; ++k)
        s[k] = {line_at(z, -dz, turned[k].x, dz, turned[k + 4].x), line_at(z, -dz, turned[k].y, dz, turned[k + 4].y)};
      return s;
    };
    const double volume = integral_of(-dz, dz, [&](double z) {
      const auto s = section(z);
      double twice = 0;
      for (std::size_t k = 0; k != 4; ++k) twice += s[k].x * s[(k + 1) % 4].y - s[k].y * s[(k + 1) % 4].x;
      return twice / 2;
    });
    cases.push_back({name, file, volume, 0,
                     [section, dz](const Point& p) { return std::abs(p.z()) <= dz && in_section(p, section(p.z())); }});
  };
  using P = Point2;
  arb8("arb8", {P{-1, -1}, {-1, 1}, {1, 1}, {1, -1}, {-2, -2}, {-2, 2}, {2, 2}, {2, -2}}, 3);
  arb8("twisted arb8", {P{-3, -3}, {-3, 3}, {3, 3}, {3, -3}, {-3, -1}, {-1, 3}, {3, 1}, {1, -3}}, 3);
  arb8("arb8, one side warped", {P{-3, -3}, {-3, 3}, {3, 3}, {3, -3}, {-3, -3}, {-3, 3}, {3, 3}, {2, -3}}, 3);
  arb8("prism", {P{-1, -1}, {-1, 1}, {1, 1}, {1, 1}, {-1, -1}, {-1, 1}, {1, 1}, {1, 1}}, 3);
  arb8("arb8's pyramid", {P{-1, -1}, {-1, 1}, {1, 1}, {1, -1}, {0, 0}, {0, 0}, {0, 0}, {0, 0}}, 3);
  arb8("arb8's wedge", {P{-0.7, 0.1}, {0.9, 0.3}, {0.9, 0.3}, {-0.7, 0.1}, {-1, -1.3}, {1.1, -1}, {1, 1.2}, {-1, 0.9}},
       1);
  arb8("arb8's tetrahedron", {P{-1, 0}, {-1, 0}, {1, 0}, {1, 0}, {0, -1}, {0, 1}, {0, 1}, {0, -1}}, 1);

  const auto twisted = [&](const char* name, const Shape& shape, double twist, const Trap& as) {
    const Trap upright{as.z, 0, 0, as.y1, as.x1, as.x2, as.alpha1, as.y2, as.x3, as.x4, as.alpha2};
    const double volume = integral_of(-as.z / 2, as.z / 2, [&](double z) {
      const auto s = trap_section(upright, z);
      return (s[2].y - s[1].y) * (s[1].x - s[0].x + s[2].x - s[3].x) / 2;
    });
    cases.push_back({name, shape, volume, 0, [=](const Point& p) {
                       const Point center(p.z() * std::tan(as.theta) * std::cos(as.phi),
                                          p.z() * std::tan(as.theta) * std::sin(as.phi), 0);
                       return std::abs(p.z()) <= as.z / 2 &&
                              in_section(turned_back(p - center, twisted_z(twist, as.z, p)),
                                         trap_section(upright, p.z()));
                     }});
  };
  twisted("twistedbox", TwistedBox{0.8, 2, 3, 4}, 0.8, {4, 0, 0, 3, 2, 2, 0, 3, 2, 2, 0});
  twisted("twistedbox, back", TwistedBox{-1.5, 2, 3, 4}, -1.5, {4, 0, 0, 3, 2, 2, 0, 3, 2, 2, 0});
  twisted("twistedtrd", TwistedTrd{0.5, 2, 3, 4, 6, 5}, 0.5, {5, 0, 0, 4, 2, 2, 0, 6, 3, 3, 0});
  twisted("twistedtrap", TwistedTrap{0.5, 5, 0.3, 0.7, 4, 2, 3, 2, 1, 1.5, 0.2}, 0.5,
          {5, 0.3, 0.7, 4, 2, 3, 0.2, 2, 1, 1.5, 0.2});
  for (const double twist : {0.6, -1.2}) {
    const TwistedTube t{twist, 1, 2, 5, 1.5};
    const auto squared = [=](double r, double z) {  // of the radius at z
      return times_itself(r) * (times_itself(std::cos(twist / 2)) + times_itself(std::sin(twist / 2) * z / 2.5));
    };
    cases.push_back({"twistedtubs", t,
                     integral_of(-2.5, 2.5, [&](double z) { return 0.75 * (squared(2, z) - squared(1, z)); }), 0,
                     [=](const Point& p) {
                       const Point back = turned_back(p, std::atan(std::tan(twist / 2) * p.z() / 2.5));
                       return std::abs(p.z()) <= 2.5 &&
                              lies_within(times_itself(radius_of(p)), squared(1, p.z()), squared(2, p.z())) &&
                              std::abs(std::atan2(back.y(), back.x())) <= 0.75;
                     }});
  }
  return cases;
}

std::vector<SolidCase> all_cases() {
  std::vector<SolidCase> cases = straight_cases();
  for (const auto& more : {round_cases(), profile_cases(), warped_cases()})
    cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

void expect_sound(const Surface& surface) {
  EXPECT_EQ(test::open_edges(surface), 0U);
  EXPECT_GT(test::surface_volume(surface), 0);
  EXPECT_GT(test::thinnest_triangle(surface), 1e-8);
  std::set<std::uint32_t> used;
  for (const UInt3& t : surface.triangles) used.insert({t.x, t.y, t.z});
  EXPECT_EQ(used.size(), surface.vertices.size());
}

/// Points of the surface's box that it has on the other side than the solid has, and whose neighbours within `chord`
/// the solid has on one side too.
int misplaced(const SolidCase& one, const Surface& surface, int points, double part) {
  const test::InsideSurface inside(surface);
  const Point size = inside.box().sizes();
  const double chord = part * size.maxCoeff();
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-0.05, 1.05);
  int wrong = 0;
  for (int i = 0; i != points; ++i) {
    const Point p = inside.box().min() + size.cwiseProduct(Point(uniform(random), uniform(random), uniform(random)));
    const bool in = one.contains(p);
    if (inside.windings(p) == (in ? 1 : 0)) continue;
    bool near = false;
    for (int k = 0; k != 27 && !near; ++k)
      near = one.contains(p + chord * Point(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1).normalized()) != in;
    if (!near) ++wrong;
  }
  return wrong;
}

TEST(GdmlTessellate, HasTheVolumeAndAreaOfTheSolid) {
  for (const SolidCase& one : all_cases()) {
    SCOPED_TRACE(one.name);
    const Surface surface = tessellate(one.shape, {});
    expect_sound(surface);
    EXPECT_NEAR(test::surface_volume(surface) / one.volume, 1, 1e-3);
    EXPECT_NEAR(enclosed_volume(surface) / test::surface_volume(surface), 1, 1e-9);
    if (one.area != 0) {
      EXPECT_NEAR(test::surface_area(surface) / one.area, 1, 1e-3);
    }
  }
}

TEST(GdmlTessellate, HasThePointsOfTheSolid) {
  for (const SolidCase& one : all_cases()) {
    SCOPED_TRACE(one.name);
    EXPECT_EQ(misplaced(one, tessellate(one.shape, {}), test::effort(2000), 1e-3), 0);
  }
}

using VertexPlaces = std::set<std::tuple<double, double, double>>;

/// The places of a surface's vertices that `chosen` takes.
template <class Chosen>
VertexPlaces vertices_where(const Shape& shape, const Chosen& chosen, const Fineness& fineness = {}) {
  VertexPlaces result;
  for (const Double3& v : tessellate(shape, fineness).vertices)
    if (chosen(to_eigen(v))) result.emplace(v.x, v.y, v.z);
  return result;
}

/// Whether the solid's surface lies between p - to and p + to. A thin wall needs many looks.
bool meets_surface(const SolidCase& one, const Point& p, const Point& to) {
  for (const int looks : {1, 20, 1000}) {
    const bool first = one.contains(p - to);
    for (int k = 1 - looks; k <= looks; ++k)
      if (one.contains(p + to * k / looks) != first) return true;
  }
  return false;
}

TEST(GdmlTessellate, StaysWithinTheChord) {
  constexpr double kChord = 0.01;
  for (const Fineness::Fit fit : {Fineness::Fit::volume, Fineness::Fit::inscribed})
    for (const SolidCase& one : all_cases()) {
      SCOPED_TRACE(one.name);
      const Surface surface = tessellate(one.shape, {kChord, 0, fit});
      expect_sound(surface);
      int off = 0;
      for (std::size_t i = 0; i < surface.triangles.size(); i += 1 + surface.triangles.size() / test::effort(500U)) {
        const UInt3& t = surface.triangles[i];
        const Point a = to_eigen(surface.vertices[t.x]), b = to_eigen(surface.vertices[t.y]),
                    c = to_eigen(surface.vertices[t.z]);
        const Point normal = test::twice_area(surface, t).normalized();
        const Point p = (a + b + c) / 3;
        bool meets = meets_surface(one, p, 1.01 * kChord * normal);
        // Where a wall is thinner than the chord, its ends' facets have nothing above and below.
        for (int k = 0; k != 13 && !meets; ++k)
          meets = meets_surface(one, p, 1.01 * kChord * Point(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1).normalized());
        if (!meets) ++off;
      }
      EXPECT_EQ(off, 0);
    }
}

/// How far the solid's surface is from the point, in the direction where the point's side ends; `most` and more where
/// it is farther.
double distance_along(const SolidCase& one, const Point& p, const Point& direction, double most) {
  constexpr int kLooks = 16;
  const bool side = one.contains(p);
  double low = 0, high = most;
  int k = 1;
  while (k <= kLooks && one.contains(p + k * most / kLooks * direction) == side) ++k;
  if (k > kLooks) return 2 * most;
  low = (k - 1) * most / kLooks, high = k * most / kLooks;
  for (int i = 0; i != 12; ++i)
    (one.contains(p + (low + high) / 2 * direction) == side ? low : high) = (low + high) / 2;
  return high;
}

TEST(GdmlTessellate, KnowsHowFarFacetsDeviate) {
  for (const Fineness::Fit fit : {Fineness::Fit::volume, Fineness::Fit::area, Fineness::Fit::inscribed})
    for (const SolidCase& one : all_cases()) {
      SCOPED_TRACE(one.name);
      const Surface surface = tessellate(one.shape, {0, 0, fit});
      const auto& [outward, inward] = surface.deviation;
      double size = 0, found_outward = 0, found_inward = 0;
      for (const Double3& v : surface.vertices) size = std::max(size, to_eigen(v).norm());
      const double rounding = 1e-9 * size;
      int off = 0;
      constexpr std::size_t kFacets = kSanitized ? 8 : 150;
      for (std::size_t i = 0; i < surface.triangles.size(); i += 1 + surface.triangles.size() / kFacets) {
        const UInt3& t = surface.triangles[i];
        const Point a = to_eigen(surface.vertices[t.x]), b = to_eigen(surface.vertices[t.y]),
                    c = to_eigen(surface.vertices[t.z]);
        const Point normal = test::twice_area(surface, t).normalized();
        constexpr int kParts = 4;
        for (int u = 0; u <= kParts; ++u)
          for (int v = 0; u + v <= kParts; ++v) {
            // Not the very corners and edges, where rounding decides.
            const double u1 = 1e-6 + (1 - 3e-6) * u / kParts, v1 = 1e-6 + (1 - 3e-6) * v / kParts;
            const Point p = u1 * a + v1 * b + (1 - u1 - v1) * c;
            const bool lacks = one.contains(p);
            const double stated = lacks ? inward : outward, most = 1.001 * stated + rounding;
            double nearest = distance_along(one, p, lacks ? normal : Point(-normal), most);
            if (nearest <= most && stated > 0) {
              double& found = lacks ? found_inward : found_outward;
              found = std::max(found, nearest);
            }
            // Beside a rim, the nearest part of the surface is another face, or the rim itself, which few directions
            // hit.
            constexpr double kNearlyHit = 1.4;
            for (const double sign : {-1., 1.})
              nearest = std::min(nearest, distance_along(one, p, sign * Point(p.x(), p.y(), 0).normalized(), most));
            for (int k = 0; k != 1000 && nearest > kNearlyHit * most; ++k) {
              const double z = 1 - (2 * k + 1) / 1000., around = 2.39996323 * k, r = std::sqrt(1 - z * z);
              nearest = std::min(
                  nearest, distance_along(one, p, {r * std::cos(around), r * std::sin(around), z}, kNearlyHit * most));
            }
            if (nearest > kNearlyHit * most) ++off;
          }
      }
      EXPECT_EQ(off, 0) << outward << ' ' << inward;
      const double stated = std::max(outward, inward);
      // A bound, but no wild one. At the rims of flat caps and wedges, normals are no measure.
      const bool has_acute_rim =
          one.name.find("cap") != std::string::npos || one.name.find("wedge") != std::string::npos;
      if (stated > 1e-7 * size && !has_acute_rim) {
        EXPECT_GT(std::max(found_outward, found_inward), 0.4 * stated) << "of " << outward << ", " << inward;
      }
    }
}

TEST(GdmlTessellate, HasTheFacetsThatAreAskedFor) {
  const auto columns = [](const Fineness& fineness, double r) {
    return tessellate(Tube{0, r, 1, kWholeTurn}, fineness).vertices.size() / 2 - 1;  // less the one on the axis
  };
  EXPECT_EQ(columns({}, 1), 72U);
  EXPECT_EQ(columns({}, 1e-3), 72U);
  EXPECT_EQ(columns({}, 1e5), 72U);
  EXPECT_EQ(columns({0, 50, Fineness::Fit::volume}, 1), 50U);
  EXPECT_EQ(columns({0, 1, Fineness::Fit::volume}, 1), 3U);
  EXPECT_EQ(columns({5, 0, Fineness::Fit::volume}, 1), 24U);
  EXPECT_EQ(columns({0.01, 0, Fineness::Fit::volume}, 10), 80U);
  EXPECT_EQ(columns({0.01, 0, Fineness::Fit::volume}, 1000), 776U);
  EXPECT_EQ(columns({1e-12, 0, Fineness::Fit::volume}, 1000), 2048U);
}

TEST(GdmlTessellate, KeepsWhatItsFitStates) {
  const Tube tube{1, 2, 3, kWholeTurn};
  const double volume = 9 * pi, area = 24 * pi, lateral = 18 * pi;
  for (const std::uint32_t steps : {24U, 71U}) {
    const Surface by_volume = tessellate(tube, {0, steps, Fineness::Fit::volume});
    EXPECT_NEAR(test::surface_volume(by_volume), volume, 1e-9);
    const Surface by_area = tessellate(tube, {0, steps, Fineness::Fit::area});
    double sides = 0;
    for (const UInt3& t : by_area.triangles) {
      const Point n = test::twice_area(by_area, t) / 2;
      if (std::abs(n.z()) < 1e-9) sides += n.norm();
    }
    EXPECT_NEAR(sides, lateral, 1e-9);
    const Surface inscribed = tessellate(tube, {0, steps, Fineness::Fit::inscribed});
    EXPECT_NEAR(test::surface_volume(inscribed) / volume, steps / pi / 2 * std::sin(2 * pi / steps), 1e-12);
    for (const Double3& v : inscribed.vertices) {
      const double r = std::hypot(v.x, v.y);
      EXPECT_TRUE(std::abs(r - 1) < 1e-12 || std::abs(r - 2) < 1e-12);
    }
  }
  EXPECT_NEAR(test::surface_area(tessellate(tube, {0, 0, Fineness::Fit::area})) / area, 1, 1e-3);
  EXPECT_NEAR(test::surface_area(tessellate(Orb{2}, {0, 0, Fineness::Fit::area})) / (16 * pi), 1, 1e-3);
}

TEST(GdmlTessellate, GivesASolidTheVerticesOfTheHoleItFills) {
  const auto at_radius = [](double r) { return [r](const Point& p) { return std::abs(radius_of(p) - r) < 0.01 * r; }; };
  const auto from_center = [](double r) { return [r](const Point& p) { return std::abs(p.norm() - r) < 0.01 * r; }; };
  const Tube mother{1, 2, 3, kWholeTurn}, daughter{0, 1, 3, kWholeTurn};
  const VertexPlaces hole = vertices_where(mother, at_radius(1));
  EXPECT_EQ(hole.size(), 144U);
  EXPECT_EQ(vertices_where(daughter, at_radius(1)), hole);
  EXPECT_EQ(vertices_where(Polycone{kWholeTurn, {{0, 1, -1.5}, {0, 1, 1.5}}}, at_radius(1)), hole);
  EXPECT_EQ(vertices_where(Cone{0.5, 1, 0.5, 1, 3, kWholeTurn}, at_radius(1)), hole);
  // A segment has the same ones, but for its two ends.
  const Turn turn{-0.7, 2};
  const VertexPlaces segment = vertices_where(Tube{0, 1, 3, turn}, at_radius(1));
  std::size_t common = 0;
  for (const auto& place : segment) common += hole.count(place);
  EXPECT_EQ(segment.size(), 48U);
  EXPECT_EQ(common, 44U);
  EXPECT_EQ(vertices_where(Tube{1, 2, 3, turn}, at_radius(1)), segment);
  // The quarter that begins and ends at steps has no others.
  const VertexPlaces quarter = vertices_where(Tube{0, 1, 3, {pi / 2, pi / 2}}, at_radius(1));
  EXPECT_EQ(quarter.size(), 38U);
  EXPECT_TRUE(std::includes(hole.begin(), hole.end(), quarter.begin(), quarter.end()));

  const VertexPlaces in_shell = vertices_where(Sphere{1, 2, kWholeTurn, kThetas}, from_center(1));
  EXPECT_EQ(in_shell.size(), 72U * 35 + 2);
  EXPECT_EQ(vertices_where(Orb{1}, from_center(1)), in_shell);
  const VertexPlaces half = vertices_where(Sphere{0, 1, kWholeTurn, {0, pi / 2}}, from_center(1));
  EXPECT_TRUE(std::includes(in_shell.begin(), in_shell.end(), half.begin(), half.end()));
  EXPECT_EQ(vertices_where(Torus{0, 1, 5, kWholeTurn},
                           [](const Point& p) { return std::abs(std::hypot(radius_of(p) - 5, p.z()) - 1) < 0.1; }),
            vertices_where(Torus{1, 2, 5, kWholeTurn},
                           [](const Point& p) { return std::abs(std::hypot(radius_of(p) - 5, p.z()) - 1) < 0.1; }));
}

TEST(GdmlTessellate, KeepsTheCutsOfAnEllipsoid) {
  // At an angle of 60 degrees from the axis, where a step lies too.
  for (const double sign : {-1., 1.}) {
    const double low = std::min(sign, 2 * sign), high = std::max(sign, 2 * sign);
    double nearest = 2;
    for (const Double3& v : tessellate(Ellipsoid{3, 3, 2, low, high}, {}).vertices)
      nearest = std::min(nearest, std::abs(v.z));
    EXPECT_EQ(nearest, 1);
  }
}

TEST(GdmlTessellate, HoldsAtAllSizes) {
  for (const double size : {1e-6, 1e-3, 1e6})
    for (const Shape& shape :
         {Shape(Tube{0.5 * size, size, 1000 * size, {1, 2}}), Shape(Orb{size}),
          Shape(Torus{0, 1e-3 * size, size, kWholeTurn}), Shape(Ellipsoid{size, 10 * size, 1e-2 * size, 0, 0}),
          Shape(Box{size, 1e-3 * size, 1e3 * size}), Shape(TwistedBox{1, size, 2 * size, 50 * size})}) {
      const Surface surface = tessellate(shape, {});
      expect_sound(surface);
      EXPECT_LT(surface.triangles.size(), 25'000U);
    }
}

TEST(GdmlTessellate, CountsFacetsFromTheSameAngleHoweverOftenItTurned) {
  const auto all = [](const Point&) { return true; };
  EXPECT_EQ(vertices_where(Tube{0, 1, 3, {pi, 1.5}}, all).size(),
            vertices_where(Tube{0, 1, 3, {-pi, 1.5}}, all).size());
  EXPECT_EQ(test::open_edges(tessellate(Tube{0, 1, 3, {1e5, 1.5}}, {})), 0U);
  EXPECT_EQ(vertices_where(Tube{0, 1, 3, {3, 2 * pi - 1e-12}}, all), vertices_where(Tube{0, 1, 3, kWholeTurn}, all));
}

TEST(GdmlTessellate, LeavesBooleansToOthers) {
  EXPECT_THROW((void)tessellate(Boolean{}, {}), std::logic_error);
  EXPECT_THROW((void)tessellate(MultiUnion{}, {}), std::logic_error);
  EXPECT_THROW((void)tessellate(Transformed{}, {}), std::logic_error);
}

}  // namespace
}  // namespace raylift::gdml
