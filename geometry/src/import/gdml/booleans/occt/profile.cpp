// SPDX-License-Identifier: Apache-2.0
#include "profile.h"

#include <BRepBuilderAPI_MakeEdge.hxx>
#include <BRepBuilderAPI_MakeFace.hxx>
#include <BRepBuilderAPI_MakeWire.hxx>
#include <BRepGProp.hxx>
#include <BRepPrimAPI_MakeRevol.hxx>
#include <GProp_GProps.hxx>
#include <Geom_BezierCurve.hxx>
#include <TColStd_Array1OfReal.hxx>
#include <TColgp_Array1OfPnt.hxx>
#include <TopLoc_Location.hxx>
#include <TopoDS.hxx>
#include <TopoDS_Face.hxx>
#include <TopoDS_Wire.hxx>
#include <cmath>
#include <gp_Ax1.hxx>
#include <gp_Ax2.hxx>
#include <gp_Circ.hxx>
#include <gp_Pln.hxx>
#include <gp_Pnt.hxx>
#include <gp_Trsf.hxx>
#include <numbers>

#include "operation.h"

namespace raylift::gdml::occt {
namespace {

constexpr double kShort = 1e-7;  // the library's own resolution
constexpr double kTurn = 2 * std::numbers::pi;

/// On the axis, or clearly beside it.
RzPoint settled(RzPoint p) {
  return {std::abs(p.r) < kShort ? 0 : p.r, p.z};
}
gp_Pnt in_plane(RzPoint p) {
  return {p.r, 0, p.z};
}
gp_Pln half_plane() {
  return gp_Pln(gp_Pnt(0, 0, 0), gp_Dir(0, -1, 0));
}

TopoDS_Shape turned(const TopoDS_Face& face, const Turn& phi) {
  const gp_Ax1 axis(gp_Pnt(0, 0, 0), gp_Dir(0, 0, 1));
  // A full turn begins at angle 0 whatever it states, so that equal surfaces have equal seams.
  const bool full = phi.delta >= kTurn - 1e-9;
  TopoDS_Shape solid =
      full ? BRepPrimAPI_MakeRevol(face, axis).Shape() : BRepPrimAPI_MakeRevol(face, axis, phi.delta).Shape();
  GProp_GProps properties;
  BRepGProp::VolumeProperties(solid, properties);
  if (properties.Mass() < 0) solid.Reverse();
  if (full || phi.start == 0) return solid;
  gp_Trsf rotation;
  rotation.SetRotation(axis, phi.start);
  return solid.Moved(TopLoc_Location(rotation));
}

}  // namespace

Profile::Profile(RzPoint start) : start_(settled(start)), at_(start_) {}

Profile& Profile::line(RzPoint to) {
  to = settled(to);
  if (std::hypot(to.r - at_.r, to.z - at_.z) < 2 * kShort) return *this;
  edges_.push_back(BRepBuilderAPI_MakeEdge(in_plane(at_), in_plane(to)));
  at_ = to;
  return *this;
}

Profile& Profile::arc(RzPoint centre, RzPoint through, RzPoint to) {
  to = settled(to);
  const double r = std::hypot(through.r - centre.r, through.z - centre.z);
  // A circle that is stated, not fitted to points, so that equal radii make equal surfaces.
  const bool up = (through.r - centre.r) * (to.z - at_.z) - (through.z - centre.z) * (to.r - at_.r) > 0;
  const gp_Ax2 frame(in_plane(centre), gp_Dir(0, up ? -1 : 1, 0), gp_Dir(1, 0, 0));
  edges_.push_back(BRepBuilderAPI_MakeEdge(gp_Circ(frame, r), in_plane(at_), in_plane(to)));
  at_ = to;
  return *this;
}

Profile& Profile::conic(RzPoint pole, double weight, RzPoint to) {
  to = settled(to);
  TColgp_Array1OfPnt poles(1, 3);
  TColStd_Array1OfReal weights(1, 3);
  poles(1) = in_plane(at_);
  poles(2) = in_plane(pole);
  poles(3) = in_plane(to);
  weights.Init(1);
  weights(2) = weight;
  edges_.push_back(BRepBuilderAPI_MakeEdge(new Geom_BezierCurve(poles, weights)));
  at_ = to;
  return *this;
}

TopoDS_Shape Profile::revolved(const Turn& phi) const {
  Profile whole(*this);
  if (std::hypot(start_.r - at_.r, start_.z - at_.z) > 0) whole.line(start_);
  BRepBuilderAPI_MakeWire wire;
  for (const TopoDS_Edge& edge : whole.edges_) wire.Add(edge);
  if (!wire.IsDone()) throw Failure("its outline is not closed");
  BRepBuilderAPI_MakeFace face(half_plane(), wire.Wire());
  if (!face.IsDone()) throw Failure("its outline crosses itself");
  return turned(face.Face(), phi);
}

TopoDS_Shape ring(double rtor, double rmin, double rmax, const Turn& phi) {
  if (rtor < rmax) throw Failure("the torus meets its own axis");
  const gp_Ax2 frame(gp_Pnt(rtor, 0, 0), gp_Dir(0, -1, 0), gp_Dir(1, 0, 0));
  const auto circle = [&](double r) {
    return BRepBuilderAPI_MakeWire(BRepBuilderAPI_MakeEdge(gp_Circ(frame, r)).Edge()).Wire();
  };
  BRepBuilderAPI_MakeFace face(half_plane(), circle(rmax));
  if (rmin > kShort) face.Add(TopoDS::Wire(circle(rmin).Reversed()));
  return turned(face.Face(), phi);
}

}  // namespace raylift::gdml::occt
