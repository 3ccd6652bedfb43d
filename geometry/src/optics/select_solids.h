// SPDX-License-Identifier: Apache-2.0
// The solids that a SolidSelector means.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace raylift::detail {

/// Looks names up by hash, so that tens of thousands of selectors of one solid each cost no more than one that means
/// them all. Refers to the scene.
class SolidIndex {
 public:
  explicit SolidIndex(const Scene& scene) : scene_(scene) {}

  /// Ascending. Throws Error(limit) where all selections together would compare, or find, too many solids.
  [[nodiscard]] std::vector<std::uint32_t> select(const SolidSelector& selector);

 private:
  using ByName = std::unordered_map<std::string_view, std::vector<std::uint32_t>>;
  struct Field {
    ByName exact, base;
    bool built = false;
  };
  [[nodiscard]] std::string_view name(std::size_t field, std::uint32_t solid) const;
  [[nodiscard]] const std::vector<std::uint32_t>& literal(std::size_t field, const std::string& pattern);

  void count(std::size_t solids);

  const Scene& scene_;
  std::uint64_t counted_ = 0;    // solids that selections looked at
  std::array<Field, 4> fields_;  // solid, volume, mesh, material
};

}  // namespace raylift::detail
