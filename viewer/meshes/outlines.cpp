// SPDX-License-Identifier: Apache-2.0
#include "meshes/outlines.h"

#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <map>

#include "meshes/caps.h"
#include "meshes/feature_edges.h"
#include "model/settings/modes.h"

namespace raylift::viewer {
namespace {

/// The lines of one placed mesh.
void add_edges(const Mesh& mesh, std::span<const MeshEdge> edges, const Instance& placed, const Camera& camera,
               const Outline& of_solid, std::vector<Outline>& lines) {
  const EigenTransform to_world = to_eigen(placed.transform);
  if (to_world.linear().determinant() == 0) return;
  const EigenTransform to_mesh = to_world.inverse();
  // Which triangles face the eye, in the mesh's frame.
  const Eigen::Vector3d eye = to_mesh * camera.eye(), towards = -(to_mesh.linear() * camera.forward());
  const auto corner = [&](std::uint32_t v) { return Eigen::Vector3d(to_eigen(mesh.vertices[v])); };
  std::vector<std::uint8_t> faces(mesh.triangles.size());
  for (std::size_t i = 0; i != faces.size(); ++i) {
    const UInt3& t = mesh.triangles[i];
    const Eigen::Vector3d a = corner(t.x), normal = (corner(t.y) - a).cross(corner(t.z) - a);
    faces[i] = normal.dot(camera.orthographic ? towards : Eigen::Vector3d(eye - a)) > 0;
  }
  for (const MeshEdge& edge : edges) {
    const bool silhouette = edge.second != kNone && faces[edge.first] != faces[edge.second];
    if (!edge.feature && !silhouette) continue;
    Outline line = of_solid;
    line.from = to_world * corner(edge.from);
    line.to = to_world * corner(edge.to);
    line.silhouette = silhouette;
    lines.push_back(line);
  }
}

}  // namespace

void for_outlines(const Scene& scene, const Settings& settings, const Camera& camera,
                  std::span<const std::uint8_t> looks, std::span<const std::uint32_t> solids,
                  const std::function<void(std::span<const Outline>)>& use) {
  std::map<std::uint32_t, std::vector<MeshEdge>> edges;
  const std::vector<ClipPlane> planes = settings.planes();
  std::vector<Outline> lines;
  for (const std::uint32_t i : solids) {
    const Instance& placed = scene.instances[i];
    const Mesh& mesh = scene.meshes[placed.mesh];
    const auto [known, fresh] = edges.try_emplace(placed.mesh);
    if (fresh) known->second = mesh_edges(mesh);
    Outline of_solid;
    of_solid.solid = i;
    of_solid.faint = !looks.empty() && static_cast<Look>(looks[i]) == Look::faint;
    lines.clear();
    add_edges(mesh, known->second, placed, camera, of_solid, lines);
    for (const ClipPlane& plane : planes)
      for (const auto& [from, to] : section_of(scene, i, plane)) {
        Outline line = of_solid;
        line.from = from;
        line.to = to;
        lines.push_back(line);
      }
    use(lines);
  }
}

}  // namespace raylift::viewer
