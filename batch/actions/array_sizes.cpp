// SPDX-License-Identifier: Apache-2.0
#include "array_sizes.h"

#include <raylift/geometry/scene/solids.h>
#include <raylift/gpu/view.h>

namespace raylift::batch {

std::vector<ArraySize> array_sizes(const Scene& scene, bool flat) {
  const std::uint64_t triangles = flat ? scene.expanded_triangles() : scene.unique_triangles();
  const std::uint64_t vertices = flat ? scene.expanded_vertices() : scene.unique_vertices();
  std::vector<ArraySize> arrays{
      {"triangles", triangles * sizeof(uint3), ArrayRank::triangles},
      {"vertices", vertices * sizeof(float3), ArrayRank::vertices},
      {"meshes", (flat ? 1 : scene.meshes.size()) * sizeof(MeshView), ArrayRank::nodes},
      {"solids", scene.instances.size() * sizeof(SolidView), ArrayRank::nodes},
      {"instances", (flat ? 1 : scene.instances.size()) * sizeof(InstanceView), ArrayRank::nodes},
      {"material_colors", scene.materials.size() * sizeof(std::uint32_t), ArrayRank::attributes}};
  const auto add_attribute = [&](const char* name, std::uint64_t count, std::uint64_t bytes) {
    arrays.push_back({name, count * bytes, ArrayRank::attributes});
  };
  add_attribute("daughters", solid_tree(scene).daughters.size(), sizeof(std::uint32_t));
  if (flat) {
    add_attribute("material_codes", triangles, sizeof(MaterialCode));
    add_attribute("solid_ids", triangles, sizeof(std::uint32_t));
    add_attribute("colors", triangles, sizeof(std::uint32_t));
  } else {
    std::uint64_t parts = 0;
    for (const auto& binding : scene.bindings) parts += binding.size();
    add_attribute("triangle_parts", triangles, sizeof(std::uint16_t));
    add_attribute("part_materials", parts, sizeof(std::uint16_t));
  }
  return arrays;
}

std::uint64_t total_bytes(const std::vector<ArraySize>& arrays) {
  std::uint64_t sum = 0;
  for (const ArraySize& array : arrays) sum += array.bytes;
  return sum;
}

}  // namespace raylift::batch
