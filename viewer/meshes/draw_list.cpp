// SPDX-License-Identifier: Apache-2.0
#include "meshes/draw_list.h"

#include <raylift/geometry/detail/arithmetic.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/surface_between.h>
#include <raylift/geometry/scene/eigen.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <string>
#include <utility>

namespace raylift::viewer {

std::optional<std::size_t> part_of(const Mesh& mesh, std::uint32_t triangle) {
  for (std::size_t part = 0; part != mesh.parts.size(); ++part)
    if (triangle - mesh.parts[part].first_triangle < mesh.parts[part].triangle_count) return part;
  return std::nullopt;
}

MeshOffsets mesh_offsets(const Scene& scene) {
  MeshOffsets offsets;
  offsets.first_vertex.reserve(scene.meshes.size());
  offsets.first_triangle.reserve(scene.meshes.size());
  for (const Mesh& mesh : scene.meshes) {
    offsets.first_vertex.push_back(static_cast<std::uint32_t>(offsets.vertices));
    offsets.first_triangle.push_back(static_cast<std::uint32_t>(offsets.triangles));
    offsets.vertices += mesh.vertices.size();
    offsets.triangles += mesh.triangles.size();
    // A command's first index has 32 bits too, and a triangle has three indices.
    if (offsets.vertices >= kNone || offsets.triangles >= kNone / 3)
      throw Error(ErrorKind::limit,
                  "the scene has more vertices or triangles than 32-bit indices can address: " +
                      std::to_string(scene.unique_vertices()) + " and " + std::to_string(scene.unique_triangles()),
                  {scene.source, ""}, "split the scene into several files");
  }
  return offsets;
}

std::vector<DrawInstance> draw_instances(const Scene& scene) {
  std::vector<DrawInstance> result(scene.instances.size());
  tbb::parallel_for(std::size_t{0}, result.size(), [&](std::size_t i) {
    const Instance& instance = scene.instances[i];
    const Transform& transform = instance.transform;
    DrawInstance& record = result[i];
    for (int row = 0; row < 3; ++row) {
      const auto r = static_cast<std::size_t>(row);
      for (int column = 0; column < 3; ++column)
        record.rows[r][static_cast<std::size_t>(column)] = static_cast<float>(transform(row, column));
      const auto [high, low] = arithmetic_detail::split(transform(row, 3));
      record.rows[r][3] = high;
      record.low[r] = low;
    }
    record.flags = instance.mesh << 1 | (to_eigen(transform).linear().determinant() < 0 ? 1U : 0U);
  });
  return result;
}

std::vector<SolidSurfaces> surfaces_of_solids(const Scene& scene) {
  std::vector<SolidSurfaces> surfaces;
  if (scene.optics.surfaces.empty()) return surfaces;
  const SolidTree tree = solid_tree(scene);
  for (std::uint32_t solid = 0; solid != tree.size(); ++solid)
    surfaces.push_back({surface_between(scene, tree, tree.mother[solid], solid).surface,
                        surface_between(scene, tree, solid, tree.mother[solid]).surface});
  return surfaces;
}

DrawList draw_list(const Scene& scene, const MeshOffsets& offsets, std::span<const std::uint8_t> looks,
                   std::span<const SolidSurfaces> surfaces, Look look) {
  // Instances by mesh, in their own order: a counting sort.
  std::vector<std::uint32_t> begin(scene.meshes.size() + 1, 0);
  const auto is_visible = [&](std::size_t i) {
    const Look own = looks.empty() ? Look::solid : static_cast<Look>(looks[i]);
    return own == look || (own == Look::open && look == Look::solid);
  };
  for (std::size_t i = 0; i != scene.instances.size(); ++i)
    if (is_visible(i)) ++begin[scene.instances[i].mesh + 1];
  for (std::size_t mesh = 0; mesh != scene.meshes.size(); ++mesh) begin[mesh + 1] += begin[mesh];
  std::vector<std::uint32_t> sorted(begin.back());
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i != scene.instances.size(); ++i)
    if (is_visible(i)) sorted[next[scene.instances[i].mesh]++] = static_cast<std::uint32_t>(i);

  DrawList list;
  std::uint32_t first_part = 0, next_part = 0;
  for (std::size_t m = 0; m != scene.meshes.size(); ++m) {
    first_part = std::exchange(next_part, next_part + static_cast<std::uint32_t>(scene.meshes[m].parts.size()));
    const std::span<const std::uint32_t> instances(sorted.data() + begin[m], begin[m + 1] - begin[m]);
    if (instances.empty()) continue;
    const Mesh& mesh = scene.meshes[m];
    for (std::size_t part = 0; part != mesh.parts.size(); ++part) {
      const Mesh::Part& run = mesh.parts[part];
      if (run.triangle_count == 0) continue;
      const std::uint32_t first = offsets.first_triangle[m] + run.first_triangle;
      list.commands.push_back({run.triangle_count * 3, static_cast<std::uint32_t>(instances.size()), first * 3, 0,
                               static_cast<std::uint32_t>(list.slots.size())});
      list.parts.push_back(first_part + static_cast<std::uint32_t>(part));
      for (const std::uint32_t i : instances)
        list.slots.push_back(
            {i, scene.material(scene.instances[i], part), first, surfaces.empty() ? kNone : surfaces[i].packed()});
      list.triangles += std::uint64_t{run.triangle_count} * instances.size();
    }
  }
  return list;
}

}  // namespace raylift::viewer
