// SPDX-License-Identifier: Apache-2.0
// An oracle for rays that shares nothing with the code under test: brute force over all triangles, in exact arithmetic.
//
// A predicate of a float ray and float vertices is a sum of products of three floats. A product of three floats has 72
// bits, so it is exact in quad precision, which has 113. The sum is kept as an expansion of quads that don't overlap:
// Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates" (1997). So every sign
// is exact, and a ratio of two sums has a relative error of about 2^-110, however much cancels. A filter in double, or
// in long double, decides whatever its forward error bound allows, as quads are slow.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "triangles_and_rays.h"

namespace raylift::test {

#if defined(__SIZEOF_FLOAT128__)
__extension__ using Quad = __float128;
#else
using Quad = long double;
static_assert(std::numeric_limits<long double>::digits >= 113);
#endif

/// An exact sum of quads.
class ExactSum {
 public:
  void add(Quad x) {
    int kept = 0;
    for (int i = 0; i < count_; ++i) {
      const Quad sum = x + terms_[i], back = sum - x;
      const Quad error = (x - (sum - back)) + (terms_[i] - back);
      x = sum;
      if (error != 0) terms_[kept++] = error;
    }
    if (x != 0) terms_[kept++] = x;
    count_ = kept;
  }
  /// Adds sign * det(a, b, c).
  void add_determinant(int sign, Float3 a, Float3 b, Float3 c) {
    const auto term = [&](int s, float x, float y, float z) { add(Quad(s * sign) * (Quad(x) * Quad(y) * Quad(z))); };
    term(1, a.x, b.y, c.z), term(-1, a.x, b.z, c.y);
    term(1, a.y, b.z, c.x), term(-1, a.y, b.x, c.z);
    term(1, a.z, b.x, c.y), term(-1, a.z, b.y, c.x);
  }
  [[nodiscard]] int sign() const { return count_ == 0 ? 0 : terms_[count_ - 1] > 0 ? 1 : -1; }
  [[nodiscard]] Quad value() const {
    Quad sum = 0;
    for (int i = 0; i < count_; ++i) sum += terms_[i];
    return sum;
  }

 private:
  std::array<Quad, 32> terms_;  // from small to large; no sum here has more than 24 terms
  int count_ = 0;
};

/// How the line of a ray and a triangle lie to each other.
enum class Passing {
  outside,
  touching,  ///< through an edge or a vertex, exactly
  inside,
  in_plane,  ///< the line lies in the triangle's plane, or the triangle has no area as seen along it
};

/// A triangle that a ray's line passes through or touches. The point is origin + t * direction.
struct Crossing {
  std::uint32_t triangle = kNoTriangle;
  Passing passing = Passing::outside;
  int facing = 0;  ///< the sign of normal . direction
  long double t = 0;
};

namespace oracle {

// The sign of direction . ((p - origin) x (q - origin)), exactly.
inline int edge_sign(const Ray& ray, Float3 p, Float3 q) {
  const double d[3] = {ray.direction.x, ray.direction.y, ray.direction.z};
  const double a[3] = {double(p.x) - ray.origin.x, double(p.y) - ray.origin.y, double(p.z) - ray.origin.z};
  const double b[3] = {double(q.x) - ray.origin.x, double(q.y) - ray.origin.y, double(q.z) - ray.origin.z};
  double sum = 0, size = 0;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double forward = a[j] * b[k], backward = a[k] * b[j];
    sum += d[i] * (forward - backward);
    size += std::abs(d[i]) * (std::abs(forward) + std::abs(backward));
  }
  // Five roundings at most meet in a term, and three terms are summed.
  if (std::abs(sum) > 16 * 0x1p-53 * size) return sum > 0 ? 1 : -1;
  ExactSum exact;
  exact.add_determinant(1, ray.direction, p, q);
  exact.add_determinant(-1, ray.direction, ray.origin, q);
  exact.add_determinant(-1, ray.direction, p, ray.origin);
  return exact.sign();
}

// numerator / denominator of t, or of a weight.
struct Ratio {
  long double value, bound;  // relative
};

using Long3 = std::array<long double, 3>;

inline Long3 minus(Float3 a, Float3 b) {
  const auto wide = [](float x) { return static_cast<long double>(x); };
  return {wide(a.x) - wide(b.x), wide(a.y) - wide(b.y), wide(a.z) - wide(b.z)};
}

// a . (b x c), and a bound on its rounding error.
struct Bounded {
  long double value = 0, error = 0;
  Bounded(const Long3& a, const Long3& b, const Long3& c) {
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      const long double forward = b[j] * c[k], backward = b[k] * c[j];
      value += a[i] * (forward - backward);
      error += std::abs(a[i]) * (std::abs(forward) + std::abs(backward));
    }
    error *= 16 * std::numeric_limits<long double>::epsilon();
  }
};

