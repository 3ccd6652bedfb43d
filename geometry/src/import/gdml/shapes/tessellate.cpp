// SPDX-License-Identifier: Apache-2.0
#include "tessellate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "closed_surface.h"
#include "double3.h"
#include "loft.h"
#include "revolve.h"

namespace raylift::gdml {
namespace {

using std::numbers::pi;
constexpr Turn kAroundZ{0, 2 * pi};
constexpr double kMaxRows = 2048;  // of a paraboloid or hype

/// `most`: by how much the curved parts are stretched.
Surface stretched_by(Surface surface, const Double3& by, double most) {
  for (Double3& v : surface.vertices) v = {v.x * by.x, v.y * by.y, v.z * by.z};
  surface.deviation = {most * surface.deviation.outward, most * surface.deviation.inward};
  return surface;
}

void turn_inside_out(Surface& surface) {
  for (UInt3& t : surface.triangles) std::swap(t.y, t.z);
}

Surface of_corners(const std::array<Point2, 8>& corners, double half_z) {
  const auto ring = [&](std::size_t first, double z) {
    return Ring{z, {corners[first], corners[first + 1], corners[first + 2], corners[first + 3]}};
  };
  return loft({ring(0, -half_z), ring(4, half_z)});
}

// Surfaces of revolution ----------------------------------------------------------------------------------------------

Columns columns_of(const Turn& turn, const Fineness& fineness, double radius) {
  return circle_columns(turn, steps_of_turn(fineness, radius), fineness.fit);
}

Surface cone_surface(const Cone& cone, const Fineness& fineness) {
  const double h = cone.z / 2;
  return revolve({{cone.rmin1, -h}, {cone.rmax1, -h}, {cone.rmax2, h}, {cone.rmin2, h}},
                 columns_of(cone.phi, fineness, std::max(cone.rmax1, cone.rmax2)));
}

/// A point of a circle about the origin in x = r and y = z, at an angle from +z. The poles lie on the axis.
Point2 at_theta(double radius, double theta) {
  const bool pole = theta < 1e-12 || pi - theta < 1e-12;
  return {pole ? 0 : radius * std::sin(theta), radius * std::cos(theta)};
}

/// The step, halved until the range has that many.
double step_within(double range, double step, double least) {
  while (range / step < least) step /= 2;
  return step;
}

Surface sphere_surface(const Sphere& sphere, const Fineness& fineness) {
  const std::uint32_t steps = steps_of_turn(fineness, sphere.rmax);
  // The ends of a segment don't make up for the volume that facets lack, so that a narrow one has smaller steps.
  const std::uint32_t half = (steps + 1) / 2;
  const double step = step_within(sphere.theta.delta, pi / half, 3);
  const std::vector<GridAngle> thetas = grid_angles(sphere.theta.start, sphere.theta.delta, step);
  const double factor = radius_factor(step, fineness.fit);
  Polygon profile;
  const auto add = [&](double radius, const GridAngle& theta) {
    profile.push_back(at_theta(radius * (theta.on_grid ? factor : 1), theta.angle));
  };
  for (const GridAngle& theta : thetas) add(1, theta);
  const Mesh::Deviation arc = deviation_from_circle(profile, false, 1);
  profile.clear();
  for (const GridAngle& theta : thetas) add(sphere.rmax, theta);
  for (auto theta = thetas.rbegin(); theta != thetas.rend(); ++theta) add(sphere.rmin, *theta);
  Surface surface = revolve(profile, circle_columns(sphere.phi, steps, fineness.fit));
  const double out = sphere.rmax, in = sphere.rmin;
  surface.deviation =
      surface.deviation + between_walls({out * arc.outward, out * arc.inward}, {in * arc.outward, in * arc.inward});
  return surface;
}

Surface ellipsoid_surface(const Ellipsoid& ellipsoid, const Fineness& fineness) {
  const double a = ellipsoid.ax, b = ellipsoid.by, c = ellipsoid.cz;
  const std::uint32_t steps = steps_of_turn(fineness, std::max({a, b, c}));
  const bool uncut = ellipsoid.zcut1 == 0 && ellipsoid.zcut2 == 0;
  const double low = uncut ? -1 : std::max(ellipsoid.zcut1 / c, -1.);
  const double high = uncut ? 1 : std::min(ellipsoid.zcut2 / c, 1.);
  const double start = std::acos(high), end = std::acos(low);
  const std::uint32_t half = (steps + 1) / 2;
  // A cut leaves a cap that may be flat: it has half as many steps as the whole.
  const double step = step_within(end - start, pi / half, half / 2.);
  const double factor = radius_factor(step, fineness.fit);
  Polygon profile{{0, low}};
  std::vector<GridAngle> thetas = grid_angles(start, end - start, step);
  std::reverse(thetas.begin(), thetas.end());
  for (const GridAngle& theta : thetas) profile.push_back(at_theta(factor, theta.angle));
  // The cuts are where the file has them, and the true curve's ends lie in them.
  if (low > -1) profile[1] = {at_theta(1, end).x, low};
  if (high < 1) profile.back() = {at_theta(1, start).x, high};
  const Mesh::Deviation arc = deviation_from_circle({profile.begin() + 1, profile.end()}, false, 1);
  profile.push_back({0, profile.back().y});
  profile.front().y = profile[1].y;
  Surface surface = revolve(profile, circle_columns(kAroundZ, steps, fineness.fit));
  surface.deviation = surface.deviation + arc;
  return stretched_by(std::move(surface), {a, b, c}, std::max({a, b, c}));
}

Surface torus_surface(const Torus& torus, const Fineness& fineness) {
  const std::uint32_t steps = steps_of_turn(fineness, torus.rmax);
  const double factor = radius_factor(2 * pi / steps, fineness.fit);
  const auto circle = [&](double radius) {
    Polygon points;
    // Scaled, the tube still keeps off the axis.
    for (const Point2& p : side_columns(kAroundZ, steps, radius * factor).at)
      points.push_back({std::max(torus.rtor + p.x, (torus.rtor - radius) / 2), p.y});
    return points;
  };
  const auto deviation_of = [&](double radius) {
    return deviation_from_circle(side_columns(kAroundZ, steps, radius * factor).at, true, radius);
  };
  const Mesh::Deviation walls = between_walls(deviation_of(torus.rmax), deviation_of(torus.rmin));
  const auto finished = [&](Surface surface) {
    surface.deviation = surface.deviation + walls;
    return surface;
  };
  Revolution revolution(columns_of(torus.phi, fineness, torus.rtor + torus.rmax));
  const Polygon outer = circle(torus.rmax);
  revolution.add_sides(outer);
  if (torus.rmin == 0) {
    revolution.add_ends(triangulate_polygon(outer));
    return finished(revolution.take());
  }
  Polygon inner = circle(torus.rmin);
  std::reverse(inner.begin(), inner.end());
  const std::uint32_t first = revolution.add_sides(inner);
  std::vector<UInt3> ends;
  for (std::uint32_t i = 0; i != steps; ++i) {
    const std::uint32_t j = (i + 1) % steps, in_i = first + steps - 1 - i, in_j = first + steps - 1 - j;
    ends.push_back({i, j, in_j});
    ends.push_back({i, in_j, in_i});
  }
  revolution.add_ends(ends);
  return finished(revolution.take());
}

double farthest(const Polygon& profile) {
  return std::max_element(profile.begin(), profile.end(), [](auto& a, auto& b) { return a.x < b.x; })->x;
}

Surface polycone_surface(const Polygon& profile, const Turn& turn, const Fineness& fineness) {
  return revolve(profile, columns_of(turn, fineness, farthest(profile)));
}

/// Circles that sides touch have corners farther out.
Surface polyhedra_surface(const Polyhedra& polyhedra) {
  const double turn = is_full(polyhedra.phi) ? 2 * pi : polyhedra.phi.delta;
  return revolve(profile_of(polyhedra.planes),
                 side_columns(polyhedra.phi, polyhedra.sides, 1 / std::cos(turn / polyhedra.sides / 2)));
}

Surface paraboloid_surface(const Paraboloid& paraboloid, const Fineness& fineness) {
  const auto& [rlo, rhi, dz] = paraboloid;
  const std::uint32_t steps = steps_of_turn(fineness, rhi);
  // Equal steps of r have equal sagittas along z.
  const double chord = chord_of(fineness, 2 * std::max(rhi, dz));
  const int rows = static_cast<int>(std::ceil(std::clamp(std::sqrt(dz / (2 * chord)), steps / 2., kMaxRows)));
  Polygon profile{{0, -dz}};
  for (int i = 0; i <= rows; ++i) {
    const double r = rlo + (rhi - rlo) * i / rows;
    profile.push_back({r, dz * (2 * (r * r - rlo * rlo) / (rhi * rhi - rlo * rlo) - 1)});
  }
  profile.back().y = dz;
  profile.push_back({0, dz});
  Surface surface = revolve(profile, circle_columns(kAroundZ, steps, fineness.fit));
  // The sagitta of a row, from along z to across its chord: the first one is the flattest.
  const double bend = 2 * dz / (rhi * rhi - rlo * rlo), row = (rhi - rlo) / rows;
  surface.deviation.inward += bend * row * row / 4 / std::hypot(1, bend * (2 * rlo + row));
  return surface;
}

Surface hype_surface(const Hype& hype, const Fineness& fineness) {
  const double h = hype.z / 2, out = std::tan(hype.outst), in = std::tan(hype.inst);
  const std::uint32_t steps = steps_of_turn(fineness, std::hypot(hype.rmax, out * h));
  // The sagitta of a row is that of the curvature at the waist.
  const double chord = chord_of(fineness, std::max(hype.z, 2 * std::hypot(hype.rmax, out * h)));
  const double sharpest = std::max(out * out / hype.rmax, hype.rmin > 0 ? in * in / hype.rmin : 0);
  const auto rows =
      2 * static_cast<int>(std::ceil(std::clamp(h * std::sqrt(sharpest / (2 * chord)), 1. * steps, kMaxRows) / 2));
  Polygon profile;
  for (int i = -rows; i <= rows; i += 2) {
    const double z = h * i / rows;
    profile.push_back({std::hypot(hype.rmax, out * z), z});
  }
  for (int i = rows; i >= -rows; i -= 2) {
    const double z = h * i / rows;
    profile.push_back({std::hypot(hype.rmin, in * z), z});
  }
  Surface surface = revolve(profile, circle_columns(kAroundZ, steps, fineness.fit));
  // Both walls bend away from the axis, so that facets lie farther from it.
  const double row = 2 * h / rows, sagitta = row * row / 8;
  surface.deviation = surface.deviation + Mesh::Deviation{out * out / hype.rmax * sagitta,
                                                          hype.rmin > 0 ? in * in / hype.rmin * sagitta : 0};
  return surface;
}

/// A tube whose ends are moved along z into their planes.
Surface cut_tube_surface(const CutTube& cut, const Fineness& fineness) {
  const Tube& tube = cut.tube;
  const double h = tube.z / 2;
  Surface surface = cone_surface({tube.rmin, tube.rmax, tube.rmin, tube.rmax, tube.z, tube.phi}, fineness);
  for (Double3& v : surface.vertices) {
    const Double3& normal = v.z < 0 ? cut.low : cut.high;
    v.z = std::copysign(h, v.z) - (normal.x * v.x + normal.y * v.y) / normal.z;
  }
  // What sticks out of an acute rim lies as far from it as the plane is long.
  surface.deviation.outward /= std::min(std::abs(cut.low.z), std::abs(cut.high.z));
  return surface;
}

// Solids of plane faces -----------------------------------------------------------------------------------------------

Trap trap_of(const Trd& trd) {
  return {trd.z, 0, 0, trd.y1, trd.x1, trd.x1, 0, trd.y2, trd.x2, trd.x2, 0};
}

Trap trap_of(const Para& para) {
  return {para.z, para.theta, para.phi, para.y, para.x, para.x, para.alpha, para.y, para.x, para.x, para.alpha};
}

Surface trap_surface(const Trap& trap) {
  return of_corners(corners_of(trap), trap.z / 2);
}

Surface xtru_surface(const Xtru& xtru) {
  const Polygon outline = without_flat_corners(xtru.polygon);
  std::vector<Ring> rings;
  for (const Xtru::Section& section : xtru.sections) {
    rings.push_back({section.z, {}});
    for (const Point2& p : outline)
      rings.back().corners.push_back({section.scale * p.x + section.offset.x, section.scale * p.y + section.offset.y});
  }
  return loft(std::move(rings));
}

Surface tet_surface(const Tet& tet) {
  Surface surface{{tet.corners.begin(), tet.corners.end()}, {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}}};
  if (enclosed_volume(surface) < 0) turn_inside_out(surface);
  return surface;
}

/// Exchanges the diagonal between a triangle whose corners lie on a line and its neighbour at the longest edge, so that
/// both have an area. Other programs close gaps by such triangles; without them the surface would be open.
class FlatTriangles {
 public:
  explicit FlatTriangles(Surface& surface) : surface_(surface) {
    for (std::uint32_t i = 0; i != surface.triangles.size(); ++i) own_edges(i);
  }

