// SPDX-License-Identifier: Apache-2.0
// The residency of each array: in device memory, in host memory that kernels read over the link, or both. A pure
// function of sizes and free memory, so it needs no device, and can be evaluated for any amount of memory.
#pragma once

#include <raylift/gpu/memory/placement.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace raylift {

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

/// The device bytes that may be used: what is free but for the reserve, and no more than the budget.
[[nodiscard]] inline std::uint64_t usable_bytes(std::uint64_t free_bytes, std::uint64_t reserve, std::uint64_t budget) {
  return std::min(free_bytes > reserve ? free_bytes - reserve : 0, budget);
}

/// The placement of each array by the rule of PlacementPolicy, in the order of `input.arrays`.
///
/// Throws Error(out_of_device_memory), with the bytes, under PlacementPolicy::device when not everything fits; there,
/// bytes <= room is enough.
[[nodiscard]] std::vector<ArrayPlacement> plan_placement(const PlacementInput& input);

/// The fallback for a placement whose allocation failed: device -> split (if `pages_that_fit` > 0) -> mapped.
[[nodiscard]] ArrayPlacement fallback(const ArrayPlacement& placement, std::uint64_t bytes,
                                      std::uint64_t pages_that_fit, std::uint64_t page_bytes);

}  // namespace raylift
