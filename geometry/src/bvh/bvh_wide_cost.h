// SPDX-License-Identifier: Apache-2.0
// Which nodes of a binary tree become the wide ones, and which subtrees become leaves, at the least expected cost: the
// dynamic programme of Ylitie, Karras, Laine, "Efficient Incoherent Ray Traversal on GPUs Through Compressed Wide BVHs"
// (HPG 2017), section 4. The builder runs it as it comes back up from the leaves, so costs are never stored.
#pragma once

#include <array>
#include <cstdint>
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
    std::array<float, kWide + 1> shared;  // by i: the roots divided among left and right
    for (int i = 2; i <= kWide; ++i) {
      float best = std::numeric_limits<float>::infinity();
      std::uint32_t best_left = 1;
      for (int k = 1; k < i; ++k) {
        const float cost = left.least[k - 1] + right.least[i - k - 1];
        if (cost < best) {
          best = cost;
          best_left = static_cast<std::uint32_t>(k);
        }
      }
      shared[i] = best;
      choice.set_left_roots(i, best_left);
    }
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
};

}  // namespace raylift::inline v0_1::bvh
