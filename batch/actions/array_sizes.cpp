// SPDX-License-Identifier: Apache-2.0
#include "array_sizes.h"

#include <raylift/geometry/scene/flatten.h>
#include <raylift/geometry/scene/solids.h>
#include <raylift/gpu/upload/optics_arrays.h>
#include <raylift/gpu/upload/upload.h>
#include <raylift/gpu/upload/view_arrays.h>

#include <algorithm>
#include <array>

namespace raylift::batch {
namespace {

bool has_array(const ViewArrayInfo& row, const Scene& scene, bool flat, bool fine) {
  switch (row.presence) {
    case ViewArrayInfo::Presence::always:
      return true;
    case ViewArrayInfo::Presence::bvh:
      return false;
    case ViewArrayInfo::Presence::two_levels:
      return !flat;
    case ViewArrayInfo::Presence::flattened:
      return flat;
    case ViewArrayInfo::Presence::optics:
      return !scene.optics.empty();
    case ViewArrayInfo::Presence::fine:
      return fine;
    case ViewArrayInfo::Presence::rests:
      return !flat && has_rests(scene);
    case ViewArrayInfo::Presence::attribute:
      break;
  }
  bool found = false;
  detail::for_each_triangle_attribute([&](const auto& attribute) {
    if (attribute.name == row.name) found = detail::has_attribute(scene, attribute);
  });
  return found;
}

/// Materials of all bindings. The last binding has room for the parts of any mesh.
std::uint64_t part_materials(const Scene& scene) {
  std::uint64_t most = 0;
  for (const Mesh& mesh : scene.meshes) most = std::max<std::uint64_t>(most, mesh.parts.size());
  std::uint64_t parts = 0;
  std::uint64_t last = 0;
  for (const auto& binding : scene.bindings) parts += last = binding.size();
  return scene.bindings.empty() ? 0 : parts + std::max(most, last) - last;
}

/// The elements of the arrays that no other array counts, by ViewArray.
std::array<std::uint64_t, kViewArrays> other_counts(const Scene& scene) {
  std::array<std::uint64_t, kViewArrays> counts{};
  const auto set = [&](ViewArray array, std::uint64_t count) { counts[static_cast<std::size_t>(array)] = count; };
  const SolidTree tree = solid_tree(scene);
  set(ViewArray::daughters, tree.daughters.size());
  set(ViewArray::part_materials, part_materials(scene));
  if (scene.optics.empty()) return counts;
  const OpticsArrays optics = optics_arrays(scene, tree);
  set(ViewArray::optical_rows, optics.rows.size());
  set(ViewArray::optical_buckets, optics.buckets.size());
  set(ViewArray::optical_materials, optics.materials.size());
  set(ViewArray::optical_surfaces, optics.surfaces.size());
  set(ViewArray::optical_points, optics.points.size());
  set(ViewArray::border_surfaces, optics.borders.size());
  set(ViewArray::channels, optics.channels.size());
  set(ViewArray::channel_types, optics.channel_types.size());
  return counts;
}

}  // namespace

std::vector<ArraySize> array_sizes(const Scene& scene, bool flat) {
  const auto other = other_counts(scene);
  const auto count = [&](const ViewArrayInfo& row) -> std::uint64_t {
    switch (row.extent) {
      case ViewArrayInfo::Extent::vertex:
        return flat ? scene.expanded_vertices() : scene.unique_vertices();
      case ViewArrayInfo::Extent::triangle:
        return flat ? scene.expanded_triangles() : scene.unique_triangles();
      case ViewArrayInfo::Extent::mesh:
        return flat ? 1 : scene.meshes.size();
      case ViewArrayInfo::Extent::instance:
        return flat ? 1 : scene.instances.size();
      case ViewArrayInfo::Extent::solid:
        return scene.instances.size();
      case ViewArrayInfo::Extent::material:
        return scene.materials.size();
      case ViewArrayInfo::Extent::pair:
      case ViewArrayInfo::Extent::other:
        break;
    }
    return other[static_cast<std::size_t>(row.array)];
  };
  std::vector<ArraySize> arrays;
  UploadOptions options;
  options.flatten = flat;
  const bool fine = is_fine(scene, options);
  for (const ViewArrayInfo& row : view_arrays())
    if (has_array(row, scene, flat, fine))
      arrays.push_back({std::string(row.name), count(row) * row.element_bytes, row.rank});
  return arrays;
}

std::uint64_t total_bytes(const std::vector<ArraySize>& arrays) {
  std::uint64_t sum = 0;
  for (const ArraySize& array : arrays) sum += array.bytes;
  return sum;
}

}  // namespace raylift::batch
