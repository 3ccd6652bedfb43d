// SPDX-License-Identifier: Apache-2.0
// The binary tree below a Bvh: its depth is bounded whatever the boxes are, and what its sides are expected to cost.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bvh/bvh_bins.h"
#include "bvh/bvh_sah.h"

namespace raylift {
namespace {

using bvh::BinaryNode;
using bvh::Primitive;

// A geometric series of sizes: the heuristic splits off a few at a time, so without a bound the tree is a list.
RawVector<Primitive> series(std::size_t count, double ratio, bool mirrored) {
  RawVector<Primitive> primitives;
  for (std::size_t i = 0; i < count; ++i) {
    const auto s = static_cast<float>(std::pow(ratio, static_cast<double>(i)) * 1e-18);
    Primitive p{{s, 0, 0, 0}, {s, s, s, 0}};
    if (mirrored) p = Primitive{{-s, -s, -s, 0}, {-s, 0, 0, 0}};
    p.set_number(static_cast<std::uint32_t>(i));
    primitives.push_back(p);
  }
  return primitives;
}

// The depth below the node at `index` over `count` primitives; a single primitive has no node.
int depth_of(const BinaryNode* tree, std::uint32_t index, std::uint32_t count) {
  if (count == 1) return 0;
  EXPECT_EQ(tree[index].count, count);
  const std::uint32_t left = tree[index].choice.is_left_single() ? 1 : tree[index + 1].count;
  return 1 + std::max(depth_of(tree, index + 1, left), depth_of(tree, index + left, count - left));
}

TEST(BvhSah, KeepsItsDepth) {
  for (const bool mirrored : {false, true})
    for (const std::size_t count : {2u, 3u, 16u, 17u, 60u})
      for (const int allowed : {6, 7, 12, 64}) {
        RawVector<Primitive> primitives = series(count, 4, mirrored);
        const auto tree = bvh::build_binary(primitives, allowed, 3);
        const int depth = depth_of(tree.get(), 0, static_cast<std::uint32_t>(count));
        EXPECT_LE(depth, allowed) << count << " primitives";
        if (count == 60 && allowed == 64) {
          EXPECT_GT(depth, 20) << "no list to begin with";
        }
        std::vector<bool> seen(count);
        for (const Primitive& p : primitives) seen.at(p.number()) = true;
        EXPECT_EQ(std::count(seen.begin(), seen.end(), true), static_cast<std::ptrdiff_t>(count));
      }
}

TEST(BvhSah, ExpectsLessOfALargeSideThanOfItsParts) {
  const bvh::IntLanes counts = {100, bvh::kLargeSide, 16 * bvh::kLargeSide, 0};
  const bvh::Lanes small = bvh::side_cost<false>(counts), large = bvh::side_cost<true>(counts);
  EXPECT_EQ(small[0], 100);
  EXPECT_EQ(small[2], 16 * bvh::kLargeSide);
  EXPECT_EQ(large[0], 100);
  EXPECT_EQ(large[1], bvh::kLargeSide) << "a jump";
  EXPECT_EQ(large[2], 4 * bvh::kLargeSide);
  EXPECT_EQ(large[3], 0);
}

TEST(BvhSah, TellsOverlappingBoxesFromASurface) {
  constexpr int kEdge = 100;
  std::vector<bvh::Primitive> surface, rods;
  const auto add = [&](std::vector<bvh::Primitive>& to, bvh::Lanes lower, bvh::Lanes upper) {
    to.push_back({lower, upper});
  };
  for (int i = 0; i < kEdge; ++i)
    for (int j = 0; j < kEdge; ++j) {
      const auto x = static_cast<float>(i), y = static_cast<float>(j);
      add(surface, bvh::Lanes{x, y, 0, 0}, bvh::Lanes{x + 1, y + 1, 1, 0});
      add(rods, bvh::Lanes{x, 0, 0, 0}, bvh::Lanes{x + 1, kEdge, 1, 0});  // each as long as all are wide
    }
  EXPECT_FALSE(bvh::Extent(surface).overlap());
  EXPECT_TRUE(bvh::Extent(rods).overlap());
}

}  // namespace
}  // namespace raylift
