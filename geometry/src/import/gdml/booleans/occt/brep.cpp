// SPDX-License-Identifier: Apache-2.0
// Lengths that GDML gives in full are halved here.
#include "brep.h"

#include <BRepAlgoAPI_Cut.hxx>
#include <BRepBuilderAPI_GTransform.hxx>
#include <BRepBuilderAPI_MakeEdge.hxx>
#include <BRepBuilderAPI_MakeFace.hxx>
#include <BRepBuilderAPI_MakeWire.hxx>
#include <BRepBuilderAPI_Transform.hxx>
#include <BRepPrimAPI_MakePrism.hxx>
#include <TopLoc_Location.hxx>
#include <TopTools_ListOfShape.hxx>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <gp_Ax2.hxx>
#include <gp_Elips.hxx>
#include <gp_GTrsf.hxx>
#include <gp_Trsf.hxx>
#include <gp_Vec.hxx>
#include <numbers>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "operation.h"
#include "polyhedron.h"
#include "profile.h"

namespace raylift::gdml::occt {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr Turn kWhole{0, 2 * kPi};

/// Corners of an outline, without those in the middle of the axis.
TopoDS_Shape revolved(const std::vector<RzPoint>& corners, const Turn& phi) {
  std::vector<RzPoint> kept;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const RzPoint &before = corners[(i + corners.size() - 1) % corners.size()],
                  &after = corners[(i + 1) % corners.size()];
    if (before.r != 0 || corners[i].r != 0 || after.r != 0) kept.push_back(corners[i]);
  }
  if (kept.size() < 3) throw Failure("its outline has fewer than three corners");
  Profile profile(kept[0]);
  for (const RzPoint& corner : kept) profile.line(corner);
  return profile.revolved(phi);
}

/// Up along the outer radii and down along the inner ones.
std::vector<RzPoint> outline(std::span<const ZPlane> planes, double factor) {
  std::vector<RzPoint> corners;
  for (const ZPlane& plane : planes) corners.push_back({factor * plane.rmax, plane.z});
  for (std::size_t i = planes.size(); i-- > 0;) corners.push_back({factor * planes[i].rmin, planes[i].z});
  return corners;
}

/// An outline of corners at the edges between flat sides.
TopoDS_Shape sided(const std::vector<RzPoint>& corners, const Turn& phi, std::uint32_t sides) {
  const bool full = phi.delta >= 2 * kPi - 1e-9;
  const double step = (full ? 2 * kPi : phi.delta) / sides;
  const std::uint32_t columns = full ? sides : sides + 1, rows = static_cast<std::uint32_t>(corners.size());
  Polyhedron body;
  for (std::uint32_t j = 0; j < columns; ++j)
    for (const RzPoint& corner : corners)
      body.vertices.emplace_back(corner.r * std::cos(phi.start + j * step), corner.r * std::sin(phi.start + j * step),
                                 corner.z);
  for (std::uint32_t j = 0; j < sides; ++j)
    for (std::uint32_t i = 0; i < rows; ++i) {
      const std::uint32_t a = j * rows, b = (j + 1) % columns * rows, next = (i + 1) % rows;
      body.faces.push_back({a + i, b + i, b + next, a + next});
    }
  if (!full) {
    std::vector<std::uint32_t> first, last;
    for (std::uint32_t i = 0; i < rows; ++i) {
      first.push_back(i);
      last.push_back(sides * rows + rows - 1 - i);
    }
    body.faces.push_back(std::move(first));
    body.faces.push_back(std::move(last));
  }
  return brep(body);
}

double beyond(const Turn& phi, std::uint32_t sides) {
  return 1 / std::cos(std::min(phi.delta, 2 * kPi) / sides / 2);
}

/// Rings of equally many corners, one above the other.
TopoDS_Shape stacked(std::vector<Double3> vertices, std::uint32_t corners) {
  const std::uint32_t rings = static_cast<std::uint32_t>(vertices.size()) / corners;
  Polyhedron body{std::move(vertices), {}};
  for (std::uint32_t k = 1; k < rings; ++k)
    for (std::uint32_t i = 0; i < corners; ++i) {
      const std::uint32_t below = (k - 1) * corners, above = k * corners, next = (i + 1) % corners;
      body.faces.push_back({below + i, below + next, above + next, above + i});
    }
  std::vector<std::uint32_t> low, high;
  for (std::uint32_t i = 0; i < corners; ++i) {
    low.push_back(corners - 1 - i);
    high.push_back((rings - 1) * corners + i);
  }
  body.faces.push_back(std::move(low));
  body.faces.push_back(std::move(high));
  return brep(body);
}

