// SPDX-License-Identifier: Apache-2.0
// Which nodes of a binary tree become the wide ones, and which subtrees become leaves, at the least expected cost: the
// dynamic programme of Ylitie, Karras, Laine, "Efficient Incoherent Ray Traversal on GPUs Through Compressed Wide BVHs"
// (HPG 2017), section 4. The builder runs it as it comes back up from the leaves, so costs are never stored.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace raylift::inline v0_1::bvh {

inline constexpr int kWide = 8;  ///< slots of a node

/// What a visit costs per area of box: a node, and a pair of triangles under a leaf.
inline constexpr float kNodeCost = 1.0f;
inline constexpr float kPairCost = 1.0f;

/// The choices made at a binary node, three bits per number of roots i = 2..8: how many of them are in the left
/// subtree, or 0 where i - 1 roots are as good. And what the subtree becomes if it has one root.
class WideChoice {
 public:
  [[nodiscard]] std::uint32_t left_roots(int i) const { return bits >> 3 * (i - 2) & 7u; }
  [[nodiscard]] bool is_leaf() const { return (bits & kLeaf) != 0; }
  void set_left_roots(int i, std::uint32_t left) { bits |= left << 3 * (i - 2); }
  void set_leaf() { bits |= kLeaf; }

  std::uint32_t bits;

 private:
  static constexpr std::uint32_t kLeaf = 1u << 21;
};

/// least[i - 1]: of a subtree as a forest of at most i roots, each a wide node or a leaf.
struct WideCost {
  std::array<float, kWide - 1> least;

  /// A single pair in a box of `area`.
  static WideCost of_pair(float area) {
    WideCost cost;
    cost.least.fill(area * kPairCost);
    return cost;
  }

  /// A node of `area` and `count` pairs over two subtrees.
  static WideCost join(float area, std::uint32_t count, std::uint32_t leaf_pairs, const WideCost& left,
                       const WideCost& right, WideChoice& choice) {
    const std::array<float, kWide + 2> shared = share(left, right, choice);  // by i: the roots divided among both
    WideCost cost;
    cost.least[0] = shared[kWide] + area * kNodeCost;
    if (count <= leaf_pairs && area * kPairCost * static_cast<float>(count) <= cost.least[0]) {
      cost.least[0] = area * kPairCost * static_cast<float>(count);
      choice.set_leaf();
    }
    for (int i = 2; i < kWide; ++i) {
      const bool fewer = cost.least[i - 2] <= shared[i];
      cost.least[i - 1] = fewer ? cost.least[i - 2] : shared[i];
      if (fewer) choice.bits &= ~(7u << 3 * (i - 2));
    }
    return cost;
  }

 private:
  using Costs = float __attribute__((vector_size(16)));
  using Roots = std::int32_t __attribute__((vector_size(16)));

  /// The least sum for each number i of roots, where `left` has k of them, and which k. Lanes are i, from 2 to 5 and
  /// from 6 on: so no branch depends on costs.
  static std::array<float, kWide + 2> share(const WideCost& left, const WideCost& right, WideChoice& choice) {
    constexpr float kNever = std::numeric_limits<float>::infinity();
    // That of j roots at j + 6; fewer than one are not possible.
    std::array<float, 16> right_cost;
    right_cost.fill(kNever);
    std::copy(right.least.begin(), right.least.end(), right_cost.begin() + 7);
    Costs best[2] = {{kNever, kNever, kNever, kNever}, {kNever, kNever, kNever, kNever}};
    Roots best_left[2] = {{1, 1, 1, 1}, {1, 1, 1, 1}};
    for (int k = 1; k < kWide; ++k)
      for (int half = 0; half < 2; ++half) {
        Costs cost;
        std::memcpy(&cost, right_cost.data() + 8 - k + 4 * half, sizeof cost);
        cost += left.least[static_cast<std::size_t>(k - 1)];
        const Roots less = cost < best[half];
        best[half] = cost < best[half] ? cost : best[half];
        best_left[half] = (best_left[half] & ~less) | (less & k);
      }
    std::array<float, kWide + 2> shared;
    for (int i = 2; i <= kWide; ++i) {
      shared[static_cast<std::size_t>(i)] = best[(i - 2) / 4][(i - 2) % 4];
      choice.set_left_roots(i, static_cast<std::uint32_t>(best_left[(i - 2) / 4][(i - 2) % 4]));
    }
    return shared;
  }
};

}  // namespace raylift::inline v0_1::bvh
