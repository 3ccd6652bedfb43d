// SPDX-License-Identifier: Apache-2.0
// The builder: pairs of triangles, a binary tree over them, and its collapse into compressed wide nodes.
#include <raylift/geometry/bvh.h>

#include "bvh_pairs.h"
#include "bvh_sah.h"
#include "bvh_wide.h"

#include <raylift/geometry/error.h>

#include <tbb/parallel_for.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <new>

namespace raylift {
namespace {

using bvh::BinaryNode;
using bvh::Primitive;

constexpr int kSlots = 8;
constexpr std::uint32_t kEmpty = 0xFFFFFFFFu;

// The binary nodes that become a wide node's children, by slot.
struct Children {
  std::array<std::uint32_t, kSlots> slot;
  std::uint32_t inner = 0;  // how many are nodes
  std::uint32_t pairs = 0;  // how many pairs the others hold
};

float half_area(const BinaryNode& n) {
  const float x = n.upper[0] - n.lower[0], y = n.upper[1] - n.lower[1], z = n.upper[2] - n.lower[2];
  return x * y + y * z + z * x;
}

std::uint32_t left_of(std::uint32_t node) {
  return node + 1;
}
std::uint32_t right_of(const std::vector<BinaryNode>& tree, std::uint32_t node) {
  return node + 2 * tree[left_of(node)].count;
}

// Opens the largest inner child until eight are there; what slots are left then divide the largest leaves.
Children gather(const std::vector<BinaryNode>& tree, std::uint32_t root, std::uint32_t leaf_pairs) {
  std::array<std::uint32_t, kSlots> open;
  int count = 0;
  open[count++] = root;
  while (count < kSlots) {
    int best = -1;
    bool best_inner = false;
    float best_area = -1;
    for (int i = 0; i < count; ++i) {
      const BinaryNode& n = tree[open[i]];
      const bool inner = n.count > leaf_pairs || open[i] == root;
      const float area = half_area(n);
      if (n.count > 1 && (inner > best_inner || (inner == best_inner && area > best_area))) {
        best = i;
        best_inner = inner;
        best_area = area;
      }
    }
    if (best < 0) break;
    const std::uint32_t opened = open[best];
    open[best] = left_of(opened);
    open[count++] = right_of(tree, opened);
  }

  // Slots by direction: the pair (child, slot) that agrees most comes first.
  const BinaryNode& whole = tree[root];
  std::array<std::array<float, 3>, kSlots> offset;
  for (int i = 0; i < count; ++i)
    for (int a = 0; a < 3; ++a)
      offset[i][a] =
          0.5f * (tree[open[i]].lower[a] + tree[open[i]].upper[a]) - 0.5f * (whole.lower[a] + whole.upper[a]);
  Children result;
  result.slot.fill(kEmpty);
  std::array<bool, kSlots> placed{};
  for (int round = 0; round < count; ++round) {
    int child = -1, place = -1;
    float best = -std::numeric_limits<float>::infinity();
    for (int i = 0; i < count; ++i) {
      if (placed[i]) continue;
      for (int s = 0; s < kSlots; ++s) {
        if (result.slot[s] != kEmpty) continue;
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
    result.slot[place] = open[child];
  }
  for (const std::uint32_t n : result.slot) {
    if (n == kEmpty) continue;
    if (tree[n].count > leaf_pairs)
      ++result.inner;
    else
      result.pairs += tree[n].count;
  }
  return result;
}

// The smallest power of two whose 255 steps span [lower, upper], as a biased exponent.
std::uint8_t grid_exponent(float lower, float upper) {
  const double extent = static_cast<double>(upper) - static_cast<double>(lower);
  int e = extent > 0 ? std::ilogb(extent / 255.0) : -126;
  e = std::max(e, -126);
  while (std::ceil(std::ldexp(extent, -e)) > 255.0) ++e;
  return static_cast<std::uint8_t>(e + 127);
}

BvhNode encode(const std::vector<BinaryNode>& tree, std::uint32_t root, const Children& children,
               std::uint32_t leaf_pairs, std::uint32_t first_child, std::uint32_t first_pair) {
  BvhNode node{};
  const BinaryNode& whole = tree[root];
  std::array<double, 3> step{};
  for (int a = 0; a < 3; ++a) {
    node.origin[a] = whole.lower[a];
    node.exponent[a] = grid_exponent(whole.lower[a], whole.upper[a]);
    step[a] = std::ldexp(1.0, node.exponent[a] - 127);
  }
  node.first_child = first_child;
  node.first_pair = first_pair;
  std::uint32_t offset = 0;
  for (int s = 0; s < kSlots; ++s) {
    for (int a = 0; a < 3; ++a) node.lower[a][s] = 255;
    const std::uint32_t child = children.slot[s];
    if (child == kEmpty) continue;
    const BinaryNode& n = tree[child];
    if (n.count > leaf_pairs) {
      node.inner = static_cast<std::uint8_t>(node.inner | 1u << s);
      node.meta[s] = static_cast<std::uint8_t>(1u << 5 | (24u + static_cast<std::uint32_t>(s)));
    } else {
      node.meta[s] = static_cast<std::uint8_t>(((1u << n.count) - 1u) << 5 | offset);
      offset += n.count;
    }
    for (int a = 0; a < 3; ++a) {
      const double low = (static_cast<double>(n.lower[a]) - static_cast<double>(whole.lower[a])) / step[a];
      const double high = (static_cast<double>(n.upper[a]) - static_cast<double>(whole.lower[a])) / step[a];
      node.lower[a][s] = static_cast<std::uint8_t>(std::clamp(std::floor(low), 0.0, 255.0));
      node.upper[a][s] = static_cast<std::uint8_t>(std::clamp(std::ceil(high), 0.0, 255.0));
    }
  }
  return node;
}

// One level of wide nodes after the other: the binary nodes at their roots, their children, then where those go.
bvh::WideTree collapse_tree(const std::vector<BinaryNode>& tree, const std::vector<Primitive>& primitives,
                            std::uint32_t leaf_size) {
  bvh::WideTree result;
  result.order.resize(primitives.size());
  std::vector<std::uint32_t> level{0}, next;
  std::uint32_t pair_end = 0;
  while (!level.empty()) {
    const std::size_t n = level.size(), base = result.nodes.size();
    std::vector<Children> children(n);
    tbb::parallel_for(std::size_t{0}, n, [&](std::size_t i) { children[i] = gather(tree, level[i], leaf_size); });
    std::vector<std::uint32_t> first_child(n), first_pair(n);
    std::uint32_t inner = 0;
    for (std::size_t i = 0; i < n; ++i) {
      first_child[i] = inner;
      first_pair[i] = pair_end;
      inner += children[i].inner;
      pair_end += children[i].pairs;
    }
    next.resize(inner);
    result.nodes.resize(base + n);
    tbb::parallel_for(std::size_t{0}, n, [&](std::size_t i) {
      result.nodes[base + i] = encode(tree, level[i], children[i], leaf_size,
                                      static_cast<std::uint32_t>(base + n) + first_child[i], first_pair[i]);
      std::uint32_t to_child = first_child[i], to_pair = first_pair[i];
      for (const std::uint32_t child : children[i].slot) {
        if (child == kEmpty) continue;
        const BinaryNode& c = tree[child];
        if (c.count > leaf_size) {
          next[to_child++] = child;
          continue;
        }
        for (std::uint32_t k = c.first; k < c.first + c.count; ++k) result.order[to_pair++] = primitives[k].number();
      }
    });
    result.level_ends.push_back(static_cast<std::uint32_t>(result.nodes.size()));
    level.swap(next);
  }
  return result;
}

std::vector<Primitive> make_primitives(const std::vector<PairIds>& pairs, std::span<const float3> vertices,
                                       std::span<const uint3> triangles) {
  std::vector<Primitive> primitives(pairs.size());
  tbb::parallel_for(std::size_t{0}, pairs.size(), [&](std::size_t i) {
    const TrianglePair pair = bvh::pair_vertices(vertices, triangles, pairs[i]);
    bvh::Box box;
    for (const auto& v : pair.vertex) {
      const bvh::Lanes point = {v[0], v[1], v[2], 0};
      box.add(point, point);
    }
    primitives[i] = {box.lower, box.upper};
    primitives[i].set_number(static_cast<std::uint32_t>(i));
    primitives[i].upper[3] = 0;
  });
  return primitives;
}

}  // namespace

bvh::WideTree bvh::build_wide(std::vector<Primitive>& primitives, std::uint32_t leaf_size) {
  if (primitives.empty()) return {};
  // A wide tree is seldom half as deep as the binary one; where it is too deep all the same, a binary tree of the depth
  // that the wide one may have settles it.
  for (const int max_depth : {2 * kBvhMaxDepth, kBvhMaxDepth}) {
    WideTree result = collapse_tree(build_binary(primitives, max_depth), primitives, leaf_size);
    if (result.level_ends.size() <= kBvhMaxDepth) return result;
  }
  throw Error(ErrorKind::limit,
              "the hierarchy is too deep");  // not reached: a binary tree bounds what is gathered of it
}

Bvh build_bvh(std::span<const float3> vertices, std::span<const uint3> triangles, const BvhOptions& options,
              const Progress& progress) try {
  if (options.leaf_pairs < 1 || options.leaf_pairs > kBvhMaxLeafPairs)
    throw Error(ErrorKind::usage, "leaf_pairs is not 1, 2 or 3");
  const std::vector<PairIds> pairs = bvh::pair_triangles(vertices, triangles, options.pair_triangles, progress);
  if (pairs.empty()) return {};
  const Stage stage(progress, "build", pairs.size());
  std::vector<Primitive> primitives = make_primitives(pairs, vertices, triangles);
  bvh::WideTree tree = bvh::build_wide(primitives, options.leaf_pairs);
  Bvh result;
  result.nodes = std::move(tree.nodes);
  result.level_ends = std::move(tree.level_ends);
  result.ids.resize(pairs.size());
  result.pairs.resize(pairs.size());
  tbb::parallel_for(std::size_t{0}, pairs.size(), [&](std::size_t i) {
    const PairIds ids = pairs[tree.order[i]];
    result.ids[i] = ids;
    result.pairs[i] = bvh::pair_vertices(vertices, triangles, ids);
  });
  stage.advance(pairs.size());
  return result;
} catch (const std::bad_alloc&) {
  throw Error(ErrorKind::out_of_host_memory, "no memory for building a hierarchy");
}

}  // namespace raylift
