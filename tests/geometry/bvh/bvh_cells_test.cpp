// SPDX-License-Identifier: Apache-2.0
// The levels of a tree that are divided by the cells of a grid.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "bvh/bvh_cells.h"
#include "bvh/bvh_sah.h"

namespace raylift {
namespace {

using bvh::BinaryNode;
using bvh::Bounds2;
using bvh::Box;
using bvh::Lanes;
using bvh::Primitive;

constexpr int kLevels = 128;

RawVector<Primitive> random_boxes(std::size_t count, float size) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> place(-100, 100), edge(0, size);
  RawVector<Primitive> primitives;
  for (std::size_t i = 0; i < count; ++i) {
    const Lanes lower = {place(random), place(random), 0.01f * place(random), 0};
    Primitive p{lower, lower + Lanes{edge(random), edge(random), edge(random), 0}};
    p.set_number(static_cast<std::uint32_t>(i));
    primitives.push_back(p);
  }
  return primitives;
}

bool same(Lanes a, Lanes b) {
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

bool same(const Box& a, const Box& b) {
  return same(a.lower, b.lower) && same(a.upper, b.upper);
}

// Each part holds what it says, in the order of before.
void expect_sorted(const bvh::UpperNode& node, const Primitive*& at) {
  if (!node.is_part()) {
    EXPECT_EQ(node.left->count + node.right->count, node.count);
    expect_sorted(*node.left, at);
    expect_sorted(*node.right, at);
    return;
  }
  Bounds2 bounds;
  for (std::size_t i = 0; i < node.count; ++i) {
    bounds.add(at[i]);
    if (i != 0) {
      ASSERT_LT(at[i - 1].number(), at[i].number());
    }
  }
  EXPECT_TRUE(same(bounds.box, node.bounds.box) && same(bounds.centers, node.bounds.centers));
  at += node.count;
}

TEST(BvhCells, SortPrimitivesByParts) {
  for (const std::size_t count : {std::size_t{9000}, std::size_t{200000}}) {  // on one thread, and in parallel
    const RawVector<Primitive> primitives = random_boxes(count, 1);
    const bvh::UpperLevels upper(primitives, bvh::Extent(primitives).bounds, kLevels, true);
    ASSERT_FALSE(upper.root().is_part());
    RawVector<Primitive> sorted(count);
    upper.sort(sorted.data());
    const Primitive* at = sorted.data();
    expect_sorted(upper.root(), at);
    EXPECT_EQ(at, sorted.data() + count);
    std::vector<bool> seen(count);
    for (const Primitive& p : sorted) seen.at(p.number()) = true;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), true), static_cast<std::ptrdiff_t>(count));
  }
}

TEST(BvhCells, DivideTwoClustersFarFromEachOther) {
  RawVector<Primitive> primitives = random_boxes(10000, 1);
  for (std::size_t i = 0; i < primitives.size(); i += 2) {
    primitives[i].lower += Lanes{1e6f, 0, 0, 0};
    primitives[i].upper += Lanes{1e6f, 0, 0, 0};
  }
  const bvh::UpperLevels upper(primitives, bvh::Extent(primitives).bounds, kLevels, true);
  ASSERT_FALSE(upper.root().is_part());
  EXPECT_EQ(upper.root().left->count, 5000u);
  EXPECT_LT(upper.root().left->bounds.box.upper[0], 1000);
}

TEST(BvhCells, LeaveWhatTheyDontDivide) {
  RawVector<Primitive> equal(10000, Primitive{{1, 2, 3, 0}, {2, 3, 4, 0}});
  EXPECT_TRUE(bvh::UpperLevels(equal, bvh::Extent(equal).bounds, kLevels, true).root().is_part());
  const RawVector<Primitive> boxes = random_boxes(10000, 1);
  EXPECT_TRUE(bvh::UpperLevels(boxes, bvh::Extent(boxes).bounds, 14, true).root().is_part()) << "only halves fit";
}

// Edges of cells that are no normal numbers do not grow by a tenth.
TEST(BvhCells, EndWhereCellsWouldBeDenormal) {
  for (const float step : {1e-45f, 5e-45f, 1e-42f, 1e-38f}) {
    RawVector<Primitive> grid;
    for (std::uint32_t i = 0; i != 10000; ++i) {
      const std::uint32_t column = i % 100, row = i / 100;
      const Lanes at = {step * static_cast<float>(column), step * static_cast<float>(row), 0, 0};
      grid.push_back({at, at});
      grid.back().set_number(i);
    }
    const bvh::UpperLevels upper(grid, bvh::Extent(grid).bounds, kLevels, true);
    EXPECT_EQ(upper.root().count, grid.size());
    EXPECT_NE(bvh::build_binary(grid, 64, 3), nullptr);
  }
}

// The box around `count` primitives from `first` on, all of whose nodes are as they should be.
Box expect_tree(const BinaryNode* tree, std::uint32_t index, const Primitive* first, std::uint32_t count, int levels) {
  EXPECT_GE(levels, 0);
  if (count == 1) return {first->lower, first->upper};
  const BinaryNode& node = tree[index];
  EXPECT_EQ(node.count, count);
  const std::uint32_t left = node.choice.is_left_single() ? 1 : tree[index + 1].count;
  Box box = expect_tree(tree, index + 1, first, left, levels - 1);
  box.add(expect_tree(tree, index + left, first + left, count - left, levels - 1));
  EXPECT_TRUE(same(box.lower, Lanes{node.lower[0], node.lower[1], node.lower[2], 0}));
  EXPECT_TRUE(same(box.upper, Lanes{node.upper[0], node.upper[1], node.upper[2], 0}));
  return box;
}

TEST(BvhCells, MakeTheSameTreeForAnyNumberOfThreads) {
  struct Scene {
    RawVector<Primitive> primitives;
    int max_depth;
  };
  std::vector<Scene> scenes{
      {random_boxes(200000, 1), 64}, {random_boxes(200000, 1), 19}, {random_boxes(20000, 300), 64}};
  scenes.push_back({RawVector<Primitive>(20000, Primitive{{1, 2, 3, 0}, {2, 3, 4, 0}}), 64});
  for (std::uint32_t i = 0; i < 20000; ++i) scenes.back().primitives[i].set_number(i);
  // Zeros of both signs, which are equal.
  scenes.push_back({random_boxes(400000, 1), 64});
  std::mt19937 random(3);
  for (Primitive& p : scenes.back().primitives) p.lower[2] = p.upper[2] = random() % 2 == 0 ? 0.0f : -0.0f;
  for (const Scene& scene : scenes) {
    const std::size_t n = scene.primitives.size();
    std::unique_ptr<BinaryNode[]> trees[2];
    RawVector<Primitive> orders[2];
    for (const std::size_t threads : {1, 4}) {
      const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
      RawVector<Primitive>& order = orders[threads == 1 ? 0 : 1];
      order = scene.primitives;
      trees[threads == 1 ? 0 : 1] = bvh::build_binary(order, scene.max_depth, 3);
    }
    EXPECT_EQ(std::memcmp(trees[0].get(), trees[1].get(), (n - 1) * sizeof(BinaryNode)), 0);
    EXPECT_EQ(std::memcmp(orders[0].data(), orders[1].data(), n * sizeof(Primitive)), 0);
    (void)expect_tree(trees[1].get(), 0, orders[1].data(), static_cast<std::uint32_t>(n), scene.max_depth);
  }
}

}  // namespace
}  // namespace raylift
