// SPDX-License-Identifier: Apache-2.0
// Checks of a whole BVH against its format, whoever built it.
#pragma once

#include <gtest/gtest.h>
#include <raylift/geometry/bvh/bvh.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "exact_oracle.h"
#include "triangles_and_rays.h"

namespace raylift::test {

struct ExactBox {
  std::array<double, 3> lower{1e300, 1e300, 1e300}, upper{-1e300, -1e300, -1e300};

  void add(const ExactBox& box) {
    for (int a = 0; a < 3; ++a) {
      lower[a] = std::min(lower[a], box.lower[a]);
      upper[a] = std::max(upper[a], box.upper[a]);
    }
  }
  void add(double x, double y, double z) { add(ExactBox{{x, y, z}, {x, y, z}}); }
};

// The sign of a node's plane minus a coordinate. Rounding is monotone, so in double it is right or zero.
inline int plane_side(const bvh_detail::BvhNode& node, int axis, std::uint8_t q, double at) {
  const double offset = q * std::ldexp(1.0, node.exponent[axis] - 127), plane = node.origin[axis] + offset;
  if (plane != at) return plane > at ? 1 : -1;
  ExactSum sum;
  for (const double term : {static_cast<double>(node.origin[axis]), offset, -at}) sum.add(term);
  return sum.sign();
}

inline void expect_slot_holds(const bvh_detail::BvhNode& node, int slot, const ExactBox& box) {
  for (int a = 0; a < 3; ++a) {
    EXPECT_LE(plane_side(node, a, node.lower[a][slot], box.lower[a]), 0) << "axis " << a << ", slot " << slot;
    EXPECT_GE(plane_side(node, a, node.upper[a][slot], box.upper[a]), 0) << "axis " << a << ", slot " << slot;
  }
}

/// Walks a mesh's tree, or a part of it, and checks what bvh_format.h promises: each box contains what is in it,
/// vertices are copied bit for bit, empty slots are marked as such, numbers are in range. Triangles of the mesh are
/// numbered from `first_triangle` on.
class BvhWalker {
 public:
  BvhWalker(const BvhView& bvh, const Triangles& mesh, std::uint32_t first_triangle = 0)
      : bvh_(bvh),
        mesh_(mesh),
        first_triangle_(first_triangle),
        seen_(mesh.triangles.size(), 0),
        reached_(bvh.node_count, 0) {}

  /// Returns the exact box of what is below a node. `level` counts from 1.
  ExactBox walk(std::uint32_t index, std::size_t level) {
    ExactBox whole;
    if (index >= bvh_.node_count || reached_[index]++ != 0 || level > kBvhMaxDepth) {
      ADD_FAILURE() << "node " << index << " at level " << level << " is out of range or reached twice";
      return whole;
    }
    last_.resize(std::max(last_.size(), level), 0);
    last_[level - 1] = std::max(last_[level - 1], index);
    const bvh_detail::BvhNode& node = bvh_.nodes[index];
    EXPECT_EQ(node.inner & ~0x11111111u, 0U);
    for (const std::uint8_t exponent : node.exponent) EXPECT_GT(exponent, 0);
    std::uint32_t child = node.first_child, pair = node.first_pair;
    for (int s = 0; s < 8; ++s) {
      if (node.is_empty(s)) {
        for (int a = 0; a < 3; ++a) EXPECT_TRUE(node.lower[a][s] == 255 && node.upper[a][s] == 0);
        continue;
      }
      SCOPED_TRACE(index);
      ExactBox box;
      if (node.is_inner(s)) {
        EXPECT_EQ(node.pair_bits(s), 0U);
        box = walk(child++, level + 1);
      } else {
        const std::uint32_t bits = node.pair_bits(s);
        EXPECT_TRUE(bits == 1 || bits == 3 || bits == 7 || bits == 15);
        for (std::uint32_t k = 0; bits >> k & 1; ++k) add_pair(pair++, box);
        most_pairs_ = std::max(most_pairs_, std::popcount(bits));
      }
      expect_slot_holds(node, s, box);
      whole.add(box);
    }
    return whole;
  }

