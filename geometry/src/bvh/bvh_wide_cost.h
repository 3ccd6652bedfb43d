// SPDX-License-Identifier: Apache-2.0
// Which nodes of a binary tree become the wide ones, and which subtrees become leaves, at the least expected cost: the
// dynamic programme of Ylitie, Karras, Laine, "Efficient Incoherent Ray Traversal on GPUs Through Compressed Wide BVHs"
// (HPG 2017), section 4. The builder runs it as it comes back up from the leaves, so costs are never stored.
#pragma once

#include "bvh/visit_cost.h"

#include <cstdint>
#include <limits>

namespace raylift::bvh {

inline constexpr int kWide = 8;  ///< slots of a node

using bvh_detail::kNodeCost;
using bvh_detail::kPairCost;

/// The choices made at a binary node, three bits per number of roots i = 2..8: how many of them are in the left
/// subtree, or 0 where i - 1 roots are as good. And what the subtree becomes if it has one root.
class WideChoice {
 public:
  [[nodiscard]] std::uint32_t left_roots(int i) const { return bits >> 3 * (i - 2) & 7u; }
  [[nodiscard]] bool is_leaf() const { return (bits & kLeaf) != 0; }
  void set_leaf() { bits |= kLeaf; }
  /// Whether the left subtree is a single primitive.
  [[nodiscard]] bool is_left_single() const { return (bits & kLeftSingle) != 0; }
  void set_left_single() { bits |= kLeftSingle; }

  std::uint32_t bits;

 private:
  static constexpr std::uint32_t kLeaf = 1u << 21, kLeftSingle = 1u << 22;
};

/// The least costs of a subtree as a forest of at most i roots, each a wide node or a leaf. Lanes are i: from 1 to 4,
/// and from 5 to 7 with infinity behind. Vectors throughout, as no branch may depend on costs, and a load that
/// straddles what was just stored would wait for it.
class WideCost {
 public:
  /// A single pair in a box of `area`.
  static WideCost of_pair(float area) {
    const Costs cost = Costs{} + area * kPairCost;
    return {cost, __builtin_shufflevector(cost, kNever, 0, 1, 2, 4)};
  }

  /// A node of `area` and `count` pairs over two subtrees.
  static WideCost join(float area, std::uint32_t count, std::uint32_t leaf_pairs, const WideCost& left,
                       const WideCost& right, WideChoice& choice) {
    const Shared shared = share(left, right);
    float one_root = shared.high.cost[2] + area * kNodeCost;
    const float as_leaf = area * kPairCost * static_cast<float>(count);
    if (count <= leaf_pairs && as_leaf <= one_root) {
      one_root = as_leaf;
      choice.set_leaf();
    }
    // The least of all up to i roots.
    Costs low = __builtin_shufflevector(Costs{one_root}, shared.low.cost, 0, 4, 5, 6);
    low = least(low, __builtin_shufflevector(low, kNever, 4, 0, 1, 2));
    low = least(low, __builtin_shufflevector(low, kNever, 4, 5, 0, 1));
    Costs high = {shared.low.cost[3], shared.high.cost[0], shared.high.cost[1], kNever[0]};
    high = least(high, __builtin_shufflevector(high, kNever, 4, 0, 1, 2));
    high = least(high, __builtin_shufflevector(high, kNever, 4, 5, 0, 1));
    high = least(high, __builtin_shufflevector(low, low, 3, 3, 3, 3));
    high[3] = kNever[0];
    // Divided where that costs less than one root less does; eight are what a node has, so they are always divided.
    const Roots always = {0, 0, -1, 0};
    const Roots bits =
        (shared.low.left & ~(low <= shared.low.cost)) | (shared.high.left & (~(high <= shared.high.cost) | always));
    choice.bits |= static_cast<std::uint32_t>(bits[0] | bits[1] | bits[2] | bits[3]);
    return {low, high};
  }

  WideCost() = default;

 private:
  using Costs = float __attribute__((vector_size(16)));
  using Roots = std::int32_t __attribute__((vector_size(16)));
  static constexpr float kInfinity = std::numeric_limits<float>::infinity();
  static constexpr Costs kNever = {kInfinity, kInfinity, kInfinity, kInfinity};

  /// The least cost of i roots divided among both subtrees, and how many are in the left one, as WideChoice has them.
  struct Division {
    Costs cost;
    Roots left;

    void offer(Costs other, Roots roots) {
      const Roots less = other < cost;
      cost = less ? other : cost;
      left = less ? roots : left;
    }
  };
  struct Shared {
    Division low, high;  // from 2 to 5 roots; from 6 to 8, and a lane that means nothing
  };

  WideCost(Costs low, Costs high) : low_(low), high_(high) {}

  static Costs least(Costs a, Costs b) { return a < b ? a : b; }

  static Shared share(const WideCost& left, const WideCost& right) {
    constexpr Roots kLow = {1, 1 << 3, 1 << 6, 1 << 9}, kHigh = {1 << 12, 1 << 15, 1 << 18, 0};
    const Costs a = right.low_, b = right.high_;
    Shared best{{kNever, kLow}, {kNever, kHigh}};  // one root on the left, should all costs be infinite
    // Where the left one has k roots, i roots leave i - k to the right one.
    const auto low = [&](int k, Costs rest) { best.low.offer(rest + left.low_[k - 1], kLow * k); };
    const auto high = [&](int k, Costs rest) {
      best.high.offer(rest + (k <= 4 ? left.low_[k - 1] : left.high_[k - 5]), kHigh * k);
    };
    low(1, a);
    low(2, __builtin_shufflevector(a, kNever, 4, 0, 1, 2));
    low(3, __builtin_shufflevector(a, kNever, 4, 5, 0, 1));
    low(4, __builtin_shufflevector(a, kNever, 4, 5, 6, 0));
    high(1, b);
    high(2, __builtin_shufflevector(a, b, 3, 4, 5, 6));
    high(3, __builtin_shufflevector(a, b, 2, 3, 4, 5));
    high(4, __builtin_shufflevector(a, b, 1, 2, 3, 4));
    high(5, a);
    high(6, __builtin_shufflevector(a, kNever, 4, 0, 1, 2));
    high(7, __builtin_shufflevector(a, kNever, 4, 5, 0, 1));
    return best;
  }

  Costs low_, high_;
};

}  // namespace raylift::bvh
