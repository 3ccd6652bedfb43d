// SPDX-License-Identifier: Apache-2.0
// Each overload states one solid's inequality. Lengths that GDML gives in full are halved here.
#include "membership.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <optional>
#include <span>

#include "import/gdml/shapes/double3.h"

namespace raylift::gdml {
namespace membership_detail {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

double square(double a) {
  return a * a;
}
double mix(double a, double b, double t) {
  return a + (b - a) * t;
}
double radius(const Double3& p) {
  return std::hypot(p.x, p.y);
}

/// How far an angle lies behind the start of a turn, in [0, 2 pi).
double behind(double angle, double start) {
  const double rest = std::fmod(angle - start, 2 * kPi);
  return rest < 0 ? rest + 2 * kPi : rest;
}
bool turn_has(const Turn& phi, const Double3& p) {
  return phi.delta >= 2 * kPi || behind(std::atan2(p.y, p.x), phi.start) <= phi.delta;
}

/// By the number of edges to the right of the point.
bool polygon_has(std::span<const Point2> corners, Point2 p) {
  bool within = false;
  for (std::size_t i = 0, before = corners.size() - 1; i < corners.size(); before = i++) {
    const Point2 a = corners[i], b = corners[before];
    if ((a.y > p.y) != (b.y > p.y) && p.x < mix(a.x, b.x, (p.y - a.y) / (b.y - a.y))) within = !within;
  }
  return within;
}

bool corners_have(std::span<const RzPoint> corners, double r, double z) {
  std::vector<Point2> polygon;
  polygon.reserve(corners.size());
  for (const RzPoint& corner : corners) polygon.push_back({corner.r, corner.z});
  return polygon_has(polygon, {r, z});
}
bool planes_have(std::span<const ZPlane> planes, double r, double z) {
  for (std::size_t i = 1; i < planes.size(); ++i) {
    const ZPlane &a = planes[i - 1], &b = planes[i];
    if (a.z == b.z || z < std::min(a.z, b.z) || z > std::max(a.z, b.z)) continue;
    const double t = (z - a.z) / (b.z - a.z);
    if (r >= mix(a.rmin, b.rmin, t) && r <= mix(a.rmax, b.rmax, t)) return true;
  }
  return false;
}

/// The distance from the axis along the normal of the side that a point is before; none outside of the turn.
std::optional<double> apothem(const Turn& phi, std::uint32_t sides, const Double3& p) {
  const double delta = std::min(phi.delta, 2 * kPi);
  const double angle = behind(std::atan2(p.y, p.x), phi.start);
  if (angle > delta) return std::nullopt;
  const double side = delta / sides;
  return radius(p) * std::cos(angle - (std::floor(angle / side) + 0.5) * side);
}

/// A section between four corners each at -dz and at dz.
bool corners8_have(const std::array<Point2, 8>& corners, double dz, const Double3& p) {
  if (std::abs(p.z) > dz) return false;
  const double t = (p.z + dz) / (2 * dz);
  std::array<Point2, 4> section;
  for (std::size_t i = 0; i < 4; ++i)
    section[i] = {mix(corners[i].x, corners[i + 4].x, t), mix(corners[i].y, corners[i + 4].y, t)};
  return polygon_has(section, {p.x, p.y});
}

/// A trapezoid with its centre at the origin: x1 wide at -y / 2, x2 wide at y / 2.
bool trapezoid_has(double y, double x1, double x2, double slant, Point2 p) {
  if (std::abs(p.y) > y / 2) return false;
  return std::abs(p.x - p.y * slant) <= mix(x1, x2, p.y / y + 0.5) / 2;
}

Point2 lean(double theta, double phi, double z) {
  return {z * std::tan(theta) * std::cos(phi), z * std::tan(theta) * std::sin(phi)};
}

bool in_ellipse(double x, double y, double a, double b) {
  return square(x / a) + square(y / b) <= 1;
}

struct In {
  const Double3& p;