  /// That each triangle was seen in one pair.
  void expect_all_seen() const {
    for (std::size_t i = 0; i < seen_.size(); ++i) ASSERT_EQ(seen_[i], 1) << "triangle " << i;
  }
  [[nodiscard]] std::size_t pairs() const { return pairs_; }
  [[nodiscard]] int most_pairs() const { return most_pairs_; }  ///< of a leaf
  [[nodiscard]] const std::vector<int>& reached() const { return reached_; }
  /// By level: the highest number of a node.
  [[nodiscard]] const std::vector<std::uint32_t>& last_of_levels() const { return last_; }
  /// All vertices met since the last call.
  [[nodiscard]] std::vector<Float3> take_points() { return std::exchange(points_, {}); }

 private:
  void add_pair(std::uint32_t index, ExactBox& box) {
    ++pairs_;
    if (index >= bvh_.pair_count) {
      ADD_FAILURE() << "pair " << index << " is out of range";
      return;
    }
    const bvh_detail::TrianglePair& pair = bvh_.pairs[index];
    const int corners[2][3] = {{0, 1, 2}, {2, 1, 3}};
    for (int which = 0; which < 2; ++which) {
      const std::uint32_t id = bvh_.ids[index].triangle[which];
      if (id == kNoTriangle) {
        EXPECT_EQ(which, 1);
        EXPECT_EQ(0, std::memcmp(pair.vertex[2], pair.vertex[3], sizeof pair.vertex[2]));
        continue;
      }
      const std::uint32_t triangle = (id >> 2) - first_triangle_;
      if (triangle >= seen_.size() || (id & 3u) == 3) {
        ADD_FAILURE() << "pair " << index << " names triangle " << (id >> 2) << ", turned by " << (id & 3u);
        continue;
      }
      ++seen_[triangle];
      const UInt3 t = mesh_.triangles[triangle];
      const std::uint32_t own[3] = {t.x, t.y, t.z};
      for (std::uint32_t k = 0; k < 3; ++k) {
        const Float3& v = mesh_.vertices[own[(k + (id & 3u)) % 3]];
        const float* stored = pair.vertex[corners[which][k]];
        EXPECT_EQ(0, std::memcmp(stored, &v, sizeof v)) << "pair " << index;
        box.add(stored[0], stored[1], stored[2]);
        points_.push_back({stored[0], stored[1], stored[2]});
      }
    }
  }

  const BvhView bvh_;
  const Triangles& mesh_;
  std::uint32_t first_triangle_;
  std::vector<int> seen_, reached_;
  std::vector<std::uint32_t> last_;
  std::vector<Float3> points_;
  std::size_t pairs_ = 0;
  int most_pairs_ = 0;
};

/// Checks a mesh's tree: what BvhWalker does; also that each node has one parent, and that levels end where they are
/// said to.
inline void expect_sound(const Bvh& bvh, const Triangles& mesh, std::uint32_t leaf_pairs = kBvhMaxLeafPairs) {
  ASSERT_EQ(bvh.nodes.empty(), mesh.triangles.empty());
  ASSERT_EQ(bvh.ids.size(), bvh.pairs.size());
  if (bvh.nodes.empty()) return;
  BvhWalker walker(bvh.view(), mesh);
  (void)walker.walk(0, 1);
  walker.expect_all_seen();
  for (std::size_t i = 0; i < bvh.nodes.size(); ++i) ASSERT_EQ(walker.reached()[i], 1) << "node " << i;
  EXPECT_EQ(walker.pairs(), bvh.pairs.size());
  EXPECT_LE(walker.most_pairs(), static_cast<int>(leaf_pairs));
  const std::vector<std::uint32_t>& last = walker.last_of_levels();
  ASSERT_EQ(bvh.level_ends.size(), last.size());
  for (std::size_t level = 0; level < last.size(); ++level) EXPECT_EQ(bvh.level_ends[level], last[level] + 1);
}

}  // namespace raylift::test
