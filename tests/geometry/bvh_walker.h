// SPDX-License-Identifier: Apache-2.0
// Checks of a whole hierarchy against its format, whoever built it.
#pragma once

#include <gtest/gtest.h>
#include <raylift/geometry/bvh.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "bvh_scenes.h"

namespace raylift::test {

/// Checks everything that bvh_format.h promises of a mesh's tree: each box contains what is in it, each triangle stands
/// in one pair, vertices are copied bit for bit, children and pairs are numbered in the order of their slots, each node
/// has one parent, levels end where they are said to.
class BvhWalker {
 public:
  BvhWalker(const Bvh& bvh, const Triangles& mesh)
      : bvh_(bvh), mesh_(mesh), seen_(mesh.triangles.size(), 0), reached_(bvh.nodes.size(), 0) {}

  void check() {
    if (mesh_.triangles.empty()) {
      EXPECT_TRUE(bvh_.nodes.empty());
      return;
    }
    ASSERT_FALSE(bvh_.nodes.empty());
    ASSERT_EQ(bvh_.ids.size(), bvh_.pairs.size());
    (void)walk(0, 1);
    if (::testing::Test::HasFatalFailure()) return;
    for (std::size_t i = 0; i < reached_.size(); ++i) ASSERT_EQ(reached_[i], 1) << "node " << i;
    for (std::size_t i = 0; i < seen_.size(); ++i) ASSERT_EQ(seen_[i], 1) << "triangle " << i;
    EXPECT_EQ(pairs_, bvh_.pairs.size());
    EXPECT_LE(depth_, kBvhMaxDepth);
    ASSERT_EQ(bvh_.level_ends.size(), depth_);
    for (std::size_t level = 0; level < depth_; ++level)
      EXPECT_EQ(bvh_.level_ends[level], last_[level] + 1) << "level " << level;
  }

 private:
  struct Box {
    std::array<double, 3> lower{1e300, 1e300, 1e300}, upper{-1e300, -1e300, -1e300};
  };

  // Returns the exact box of what is below a node.
  Box walk(std::uint32_t index, std::size_t depth) {
    Box whole;
    if (index >= bvh_.nodes.size() || reached_[index]++ != 0 || depth > kBvhMaxDepth) {
      ADD_FAILURE() << "node " << index << " at level " << depth << " is out of range or reached twice";
      return whole;
    }
    depth_ = std::max(depth_, depth);
    last_.resize(depth_, 0);
    last_[depth - 1] = std::max(last_[depth - 1], index);
    const BvhNode& node = bvh_.nodes[index];
    EXPECT_EQ(node.inner & ~0x11111111u, 0U);
    for (const std::uint8_t exponent : node.exponent) EXPECT_GT(exponent, 0);
    std::uint32_t child = node.first_child, pair = node.first_pair;
    for (int s = 0; s < 8; ++s) {
      if (node.is_empty(s)) {
        for (int a = 0; a < 3; ++a) EXPECT_TRUE(node.lower[a][s] == 255 && node.upper[a][s] == 0);
        continue;
      }
      Box box;
      if (node.is_inner(s)) {
        EXPECT_EQ(node.pair_bits(s), 0U);
        box = walk(child++, depth + 1);
      } else {
        const std::uint32_t bits = node.pair_bits(s);
        EXPECT_TRUE(bits == 1 || bits == 3 || bits == 7 || bits == 15);
        for (std::uint32_t k = 0; bits >> k & 1; ++k) add_pair(pair++, box);
      }
      for (int a = 0; a < 3; ++a) {
        const double step = std::ldexp(1.0, node.exponent[a] - 127);
        EXPECT_LE(node.origin[a] + node.lower[a][s] * step, box.lower[a]) << "node " << index << ", slot " << s;
        EXPECT_GE(node.origin[a] + node.upper[a][s] * step, box.upper[a]) << "node " << index << ", slot " << s;
        whole.lower[a] = std::min(whole.lower[a], box.lower[a]);
        whole.upper[a] = std::max(whole.upper[a], box.upper[a]);
      }
    }
    return whole;
  }

  void add_pair(std::uint32_t index, Box& box) {
    ++pairs_;
    if (index >= bvh_.pairs.size()) {
      ADD_FAILURE() << "pair " << index << " is out of range";
      return;
    }
    const TrianglePair& pair = bvh_.pairs[index];
    const int corners[2][3] = {{0, 1, 2}, {2, 1, 3}};
    for (int which = 0; which < 2; ++which) {
      const std::uint32_t id = bvh_.ids[index].triangle[which];
      if (id == kNoTriangle) {
        EXPECT_EQ(which, 1);
        EXPECT_EQ(0, std::memcmp(pair.vertex[2], pair.vertex[3], sizeof pair.vertex[2]));
        continue;
      }
      if (id >> 2 >= seen_.size() || (id & 3u) == 3) {
        ADD_FAILURE() << "pair " << index << " names triangle " << (id >> 2) << ", turned by " << (id & 3u);
        continue;
      }
      ++seen_[id >> 2];
      const uint3 t = mesh_.triangles[id >> 2];
      const std::uint32_t own[3] = {t.x, t.y, t.z};
      for (std::uint32_t k = 0; k < 3; ++k) {
        const float3& v = mesh_.vertices[own[(k + (id & 3u)) % 3]];
        const float* stored = pair.vertex[corners[which][k]];
        EXPECT_EQ(0, std::memcmp(stored, &v, sizeof v)) << "pair " << index;
        for (int a = 0; a < 3; ++a) {
          box.lower[a] = std::min<double>(box.lower[a], stored[a]);
          box.upper[a] = std::max<double>(box.upper[a], stored[a]);
        }
      }
    }
  }

  const Bvh& bvh_;
  const Triangles& mesh_;
  std::vector<int> seen_, reached_;
  std::vector<std::uint32_t> last_;  // by level: the highest number of a node
  std::size_t pairs_ = 0;
  std::size_t depth_ = 0;
};

inline void expect_sound(const Bvh& bvh, const Triangles& mesh) {
  BvhWalker(bvh, mesh).check();
}

}  // namespace raylift::test
