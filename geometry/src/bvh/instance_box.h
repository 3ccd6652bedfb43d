// SPDX-License-Identifier: Apache-2.0
// The box of an instance in the world, for builders of the level over instances on host and device.
#pragma once

#include <raylift/geometry/bvh/bvh_format.h>
#include <raylift/geometry/detail/arithmetic.h>

#include <cmath>

namespace raylift::bvh_detail {

using namespace arithmetic_detail;

/// Frobenius's norm of the linear part.
RAYLIFT_HD inline double norm(const Transform& a) {
  double sum = 0;
  for (int row = 0; row < 3; ++row)
    for (int k = 0; k < 3; ++k) sum += a.m[4 * row + k] * a.m[4 * row + k];
  return sqrt(sum);
}

/// By cofactors. The linear part must have an inverse.
RAYLIFT_HD inline Transform inverse(const Transform& a) {
  const double* m = a.m;
  Transform r;
  r.m[0] = m[5] * m[10] - m[6] * m[9];
  r.m[1] = m[2] * m[9] - m[1] * m[10];
  r.m[2] = m[1] * m[6] - m[2] * m[5];
  r.m[4] = m[6] * m[8] - m[4] * m[10];
  r.m[5] = m[0] * m[10] - m[2] * m[8];
  r.m[6] = m[2] * m[4] - m[0] * m[6];
  r.m[8] = m[4] * m[9] - m[5] * m[8];
  r.m[9] = m[1] * m[8] - m[0] * m[9];
  r.m[10] = m[0] * m[5] - m[1] * m[4];
  const double scale = 1 / (m[0] * r.m[0] + m[1] * r.m[4] + m[2] * r.m[8]);
  for (int row = 0; row < 3; ++row) {
    for (int k = 0; k < 3; ++k) r.m[4 * row + k] *= scale;
    r.m[4 * row + 3] = -(r.m[4 * row] * m[3] + r.m[4 * row + 1] * m[7] + r.m[4 * row + 2] * m[11]);
  }
  return r;
}

struct InstanceBox {
  double lower[3], upper[3];

  [[nodiscard]] RAYLIFT_HD double reach() const {  // the largest coordinate
    double most = 0;
    for (int a = 0; a < 3; ++a) most = fmax(most, fmax(fabs(lower[a]), fabs(upper[a])));
    return most;
  }
  RAYLIFT_HD void enlarge(double by) {
    for (int a = 0; a < 3; ++a) {
      lower[a] -= by;
      upper[a] += by;
    }
  }
};

/// Adds the box of a node's slot, moved to the world.
RAYLIFT_HD inline void add_slot(InstanceBox& world, const BvhNode& node, int slot, const Transform& to_world) {
  double center[3], half[3];
  for (int a = 0; a < 3; ++a) {
    const double step = static_cast<double>(as_float(static_cast<std::uint32_t>(node.exponent[a]) << 23));
    half[a] = 0.5 * (node.upper[a][slot] - node.lower[a][slot]) * step;
    center[a] = static_cast<double>(node.origin[a]) + node.lower[a][slot] * step + half[a];
  }
  for (int a = 0; a < 3; ++a) {
    const double* row = to_world.m + 4 * a;
    const double at = row[0] * center[0] + row[1] * center[1] + row[2] * center[2] + row[3];
    const double extent = fabs(row[0]) * half[0] + fabs(row[1]) * half[1] + fabs(row[2]) * half[2];
    world.lower[a] = fmin(world.lower[a], at - extent);
    world.upper[a] = fmax(world.upper[a], at + extent);
  }
}

/// The box of what hangs below a node of a mesh's tree, in the world: of the boxes of the node's children and
/// grandchildren, each moved on its own. That is tighter than the box of the moved box of all.
RAYLIFT_HD inline InstanceBox box_in_world(const BvhNode* nodes, std::uint32_t root, const Transform& to_world) {
  InstanceBox world;
  for (int a = 0; a < 3; ++a) {
    world.lower[a] = 1e300;
    world.upper[a] = -1e300;
  }
  const BvhNode& top = nodes[root];
  std::uint32_t child = top.first_child;
  for (int s = 0; s < 8; ++s) {
    if (top.is_empty(s)) continue;
    if (!top.is_inner(s)) {
      add_slot(world, top, s, to_world);
      continue;
    }
    const BvhNode& below = nodes[child++];
    for (int t = 0; t < 8; ++t)
      if (!below.is_empty(t)) add_slot(world, below, t, to_world);
  }
  return world;
}

/// How far rounding can move a ray on its way into the mesh's frame, felt in the world, for rays that start within
/// `reach` of the origin on each axis; see in_mesh in detail/ray_node.h. Rays that start farther off carry their own
/// share, which is enough for rotations; what distorts gets enough for rays from 64 times as far.
RAYLIFT_HD inline double frame_slack(const Transform& to_world, const Transform& to_mesh, double reach) {
  const double condition = norm(to_world) * norm(to_mesh);  // 3 for a rotation
  return reach * condition * (condition < 3.5 ? 0x1p-20 : 0x1p-14);
}

RAYLIFT_HD inline float rounded_down(double x) {
  const auto f = static_cast<float>(x);
  return static_cast<double>(f) > x ? nextafterf(f, -INFINITY) : f;
}
RAYLIFT_HD inline float rounded_up(double x) {
  return -rounded_down(-x);
}

}  // namespace raylift::bvh_detail
