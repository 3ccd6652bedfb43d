// SPDX-License-Identifier: Apache-2.0
// The solid around a point, in double, for host and device: see media_walk.h.
#pragma once

#include <cmath>

#include "bench/double_vec.h"
#include "media_walk.h"

namespace raylift::bench {

RAYLIFT_HD inline Vec cross_product(Vec a, Vec b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
RAYLIFT_HD inline Vec to_double(const FinePoint& p) {
  return to_double(p.point) + to_double(p.rest);
}

/// Where a point lies against one solid.
enum class Side : std::uint32_t { outside, inside, near };

RAYLIFT_HD inline Side side_of(double distance, double tolerance) {
  return distance > tolerance ? Side::outside : distance < -tolerance ? Side::inside : Side::near;
}

RAYLIFT_HD inline Side side_of_box(const WalkSolid& box, Vec p, double tolerance) {
  const double x = fabs(p.x) - box.size[0], y = fabs(p.y) - box.size[1], z = fabs(p.z) - box.size[2];
  return side_of(fmax(x, fmax(y, z)), tolerance);
}

// A longitude-latitude sphere is convex, and its cells are plane. Seen along a cell's middle meridian, and stretched
// across the axis so that the vertices' meridians come to lie there, its profile is a regular polygon.
RAYLIFT_HD inline Side side_of_sphere(const WalkSolid& sphere, Vec p, double tolerance) {
  const double pi = 3.14159265358979323846;
  const double radius = sphere.size[0], square = dot(p, p);
  if (square > (radius + tolerance) * (radius + tolerance)) return Side::outside;
  const double around = 2 * pi / sphere.segments, step = around;
  const double sag = cos(around / 2);
  if (square < (radius * sag * sag - tolerance) * (radius * sag * sag - tolerance)) return Side::inside;
  const double phi = (floor(atan2(p.y, p.x) / around) + 0.5) * around;
  const double across = (p.x * cos(phi) + p.y * sin(phi)) / sag;
  const double theta = (floor(atan2(across, p.z) / step) + 0.5) * step;
  return side_of(across * sin(theta) + p.z * cos(theta) - radius * cos(step / 2), tolerance);
}

RAYLIFT_HD inline bool near_triangle(Vec p, Vec a, Vec b, Vec c, double tolerance) {
  const Vec normal = cross_product(b - a, c - a);
  const double length = sqrt(dot(normal, normal));
  if (!(length > 0)) return false;
  if (fabs(dot(normal, p - a)) > tolerance * length) return false;
  // In the triangle's plane: within the tolerance of each edge's inner side.
  const auto inner = [&](Vec u, Vec v) {
    const Vec along = v - u, inward = cross_product(normal, along);
    return dot(inward, p - u) > -tolerance * sqrt(dot(inward, inward));
  };
  return inner(a, b) && inner(b, c) && inner(c, a);
}

RAYLIFT_HD inline bool crosses_triangle(Vec p, Vec d, Vec a, Vec b, Vec c) {
  const Vec e = b - a, f = c - a, h = cross_product(d, f);
  const double det = dot(e, h);
  if (det == 0) return false;
  const Vec s = p - a;
  const double u = dot(s, h) / det;
  const Vec q = cross_product(s, e);
  const double v = dot(d, q) / det;
  return u >= 0 && v >= 0 && u + v <= 1 && dot(f, q) / det > 0;
}

// The majority of the parities along three directions.
RAYLIFT_HD inline Side side_of_mesh(const WalkOracle& oracle, const WalkMesh& mesh, Vec p, double tolerance) {
  const double square = dot(p, p), inner = mesh.inner - tolerance, outer = mesh.outer + tolerance;
  if (square > outer * outer) return Side::outside;
  if (inner > 0 && square < inner * inner) return mesh.origin_inside != 0 ? Side::inside : Side::outside;
  const Vec directions[3] = {{0.8018374, 0.2671923, 0.5344721}, {-0.3313, 0.9177, -0.2191}, {0.1271, -0.4409, -0.8887}};
  std::uint32_t crossings[3] = {0, 0, 0};
  for (std::uint32_t i = 0; i < mesh.triangle_count; ++i) {
    const UInt3 t = oracle.triangles[mesh.first_triangle + i];
    const Vec a = to_double(oracle.vertices[t.x]), b = to_double(oracle.vertices[t.y]),
              c = to_double(oracle.vertices[t.z]);
    if (near_triangle(p, a, b, c, tolerance)) return Side::near;
    for (int k = 0; k < 3; ++k) crossings[k] += crosses_triangle(p, directions[k], a, b, c) ? 1 : 0;
  }
  return crossings[0] % 2 + crossings[1] % 2 + crossings[2] % 2 >= 2 ? Side::inside : Side::outside;
}

RAYLIFT_HD inline Side side_of_solid(const WalkOracle& oracle, const WalkSolid& solid, Vec p) {
  const double* m = solid.to_solid;
  const Vec at{m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3], m[4] * p.x + m[5] * p.y + m[6] * p.z + m[7],
               m[8] * p.x + m[9] * p.y + m[10] * p.z + m[11]};
  switch (solid.shape) {
    case SolidShape::box:
      return side_of_box(solid, at, oracle.tolerance);
    case SolidShape::sphere:
      return side_of_sphere(solid, at, oracle.tolerance);
    default:
      return side_of_mesh(oracle, oracle.meshes[solid.mesh], at, oracle.tolerance);
  }
}

/// The innermost solid around a point, or whether it lies too near to a surface to be determined.
struct MediumAt {
  std::uint32_t solid;
  bool near;
};

RAYLIFT_HD inline MediumAt medium_at(const WalkOracle& oracle, Vec p) {
  MediumAt medium{kNoSolid, false};
  const auto look = [&](std::uint32_t id) {
    const WalkSolid& solid = oracle.solids[id];
    const Side side = side_of_solid(oracle, solid, p);
    if (side == Side::near) medium.near = true;
    if (side != Side::inside) return;
    if (medium.solid == kNoSolid || solid.depth > oracle.solids[medium.solid].depth) medium.solid = id;
  };
  for (std::uint32_t i = 0; i < oracle.always_count && !medium.near; ++i) look(oracle.always[i]);
  const WalkGrid& grid = oracle.grid;
  if (grid.begin == nullptr || medium.near) return medium;
  const double x = floor((p.x - grid.origin[0]) / grid.cell), y = floor((p.y - grid.origin[1]) / grid.cell),
               z = floor((p.z - grid.origin[2]) / grid.cell);
  if (!(x >= 0 && y >= 0 && z >= 0 && x < grid.size[0] && y < grid.size[1] && z < grid.size[2])) return medium;
  const std::size_t cell = (static_cast<std::size_t>(z) * grid.size[1] + static_cast<std::size_t>(y)) * grid.size[0] +
                           static_cast<std::size_t>(x);
  for (std::uint32_t i = grid.begin[cell]; i < grid.begin[cell + 1] && !medium.near; ++i) look(grid.solids[i]);
  return medium;
}

}  // namespace raylift::bench
