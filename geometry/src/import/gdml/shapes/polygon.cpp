// SPDX-License-Identifier: Apache-2.0
// The ears theorem is that of G. H. Meisters, American Mathematical Monthly 82 (1975).
#include "polygon.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace raylift::gdml {
namespace {

/// On which side of lines points lie: within the rounding of the polygon's coordinates they lie on the line.
class Sides {
 public:
  explicit Sides(const Polygon& polygon) {
    for (const Point2& p : polygon) extent_ = std::max({extent_, std::abs(p.x), std::abs(p.y)});
  }
  /// 1: c lies left of the line from a to b; -1: right; 0: on it.
  [[nodiscard]] int turn(const Point2& a, const Point2& b, const Point2& c) const {
    const double ux = b.x - a.x, uy = b.y - a.y, vx = c.x - a.x, vy = c.y - a.y;
    const double cross = ux * vy - uy * vx;
    constexpr double kRounding = 1e-14;
    const double noise = kRounding * extent_ * (std::abs(ux) + std::abs(uy) + std::abs(vx) + std::abs(vy));
    return std::abs(cross) <= noise ? 0 : cross > 0 ? 1 : -1;
  }

 private:
  double extent_ = 0;
};

bool same_place(const Point2& a, const Point2& b) {
  return a.x == b.x && a.y == b.y;
}

class EarClipping {
 public:
  explicit EarClipping(const Polygon& polygon) : polygon_(polygon), sides_(polygon), left_(polygon.size()) {
    const auto n = static_cast<std::uint32_t>(polygon.size());
    for (std::uint32_t i = 0; i != n; ++i) {
      next_.push_back((i + 1) % n);
      before_.push_back((i + n - 1) % n);
      blocked_by_.push_back(i);
    }
  }

  std::vector<UInt3> triangles() {
    std::vector<UInt3> result;
    std::uint32_t at = 0;
    std::size_t tried = 0;
    while (left_ > 3) {
      // Rounding may leave a rest without ears; it is cut anyway, as the solid would be open otherwise.
      if (!is_ear(at) && tried++ != left_) {
        at = next_[at];
        continue;
      }
      const std::uint32_t a = before_[at], c = next_[at];
      result.push_back({a, at, c});
      next_[a] = c;
      before_[c] = a;
      next_[at] = at;
      blocked_by_[a] = a;
      blocked_by_[c] = c;
      --left_;
      tried = 0;
      // The corner after the next: ears all around instead of a fan.
      at = next_[c];
    }
    result.push_back({before_[at], at, next_[at]});
    return result;
  }

 private:
  [[nodiscard]] int turn(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    return sides_.turn(polygon_[a], polygon_[b], polygon_[c]);
  }
  /// Whether a corner that is left is not convex: only such a one can lie in an ear.
  [[nodiscard]] bool blocks(std::uint32_t p) const { return next_[p] != p && turn(before_[p], p, next_[p]) <= 0; }

  [[nodiscard]] bool is_ear(std::uint32_t at) {
    const std::uint32_t a = before_[at], b = at, c = next_[at];
    // What blocked it the last time does so until it is cut off, or convex.
    if (blocked_by_[at] != at && blocks(blocked_by_[at])) return false;
    if (turn(a, b, c) <= 0) return false;
    for (std::uint32_t p = next_[c]; p != a; p = next_[p])
      if (turn(a, b, p) >= 0 && turn(b, c, p) >= 0 && turn(c, a, p) >= 0 && blocks(p)) {
        blocked_by_[at] = p;
        return false;
      }
    return true;
  }

  const Polygon& polygon_;
  Sides sides_;
  std::size_t left_;
  std::vector<std::uint32_t> next_, before_;  // a corner that is cut off is its own next one
  std::vector<std::uint32_t> blocked_by_;     // itself: by none that is known
};

}  // namespace

double signed_area(const Polygon& polygon) {
  double twice = 0;
  // Relative to a corner, so that a small polygon far from the origin keeps its digits.
  const Point2 o = polygon.empty() ? Point2{} : polygon.front();
  for (std::size_t i = 0; i != polygon.size(); ++i) {
    const Point2 &a = polygon[i], &b = polygon[(i + 1) % polygon.size()];
    twice += (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
  }
  return twice / 2;
}

Polygon without_flat_corners(const Polygon& polygon) {
  const Sides sides(polygon);
  Polygon result;
  const auto flat_end = [&](const Point2& next) {
    if (result.empty()) return false;
    if (same_place(result.back(), next)) return true;
    return result.size() > 1 && sides.turn(result[result.size() - 2], result.back(), next) == 0;
  };
  for (const Point2& point : polygon) {
    while (flat_end(point)) result.pop_back();
    result.push_back(point);
  }
  std::size_t first = 0;
  const auto flat_at = [&](std::size_t a, std::size_t b, std::size_t c) {
    return same_place(result[a], result[b]) || sides.turn(result[a], result[b], result[c]) == 0;
  };
  for (bool changed = true; changed && result.size() - first > 2;) {
    const std::size_t last = result.size() - 1;
    changed = true;
    if (flat_at(last - 1, last, first) || same_place(result[last], result[first]))
      result.pop_back();
    else if (flat_at(last, first, first + 1))
      ++first;
    else
      changed = false;
  }
  result.erase(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(first));
  if (result.size() < 3) result.clear();
  return result;
}

bool crosses_itself(const Polygon& polygon, Touching touching) {
  const Sides sides(polygon);
  const std::size_t n = polygon.size();
  const auto apart = [](double a, double b, double c, double d) {
    return std::max(a, b) < std::min(c, d) || std::max(c, d) < std::min(a, b);
  };
  for (std::size_t i = 0; i != n; ++i)
    for (std::size_t j = i + 2; j < n && (i != 0 || j + 1 != n); ++j) {
      const Point2 &a = polygon[i], &b = polygon[i + 1], &c = polygon[j], &d = polygon[(j + 1) % n];
      if (apart(a.x, b.x, c.x, d.x) || apart(a.y, b.y, c.y, d.y)) continue;
      const int ab = sides.turn(a, b, c) * sides.turn(a, b, d), cd = sides.turn(c, d, a) * sides.turn(c, d, b);
      if (touching == Touching::counts ? ab <= 0 && cd <= 0 : ab < 0 && cd < 0) return true;
    }
  return false;
}

std::vector<UInt3> triangulate_polygon(const Polygon& polygon) {
  if (polygon.size() < 3) return {};
  return EarClipping(polygon).triangles();
}

}  // namespace raylift::gdml