inline constexpr long double kEnough = 0x1p-36L;  // relative; a float's step is 2^-24 to 2^-23

inline std::optional<long double> ratio(const Bounded& a, const Bounded& b) {
  if (a.error <= kEnough * std::abs(a.value) && b.error <= kEnough * std::abs(b.value) && b.value != 0)
    return a.value / b.value;
  return std::nullopt;
}

inline ExactSum normal_dot(Float3 a, Float3 b, Float3 c, Float3 d) {
  ExactSum sum;  // normal = a x b + b x c + c x a
  sum.add_determinant(1, d, a, b);
  sum.add_determinant(1, d, b, c);
  sum.add_determinant(1, d, c, a);
  return sum;
}

}  // namespace oracle

struct Corners {
  Float3 a, b, c;
};

inline Corners corners(const Triangles& mesh, std::uint32_t triangle) {
  const UInt3 t = mesh.triangles[triangle];
  return {mesh.vertices[t.x], mesh.vertices[t.y], mesh.vertices[t.z]};
}

/// Where the ray's line meets the triangle's plane, to 2^-35 relative. Nothing where it is parallel to the plane.
inline std::optional<long double> plane_t(const Corners& v, const Ray& ray) {
  using namespace oracle;
  const Long3 e = minus(v.b, v.a), f = minus(v.c, v.a), w = minus(v.a, ray.origin);
  const Long3 d = minus(ray.direction, {0, 0, 0});
  if (const auto quick = ratio(Bounded(w, e, f), Bounded(d, e, f))) return quick;
  const ExactSum denominator = normal_dot(v.a, v.b, v.c, ray.direction);
  if (denominator.sign() == 0) return std::nullopt;
  ExactSum numerator;
  numerator.add_determinant(1, v.a, v.b, v.c);
  numerator.add_determinant(-1, ray.origin, v.a, v.b);
  numerator.add_determinant(-1, ray.origin, v.b, v.c);
  numerator.add_determinant(-1, ray.origin, v.c, v.a);
  return static_cast<long double>(numerator.value() / denominator.value());
}

/// The weight of a vertex where the ray's line meets the plane: of a for (b, c), of b for (c, a), of c for (a, b). The
/// absolute error is below 2^-34.
inline long double weight(const Corners& v, const Ray& ray, Float3 p, Float3 q) {
  using namespace oracle;
  const Long3 d = minus(ray.direction, {0, 0, 0});
  const Bounded edge(d, minus(p, ray.origin), minus(q, ray.origin));
  const Bounded whole(d, minus(v.b, v.a), minus(v.c, v.a));
  if (whole.error <= kEnough * std::abs(whole.value) && edge.error <= kEnough * std::abs(whole.value))
    return edge.value / whole.value;
  ExactSum numerator;
  numerator.add_determinant(1, ray.direction, p, q);
  numerator.add_determinant(-1, ray.direction, ray.origin, q);
  numerator.add_determinant(-1, ray.direction, p, ray.origin);
  return static_cast<long double>(numerator.value() / normal_dot(v.a, v.b, v.c, ray.direction).value());
}

