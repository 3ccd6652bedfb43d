// SPDX-License-Identifier: Apache-2.0
#include "plan_placement.h"

#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/residency.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace raylift {
namespace {

constexpr std::array<std::string_view, 3> kResidencies{"device", "split", "mapped"};
constexpr std::array<std::string_view, 4> kPolicies{"auto", "chroma", "mapped", "device"};

/// The order in which arrays are served.
std::vector<std::size_t> serving_order(const PlacementInput& input) {
  std::vector<std::size_t> order(input.arrays.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Chroma allocates codes, colours and solid ids on the device before it looks at free memory for the rest.
  const bool attributes_first = input.policy == PlacementPolicy::chroma;
  const auto turn = [&](std::size_t i) {
    const ArrayRank rank = input.arrays[i].rank;
    return attributes_first && rank == ArrayRank::attributes ? -1 : static_cast<int>(rank);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return turn(a) < turn(b); });
  return order;
}

ArrayPlacement place(std::uint64_t bytes, std::uint64_t room, const PlacementInput& input) {
  const std::string numbers = std::to_string(bytes) + " of " + std::to_string(room) + " bytes";
  if (bytes == 0) return {Residency::device, 0, 0, "empty"};
  if (input.policy == PlacementPolicy::mapped) return {Residency::mapped, 0, bytes, "the policy maps everything"};
  if (bytes < room || (input.policy == PlacementPolicy::device && bytes == room))
    return {Residency::device, bytes, 0, "fits: " + numbers};
  if (input.policy == PlacementPolicy::automatic && input.can_split && input.page_bytes != 0) {
    const std::uint64_t device_bytes = std::min(room, bytes - 1) / input.page_bytes * input.page_bytes;
    if (device_bytes != 0)
      return {Residency::split, device_bytes, bytes - device_bytes,
              "fits in part: " + std::to_string(device_bytes / input.page_bytes) + " pages, " + numbers};
  }
  return {Residency::mapped, 0, bytes, "does not fit: " + numbers};
}

}  // namespace

std::vector<ArrayPlacement> plan_placement(const PlacementInput& input) {
  std::vector<ArrayPlacement> placements(input.arrays.size());
  std::uint64_t room = usable_bytes(input.free_bytes, input.reserve, input.budget);
  if (input.policy == PlacementPolicy::device) {
    // Each term is checked on its own, so that no sum overflows.
    std::uint64_t left = room;
    for (const ArraySize& array : input.arrays) {
      if (array.bytes > left)
        throw Error(ErrorKind::out_of_device_memory,
                    "array '" + array.name + "' of " + human_bytes(array.bytes) + " does not fit onto the device: " +
                        human_bytes(left) + " are left of " + human_bytes(room) + " that it may use",
                    {},
                    "free device memory, lower the reserve or raise the budget, or leave out UploadOptions::policy");
      left -= array.bytes;
    }
  }
  for (const std::size_t i : serving_order(input)) {
    placements[i] = place(input.arrays[i].bytes, room, input);
    room -= placements[i].device_bytes;
  }
  return placements;
}

ArrayPlacement fallback(const ArrayPlacement& placement, std::uint64_t bytes, std::uint64_t pages_that_fit,
                        std::uint64_t page_bytes) {
  const std::string from = std::string("the allocation failed as ") + std::string(to_string(placement.where));
  const std::uint64_t device_bytes =
      page_bytes == 0 ? 0 : std::min(pages_that_fit, (bytes - 1) / page_bytes) * page_bytes;
  if (placement.where == Residency::device && device_bytes != 0)
    return {Residency::split, device_bytes, bytes - device_bytes, from};
  return {Residency::mapped, 0, bytes, from};
}

std::string_view to_string(Residency residency) noexcept {
  return kResidencies[static_cast<std::size_t>(residency)];
}
std::string_view to_string(PlacementPolicy policy) noexcept {
  return kPolicies[static_cast<std::size_t>(policy)];
}

PlacementPolicy placement_policy(std::string_view text) {
  const auto* const found = std::find(kPolicies.begin(), kPolicies.end(), text);
  if (found == kPolicies.end())
    throw Error(ErrorKind::usage, "'" + std::string(text) + "' is no placement policy", {},
                "use auto, chroma, mapped or device");
  return static_cast<PlacementPolicy>(found - kPolicies.begin());
}

}  // namespace raylift
