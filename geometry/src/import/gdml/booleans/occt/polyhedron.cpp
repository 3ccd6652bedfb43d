// SPDX-License-Identifier: Apache-2.0
#include "polyhedron.h"

#include <BRepBuilderAPI_MakeEdge.hxx>
#include <BRepBuilderAPI_MakeFace.hxx>
#include <BRepBuilderAPI_MakeSolid.hxx>
#include <BRepBuilderAPI_MakeVertex.hxx>
#include <BRepBuilderAPI_MakeWire.hxx>
#include <BRepBuilderAPI_Sewing.hxx>
#include <BRepLib.hxx>
#include <BRep_Builder.hxx>
#include <Geom_BezierSurface.hxx>
#include <TColgp_Array2OfPnt.hxx>
#include <TopExp_Explorer.hxx>
#include <TopoDS.hxx>
#include <TopoDS_Edge.hxx>
#include <TopoDS_Face.hxx>
#include <TopoDS_Shell.hxx>
#include <TopoDS_Solid.hxx>
#include <TopoDS_Vertex.hxx>
#include <TopoDS_Wire.hxx>
#include <algorithm>
#include <cmath>
#include <gp_Pln.hxx>
#include <gp_Pnt.hxx>
#include <gp_Vec.hxx>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "operation.h"

namespace raylift::gdml::occt {
namespace {

/// Nearer to each other, vertices are one; further from its plane, a face is not flat.
constexpr double kSame = 1e-7;

gp_Pnt point_of(const Double3& p) {
  return {p.x, p.y, p.z};
}

class Building {
 public:
  explicit Building(const Polyhedron& polyhedron) : polyhedron_(polyhedron) {
    std::map<std::tuple<double, double, double>, std::uint32_t> places;
    for (const Double3& p : polyhedron.vertices) {
      const auto rounded = [](double a) { return std::round(a / kSame) + 0.0; };
      const auto next = static_cast<std::uint32_t>(vertices_.size());
      const auto found = places.emplace(std::tuple{rounded(p.x), rounded(p.y), rounded(p.z)}, next);
      if (found.second) {
        vertices_.push_back(BRepBuilderAPI_MakeVertex(point_of(p)));
        points_.push_back(p);
      }
      numbers_.push_back(found.first->second);
    }
  }

  TopoDS_Shape solid() {
    TopoDS_Shell shell;
    BRep_Builder builder;
    builder.MakeShell(shell);
    std::vector<std::vector<std::uint32_t>> loops;
    bool bent = false;
    for (const auto& face : polyhedron_.faces) {
      loops.push_back(loop(face));
      bent = bent || (loops.back().size() == 4 && !plane(loops.back()));
    }
    if (bent) return sewn(loops);
    for (const auto& corners : loops)
      if (corners.size() >= 3) add(builder, shell, corners);
    shell.Closed(true);
    TopoDS_Solid solid = BRepBuilderAPI_MakeSolid(shell);
    BRepLib::OrientClosedSolid(solid);
    return solid;
  }

 private:
  /// Without repeated vertices.
  [[nodiscard]] std::vector<std::uint32_t> loop(const std::vector<std::uint32_t>& face) const {
    std::vector<std::uint32_t> corners;
    for (const std::uint32_t vertex : face)
      if (corners.empty() || corners.back() != numbers_[vertex]) corners.push_back(numbers_[vertex]);
    while (corners.size() > 1 && corners.front() == corners.back()) corners.pop_back();
    return corners;
  }

