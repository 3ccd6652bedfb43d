// SPDX-License-Identifier: Apache-2.0
#include "array_sizes.h"

#include <raylift/geometry/scene/solids.h>
#include <raylift/gpu/upload/optics_arrays.h>
#include <raylift/gpu/upload/view_arrays.h>

#include <algorithm>

namespace raylift::batch {
namespace {

template <class Add>
void add_optics(const OpticsArrays& optics, const Add& add) {
  add(ViewArray::optical_tables, optics.tables.size());
  add(ViewArray::optical_materials, optics.materials.size());
  add(ViewArray::optical_surfaces, optics.surfaces.size());
  add(ViewArray::optical_points, optics.points.size());
  add(ViewArray::border_surfaces, optics.borders.size());
  add(ViewArray::channels, optics.channels.size());
  add(ViewArray::channel_types, optics.channel_types.size());
}

}  // namespace

std::vector<ArraySize> array_sizes(const Scene& scene, bool flat) {
  std::vector<ArraySize> arrays;
  const auto add = [&](ViewArray array, std::uint64_t count) {
    const ViewArrayInfo& row = info(array);
    arrays.push_back({std::string(row.name), count * row.element_bytes, row.rank});
  };
  const std::uint64_t triangles = flat ? scene.expanded_triangles() : scene.unique_triangles();
  add(ViewArray::triangles, triangles);
  add(ViewArray::vertices, flat ? scene.expanded_vertices() : scene.unique_vertices());
  add(ViewArray::meshes, flat ? 1 : scene.meshes.size());
  add(ViewArray::solids, scene.instances.size());
  add(ViewArray::instances, flat ? 1 : scene.instances.size());
  add(ViewArray::material_colors, scene.materials.size());
  const SolidTree tree = solid_tree(scene);
  add(ViewArray::daughters, tree.daughters.size());
  if (!scene.optics.empty()) add_optics(optics_arrays(scene, tree), add);
  if (flat) {
    for (const ViewArray array : {ViewArray::material_codes, ViewArray::solid_ids, ViewArray::colors})
      add(array, triangles);
  } else {
    // The last binding has room for the parts of any mesh.
    std::uint64_t most = 0;
    for (const Mesh& mesh : scene.meshes) most = std::max<std::uint64_t>(most, mesh.parts.size());
    std::uint64_t parts = 0;
    std::uint64_t last = 0;
    for (const auto& binding : scene.bindings) parts += last = binding.size();
    add(ViewArray::triangle_parts, triangles);
    add(ViewArray::solid_colors, scene.instances.size());
    add(ViewArray::part_materials, scene.bindings.empty() ? 0 : parts + std::max(most, last) - last);
  }
  return arrays;
}

std::uint64_t total_bytes(const std::vector<ArraySize>& arrays) {
  std::uint64_t sum = 0;
  for (const ArraySize& array : arrays) sum += array.bytes;
  return sum;
}

}  // namespace raylift::batch