  bool operator()(const Box& s) const {
    return std::abs(p.x) <= s.x / 2 && std::abs(p.y) <= s.y / 2 && std::abs(p.z) <= s.z / 2;
  }
  bool operator()(const Orb& s) const { return dot(p, p) <= square(s.r); }
  bool operator()(const Sphere& s) const {
    const double r = std::sqrt(dot(p, p));
    if (r < s.rmin || r > s.rmax || !turn_has(s.phi, p)) return false;
    const double theta = std::atan2(radius(p), p.z);
    return s.theta.delta >= kPi || (theta >= s.theta.start && theta <= s.theta.start + s.theta.delta);
  }
  bool operator()(const Tube& s) const { return std::abs(p.z) <= s.z / 2 && ring(s); }
  bool operator()(const CutTube& s) const {
    const double h = s.tube.z / 2;
    return ring(s.tube) && dot({p.x, p.y, p.z + h}, s.low) <= 0 && dot({p.x, p.y, p.z - h}, s.high) <= 0;
  }
  bool operator()(const Cone& s) const {
    const double t = p.z / s.z + 0.5, r = radius(p);
    return t >= 0 && t <= 1 && r >= mix(s.rmin1, s.rmin2, t) && r <= mix(s.rmax1, s.rmax2, t) && turn_has(s.phi, p);
  }
  bool operator()(const Torus& s) const {
    const double r = std::hypot(radius(p) - s.rtor, p.z);
    return r >= s.rmin && r <= s.rmax && turn_has(s.phi, p);
  }
  bool operator()(const Polycone& s) const { return turn_has(s.phi, p) && planes_have(s.planes, radius(p), p.z); }
  bool operator()(const GenericPolycone& s) const {
    return turn_has(s.phi, p) && corners_have(s.corners, radius(p), p.z);
  }
  bool operator()(const Polyhedra& s) const {
    const std::optional<double> r = apothem(s.phi, s.sides, p);
    return r && planes_have(s.planes, *r, p.z);
  }
  bool operator()(const GenericPolyhedra& s) const {
    const std::optional<double> r = apothem(s.phi, s.sides, p);
    return r && corners_have(s.corners, *r / std::cos(std::min(s.phi.delta, 2 * kPi) / s.sides / 2), p.z);
  }
  bool operator()(const Trd& s) const {
    const double t = p.z / s.z + 0.5;
    return t >= 0 && t <= 1 && std::abs(p.x) <= mix(s.x1, s.x2, t) / 2 && std::abs(p.y) <= mix(s.y1, s.y2, t) / 2;
  }
  bool operator()(const Trap& s) const {
    std::array<Point2, 8> corners;
    for (std::size_t end = 0; end < 2; ++end) {
      const Point2 at = lean(s.theta, s.phi, end == 0 ? -s.z / 2 : s.z / 2);
      const double y = (end == 0 ? s.y1 : s.y2) / 2, shear = y * std::tan(end == 0 ? s.alpha1 : s.alpha2);
      const double low = (end == 0 ? s.x1 : s.x3) / 2, high = (end == 0 ? s.x2 : s.x4) / 2;
      corners[4 * end] = {at.x - shear - low, at.y - y};
      corners[4 * end + 1] = {at.x - shear + low, at.y - y};
      corners[4 * end + 2] = {at.x + shear + high, at.y + y};
      corners[4 * end + 3] = {at.x + shear - high, at.y + y};
    }
    return corners8_have(corners, s.z / 2, p);
  }
  bool operator()(const Para& s) const {
    const Point2 at = lean(s.theta, s.phi, p.z);
    const double y = p.y - at.y;
    return std::abs(p.z) <= s.z / 2 && std::abs(y) <= s.y / 2 &&
           std::abs(p.x - at.x - y * std::tan(s.alpha)) <= s.x / 2;
  }
  bool operator()(const Xtru& s) const {
    for (std::size_t i = 1; i < s.sections.size(); ++i) {
      const Xtru::Section &a = s.sections[i - 1], &b = s.sections[i];
      if (a.z == b.z || p.z < std::min(a.z, b.z) || p.z > std::max(a.z, b.z)) continue;
      const double t = (p.z - a.z) / (b.z - a.z), scale = mix(a.scale, b.scale, t);
      if (polygon_has(s.polygon,
                      {(p.x - mix(a.offset.x, b.offset.x, t)) / scale, (p.y - mix(a.offset.y, b.offset.y, t)) / scale}))
        return true;
    }
    return false;
  }
  bool operator()(const EllipticalTube& s) const { return std::abs(p.z) <= s.dz && in_ellipse(p.x, p.y, s.dx, s.dy); }
  bool operator()(const Ellipsoid& s) const {
    const bool cut = s.zcut1 != 0 || s.zcut2 != 0;
    return square(p.x / s.ax) + square(p.y / s.by) + square(p.z / s.cz) <= 1 &&
           (!cut || (p.z >= s.zcut1 && p.z <= s.zcut2));
  }
  bool operator()(const EllipticalCone& s) const {
    const double below = s.zmax - p.z;
    return std::abs(p.z) <= std::min(s.zcut, s.zmax) && square(p.x / s.dx) + square(p.y / s.dy) <= square(below);
  }
  bool operator()(const Paraboloid& s) const {
    return std::abs(p.z) <= s.dz && square(radius(p)) <= mix(square(s.rlo), square(s.rhi), (p.z / s.dz + 1) / 2);
  }
  bool operator()(const Hype& s) const {
    const double r = square(radius(p));
    return std::abs(p.z) <= s.z / 2 && r >= square(s.rmin) + square(std::tan(s.inst) * p.z) &&
           r <= square(s.rmax) + square(std::tan(s.outst) * p.z);
  }
  bool operator()(const Arb8& s) const { return corners8_have(s.corners, s.dz, p); }
  bool operator()(const Tet& s) const {
    constexpr std::array<std::array<std::uint32_t, 3>, 4> kSides{{{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}}};
    for (std::size_t i = 0; i < 4; ++i) {
      const auto& [a, b, c] = kSides[i];
      const double own = side(s.corners[a], s.corners[b], s.corners[c], s.corners[i]);
      if (own * side(s.corners[a], s.corners[b], s.corners[c], p) < 0) return false;
    }
    return true;
  }
  /// By the facets that a ray in a direction of no facet's meets.
  bool operator()(const Tessellated& s) const {
    bool within = false;
    for (const std::array<std::uint32_t, 4>& f : s.facets) {
      within ^= hit(s.vertices[f[0]], s.vertices[f[1]], s.vertices[f[2]]);
      if (f[3] != f[2]) within ^= hit(s.vertices[f[0]], s.vertices[f[2]], s.vertices[f[3]]);
    }
    return within;
  }
  bool operator()(const TwistedBox& s) const {
    return std::abs(p.z) <= s.z / 2 && trapezoid_has(s.y, s.x, s.x, 0, untwisted(s.twist, s.z, {}));
  }
  bool operator()(const TwistedTrd& s) const {
    const double t = p.z / s.z + 0.5, x = mix(s.x1, s.x2, t);
    return t >= 0 && t <= 1 && trapezoid_has(mix(s.y1, s.y2, t), x, x, 0, untwisted(s.twist, s.z, {}));
  }
  bool operator()(const TwistedTrap& s) const {
    const double t = p.z / s.z + 0.5;
    return t >= 0 && t <= 1 &&
           trapezoid_has(mix(s.y1, s.y2, t), mix(s.x1, s.x3, t), mix(s.x2, s.x4, t), std::tan(s.alpha),
                         untwisted(s.twist, s.z, lean(s.theta, s.phi, p.z)));
  }
  /// The radii are those of the ends; the walls are hyperboloids, and the sides are straight across z.
  bool operator()(const TwistedTube& s) const {
    const double h = s.z / 2, waist = std::cos(s.twist / 2), slope = std::tan(s.twist / 2) / h;
    const double grown = waist * std::sqrt(1 + square(slope * p.z)), r = radius(p);
    const double angle = behind(std::atan2(p.y, p.x) - std::atan(slope * p.z), -s.phi / 2);
    return std::abs(p.z) <= h && r >= s.inner_r * grown && r <= s.outer_r * grown && angle <= s.phi;
  }
  bool operator()(const Boolean&) const { return false; }
  bool operator()(const MultiUnion&) const { return false; }
  bool operator()(const Transformed&) const { return false; }