  /// The plane of a loop, with its normal by the loop's direction; none if it is not flat.
  [[nodiscard]] std::optional<gp_Pln> plane(const std::vector<std::uint32_t>& corners) const {
    gp_Vec normal(0, 0, 0);
    const gp_Pnt origin = point_of(points_[corners[0]]);
    for (std::size_t i = 2; i < corners.size(); ++i)
      normal += gp_Vec(origin, point_of(points_[corners[i - 1]])) ^ gp_Vec(origin, point_of(points_[corners[i]]));
    if (normal.Magnitude() < kSame * kSame) return std::nullopt;
    gp_Pln found(origin, gp_Dir(normal));
    double size = 0, off = 0;
    for (const std::uint32_t corner : corners) {
      const gp_Pnt p = point_of(points_[corner]);
      size = std::max(size, p.Distance(origin));
      off = std::max(off, found.Distance(p));
    }
    if (off > std::max(kSame, 1e-9 * size)) return std::nullopt;
    return found;
  }

  TopoDS_Edge edge(std::uint32_t from, std::uint32_t to) {
    const auto ends = std::minmax(from, to);
    TopoDS_Edge& made = edges_[{ends.first, ends.second}];
    if (made.IsNull()) {
      BRepBuilderAPI_MakeEdge maker(vertices_[ends.first], vertices_[ends.second]);
      if (!maker.IsDone()) throw Failure("an edge can't be made");
      made = maker.Edge();
    }
    return TopoDS::Edge(made.Oriented(from == ends.first ? TopAbs_FORWARD : TopAbs_REVERSED));
  }

  void add(BRep_Builder& builder, TopoDS_Shell& shell, const std::vector<std::uint32_t>& corners) {
    const std::optional<gp_Pln> flat = plane(corners);
    if (!flat) throw Failure("a face is not flat");
    TopoDS_Wire wire;
    builder.MakeWire(wire);
    for (std::size_t i = 0; i < corners.size(); ++i)
      builder.Add(wire, edge(corners[i], corners[(i + 1) % corners.size()]));
    wire.Closed(true);
    BRepBuilderAPI_MakeFace maker(*flat, wire, false);
    if (!maker.IsDone()) throw Failure("a face can't be made");
    builder.Add(shell, maker.Face());
  }

  TopoDS_Shape sewn(const std::vector<std::vector<std::uint32_t>>& loops) {
    BRepBuilderAPI_Sewing sewing(1e-6);
    for (const auto& corners : loops) {
      if (corners.size() < 3) continue;
      if (corners.size() == 4 && !plane(corners)) {
        sewing.Add(patch(corners));
        continue;
      }
      BRep_Builder builder;
      TopoDS_Shell shell;
      builder.MakeShell(shell);
      add(builder, shell, corners);
      sewing.Add(TopExp_Explorer(shell, TopAbs_FACE).Current());
    }
    sewing.Perform();
    TopExp_Explorer shells(sewing.SewedShape(), TopAbs_SHELL);
    if (!shells.More()) throw Failure("the faces make no shell");
    TopoDS_Solid solid = BRepBuilderAPI_MakeSolid(TopoDS::Shell(shells.Current()));
    BRepLib::OrientClosedSolid(solid);
    return solid;
  }

  [[nodiscard]] TopoDS_Face patch(const std::vector<std::uint32_t>& corners) const {
    TColgp_Array2OfPnt poles(1, 2, 1, 2);
    poles(1, 1) = point_of(points_[corners[0]]);
    poles(2, 1) = point_of(points_[corners[1]]);
    poles(2, 2) = point_of(points_[corners[2]]);
    poles(1, 2) = point_of(points_[corners[3]]);
    BRepBuilderAPI_MakeFace maker(new Geom_BezierSurface(poles), kSame);
    if (!maker.IsDone()) throw Failure("a bilinear face can't be made");
    return maker.Face();
  }

  const Polyhedron& polyhedron_;
  std::vector<std::uint32_t> numbers_;
  std::vector<Double3> points_;
  std::vector<TopoDS_Vertex> vertices_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, TopoDS_Edge> edges_;
};

}  // namespace

TopoDS_Shape brep(const Polyhedron& polyhedron) {
  return Building(polyhedron).solid();
}

}  // namespace raylift::gdml::occt
