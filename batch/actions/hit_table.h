// SPDX-License-Identifier: Apache-2.0
// What rays hit: hits counted by solid, material or mesh.
#pragma once

#include <raylift/geometry/bvh/ray.h>
#include <raylift/geometry/scene/scene.h>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output.h"

namespace raylift::batch {

enum class HitsBy : std::uint8_t { solid, material, mesh };
inline constexpr std::array<std::string_view, 3> kHitsByNames{"solid", "material", "mesh"};

/// Counts for each part of each solid; a part has one material.
class HitTable {
 public:
  /// The table of a scene in two levels or, as it was uploaded, flattened. The scene must stay as long as this; its
  /// meshes need no triangles, only parts.
  HitTable(const Scene& scene, bool flattened);

  void add(std::span<const Hit> hits);

  /// The first `most` rows by hits; a solid's have its material, too.
  [[nodiscard]] std::string text(HitsBy by, std::size_t most) const;
  /// All rows: an array.
  [[nodiscard]] cli::Json json(HitsBy by) const;

 private:
  struct Count {
    std::uint64_t hits = 0;
    std::uint64_t from_inside = 0;
  };
  struct Row {
    std::uint32_t instance;  // the first one that is in it
    std::uint32_t material;
    Count count;
  };
  [[nodiscard]] std::size_t slot(const Hit& hit) const;
  [[nodiscard]] std::vector<Row> rows(HitsBy by) const;
  [[nodiscard]] std::string material_name(std::uint32_t material) const;

  const Scene& scene_;
  bool flattened_;
  std::vector<std::uint64_t> first_triangle_;  // of each mesh, or of each instance where flattened
  std::vector<std::size_t> first_slot_;        // of each instance, and the end
  std::vector<Count> counts_;                  // by slot
};

}  // namespace raylift::batch
