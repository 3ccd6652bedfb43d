// SPDX-License-Identifier: Apache-2.0
// Equal shares of something that does not suffice for all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace raylift::photon {

/// Max-min fair shares: who wants less than an equal share gets what it wants, and the rest is for the others. The sum
/// is that of `wanted`, or `room`, if that is less. What can't be divided goes to the first ones.
inline std::vector<std::uint64_t> share_out(std::span<const std::uint64_t> wanted, std::uint64_t room) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return wanted[a] < wanted[b]; });
  std::vector<std::uint64_t> shares(wanted.size());
  for (std::size_t i = 0; i != order.size(); ++i) {
    const std::uint64_t left = order.size() - i;
    shares[order[i]] = std::min(wanted[order[i]], (room + left - 1) / left);
    room -= shares[order[i]];
  }
  return shares;
}

}  // namespace raylift::photon
