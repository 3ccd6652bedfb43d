// SPDX-License-Identifier: Apache-2.0
#include "closed_surface.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <unordered_map>
#include <utility>

#include "disjoint_sets.h"
#include "double3.h"

namespace raylift::gdml {
namespace closed_surface_detail {
namespace {

std::array<std::uint32_t, 3> corners(const UInt3& triangle) {
  return {triangle.x, triangle.y, triangle.z};
}
bool degenerate(const UInt3& t) {
  return t.x == t.y || t.y == t.z || t.z == t.x;
}
std::uint64_t key(std::uint32_t a, std::uint32_t b) {
  return std::uint64_t{a} << 32U | b;
}

/// The triangles at an edge from a to b, as 3 * triangle + the corner that is a; and those that have it from b to a.
struct Uses {
  std::vector<std::uint32_t> along, against;
};

/// A direction, and two that are normal to it.
struct Axes {
  Double3 u, v, along;
};
Axes axes_along(const Double3& direction) {
  Axes axes;
  const double size = length(direction);
  axes.along = {direction.x / size, direction.y / size, direction.z / size};
  const Double3& d = axes.along;
  const Double3 other = std::abs(d.x) < 0.6 ? Double3{1, 0, 0} : Double3{0, 1, 0};
  axes.u = cross(d, other);
  const double scale = 1 / length(axes.u);
  axes.u = {axes.u.x * scale, axes.u.y * scale, axes.u.z * scale};
  axes.v = cross(d, axes.u);
  return axes;
}

/// Joins triangles over their edges, as corners that are to stay one vertex.
class Separation {
 public:
  explicit Separation(Surface& surface) : surface_(surface), corners_(3 * surface.triangles.size()) {}

  void run() {
    std::unordered_map<std::uint64_t, Uses> edges;
    edges.reserve(2 * surface_.triangles.size());
    for (std::uint32_t t = 0; t < surface_.triangles.size(); ++t) {
      const auto c = corners(surface_.triangles[t]);
      for (std::uint32_t i = 0; i < 3; ++i) {
        const std::uint32_t a = c[i], b = c[(i + 1) % 3];
        Uses& uses = edges[key(std::min(a, b), std::max(a, b))];
        (a < b ? uses.along : uses.against).push_back(3 * t + i);
      }
    }
    for (const auto& [ends, uses] : edges) join(ends, uses);
    number();
  }

 private:
  static std::uint32_t next(std::uint32_t corner) { return corner - corner % 3 + (corner + 1) % 3; }

  void join_two(std::uint32_t along, std::uint32_t against) {
    corners_.join(along, next(against));
    corners_.join(next(along), against);
  }

  void join(std::uint64_t ends, const Uses& uses) {
    if (uses.along.size() == 1) {
      join_two(uses.along[0], uses.against[0]);
      return;
    }
    const Double3 &a = surface_.vertices[ends >> 32U], &b = surface_.vertices[ends & UINT32_MAX];
    const Axes axes = axes_along(minus(b, a));
    // The solid lies to the left of a triangle that is run through along the edge: the partner is the next one there.
    std::vector<std::uint32_t> free = uses.against;
    for (const std::uint32_t corner : uses.along) {
      const double own = angle(corner, a, axes);
      const auto turn = [&](std::uint32_t other) {
        const double behind = own - angle(other, a, axes);
        return behind <= 0 ? behind + 2 * std::numbers::pi : behind;
      };
      const auto nearest = std::ranges::min_element(free, {}, turn);
      join_two(corner, *nearest);
      free.erase(nearest);
    }
  }

  [[nodiscard]] double angle(std::uint32_t corner, const Double3& origin, const Axes& axes) const {
    const auto c = corners(surface_.triangles[corner / 3]);
    const Double3 out = minus(surface_.vertices[c[(corner + 2) % 3]], origin);
    return std::atan2(dot(out, axes.v), dot(out, axes.u));
  }

