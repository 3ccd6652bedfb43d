// SPDX-License-Identifier: Apache-2.0
// A binary tree over boxes by the surface area heuristic: what a Bvh's wide nodes are gathered from.
#pragma once

#include <raylift/geometry/detail/raw_vector.h>

#include "bvh_wide_cost.h"

#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

namespace raylift::bvh {

/// Four lanes; the fourth carries a number along.
using Lanes = float __attribute__((vector_size(16)));
using IntLanes = std::int32_t __attribute__((vector_size(16)));

inline Lanes lane_min(Lanes a, Lanes b) {
  return a < b ? a : b;
}
inline Lanes lane_max(Lanes a, Lanes b) {
  return a > b ? a : b;
}

struct Box {
  Lanes lower = {kInfinity, kInfinity, kInfinity, kInfinity};
  Lanes upper = {-kInfinity, -kInfinity, -kInfinity, -kInfinity};
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();

  void add(Lanes low, Lanes high) {
    lower = lane_min(lower, low);
    upper = lane_max(upper, high);
  }
  void add(const Box& box) { add(box.lower, box.upper); }
  [[nodiscard]] float half_area() const {
    const Lanes d = upper - lower;
    return d[0] * d[1] + d[1] * d[2] + d[2] * d[0];
  }
};

/// The box of a primitive, and its number in the fourth lane, biased so that it is no denormal: these are slow to add.
struct Primitive {
  Lanes lower, upper;

  [[nodiscard]] std::uint32_t number() const {
    return std::bit_cast<std::uint32_t>(static_cast<float>(lower[3])) - kNumberBias;
  }
  void set_number(std::uint32_t n) { lower[3] = std::bit_cast<float>(n + kNumberBias); }
  static constexpr std::uint32_t kNumberBias = 0x3F800000u;
};

/// Bounds of primitives, and of their centers: twice these, lower + upper.
struct Bounds2 {
  Box box, centers;

  void add(const Primitive& p) {
    box.add(p.lower, p.upper);
    const Lanes center = p.lower + p.upper;
    centers.add(center, center);
  }
  void add(const Bounds2& other) {
    box.add(other.box);
    centers.add(other.centers);
  }
};

/// An inner node over `count` primitives: those of its left child, then those of the right one. A child of one
/// primitive is no node. Else the left one is node i + 1 of node i, and the right one i + (count of the left one).
struct BinaryNode {
  float lower[3], upper[3];
  std::uint32_t count;
  WideChoice choice;
};
static_assert(sizeof(BinaryNode) == 32);

/// What is known of primitives before they are divided.
struct Extent {
  Bounds2 bounds;
  double areas = 0;  ///< half the surface areas of their boxes

  /// The same for any number of threads.
  explicit Extent(std::span<const Primitive> primitives);

  /// Whether the boxes' areas sum to more than 32 times that of the box around them: a random ray through it then meets
  /// more than 32 boxes on average.
  [[nodiscard]] bool overlap() const;
};

/// Orders the primitives and returns the n - 1 inner nodes over n of them, in preorder. Leaves are single primitives,
/// and no node is deeper than `max_depth`, which is at least log2(n) rounded up. The choices are for leaves of up to
/// `leaf_pairs`. The result is the same for any number of threads.
[[nodiscard]] std::unique_ptr<BinaryNode[]> build_binary(RawVector<Primitive>& primitives, int max_depth,
                                                         std::uint32_t leaf_pairs);

}  // namespace raylift::bvh
