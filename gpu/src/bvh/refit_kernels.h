// SPDX-License-Identifier: Apache-2.0
// What refitting does to one node, on host and device, and the launches of its kernels.
#pragma once

#include <raylift/gpu/view.h>

#include <cstddef>
#include <cstdint>

#include "bvh_build_kernels.h"
#include "geometry/src/bvh/instance_box.h"

namespace raylift::detail {

/// The nodes of a mesh's tree that stand at one level: they follow each other.
struct NodeLevel {
  std::uint32_t begin, end;
  std::uint32_t before;  ///< nodes of the levels above
};

struct FloatBox {
  float lower[3], upper[3];

  RAYLIFT_HD void clear() {
    for (int a = 0; a < 3; ++a) {
      lower[a] = INFINITY;
      upper[a] = -INFINITY;
    }
  }
  RAYLIFT_HD void add(const FloatBox& box) {
    for (int a = 0; a < 3; ++a) {
      lower[a] = arithmetic_detail::minimum(lower[a], box.lower[a]);
      upper[a] = arithmetic_detail::maximum(upper[a], box.upper[a]);
    }
  }
  RAYLIFT_HD void add(const float (&v)[3]) {
    for (int a = 0; a < 3; ++a) {
      lower[a] = arithmetic_detail::minimum(lower[a], v[a]);
      upper[a] = arithmetic_detail::maximum(upper[a], v[a]);
    }
  }
};

/// As builders take coordinates.
RAYLIFT_HD inline bool is_in_range(const Float3& v) {
  return fabsf(v.x) <= kBvhFarthest && fabsf(v.y) <= kBvhFarthest && fabsf(v.z) <= kBvhFarthest;
}

/// Device addresses.
struct RefitInput {
  bvh_detail::BvhNode* nodes;
  bvh_detail::TrianglePair* pairs;
  const bvh_detail::PairIds* ids;
  const UInt3* triangles;
  const Float3* vertices;
  FloatBox* boxes;  ///< of the mesh's nodes, level by level
};

/// Puts a pair's vertices anew and returns their box.
RAYLIFT_HD inline FloatBox refit_pair(const RefitInput& in, std::uint32_t pair) {
  const bvh_detail::PairIds ids = in.ids[pair];
  bvh_detail::TrianglePair to;
  const auto put = [&](int k, std::uint32_t id, std::uint32_t own) {
    const UInt3 t = in.triangles[id >> 2];
    const std::uint32_t corner = (own + (id & 3u)) % 3;
    const Float3 v = in.vertices[corner == 0 ? t.x : corner == 1 ? t.y : t.z];
    to.vertex[k][0] = v.x;
    to.vertex[k][1] = v.y;
    to.vertex[k][2] = v.z;
  };
  for (int k = 0; k < 3; ++k) put(k, ids.triangle[0], static_cast<std::uint32_t>(k));
  if (ids.triangle[1] != kNoTriangle)
    put(3, ids.triangle[1], 2);
  else
    for (int a = 0; a < 3; ++a) to.vertex[3][a] = to.vertex[2][a];
  in.pairs[pair] = to;
  FloatBox box;
  box.clear();
  for (int k = 0; k < 4; ++k) box.add(to.vertex[k]);
  return box;
}

/// The smallest power of two whose 255 steps span an extent, as a biased exponent.
RAYLIFT_HD inline std::uint32_t grid_exponent(double extent) {
  const std::uint32_t bits = arithmetic_detail::as_bits(bvh_detail::rounded_up(extent / 255));
  const std::uint32_t exponent = (bits >> 23) + ((bits & 0x7FFFFFu) != 0 ? 1u : 0u);
  return exponent < 1u ? 1u : exponent;
}

/// The planes of a node's slots, and its own box, from what is below. The nodes of the level below must be done.
RAYLIFT_HD inline void refit_node(const RefitInput& in, std::uint32_t i, const NodeLevel& level,
                                  const NodeLevel& below) {
  bvh_detail::BvhNode node = in.nodes[i];
  FloatBox slots[8], whole;
  whole.clear();
  std::uint32_t child = node.first_child, pair = node.first_pair;
  for (int s = 0; s < 8; ++s) {
    slots[s].clear();
    if (node.is_empty(s)) continue;
    if (node.is_inner(s)) slots[s] = in.boxes[below.before + (child++ - below.begin)];
    for (std::uint32_t bits = node.pair_bits(s); bits != 0; bits >>= 1) slots[s].add(refit_pair(in, pair++));
    whole.add(slots[s]);
  }
  for (int a = 0; a < 3; ++a) {
    const auto origin = static_cast<double>(whole.lower[a]);
    const std::uint32_t exponent = grid_exponent(static_cast<double>(whole.upper[a]) - origin);
    const double steps = 1 / static_cast<double>(arithmetic_detail::as_float(exponent << 23));
    node.origin[a] = whole.lower[a];
    node.exponent[a] = static_cast<std::uint8_t>(exponent);
    for (int s = 0; s < 8; ++s) {
      if (node.is_empty(s)) continue;
      // Far more than what the difference is rounded by.
      constexpr double kSlack = 1e-9;
      const double low = floor((static_cast<double>(slots[s].lower[a]) - origin) * steps - kSlack);
      const double high = ceil((static_cast<double>(slots[s].upper[a]) - origin) * steps + kSlack);
      node.lower[a][s] = static_cast<std::uint8_t>(low < 0 ? 0 : low);
      node.upper[a][s] = static_cast<std::uint8_t>(high > 255 ? 255 : high);
    }
  }
  in.nodes[i] = node;
  in.boxes[level.before + (i - level.begin)] = whole;
}

}  // namespace raylift::detail

namespace raylift::cuda {

/// All are for the current device and return a cudaError_t. Sets `bad` to 1 where a vertex is not in range.
int launch_check_vertices(const Float3* vertices, std::size_t count, std::uint32_t* bad, void* stream);
int launch_put_vertices(const Float3* from, std::size_t count, Float3* to, void* stream);
/// Finds the levels of the tree below `root`, from there on; `levels` are kBvhMaxDepth, of which those that are not
/// there become empty.
int launch_find_levels(const bvh_detail::BvhNode* nodes, std::uint32_t root, detail::NodeLevel* levels, void* stream);
int launch_refit_level(const detail::RefitInput& input, const detail::NodeLevel& level, const detail::NodeLevel& below,
                       void* stream);

}  // namespace raylift::cuda