  void exchange() {
    // Flat ones may lie side by side: each pass leaves fewer.
    constexpr int kPasses = 16;
    bool changed = true;
    for (int pass = 0; changed && pass != kPasses; ++pass) {
      changed = false;
      for (std::uint32_t i = 0; i != surface_.triangles.size(); ++i)
        if (is_flat(surface_.triangles[i])) changed |= exchange(i);
    }
  }

 private:
  [[nodiscard]] double squared(std::uint32_t a, std::uint32_t b) const {
    const Double3 &p = surface_.vertices[a], &q = surface_.vertices[b];
    return dot(minus(q, p), minus(q, p));
  }
  [[nodiscard]] bool is_flat(const UInt3& t) const {
    const Double3 &p = surface_.vertices[t.x], &q = surface_.vertices[t.y], &r = surface_.vertices[t.z];
    const double longest = std::max({squared(t.x, t.y), squared(t.y, t.z), squared(t.z, t.x)});
    constexpr double kMinHeight = 1e-9;  // mm, and of the longest edge
    const double least = kMinHeight * (1 + std::sqrt(longest));
    return length(cross(minus(q, p), minus(r, p))) <= least * std::sqrt(longest);
  }
  void own_edges(std::uint32_t i) {
    const UInt3& t = surface_.triangles[i];
    owners_[{t.x, t.y}] = owners_[{t.y, t.z}] = owners_[{t.z, t.x}] = i;
  }
  bool exchange(std::uint32_t i) {
    UInt3 t = surface_.triangles[i];
    while (squared(t.z, t.x) < std::max(squared(t.x, t.y), squared(t.y, t.z))) t = {t.y, t.z, t.x};
    const std::uint32_t other = owners_.at({t.x, t.z});
    const UInt3 n = surface_.triangles[other];
    const std::uint32_t apex = n.x == t.x ? n.z : n.y == t.x ? n.x : n.y;
    if (is_flat(n) || owners_.count({t.y, apex}) + owners_.count({apex, t.y}) != 0) return false;
    owners_.erase({t.x, t.z});
    owners_.erase({t.z, t.x});
    surface_.triangles[i] = {t.x, t.y, apex};
    surface_.triangles[other] = {t.y, t.z, apex};
    own_edges(i);
    own_edges(other);
    return true;
  }

