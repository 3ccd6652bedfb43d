// SPDX-License-Identifier: Apache-2.0
// The collapse of a binary tree into compressed wide nodes.
#include "bvh_wide.h"
#include "large_vector.h"

#include <raylift/geometry/error.h>

#include <tbb/parallel_for.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace raylift::inline v0_1::bvh {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;

// A binary node, and where its primitives begin.
struct Subtree {
  std::uint32_t node, first;
};

// The subtrees that become a wide node's children, by slot.
struct Children {
  std::array<Subtree, kWide> slot;
  std::uint32_t inner;  // how many are nodes
  std::uint32_t pairs;  // how many pairs the others hold
};

// Follows the choices that were made for a node with `roots` children.
int open(const BinaryNode* tree, Subtree at, int roots, std::array<Subtree, kWide>& out, int count) {
  const BinaryNode& n = tree[at.node];
  while (roots > 1 && n.choice.left_roots(roots) == 0) --roots;
  if (roots == 1 || n.count == 1) {
    out[count] = at;
    return count + 1;
  }
  const auto left = static_cast<int>(n.choice.left_roots(roots));
  const std::uint32_t left_count = tree[at.node + 1].count;
  count = open(tree, {at.node + 1, at.first}, left, out, count);
  return open(tree, {at.node + 2 * left_count, at.first + left_count}, roots - left, out, count);
}

// Inner children get slots by their direction from the node's middle: the pair (child, slot) that agrees most comes
// first. Leaves go wherever there is room, as all pairs that a ray may hit are tested before any child.
Children gather(const BinaryNode* tree, Subtree root) {
  std::array<Subtree, kWide> found;
  const int count = open(tree, root, kWide, found, 0);
  const auto is_inner = [&](const Subtree& child) { return !tree[child.node].choice.is_leaf(); };
  const int inner =
      static_cast<int>(std::stable_partition(found.begin(), found.begin() + count, is_inner) - found.begin());
  const BinaryNode& whole = tree[root.node];
  std::array<std::array<float, 3>, kWide> offset;
  for (int i = 0; i < inner; ++i)
    for (int a = 0; a < 3; ++a)
      offset[i][a] = 0.5f * (tree[found[i].node].lower[a] + tree[found[i].node].upper[a]) -
                     0.5f * (whole.lower[a] + whole.upper[a]);
  Children result;
  result.slot.fill({kNone, 0});
  result.inner = static_cast<std::uint32_t>(inner);
  result.pairs = 0;
  std::array<bool, kWide> placed{};
  for (int round = 0; round < inner; ++round) {
    int child = -1, place = -1;
    float best = -std::numeric_limits<float>::infinity();
    for (int i = 0; i < inner; ++i) {
      if (placed[i]) continue;
      for (int s = 0; s < kWide; ++s) {
        if (result.slot[s].node != kNone) continue;
        const float agreement = (s & 1 ? offset[i][0] : -offset[i][0]) + (s & 2 ? offset[i][1] : -offset[i][1]) +
                                (s & 4 ? offset[i][2] : -offset[i][2]);
        if (child < 0 || agreement > best) {
          child = i;
          place = s;
          best = agreement;
        }
      }
    }
    placed[child] = true;
    result.slot[place] = found[child];
  }
  int slot = 0;
  for (int i = inner; i < count; ++i) {
    while (result.slot[slot].node != kNone) ++slot;
    result.slot[slot] = found[i];
    result.pairs += tree[found[i].node].count;
  }
  return result;
}

// a - b, rounded up. A double does not hold the difference of floats of very different magnitudes.
double difference_up(float a, float b) {
  const double x = a, y = -static_cast<double>(b), sum = x + y, back = sum - x;
  const double error = (x - (sum - back)) + (y - back);  // exact: Knuth's TwoSum
  return error > 0 ? std::nextafter(sum, std::numeric_limits<double>::infinity()) : sum;
}
double difference_down(float a, float b) {
  return -difference_up(b, a);
}

// The smallest power of two whose 255 steps span [lower, upper], as a biased exponent.
std::uint8_t grid_exponent(float lower, float upper) {
  const double extent = difference_up(upper, lower);
  int e = extent > 0 ? std::ilogb(extent / 255.0) : -126;
  e = std::max(e, -126);
  while (std::ceil(std::ldexp(extent, -e)) > 255.0) ++e;
  return static_cast<std::uint8_t>(e + 127);
}

