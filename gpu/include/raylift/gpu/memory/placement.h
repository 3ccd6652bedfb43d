// SPDX-License-Identifier: Apache-2.0
// The residency of each array: in device memory, in host memory that kernels read
// over the link, or both. A pure function of sizes and free memory, so it needs no device, and can be evaluated for any
// amount of memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace raylift {

/// Where an array is.
enum class Residency : std::uint8_t {
  device,  ///< in device memory, whole
  split,   ///< one address range, the first pages of it in device memory, the rest in host memory
  mapped,  ///< in pinned host memory, whole
};

/// The priority of an array, by how often rays access it: the first rank is placed first.
enum class ArrayRank : std::uint8_t { nodes, triangles, vertices, attributes };

/// The rule of the placement.
enum class PlacementPolicy : std::uint8_t {
  automatic,  ///< by rank; an array that does not fit whole is split where the device can
  chroma,     ///< Chroma's rule, for comparison: attributes first, then by rank, each whole or not at all
  mapped,     ///< everything in host memory
  device,     ///< everything in device memory, or an error
};

/// Chroma's `min_free_gpu_mem`: device bytes that stay free, for a simulator's own arrays. Decimal.
inline constexpr std::uint64_t kDefaultReserve = 300'000'000;

struct ArraySize {
  std::string name;
  std::uint64_t bytes = 0;
  ArrayRank rank = ArrayRank::attributes;
};

struct PlacementInput {
  std::span<const ArraySize> arrays;
  std::uint64_t free_bytes = 0;             ///< device memory that is free now
  std::uint64_t reserve = kDefaultReserve;  ///< of it, to be left free
  std::uint64_t budget = UINT64_MAX;        ///< maximum of device bytes, however much is free
  PlacementPolicy policy = PlacementPolicy::automatic;
  bool can_split = false;        ///< DeviceInfo::splits_arrays
  std::uint64_t page_bytes = 0;  ///< DeviceInfo::page_bytes
};

struct ArrayPlacement {
  Residency where = Residency::device;
  std::uint64_t device_bytes = 0;
  std::uint64_t host_bytes = 0;
  std::string why;
};

/// The placement of each array, in the order of `input.arrays`.
///
/// Let room = min(free - reserve, budget). In order of rank, and within a rank in the order given: an array goes onto
/// the device whole if bytes < room (Chroma's rule, strict). Otherwise, if the device can split, as many whole pages of
/// it as fit into room go there. Otherwise it is mapped. Each array on the device makes the room smaller.
///
/// So no array takes device memory that one of a higher rank could have used, and the sum never exceeds the room. With
/// more free memory, the first array (in that order) whose share changes gets a larger one.
///
/// Throws Error(out_of_device_memory), with the bytes, under PlacementPolicy::device when not everything fits; there,
/// bytes <= room is enough.
[[nodiscard]] std::vector<ArrayPlacement> plan_placement(const PlacementInput& input);

/// The fallback for a placement whose allocation failed: device -> split (if `pages_that_fit` > 0) -> mapped.
[[nodiscard]] ArrayPlacement fallback(const ArrayPlacement& placement, std::uint64_t bytes,
                                      std::uint64_t pages_that_fit, std::uint64_t page_bytes);

[[nodiscard]] std::string_view to_string(Residency residency) noexcept;
[[nodiscard]] std::string_view to_string(PlacementPolicy policy) noexcept;
/// "auto", "chroma", "mapped" or "device"; throws Error(usage) for any other text.
[[nodiscard]] PlacementPolicy placement_policy(std::string_view name);

}  // namespace raylift
