// SPDX-License-Identifier: Apache-2.0
// The words of placement: where an array is, its rank, and the rules by which an upload places arrays.
#pragma once

#include <cstdint>
#include <string_view>

namespace raylift {

/// Where an array is.
enum class Residency : std::uint8_t {
  device,  ///< in device memory, whole
  split,   ///< one address range, the first pages of it in device memory, the rest in host memory
  mapped,  ///< in pinned host memory, whole
};

/// The priority of an array, by how often rays access it: the first rank is placed first.
enum class ArrayRank : std::uint8_t { nodes, triangles, vertices, attributes };

/// The rule by which an upload places its arrays.
///
/// Let room = min(free - reserve, budget). In order of rank, and within a rank in the order given: an array goes onto
/// the device whole if bytes < room (Chroma's rule, strict). Otherwise, if the device can split, as many whole pages of
/// it as fit into room go there. Otherwise it is mapped. Each array on the device makes the room smaller.
///
/// So no array takes device memory that one of a higher rank could have used, and the sum never exceeds the room. With
/// more free memory, the first array (in that order) whose share changes gets a larger one.
enum class PlacementPolicy : std::uint8_t {
  automatic,  ///< by rank; an array that does not fit whole is split where the device can
  chroma,     ///< Chroma's rule, for comparison: attributes first, then by rank, each whole or not at all
  mapped,     ///< everything in host memory
  device,     ///< everything in device memory, or an error
};

/// Chroma's `min_free_gpu_mem`: device bytes that stay free, for a simulator's own arrays. Decimal.
inline constexpr std::uint64_t kDefaultReserve = 300'000'000;

[[nodiscard]] std::string_view to_string(Residency residency) noexcept;
[[nodiscard]] std::string_view to_string(PlacementPolicy policy) noexcept;
/// "auto", "chroma", "mapped" or "device"; throws Error(usage) for any other text.
[[nodiscard]] PlacementPolicy placement_policy(std::string_view name);

}  // namespace raylift