BvhNode encode(const BinaryNode* tree, std::uint32_t root, const Children& children, std::uint32_t first_child,
               std::uint32_t first_pair) {
  BvhNode node{};
  const BinaryNode& whole = tree[root];
  std::array<double, 3> scale{};
  for (int a = 0; a < 3; ++a) {
    node.origin[a] = whole.lower[a];
    node.exponent[a] = grid_exponent(whole.lower[a], whole.upper[a]);
    scale[a] = std::ldexp(1.0, 127 - node.exponent[a]);  // exact
  }
  node.first_child = first_child;
  node.first_pair = first_pair;
  for (int s = 0; s < kWide; ++s) {
    for (int a = 0; a < 3; ++a) node.lower[a][s] = 255;
    const std::uint32_t child = children.slot[s].node;
    if (child == kNone) continue;
    const BinaryNode& n = tree[child];
    if (!n.choice.is_leaf()) {
      node.inner |= 1u << (4 * s);
    } else {
      node.pairs |= ((1u << n.count) - 1u) << (4 * s);
    }
    for (int a = 0; a < 3; ++a) {
      // Products are exact. Not negative, so cutting off rounds down; the child is inside of the node, so both are at
      // most 255.
      const double low = difference_down(n.lower[a], whole.lower[a]) * scale[a];
      const double high = difference_up(n.upper[a], whole.lower[a]) * scale[a];
      const int down = static_cast<int>(high);
      node.lower[a][s] = static_cast<std::uint8_t>(std::min(static_cast<int>(low), 255));
      node.upper[a][s] = static_cast<std::uint8_t>(std::min(down + (static_cast<double>(down) < high ? 1 : 0), 255));
    }
  }
  return node;
}

// One level of wide nodes after the other: the binary nodes at their roots, their children, then where those go.
WideTree collapse(const BinaryNode* tree, const RawVector<Primitive>& primitives) {
  WideTree result;
  resize_large(result.order, primitives.size());
  result.nodes.reserve(primitives.size() / 4 + 1);  // seldom more; what stays unused is never touched
  RawVector<Subtree> level{{0, 0}}, next;
  RawVector<std::uint32_t> first_child, first_pair;
  std::uint32_t pair_end = 0;
  while (!level.empty()) {
    const std::size_t n = level.size(), base = result.nodes.size();
    const auto children = make_large<Children>(n);
    first_child.resize(n);
    first_pair.resize(n);
    tbb::parallel_for(std::size_t{0}, n, [&](std::size_t i) {
      children[i] = gather(tree, level[i]);
      first_child[i] = children[i].inner;
      first_pair[i] = children[i].pairs;
    });
    std::uint32_t inner = 0;
    for (std::size_t i = 0; i < n; ++i) {
      inner += std::exchange(first_child[i], inner);
      pair_end += std::exchange(first_pair[i], pair_end);
    }
    next.resize(inner);
    if (result.nodes.capacity() >= base + n) touch(result.nodes.data() + base, n * sizeof(BvhNode));
    result.nodes.resize(base + n);
    tbb::parallel_for(std::size_t{0}, n, [&](std::size_t i) {
      result.nodes[base + i] = encode(tree, level[i].node, children[i],
                                      static_cast<std::uint32_t>(base + n) + first_child[i], first_pair[i]);
      std::uint32_t to_child = first_child[i], to_pair = first_pair[i];
      for (const Subtree& child : children[i].slot) {
        if (child.node == kNone) continue;
        const BinaryNode& c = tree[child.node];
        if (!c.choice.is_leaf()) {
          next[to_child++] = child;
          continue;
        }
        for (std::uint32_t k = child.first; k < child.first + c.count; ++k)
          result.order[to_pair++] = primitives[k].number();
      }
    });
    result.level_ends.push_back(static_cast<std::uint32_t>(result.nodes.size()));
    level.swap(next);
  }
  return result;
}

}  // namespace

WideTree build_wide(RawVector<Primitive>& primitives, std::uint32_t leaf_size) {
  if (primitives.empty()) return {};
  // A wide tree is seldom half as deep as the binary one; where it is too deep all the same, a binary tree of the depth
  // that the wide one may have settles it.
  for (const int max_depth : {2 * kBvhMaxDepth, kBvhMaxDepth}) {
    WideTree result = collapse(build_binary(primitives, max_depth, leaf_size).get(), primitives);
    if (result.level_ends.size() <= kBvhMaxDepth) return result;
  }
  throw Error(ErrorKind::limit,
              "the BVH is too deep");  // not reached: a binary tree bounds what is gathered of it
}

}  // namespace raylift::inline v0_1::bvh
