// SPDX-License-Identifier: Apache-2.0
// How large a scene becomes whose nodes are placed many times: counted in its graph, before it is expanded.
#pragma once

#include <raylift/geometry/import/load.h>

#include <algorithm>
#include <cstdint>
#include <string>

namespace raylift {

/// What a node has below it, itself included. Counts beyond the largest number stay there.
struct ExpandedSize {
  std::uint64_t nodes = 1, instances = 0;
  std::uint32_t height = 1;

  /// Adds what is below: that many of them.
  void add(const ExpandedSize& below, std::uint64_t count = 1) {
    nodes = sum(nodes, product(count, below.nodes));
    instances = sum(instances, product(count, below.instances));
    height = std::max(height, below.height + 1);
  }

 private:
  static std::uint64_t sum(std::uint64_t a, std::uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }
  static std::uint64_t product(std::uint64_t a, std::uint64_t b) {
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
  }
};

/// Calls fail(problem, advice) where a scene of that size is beyond a limit.
template <class Fail>
void check_expanded(const ExpandedSize& size, const LoadLimits& limits, const Fail& fail) {
  const auto check = [&](std::uint64_t value, std::uint64_t limit, const std::string& what, const char* option) {
    if (value > limit)
      fail("the expanded scene has " + (value == UINT64_MAX ? std::string("over 10^19") : std::to_string(value)) + " " +
               what + ", and the limit is " + std::to_string(limit),
           std::string("raise it with ") + option);
  };
  check(size.height, limits.node_depth, "levels", "LoadLimits::node_depth");
  check(size.instances, limits.instances, "solids", "LoadLimits::instances");
  check(size.nodes, limits.nodes, "nodes", "LoadLimits::nodes");
}

}  // namespace raylift