/// A trapezoid's corners: x1 wide at -y, x2 at y; both half.
void add_trapezoid(std::vector<Double3>& corners, Double3 centre, double y, double x1, double x2, double alpha) {
  const double shear = y * std::tan(alpha);
  corners.insert(corners.end(), {{centre.x - shear - x1, centre.y - y, centre.z},
                                 {centre.x - shear + x1, centre.y - y, centre.z},
                                 {centre.x + shear + x2, centre.y + y, centre.z},
                                 {centre.x + shear - x2, centre.y + y, centre.z}});
}
TopoDS_Shape trap(const Trap& s) {
  const double h = s.z / 2, lean = h * std::tan(s.theta);
  const Double3 top{lean * std::cos(s.phi), lean * std::sin(s.phi), h};
  std::vector<Double3> corners;
  add_trapezoid(corners, {-top.x, -top.y, -h}, s.y1 / 2, s.x1 / 2, s.x2 / 2, s.alpha1);
  add_trapezoid(corners, top, s.y2 / 2, s.x3 / 2, s.x4 / 2, s.alpha2);
  return stacked(std::move(corners), 4);
}

/// All that lies beyond a plane, as far as `size`.
TopoDS_Shape beyond_plane(Double3 at, Double3 normal, double size) {
  const Double3 other =
      std::abs(normal.z) > 0.6 * std::hypot(normal.x, normal.y, normal.z) ? Double3{1, 0, 0} : Double3{0, 0, 1};
  const gp_Vec n = gp_Vec(normal.x, normal.y, normal.z).Normalized();
  const gp_Vec u = (n ^ gp_Vec(other.x, other.y, other.z)).Normalized(), v = n ^ u;
  std::vector<Double3> corners;
  for (const double height : {0.0, size})
    for (const auto& [a, b] : {std::pair{-size, -size}, {size, -size}, {size, size}, {-size, size}}) {
      const gp_Vec p = gp_Vec(at.x, at.y, at.z) + a * u + b * v + height * n;
      corners.emplace_back(p.X(), p.Y(), p.Z());
    }
  return stacked(std::move(corners), 4);
}

TopoDS_Shape without(const TopoDS_Shape& body, const TopTools_ListOfShape& ends) {
  if (ends.IsEmpty()) return body;
  BRepAlgoAPI_Cut cut;
  TopTools_ListOfShape arguments;
  arguments.Append(body);
  cut.SetArguments(arguments);
  cut.SetTools(ends);
  cut.Build();
  if (cut.HasErrors()) throw Failure("its ends can't be cut");
  return cut.Shape();
}

/// Where surfaces without an axis meet themselves: in no plane that operations are likely to cut them with. The library
/// fails at such cuts.
constexpr double kSeam = 0.6347;

/// A body about z.
TopoDS_Shape stretched(const TopoDS_Shape& body, double x, double y, double z) {
  Transform t;
  t(0, 0) = x * std::cos(kSeam);
  t(0, 1) = -x * std::sin(kSeam);
  t(1, 0) = y * std::sin(kSeam);
  t(1, 1) = y * std::cos(kSeam);
  t(2, 2) = z;
  return x == y && x == z ? body : placed(body, t);
}

