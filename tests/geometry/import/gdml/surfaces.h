// SPDX-License-Identifier: Apache-2.0
// What tests ask of a closed surface: its edges, area, and which points lie in it.
#pragma once

#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "import/gdml/shapes/solid.h"

namespace raylift::test {

/// Edges that are not used exactly once in each direction.
inline std::size_t open_edges(const gdml::Surface& surface) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> uses;
  for (const UInt3& t : surface.triangles)
    for (const auto& [a, b] : {std::pair(t.x, t.y), std::pair(t.y, t.z), std::pair(t.z, t.x)}) ++uses[{a, b}];
  std::size_t open = 0;
  for (const auto& [edge, times] : uses) {
    const auto back = uses.find({edge.second, edge.first});
    if (times != 1 || back == uses.end() || back->second != 1) ++open;
  }
  return open;
}

inline Eigen::Vector3d twice_area(const gdml::Surface& surface, const UInt3& t) {
  const Eigen::Vector3d a = to_eigen(surface.vertices[t.x]);
  return (to_eigen(surface.vertices[t.y]) - a).cross(to_eigen(surface.vertices[t.z]) - a);
}

inline double surface_area(const gdml::Surface& surface) {
  double sum = 0;
  for (const UInt3& t : surface.triangles) sum += twice_area(surface, t).norm() / 2;
  return sum;
}

/// By divergence, about the origin: apart from the code's own sum.
inline double surface_volume(const gdml::Surface& surface) {
  double sum = 0;
  for (const UInt3& t : surface.triangles)
    sum +=
        twice_area(surface, t).z() * (surface.vertices[t.x].z + surface.vertices[t.y].z + surface.vertices[t.z].z) / 6;
  return sum;
}

/// The least height of a triangle as a part of the surface's extent.
inline double thinnest_triangle(const gdml::Surface& surface) {
  Eigen::AlignedBox3d box;
  for (const Double3& v : surface.vertices) box.extend(to_eigen(v));
  double least = 1;
  for (const UInt3& t : surface.triangles) {
    const Eigen::Vector3d a = to_eigen(surface.vertices[t.x]), b = to_eigen(surface.vertices[t.y]),
                          c = to_eigen(surface.vertices[t.z]);
    const double longest = std::max({(b - a).norm(), (c - b).norm(), (a - c).norm()});
    least = std::min(least, twice_area(surface, t).norm() / longest / box.diagonal().norm());
  }
  return least;
}

/// Says which points a surface has inside.
class InsideSurface {
 public:
  explicit InsideSurface(const gdml::Surface& surface) : surface_(surface) {
    for (const Double3& v : surface.vertices) box_.extend(to_eigen(v));
    for (const UInt3& t : surface.triangles) {
      const auto [low, high] = std::minmax({surface.vertices[t.x].x, surface.vertices[t.y].x, surface.vertices[t.z].x});
      for (std::size_t i = slab(low); i <= slab(high); ++i) slabs_[i].push_back(t);
    }
  }

  [[nodiscard]] const Eigen::AlignedBox3d& box() const { return box_; }

  /// How often a ray upward leaves the solid more than it enters: 1 inside, 0 outside.
  [[nodiscard]] int windings(const Eigen::Vector3d& p) const {
    int sum = 0;
    for (const UInt3& t : slabs_[slab(p.x())]) {
      const Double3 &a = surface_.vertices[t.x], &b = surface_.vertices[t.y], &c = surface_.vertices[t.z];
      const auto side = [&](const Double3& from, const Double3& to) {
        return (to.x - from.x) * (p.y() - from.y) - (to.y - from.y) * (p.x() - from.x);
      };
      const double u = side(b, c), v = side(c, a), w = side(a, b);
      if ((u > 0) != (v > 0) || (v > 0) != (w > 0)) continue;
      const double z = (u * a.z + v * b.z + w * c.z) / (u + v + w);
      if (z > p.z()) sum += u > 0 ? 1 : -1;
    }
    return sum;
  }

 private:
  static constexpr std::size_t kSlabs = 64;
  [[nodiscard]] std::size_t slab(double x) const {
    const double part = (x - box_.min().x()) / box_.sizes().x() * kSlabs;
    return static_cast<std::size_t>(std::clamp(part, 0., kSlabs - 1.));
  }

  const gdml::Surface& surface_;
  Eigen::AlignedBox3d box_;
  std::array<std::vector<UInt3>, kSlabs> slabs_;  // triangles by x
};

}  // namespace raylift::test