 private:
  [[nodiscard]] bool ring(const Tube& s) const {
    const double r = radius(p);
    return r >= s.rmin && r <= s.rmax && turn_has(s.phi, p);
  }
  [[nodiscard]] Point2 untwisted(double twist, double z, Point2 offset) const {
    const double angle = -twist * p.z / z, x = p.x - offset.x, y = p.y - offset.y;
    return {x * std::cos(angle) - y * std::sin(angle), x * std::sin(angle) + y * std::cos(angle)};
  }
  /// Six times the volume between a triangle and a point.
  static double side(const Double3& a, const Double3& b, const Double3& c, const Double3& q) {
    const Double3 u{b.x - a.x, b.y - a.y, b.z - a.z}, v{c.x - a.x, c.y - a.y, c.z - a.z};
    const Double3 normal{u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
    return dot(normal, {q.x - a.x, q.y - a.y, q.z - a.z});
  }
  [[nodiscard]] bool hit(const Double3& a, const Double3& b, const Double3& c) const {
    const Double3 way{0.37139067635410367, 0.52915026221291817, 0.76297091267534219};
    const Double3 end{p.x + way.x, p.y + way.y, p.z + way.z};
    const double here = side(a, b, c, p), ahead = side(a, b, c, end);
    if (here == ahead || here / (here - ahead) <= 0) return false;
    const double ab = side(p, end, a, b), bc = side(p, end, b, c), ca = side(p, end, c, a);
    return (ab > 0 && bc > 0 && ca > 0) || (ab < 0 && bc < 0 && ca < 0);
  }
};

Bounds around(double x, double y, double z) {
  return {{-x, -y, -z}, {x, y, z}};
}
template <class Points, class Size>
double largest(const Points& points, Size size) {
  double found = 0;
  for (const auto& one : points) found = std::max(found, static_cast<double>(size(one)));
  return found;
}
Bounds of_points(const std::vector<Double3>& points) {
  Bounds b;
  for (const Double3& p : points) b.add(p);
  return b;
}
/// A body about z, between the lowest and the highest of the points.
template <class Points, class Size>
Bounds about_z(const Points& points, Size size, double factor = 1) {
  const double r = factor * largest(points, size);
  std::vector<Double3> ends;
  for (const auto& one : points) ends.insert(ends.end(), {{-r, -r, one.z}, {r, r, one.z}});
  return of_points(ends);
}
/// How far the corners of a polygon lie beyond its sides.
double beyond_sides(const Turn& phi, std::uint32_t sides) {
  return 1 / std::cos(std::min(phi.delta, 2 * kPi) / sides / 2);
}
/// A leaning body with trapezoids for its ends, however it is twisted.
Bounds of_trap(double z, double theta, double x, double y, double shear) {
  const double r = std::hypot(x, y) + y * std::abs(std::tan(shear)) + z * std::abs(std::tan(theta));
  return around(r, r, z);
}

struct BoundsOf {
  Bounds operator()(const Box& s) const { return around(s.x / 2, s.y / 2, s.z / 2); }
  Bounds operator()(const Orb& s) const { return around(s.r, s.r, s.r); }
  Bounds operator()(const Sphere& s) const { return around(s.rmax, s.rmax, s.rmax); }
  Bounds operator()(const Tube& s) const { return around(s.rmax, s.rmax, s.z / 2); }
  Bounds operator()(const CutTube& s) const {
    const double r = s.tube.rmax;
    const auto rise = [r](const Double3& n) { return r * std::hypot(n.x, n.y) / std::abs(n.z); };
    return around(r, r, s.tube.z / 2 + std::max(rise(s.low), rise(s.high)));
  }
  Bounds operator()(const Cone& s) const {
    const double r = std::max(s.rmax1, s.rmax2);
    return around(r, r, s.z / 2);
  }
  Bounds operator()(const Torus& s) const { return around(s.rtor + s.rmax, s.rtor + s.rmax, s.rmax); }
  Bounds operator()(const Polycone& s) const {
    return about_z(s.planes, [](const ZPlane& plane) { return plane.rmax; });
  }
  Bounds operator()(const GenericPolycone& s) const {
    return about_z(s.corners, [](const RzPoint& corner) { return corner.r; });
  }
  Bounds operator()(const Polyhedra& s) const {
    return about_z(
        s.planes, [](const ZPlane& plane) { return plane.rmax; }, beyond_sides(s.phi, s.sides));
  }
  Bounds operator()(const GenericPolyhedra& s) const {
    return about_z(s.corners, [](const RzPoint& corner) { return corner.r; });
  }
  Bounds operator()(const Trd& s) const { return around(std::max(s.x1, s.x2) / 2, std::max(s.y1, s.y2) / 2, s.z / 2); }
  Bounds operator()(const Trap& s) const {
    return of_trap(s.z / 2, s.theta, std::max({s.x1, s.x2, s.x3, s.x4}) / 2, std::max(s.y1, s.y2) / 2,
                   std::abs(s.alpha1) > std::abs(s.alpha2) ? s.alpha1 : s.alpha2);
  }
  Bounds operator()(const Para& s) const { return of_trap(s.z / 2, s.theta, s.x / 2, s.y / 2, s.alpha); }
  Bounds operator()(const Xtru& s) const {
    std::vector<Double3> corners;
    for (const Xtru::Section& section : s.sections)
      for (const Point2& p : s.polygon)
        corners.emplace_back(section.offset.x + section.scale * p.x, section.offset.y + section.scale * p.y, section.z);
    return of_points(corners);
  }
  Bounds operator()(const EllipticalTube& s) const { return around(s.dx, s.dy, s.dz); }
  Bounds operator()(const Ellipsoid& s) const { return around(s.ax, s.by, s.cz); }
  Bounds operator()(const EllipticalCone& s) const {
    const double z = std::min(s.zcut, s.zmax);
    return around(s.dx * (s.zmax + z), s.dy * (s.zmax + z), z);
  }
  Bounds operator()(const Paraboloid& s) const {
    const double r = std::max(s.rlo, s.rhi);
    return around(r, r, s.dz);
  }
  Bounds operator()(const Hype& s) const {
    const double r = std::hypot(s.rmax, std::tan(s.outst) * s.z / 2);
    return around(r, r, s.z / 2);
  }
  Bounds operator()(const Arb8& s) const {
    std::vector<Double3> corners;
    for (const Point2& p : s.corners) corners.insert(corners.end(), {{p.x, p.y, -s.dz}, {p.x, p.y, s.dz}});
    return of_points(corners);
  }
  Bounds operator()(const Tet& s) const { return of_points({s.corners.begin(), s.corners.end()}); }
  Bounds operator()(const Tessellated& s) const { return of_points(s.vertices); }
  Bounds operator()(const TwistedBox& s) const { return of_trap(s.z / 2, 0, s.x / 2, s.y / 2, 0); }
  Bounds operator()(const TwistedTrd& s) const {
    return of_trap(s.z / 2, 0, std::max(s.x1, s.x2) / 2, std::max(s.y1, s.y2) / 2, 0);
  }
  Bounds operator()(const TwistedTrap& s) const {
    return of_trap(s.z / 2, s.theta, std::max({s.x1, s.x2, s.x3, s.x4}) / 2, std::max(s.y1, s.y2) / 2, s.alpha);
  }
  Bounds operator()(const TwistedTube& s) const { return around(s.outer_r, s.outer_r, s.z / 2); }
  Bounds operator()(const Boolean&) const { return {}; }
  Bounds operator()(const MultiUnion&) const { return {}; }
  Bounds operator()(const Transformed&) const { return {}; }
};

double least(std::initializer_list<double> lengths) {
  double found = kInfinite;
  for (const double length : lengths)
    if (length > 0) found = std::min(found, length);
  return found;
}
template <class Corners>
double least_step(const Corners& corners) {
  double found = kInfinite;
  for (std::size_t i = 1; i < corners.size(); ++i)
    found = std::min(found, least({std::abs(corners[i].z - corners[i - 1].z)}));
  return found;
}

struct Smallest {
  double operator()(const Box& s) const { return least({s.x, s.y, s.z}); }
  double operator()(const Orb& s) const { return s.r; }
  double operator()(const Sphere& s) const { return least({s.rmin, s.rmax, s.rmax - s.rmin}); }
  double operator()(const Tube& s) const { return least({s.rmin, s.rmax, s.rmax - s.rmin, s.z}); }
  double operator()(const CutTube& s) const { return (*this)(s.tube); }
  double operator()(const Cone& s) const {
    return least({s.rmin1, s.rmax1, s.rmin2, s.rmax2, s.rmax1 - s.rmin1, s.rmax2 - s.rmin2, s.z});
  }
  double operator()(const Torus& s) const { return least({s.rmin, s.rmax, s.rmax - s.rmin}); }
  double operator()(const Polycone& s) const { return planes(s.planes); }
  double operator()(const GenericPolycone& s) const { return least_step(s.corners); }
  double operator()(const Polyhedra& s) const { return planes(s.planes); }
  double operator()(const GenericPolyhedra& s) const { return least_step(s.corners); }
  double operator()(const Trd& s) const { return least({s.x1, s.x2, s.y1, s.y2, s.z}); }
  double operator()(const Trap& s) const { return least({s.x1, s.x2, s.x3, s.x4, s.y1, s.y2, s.z}); }
  double operator()(const Para& s) const { return least({s.x, s.y, s.z}); }
  double operator()(const Xtru& s) const { return least_step(s.sections); }
  double operator()(const EllipticalTube& s) const { return least({s.dx, s.dy, s.dz}); }
  double operator()(const Ellipsoid& s) const { return least({s.ax, s.by, s.cz}); }
  double operator()(const EllipticalCone& s) const { return least({s.zcut, s.dx * s.zmax, s.dy * s.zmax}); }
  double operator()(const Paraboloid& s) const { return least({s.rlo, s.rhi, s.dz}); }
  double operator()(const Hype& s) const { return least({s.rmin, s.rmax, s.rmax - s.rmin, s.z}); }
  double operator()(const Arb8& s) const { return s.dz; }
  double operator()(const Tet&) const { return kInfinite; }
  double operator()(const Tessellated&) const { return kInfinite; }
  double operator()(const TwistedBox& s) const { return least({s.x, s.y, s.z}); }
  double operator()(const TwistedTrd& s) const { return least({s.x1, s.x2, s.y1, s.y2, s.z}); }
  double operator()(const TwistedTrap& s) const { return least({s.x1, s.x2, s.x3, s.x4, s.y1, s.y2, s.z}); }
  double operator()(const TwistedTube& s) const { return least({s.inner_r, s.outer_r, s.outer_r - s.inner_r, s.z}); }
  double operator()(const Boolean&) const { return kInfinite; }
  double operator()(const MultiUnion&) const { return kInfinite; }
  double operator()(const Transformed&) const { return kInfinite; }

 private:
  static double planes(const std::vector<ZPlane>& all) {
    double found = least_step(all);
    for (const ZPlane& plane : all) found = std::min(found, least({plane.rmin, plane.rmax, plane.rmax - plane.rmin}));
    return found;
  }
};

}  // namespace
}  // namespace membership_detail

bool inside(const Shape& primitive, const Double3& point) {
  return std::visit(membership_detail::In{point}, primitive);
}

Bounds bounds(const Shape& primitive) {
  return std::visit(membership_detail::BoundsOf{}, primitive);
}

double smallest_feature(const Shape& primitive) {
  return std::visit(membership_detail::Smallest{}, primitive);
}

}  // namespace raylift::gdml