struct Make {
  TopoDS_Shape operator()(const Box& s) const { return trap({s.z, 0, 0, s.y, s.x, s.x, 0, s.y, s.x, s.x, 0}); }
  TopoDS_Shape operator()(const Orb& s) const { return (*this)(Sphere{0, s.r, kWhole, {0, kPi}}); }
  TopoDS_Shape operator()(const Sphere& s) const {
    const bool whole = s.theta.delta >= kPi - 1e-9;
    const double from = whole ? 0 : s.theta.start, to = whole ? kPi : std::min(from + s.theta.delta, kPi);
    const auto at = [](double r, double theta) { return RzPoint{r * std::sin(theta), r * std::cos(theta)}; };
    const double middle = (from + to) / 2;
    if (s.rmin == 0 && whole)
      return Profile(at(s.rmax, 0)).arc({}, at(s.rmax, middle), at(s.rmax, kPi)).revolved(s.phi);
    Profile profile(at(s.rmin, from));
    profile.line(at(s.rmax, from)).arc({}, at(s.rmax, middle), at(s.rmax, to));
    if (s.rmin > 0) profile.line(at(s.rmin, to)).arc({}, at(s.rmin, middle), at(s.rmin, from));
    return profile.revolved(s.phi);
  }
  TopoDS_Shape operator()(const Tube& s) const { return (*this)(Cone{s.rmin, s.rmax, s.rmin, s.rmax, s.z, s.phi}); }
  TopoDS_Shape operator()(const CutTube& s) const {
    const auto rise = [&](const Double3& normal) {
      return s.tube.rmax * std::hypot(normal.x, normal.y) / std::abs(normal.z);
    };
    const double h = s.tube.z / 2, reach = h + std::max(rise(s.low), rise(s.high)), size = 4 * (reach + s.tube.rmax);
    Tube longer = s.tube;
    longer.z = 2.5 * reach;
    TopTools_ListOfShape ends;
    ends.Append(beyond_plane({0, 0, -h}, s.low, size));
    ends.Append(beyond_plane({0, 0, h}, s.high, size));
    return without((*this)(longer), ends);
  }
  TopoDS_Shape operator()(const Cone& s) const {
    const double h = s.z / 2;
    return revolved({{s.rmin1, -h}, {s.rmax1, -h}, {s.rmax2, h}, {s.rmin2, h}}, s.phi);
  }
  TopoDS_Shape operator()(const Torus& s) const { return ring(s.rtor, s.rmin, s.rmax, s.phi); }
  TopoDS_Shape operator()(const Polycone& s) const { return revolved(outline(s.planes, 1), s.phi); }
  TopoDS_Shape operator()(const GenericPolycone& s) const { return revolved(s.corners, s.phi); }
  TopoDS_Shape operator()(const Polyhedra& s) const {
    return sided(outline(s.planes, beyond(s.phi, s.sides)), s.phi, s.sides);
  }
  TopoDS_Shape operator()(const GenericPolyhedra& s) const { return sided(s.corners, s.phi, s.sides); }
  TopoDS_Shape operator()(const Trd& s) const { return trap({s.z, 0, 0, s.y1, s.x1, s.x1, 0, s.y2, s.x2, s.x2, 0}); }
  TopoDS_Shape operator()(const Trap& s) const { return trap(s); }
  TopoDS_Shape operator()(const Para& s) const {
    return trap({s.z, s.theta, s.phi, s.y, s.x, s.x, s.alpha, s.y, s.x, s.x, s.alpha});
  }
  TopoDS_Shape operator()(const Xtru& s) const {
    std::vector<Double3> corners;
    for (const Xtru::Section& section : s.sections)
      for (const Point2& p : s.polygon)
        corners.emplace_back(section.offset.x + section.scale * p.x, section.offset.y + section.scale * p.y, section.z);
    return stacked(std::move(corners), static_cast<std::uint32_t>(s.polygon.size()));
  }
  TopoDS_Shape operator()(const EllipticalTube& s) const {
    if (s.dx == s.dy) return (*this)(Tube{0, s.dx, 2 * s.dz, kWhole});
    const gp_Dir major = s.dx > s.dy ? gp_Dir(1, 0, 0) : gp_Dir(0, 1, 0);
    const gp_Elips ellipse(gp_Ax2(gp_Pnt(0, 0, -s.dz), gp_Dir(0, 0, 1), major), std::max(s.dx, s.dy),
                           std::min(s.dx, s.dy));
    const TopoDS_Wire wire =
        BRepBuilderAPI_MakeWire(BRepBuilderAPI_MakeEdge(ellipse, kSeam, kSeam + 2 * kPi).Edge()).Wire();
    return BRepPrimAPI_MakePrism(BRepBuilderAPI_MakeFace(wire, true).Face(), gp_Vec(0, 0, 2 * s.dz)).Shape();
  }
  TopoDS_Shape operator()(const Ellipsoid& s) const {
    const bool cut = s.zcut1 != 0 || s.zcut2 != 0;
    const double size = 4 * std::max({s.ax, s.by, s.cz});
    TopTools_ListOfShape ends;
    if (cut && s.zcut1 > -s.cz) ends.Append(beyond_plane({0, 0, s.zcut1}, {0, 0, -1}, size));
    if (cut && s.zcut2 < s.cz) ends.Append(beyond_plane({0, 0, s.zcut2}, {0, 0, 1}, size));
    return without(stretched((*this)(Orb{s.ax}), 1, s.by / s.ax, s.cz / s.ax), ends);
  }
  TopoDS_Shape operator()(const EllipticalCone& s) const {
    const double h = std::min(s.zcut, s.zmax);
    const TopoDS_Shape cone = revolved({{0, -h}, {s.dx * (s.zmax + h), -h}, {s.dx * (s.zmax - h), h}, {0, h}}, kWhole);
    return stretched(cone, 1, s.dy / s.dx, 1);
  }
  TopoDS_Shape operator()(const Paraboloid& s) const {
    const double rise = 2 * s.dz / (s.rhi * s.rhi - s.rlo * s.rlo);
    Profile profile({0, -s.dz});
    profile.line({s.rlo, -s.dz});
    profile.conic({(s.rlo + s.rhi) / 2, -s.dz + rise * s.rlo * (s.rhi - s.rlo)}, 1, {s.rhi, s.dz});
    return profile.line({0, s.dz}).revolved(kWhole);
  }
  TopoDS_Shape operator()(const Hype& s) const {
    const double h = s.z / 2, inner = std::hypot(s.rmin, h * std::tan(s.inst));
    const double outer = std::hypot(s.rmax, h * std::tan(s.outst));
    Profile profile({outer, -h});
    hyperbola(profile, s.rmax, outer, h);
    profile.line({inner, h});
    if (inner > 0)
      hyperbola(profile, s.rmin, inner, -h);
    else
      profile.line({0, -h});
    return profile.revolved(kWhole);
  }
  TopoDS_Shape operator()(const Arb8& s) const {
    std::vector<Double3> corners;
    for (std::size_t i = 0; i < 8; ++i) corners.emplace_back(s.corners[i].x, s.corners[i].y, i < 4 ? -s.dz : s.dz);
    return stacked(std::move(corners), 4);
  }
  TopoDS_Shape operator()(const Tet& s) const {
    return brep(Polyhedron{{s.corners.begin(), s.corners.end()}, {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}}});
  }
  TopoDS_Shape operator()(const Tessellated& s) const {
    Surface surface{s.vertices, {}};
    for (const std::array<std::uint32_t, 4>& f : s.facets) {
      surface.triangles.push_back({f[0], f[1], f[2]});
      if (f[3] != f[2]) surface.triangles.push_back({f[0], f[2], f[3]});
    }
    return brep(surface);
  }
  TopoDS_Shape operator()(const TwistedBox& s) const { return faceted(s); }
  TopoDS_Shape operator()(const TwistedTrd& s) const { return faceted(s); }
  TopoDS_Shape operator()(const TwistedTrap& s) const { return faceted(s); }
  TopoDS_Shape operator()(const TwistedTube& s) const { return faceted(s); }
  TopoDS_Shape operator()(const Boolean&) const { throw Failure("an operation is no primitive"); }
  TopoDS_Shape operator()(const MultiUnion&) const { throw Failure("an operation is no primitive"); }
  TopoDS_Shape operator()(const Transformed&) const { throw Failure("an operation is no primitive"); }

  double chord;
  Facets facets;

 private:
  [[nodiscard]] TopoDS_Shape faceted(const Shape& shape) const { return brep(facets(shape, chord)); }
  /// From one end to the other, of radius `end` both; the waist is at z = 0.
  static void hyperbola(Profile& profile, double waist, double end, double to) {
    if (end - waist < 1e-9 * end)
      profile.line({end, to});
    else if (waist == 0)
      profile.line({0, 0}).line({end, to});
    else
      profile.conic({waist * waist / end, 0}, end / waist, {end, to});
  }
};