  Surface& surface_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> owners_;
};

Surface tessellated_surface(const Tessellated& tessellated) {
  Surface surface{tessellated.vertices, {}};
  for (const auto& [a, b, c, d] : tessellated.facets) {
    surface.triangles.push_back({a, b, c});
    if (c != d) surface.triangles.push_back({a, c, d});
  }
  FlatTriangles(surface).exchange();
  if (enclosed_volume(surface) < 0) turn_inside_out(surface);
  return surface;
}

/// The surface of each shape.
struct Tessellation {
  const Fineness& fineness;

  /// The fineness of what is scaled by x and y afterwards.
  [[nodiscard]] Fineness finer_by(double x, double y) const {
    return {fineness.chord / std::max(x, y), fineness.steps, fineness.fit};
  }

  Surface operator()(const Box& box) const { return trap_surface(trap_of(Trd{box.x, box.x, box.y, box.y, box.z})); }
  Surface operator()(const Orb& orb) const {
    return sphere_surface({0, orb.r, kAroundZ, {0, pi}}, for_two_curvatures(fineness));
  }
  Surface operator()(const Sphere& sphere) const { return sphere_surface(sphere, for_two_curvatures(fineness)); }
  Surface operator()(const Tube& tube) const {
    return cone_surface({tube.rmin, tube.rmax, tube.rmin, tube.rmax, tube.z, tube.phi}, fineness);
  }
  Surface operator()(const CutTube& tube) const { return cut_tube_surface(tube, fineness); }
  Surface operator()(const Cone& cone) const { return cone_surface(cone, fineness); }
  Surface operator()(const Torus& torus) const { return torus_surface(torus, for_two_curvatures(fineness)); }
  Surface operator()(const Polycone& one) const { return polycone_surface(profile_of(one.planes), one.phi, fineness); }
  Surface operator()(const GenericPolycone& one) const {
    return polycone_surface(profile_of(one.corners), one.phi, fineness);
  }
  Surface operator()(const Polyhedra& polyhedra) const { return polyhedra_surface(polyhedra); }
  Surface operator()(const GenericPolyhedra& one) const {
    return revolve(profile_of(one.corners), side_columns(one.phi, one.sides, 1));
  }
  Surface operator()(const Trd& trd) const { return trap_surface(trap_of(trd)); }
  Surface operator()(const Trap& trap) const { return trap_surface(trap); }
  Surface operator()(const Para& para) const { return trap_surface(trap_of(para)); }
  Surface operator()(const Xtru& xtru) const { return xtru_surface(xtru); }
  Surface operator()(const EllipticalTube& tube) const {
    return stretched_by(cone_surface({0, 1, 0, 1, 2, kAroundZ}, finer_by(tube.dx, tube.dy)),
                        {tube.dx, tube.dy, tube.dz}, std::max(tube.dx, tube.dy));
  }
  Surface operator()(const Ellipsoid& ellipsoid) const {
    return ellipsoid_surface(ellipsoid, for_two_curvatures(fineness));
  }
  Surface operator()(const EllipticalCone& cone) const {
    const double cut = std::min(cone.zcut, cone.zmax);
    return stretched_by(
        cone_surface({0, cone.zmax + cut, 0, cone.zmax - cut, 2 * cut, kAroundZ}, finer_by(cone.dx, cone.dy)),
        {cone.dx, cone.dy, 1}, std::max(cone.dx, cone.dy));
  }
  Surface operator()(const Paraboloid& paraboloid) const {
    return paraboloid_surface(paraboloid, for_two_curvatures(fineness));
  }
  Surface operator()(const Hype& hype) const { return hype_surface(hype, for_two_curvatures(fineness)); }
  Surface operator()(const Arb8& arb8) const { return tessellate_warped(arb8, fineness); }
  Surface operator()(const Tet& tet) const { return tet_surface(tet); }
  Surface operator()(const Tessellated& tessellated) const { return tessellated_surface(tessellated); }
  Surface operator()(const TwistedBox& box) const {
    return (*this)(TwistedTrd{box.twist, box.x, box.x, box.y, box.y, box.z});
  }
  Surface operator()(const TwistedTrd& trd) const {
    return (*this)(TwistedTrap{trd.twist, trd.z, 0, 0, trd.y1, trd.x1, trd.x1, trd.y2, trd.x2, trd.x2, 0});
  }
  Surface operator()(const TwistedTrap& trap) const { return tessellate_warped(trap, for_two_curvatures(fineness)); }
  Surface operator()(const TwistedTube& tube) const { return tessellate_warped(tube, for_two_curvatures(fineness)); }
  Surface operator()(const Boolean&) const { throw std::logic_error("a boolean is no primitive"); }
  Surface operator()(const MultiUnion&) const { throw std::logic_error("a union is no primitive"); }
  Surface operator()(const Transformed&) const { throw std::logic_error("a transformed solid is no primitive"); }
};

}  // namespace

