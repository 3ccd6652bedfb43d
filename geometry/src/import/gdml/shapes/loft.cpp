// SPDX-License-Identifier: Apache-2.0
#include "loft.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace raylift::gdml {
namespace {

/// One vertex for all at the same place, and no triangle between fewer than three of them.
void weld_corners(Surface& surface) {
  std::map<std::array<double, 3>, std::uint32_t> places;
  std::vector<std::uint32_t> renamed;
  std::vector<Double3> vertices;
  for (const Double3& v : surface.vertices) {
    const auto [place, fresh] =
        places.try_emplace({v.x + 0, v.y + 0, v.z + 0}, static_cast<std::uint32_t>(vertices.size()));
    if (fresh) vertices.push_back(v);
    renamed.push_back(place->second);
  }
  surface.vertices = std::move(vertices);
  for (UInt3& t : surface.triangles) t = {renamed[t.x], renamed[t.y], renamed[t.z]};
  std::erase_if(surface.triangles, [](const UInt3& t) { return t.x == t.y || t.y == t.z || t.z == t.x; });
}

/// Adds the triangles of a ring whose first vertex is `first`. A ring that is a line has none.
void add_loft_end(Surface& surface, const Polygon& corners, std::uint32_t first, bool upward) {
  Polygon distinct;
  std::vector<std::uint32_t> vertices;
  const auto same = [](const Point2& a, const Point2& b) { return a.x == b.x && a.y == b.y; };
  double around = 0;
  for (std::size_t i = 0; i != corners.size(); ++i) {
    const Point2& next = corners[(i + 1) % corners.size()];
    if (same(corners[i], next)) continue;
    around += std::hypot(next.x - corners[i].x, next.y - corners[i].y);
    distinct.push_back(corners[i]);
    vertices.push_back(first + static_cast<std::uint32_t>(i));
  }
  constexpr double kNoArea = 1e-14;
  if (signed_area(distinct) <= kNoArea * around * around) return;
  for (const UInt3& t : triangulate_polygon(distinct))
    surface.triangles.push_back(upward ? UInt3{vertices[t.x], vertices[t.y], vertices[t.z]}
                                       : UInt3{vertices[t.x], vertices[t.z], vertices[t.y]});
}

void add_loft_side(Surface& surface, std::uint32_t a, std::uint32_t b, std::uint32_t above_a, std::uint32_t above_b,
                   bool other_diagonal) {
  if (other_diagonal) {
    surface.triangles.push_back({a, b, above_a});
    surface.triangles.push_back({b, above_b, above_a});
  } else {
    surface.triangles.push_back({a, b, above_b});
    surface.triangles.push_back({a, above_b, above_a});
  }
}

}  // namespace

Point2 between(const Point2& a, const Point2& b, std::uint32_t i, std::uint32_t n) {
  const double to_a = n - i, to_b = i;
  return {(to_a * a.x + to_b * b.x) / n, (to_a * a.y + to_b * b.y) / n};
}

Surface loft(std::vector<Ring> rings, bool warped) {
  // By the section at half height, as an end may be a line.
  Polygon middle;
  for (std::size_t i = 0; i != rings.front().corners.size(); ++i)
    middle.push_back(between(rings.front().corners[i], rings.back().corners[i], 1, 2));
  if (signed_area(middle) < 0)
    for (Ring& ring : rings) std::reverse(ring.corners.begin(), ring.corners.end());
  Surface surface;
  const auto n = static_cast<std::uint32_t>(rings.front().corners.size());
  for (const Ring& ring : rings)
    for (const Point2& corner : ring.corners) surface.vertices.emplace_back(corner.x, corner.y, ring.z);
  const auto levels = static_cast<std::uint32_t>(rings.size());
  for (std::uint32_t level = 0; level + 1 != levels; ++level)
    for (std::uint32_t i = 0; i != n; ++i) {
      const std::uint32_t a = level * n + i, b = level * n + (i + 1) % n;
      add_loft_side(surface, a, b, a + n, b + n, warped && (level + i) % 2 == 1);
    }
  add_loft_end(surface, rings.front().corners, 0, false);
  add_loft_end(surface, rings.back().corners, (levels - 1) * n, true);
  weld_corners(surface);
  return surface;
}

}  // namespace raylift::gdml
