// SPDX-License-Identifier: Apache-2.0
#include "triangles.h"

#include <BRep_Tool.hxx>
#include <Poly_PolygonOnTriangulation.hxx>
#include <Poly_Triangulation.hxx>
#include <TopExp.hxx>
#include <TopExp_Explorer.hxx>
#include <TopLoc_Location.hxx>
#include <TopTools_IndexedMapOfShape.hxx>
#include <TopoDS.hxx>
#include <TopoDS_Edge.hxx>
#include <TopoDS_Face.hxx>
#include <TopoDS_Vertex.hxx>
#include <cstdint>
#include <gp_Pnt.hxx>
#include <map>
#include <vector>

#include "operation.h"

namespace raylift::gdml::occt {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

class Welding {
 public:
  Surface of(const TopoDS_Shape& shape) {
    TopExp_Explorer solids(shape, TopAbs_SOLID);
    if (!solids.More()) add_faces(shape);
    for (; solids.More(); solids.Next()) add_faces(solids.Current());
    return std::move(surface_);
  }

 private:
  void add_faces(const TopoDS_Shape& shape) {
    for (TopExp_Explorer faces(shape, TopAbs_FACE); faces.More(); faces.Next()) add(TopoDS::Face(faces.Current()));
  }

  void add(const TopoDS_Face& face) {
    // Edges inside of a face, or faces inside of a solid, bound nothing.
    if (face.Orientation() != TopAbs_FORWARD && face.Orientation() != TopAbs_REVERSED) return;
    TopLoc_Location location;
    const Handle(Poly_Triangulation) mesh = BRep_Tool::Triangulation(face, location);
    // The surface is then open, unless the face is a sliver that others close.
    if (mesh.IsNull()) return;
    std::vector<std::uint32_t> numbers(static_cast<std::size_t>(mesh->NbNodes()) + 1, kNone);
    for (TopExp_Explorer edges(face, TopAbs_EDGE); edges.More(); edges.Next())
      add_edge(TopoDS::Edge(edges.Current()), mesh, location, numbers);
    for (int node = 1; node <= mesh->NbNodes(); ++node) {
      std::uint32_t& number = numbers[static_cast<std::size_t>(node)];
      if (number == kNone) number = push(mesh->Node(node).Transformed(location.Transformation()));
    }
    const bool reversed = face.Orientation() == TopAbs_REVERSED;
    for (int t = 1; t <= mesh->NbTriangles(); ++t) {
      int a = 0, b = 0, c = 0;
      mesh->Triangle(t).Get(a, b, c);
      const UInt3 triangle{numbers[static_cast<std::size_t>(a)], numbers[static_cast<std::size_t>(reversed ? c : b)],
                           numbers[static_cast<std::size_t>(reversed ? b : c)]};
      // Edges of no length, such as a cone's tip, have several nodes at one vertex.
      if (triangle.x != triangle.y && triangle.y != triangle.z && triangle.z != triangle.x)
        surface_.triangles.push_back(triangle);
    }
  }

  void add_edge(const TopoDS_Edge& edge, const Handle(Poly_Triangulation) & mesh, const TopLoc_Location& location,
                std::vector<std::uint32_t>& numbers) {
    const Handle(Poly_PolygonOnTriangulation) polygon = BRep_Tool::PolygonOnTriangulation(edge, mesh, location);
    if (polygon.IsNull()) throw Failure("an edge has no polygon");
    const int count = polygon->NbNodes();
    const TopoDS_Edge forward = TopoDS::Edge(edge.Oriented(TopAbs_FORWARD));
    const std::uint32_t first = vertex(TopExp::FirstVertex(forward)), last = vertex(TopExp::LastVertex(forward));
    const bool point = BRep_Tool::Degenerated(edge);
    std::vector<std::uint32_t>& own = edges_[static_cast<std::size_t>(known_edges_.Add(forward))];
    if (own.empty() && !point) {
      own.push_back(first);
      for (int i = 2; i < count; ++i)
        own.push_back(push(mesh->Node(polygon->Node(i)).Transformed(location.Transformation())));
      own.push_back(last);
    }
    if (!point && own.size() != static_cast<std::size_t>(count)) throw Failure("two faces divide an edge differently");
    for (int i = 1; i <= count; ++i)
      numbers[static_cast<std::size_t>(polygon->Node(i))] = point ? first : own[static_cast<std::size_t>(i - 1)];
  }

  std::uint32_t vertex(const TopoDS_Vertex& one) {
    if (one.IsNull()) throw Failure("an edge has no end");
    const auto at = static_cast<std::size_t>(known_vertices_.Add(one.Oriented(TopAbs_FORWARD)));
    if (at > vertices_.size()) vertices_.push_back(push(BRep_Tool::Pnt(one)));
    return vertices_[at - 1];
  }

  std::uint32_t push(const gp_Pnt& p) {
    surface_.vertices.emplace_back(p.X(), p.Y(), p.Z());
    return static_cast<std::uint32_t>(surface_.vertices.size() - 1);
  }

  Surface surface_;
  TopTools_IndexedMapOfShape known_vertices_, known_edges_;  // numbered from 1
  std::vector<std::uint32_t> vertices_;
  std::map<std::size_t, std::vector<std::uint32_t>> edges_;
};

}  // namespace

Surface triangles(const TopoDS_Shape& shape) {
  return Welding().of(shape);
}

}  // namespace raylift::gdml::occt