  void number() {
    std::vector<Double3> vertices;
    std::vector<std::uint32_t> numbers(3 * surface_.triangles.size(), UINT32_MAX);
    for (std::uint32_t t = 0; t < surface_.triangles.size(); ++t) {
      auto c = corners(surface_.triangles[t]);
      for (std::uint32_t i = 0; i < 3; ++i) {
        std::uint32_t& number = numbers[corners_.find(3 * t + i)];
        if (number == UINT32_MAX) {
          number = static_cast<std::uint32_t>(vertices.size());
          vertices.push_back(surface_.vertices[c[i]]);
        }
        c[i] = number;
      }
      surface_.triangles[t] = {c[0], c[1], c[2]};
    }
    surface_.vertices = std::move(vertices);
  }

  Surface& surface_;
  DisjointSets corners_;
};

double distance_to_segment(const Double3& p, const Double3& a, const Double3& b) {
  const Double3 ab = minus(b, a);
  const double size = dot(ab, ab);
  const double t = size > 0 ? std::clamp(dot(minus(p, a), ab) / size, 0.0, 1.0) : 0;
  return length(minus(p, plus(a, t, ab)));
}

double distance_to_triangle(const Double3& p, const Double3& a, const Double3& b, const Double3& c) {
  const Double3 normal = cross(minus(b, a), minus(c, a));
  const double size = length(normal);
  if (size > 0 && dot(cross(minus(b, a), minus(p, a)), normal) >= 0 &&
      dot(cross(minus(c, b), minus(p, b)), normal) >= 0 && dot(cross(minus(a, c), minus(p, c)), normal) >= 0)
    return std::abs(dot(minus(p, a), normal)) / size;
  return std::min({distance_to_segment(p, a, b), distance_to_segment(p, b, c), distance_to_segment(p, c, a)});
}

/// Which side of the line from a to b a point is on: +1 or -1, the same for both triangles at the edge.
int side_of(const std::vector<Double3>& vertices, std::uint32_t a, std::uint32_t b, const Double3& p) {
  const bool swapped = a > b;
  const Double3 &from = vertices[swapped ? b : a], &to = vertices[swapped ? a : b];
  const bool left = (to.x - from.x) * (p.y - from.y) - (to.y - from.y) * (p.x - from.x) >= 0;
  return left != swapped ? 1 : -1;
}

}  // namespace
}  // namespace closed_surface_detail

using closed_surface_detail::corners;
using closed_surface_detail::degenerate;

bool closed(const Surface& surface) {
  std::unordered_map<std::uint64_t, int> balance;
  balance.reserve(2 * surface.triangles.size());
  for (const UInt3& triangle : surface.triangles) {
    if (degenerate(triangle)) return false;
    const auto c = corners(triangle);
    for (std::size_t i = 0; i < 3; ++i) {
      const std::uint32_t a = c[i], b = c[(i + 1) % 3];
      balance[closed_surface_detail::key(std::min(a, b), std::max(a, b))] += a < b ? 1 : -1;
    }
  }
  return !surface.triangles.empty() && std::ranges::all_of(balance, [](const auto& edge) { return edge.second == 0; });
}

double enclosed_volume(const Surface& surface) {
  if (surface.vertices.empty()) return 0;
  const Double3& origin = surface.vertices[0];
  double sum = 0;
  for (const UInt3& t : surface.triangles) {
    const Double3 a = minus(surface.vertices[t.x], origin);
    sum += dot(a, cross(minus(surface.vertices[t.y], origin), minus(surface.vertices[t.z], origin)));
  }
  return sum / 6;
}

double area(const Surface& surface) {
  double sum = 0;
  for (const UInt3& t : surface.triangles) {
    const Double3& a = surface.vertices[t.x];
    sum += length(cross(minus(surface.vertices[t.y], a), minus(surface.vertices[t.z], a)));
  }
  return sum / 2;
}

void separate(Surface& surface) {
  closed_surface_detail::Separation(surface).run();
}

void merge_close(Surface& surface, double distance) {
  DisjointSets merging(surface.vertices.size());
  bool any = false;
  for (const UInt3& t : surface.triangles) {
    const auto c = corners(t);
    for (std::size_t i = 0; i < 3; ++i) {
      const std::uint32_t a = c[i], b = c[(i + 1) % 3];
      if (a == b || length(minus(surface.vertices[a], surface.vertices[b])) >= distance) continue;
      merging.join(a, b);
      any = true;
    }
  }
  if (!any) return;
  Surface merged{surface.vertices, {}};
  for (const UInt3& t : surface.triangles) {
    const UInt3 now{merging.find(t.x), merging.find(t.y), merging.find(t.z)};
    if (!degenerate(now)) merged.triangles.push_back(now);
  }
  if (closed(merged)) surface = std::move(merged);
}

Double3 SurfaceMembership::turned(const Double3& p) const {
  // A rotation along no axis, so that lines don't run along the edges of what is built along axes.
  return {0.74139 * p.x - 0.60177 * p.y + 0.29690 * p.z, 0.66183 * p.x + 0.55612 * p.y - 0.50263 * p.z,
          0.13732 * p.x + 0.56924 * p.y + 0.81060 * p.z};
}

std::size_t SurfaceMembership::column(double value, int axis) const {
  const double at = (value - low_[axis]) / step_[axis];
  return static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(side_ - 1)));
}

