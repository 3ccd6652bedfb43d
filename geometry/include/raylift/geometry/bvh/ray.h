// SPDX-License-Identifier: Apache-2.0
// Ray, Hit, and ray queries against a Bvh for host code and kernels: closest_hit and any_hit. No recursion; the stack
// can't overflow.
//
// Guarantees for a hit, for triangles of any shape (docs/rays.md derives them, tests/geometry/bvh/exact_test.cpp checks
// them against quadruple precision):
//
//   - A triangle is hit if the ray, as given by its floats, passes through it in exact arithmetic. Through an edge or a
//     vertex it passes on one side, the same for all triangles there. So a closed mesh loses no ray, and the crossings
//     of a line with it alternate between entries and exits.
//   - `from_inside` is the exact sign of direction . normal, for vertices relative to the origin, rounded to double.
//   - `t` is off by at most 1 ulp of t, plus 2^-25 of the origin's largest coordinate by the direction's length; `u`
//     and `v` by at most 2^-22.
//   - The hit is the first along the ray. If several have the same t, compared in more than a float's precision, it is
//     the one in the lowest triangle pair.
//   - Results are the same bits on host and device, for any order of visits.
//
// Don't compile with -ffast-math or --use_fast_math: <raylift/geometry/compiler.h>.
#pragma once

#include <raylift/geometry/bvh/bvh_format.h>
#include <raylift/geometry/detail/standard.h>
#include <raylift/geometry/vectors.h>

namespace raylift {

/// origin + t * direction for tmin <= t < tmax. The direction need not have unit length: t is in units of its length,
/// which must be between 1e-12 and 1e12. All numbers but tmax must be finite. tmin may be negative: the ray then begins
/// behind its origin. A component of the direction below 2^-60 of the largest one may be treated as zero. A ray with a
/// NaN misses.
struct alignas(16) Ray {
  LocalPoint origin;
  float tmin = 0;
  Float3 direction;
  float tmax = std::numeric_limits<float>::infinity();
};

static_assert(sizeof(Ray) == 32);

/// Where a ray meets a triangle first. The point is (1 - u - v) a + u b + v c of the triangle's vertices a, b, c.
struct alignas(16) Hit {
  float t;
  std::uint32_t triangle;  ///< kNoTriangle: nothing was hit, and t is the ray's tmax
  float u, v;
  Float3 normal;                  ///< (b - a) x (c - a): outward by the winding, not of unit length
  std::uint32_t instance : 31;    ///< of a scene in two levels: which one; else 0
  std::uint32_t from_inside : 1;  ///< 1: the ray runs along the normal, it leaves the solid
  [[nodiscard]] RAYLIFT_HD bool valid() const { return triangle != kNoTriangle; }
};
static_assert(sizeof(Hit) == 32);

/// The nearest hit. `exclude` is a triangle to ignore: the one that the ray starts on.
[[nodiscard]] RAYLIFT_HD inline Hit closest_hit(const BvhView& bvh, const Ray& ray,
                                                std::uint32_t exclude = kNoTriangle);

/// Whether there is any hit: stops at the first one found.
[[nodiscard]] RAYLIFT_HD inline bool any_hit(const BvhView& bvh, const Ray& ray, std::uint32_t exclude = kNoTriangle);

}  // namespace raylift

#include <raylift/geometry/bvh/detail/ray_queries.h>

namespace raylift {

RAYLIFT_HD inline Hit closest_hit(const BvhView& bvh, const Ray& ray, std::uint32_t exclude) {
  return bvh_detail::hit_of(bvh, ray, bvh_detail::nearest<false>(bvh, ray, bvh_detail::OtherThan{exclude, 0}));
}

RAYLIFT_HD inline bool any_hit(const BvhView& bvh, const Ray& ray, std::uint32_t exclude) {
  return bvh_detail::hits_any<false>(bvh, ray, bvh_detail::OtherThan{exclude, 0});
}

}  // namespace raylift