/// 0, 1 and -1 of rotations by quarters of a turn, without the cosine's rounding.
double settled(double a) {
  for (const double whole : {0.0, 1.0, -1.0})
    if (std::abs(a - whole) < 1e-14) return whole;
  return a;
}

}  // namespace

TopoDS_Shape brep(const Shape& primitive, double chord, Facets facets) {
  return std::visit(Make{chord, facets}, primitive);
}

TopoDS_Shape brep(const Surface& surface) {
  Polyhedron body{surface.vertices, {}};
  for (const UInt3& t : surface.triangles) body.faces.push_back({t.x, t.y, t.z});
  return brep(body);
}

TopoDS_Shape placed(const TopoDS_Shape& shape, const Transform& placement) {
  Transform t = placement;
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 3; ++column) t(row, column) = settled(t(row, column));
  const double volume = determinant(t), square = std::pow(std::abs(volume), 2.0 / 3);
  double off = 0;  // from a rotation and a scale
  for (int a = 0; a < 3; ++a)
    for (int b = a; b < 3; ++b)
      off = std::max(off,
                     std::abs((t(0, a) * t(0, b) + t(1, a) * t(1, b) + t(2, a) * t(2, b)) / square - (a == b ? 1 : 0)));
  if (off < 1e-9) {
    gp_Trsf similar;
    similar.SetValues(t(0, 0), t(0, 1), t(0, 2), t(0, 3), t(1, 0), t(1, 1), t(1, 2), t(1, 3), t(2, 0), t(2, 1), t(2, 2),
                      t(2, 3));
    if (std::abs(volume - 1) < 1e-9) return shape.Moved(TopLoc_Location(similar));
    return BRepBuilderAPI_Transform(shape, similar, true).Shape();
  }
  gp_GTrsf affine;
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 4; ++column) affine.SetValue(row + 1, column + 1, t(row, column));
  return BRepBuilderAPI_GTransform(shape, affine, true).Shape();
}

}  // namespace raylift::gdml::occt