/// Exact. t is set where the line passes or touches.
inline Crossing crossing_of(const Triangles& mesh, std::uint32_t triangle, const Ray& ray) {
  const Corners v = corners(mesh, triangle);
  Crossing result;
  result.triangle = triangle;
  // The three edge functions sum up to normal . direction.
  const int a = oracle::edge_sign(ray, v.b, v.c), b = oracle::edge_sign(ray, v.c, v.a);
  if (a * b < 0) return result;
  const int c = oracle::edge_sign(ray, v.a, v.b);
  if (a * c < 0 || b * c < 0) return result;
  result.facing = a + b + c > 0 ? 1 : a + b + c < 0 ? -1 : 0;
  if (result.facing == 0) {
    result.passing = Passing::in_plane;
    return result;
  }
  result.passing = a != 0 && b != 0 && c != 0 ? Passing::inside : Passing::touching;
  result.t = *plane_t(v, ray);
  return result;
}

/// All triangles of a mesh that the ray passes or touches for t >= 0, in no order.
struct Crossings {
  std::vector<Crossing> all;
  bool in_plane = false;  ///< the ray's line lies in the plane of some triangle, which it may touch

  void find(const Triangles& mesh, const Ray& ray) {
    all.clear();
    in_plane = false;
    for (std::uint32_t i = 0; i < mesh.triangles.size(); ++i) {
      const Crossing crossing = crossing_of(mesh, i, ray);
      if (crossing.passing == Passing::in_plane) in_plane = true;
      if (crossing.facing != 0 && crossing.t >= 0) all.push_back(crossing);
    }
  }
};

/// How far a ray may pass by a triangle that it is said to hit, in parts of the largest distance of a vertex from the
/// ray's origin along an axis. Zero: not at all.
inline constexpr long double kNearMiss = 0x1p-50L;

/// Whether the ray's line is on the wrong side of edges by no more than that.
inline bool near_miss(const Corners& v, const Ray& ray) {
  const int facing = oracle::normal_dot(v.a, v.b, v.c, ray.direction).sign();
  long double farthest = 0, worst = 0;
  for (const auto& [p, q] : {std::pair{v.a, v.b}, {v.b, v.c}, {v.c, v.a}}) {
    const oracle::Long3 e = oracle::minus(q, p), o = oracle::minus(p, ray.origin),
                        d = oracle::minus(ray.direction, {0, 0, 0});
    for (const long double x : o) farthest = std::max(farthest, std::abs(x));
    if (oracle::edge_sign(ray, p, q) * facing >= 0) continue;
    ExactSum edge;
    edge.add_determinant(1, ray.direction, p, q);
    edge.add_determinant(-1, ray.direction, ray.origin, q);
    edge.add_determinant(-1, ray.direction, p, ray.origin);
    long double across = 0;  // |d x e|^2
    for (int i = 0; i < 3; ++i) {
      const long double x = d[(i + 1) % 3] * e[(i + 2) % 3] - d[(i + 2) % 3] * e[(i + 1) % 3];
      across += x * x;
    }
    worst = std::max(worst, std::abs(static_cast<long double>(edge.value())) / std::sqrt(across));
  }
  return facing != 0 && worst <= kNearMiss * farthest;
}

/// The step of floats at t: of the binade that t lies in.
inline long double ulp(long double t) {
  const int exponent = t == 0 ? -126 : std::max(std::ilogb(t), -126);
  return std::ldexp(1.0L, exponent - 23);
}
/// What t may be off by: one step of a float at t, and kOriginShare of the origin's largest coordinate, by the
/// direction's length. Nothing else may matter: neither the triangle's extent and aspect nor the ray's angle to it.
inline constexpr long double kOriginShare = 0x1p-25L;
inline long double t_bound(const Ray& ray, long double t) {
  const auto wide = [](float x) { return static_cast<long double>(x); };
  const Float3 o = ray.origin, d = ray.direction;
  const long double origin = std::max({std::abs(wide(o.x)), std::abs(wide(o.y)), std::abs(wide(o.z))});
  const long double length = std::sqrt(wide(d.x) * d.x + wide(d.y) * d.y + wide(d.z) * d.z);
  return 1.001L * ulp(t) + kOriginShare * origin / length;  // the oracle's own error is below 2^-11 ulp
}
inline long double ulps_between(float got, long double exact) {
  return std::abs(static_cast<long double>(got) - exact) / ulp(exact);
}

}  // namespace raylift::test