std::array<Point2, 8> corners_of(const Trap& trap) {
  const double shift = trap.z / 2 * std::tan(trap.theta);
  const Point2 center{shift * std::cos(trap.phi), shift * std::sin(trap.phi)};
  std::array<Point2, 8> corners;
  const auto fill = [&](std::size_t first, double side, double y, double x_low, double x_high, double alpha) {
    const Point2 c{side * center.x, side * center.y};
    const double lean = y / 2 * std::tan(alpha);
    corners[first] = {c.x - lean - x_low / 2, c.y - y / 2};
    corners[first + 1] = {c.x - lean + x_low / 2, c.y - y / 2};
    corners[first + 2] = {c.x + lean + x_high / 2, c.y + y / 2};
    corners[first + 3] = {c.x + lean - x_high / 2, c.y + y / 2};
  };
  fill(0, -1, trap.y1, trap.x1, trap.x2, trap.alpha1);
  fill(4, 1, trap.y2, trap.x3, trap.x4, trap.alpha2);
  return corners;
}

Polygon profile_of(const std::vector<ZPlane>& planes) {
  Polygon profile;
  for (const ZPlane& plane : planes) profile.push_back({plane.rmax, plane.z});
  for (auto plane = planes.rbegin(); plane != planes.rend(); ++plane) profile.push_back({plane->rmin, plane->z});
  return profile;
}

Polygon profile_of(const std::vector<RzPoint>& corners) {
  Polygon profile;
  for (const RzPoint& corner : corners) profile.push_back({corner.r, corner.z});
  return profile;
}

Surface tessellate(const Shape& shape, const Fineness& fineness) {
  return std::visit(Tessellation{fineness}, shape);
}

}  // namespace raylift::gdml