SurfaceMembership::SurfaceMembership(const Surface& surface) : surface_(surface) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  vertices_.reserve(surface.vertices.size());
  low_ = {kFar, kFar, kFar};
  Double3 high{-kFar, -kFar, -kFar};
  for (const Double3& vertex : surface.vertices) {
    vertices_.push_back(turned(vertex));
    for (int axis = 0; axis < 2; ++axis) {
      low_[axis] = std::min(low_[axis], vertices_.back()[axis]);
      high[axis] = std::max(high[axis], vertices_.back()[axis]);
    }
  }
  side_ = static_cast<std::size_t>(std::clamp(std::sqrt(static_cast<double>(surface.triangles.size())), 1.0, 300.0));
  for (int axis = 0; axis < 2; ++axis)
    step_[axis] = std::max((high[axis] - low_[axis]) / static_cast<double>(side_), 1e-300);
  cells_.resize(side_ * side_);
  for (std::uint32_t t = 0; t < surface.triangles.size(); ++t) {
    const auto c = corners(surface.triangles[t]);
    const Double3 &p = vertices_[c[0]], &q = vertices_[c[1]], &r = vertices_[c[2]];
    const std::size_t x1 = column(std::max({p.x, q.x, r.x}), 0), y1 = column(std::max({p.y, q.y, r.y}), 1);
    for (std::size_t y = column(std::min({p.y, q.y, r.y}), 1); y <= y1; ++y)
      for (std::size_t x = column(std::min({p.x, q.x, r.x}), 0); x <= x1; ++x)
        cells_[y * side_ + x].triangles.push_back(t);
  }
}

int SurfaceMembership::winding(const Double3& point) const {
  using closed_surface_detail::side_of;
  const Double3 p = turned(point);
  int sum = 0;
  for (const std::uint32_t t : cells_[column(p.y, 1) * side_ + column(p.x, 0)].triangles) {
    const auto c = corners(surface_.triangles[t]);
    const int side = side_of(vertices_, c[0], c[1], p);
    if (side_of(vertices_, c[1], c[2], p) != side || side_of(vertices_, c[2], c[0], p) != side) continue;
    const Double3& a = vertices_[c[0]];
    const Double3 normal = cross(minus(vertices_[c[1]], a), minus(vertices_[c[2]], a));
    // Above the point along z, where the plane is met; the normal's z has the sign of `side`.
    if (dot(minus(a, p), normal) * side > 0) sum += side;
  }
  return sum;
}

double SurfaceMembership::distance(const Double3& point) const {
  double found = std::numeric_limits<double>::infinity();
  for (const UInt3& t : surface_.triangles)
    found = std::min(found, closed_surface_detail::distance_to_triangle(
                                point, surface_.vertices[t.x], surface_.vertices[t.y], surface_.vertices[t.z]));
  return found;
}

}  // namespace raylift::gdml
