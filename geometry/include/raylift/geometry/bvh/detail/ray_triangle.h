// SPDX-License-Identifier: Apache-2.0
// Whether and where a ray meets the triangles of a pair, as in exact arithmetic.
//
// Edge functions are those of Woop, Benthin, Wald, "Watertight Ray/Triangle Intersection" (JCGT 2(1), 2013): vertices
// are sheared so that the ray runs along z through x = y = 0. In float they come with a bound on their error. Where
// that leaves a sign open, it is taken in double, and an edge that the ray meets exactly is decided by moving the ray
// by an infinitesimal (Edelsbrunner, Muecke, "Simulation of Simplicity", ACM TOG 9(1), 1990). Where a ray meets a
// triangle is computed in double, and in pairs of doubles where double does not give a float's precision.
#pragma once

#include <raylift/geometry/bvh/bvh_format.h>
#include <raylift/geometry/detail/arithmetic.h>
#include <raylift/geometry/detail/standard.h>

namespace raylift::bvh_detail {

using namespace arithmetic_detail;

RAYLIFT_HD inline float component(Float3 v, int axis) {
  return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}
RAYLIFT_HD inline double component(const Double3& v, int axis) {
  return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

// Which of a direction's components is the longest: z, if not one of these.
struct LongestAxis {
  bool is_x, is_y;

  RAYLIFT_HD explicit LongestAxis(Float3 direction) {
    const float ax = fabsf(direction.x), ay = fabsf(direction.y), az = fabsf(direction.z);
    is_x = ax > ay && ax > az;
    is_y = !is_x && ay > az;
  }
  // One of three, for x, y and z.
  template <class T>
  [[nodiscard]] RAYLIFT_HD T choose(T x, T y, T z) const {
    return is_x ? x : is_y ? y : z;
  }
  [[nodiscard]] RAYLIFT_HD float of(Float3 v) const { return choose(v.x, v.y, v.z); }
};

// The axes, permuted so that the direction's largest component is kz. The winding is kept. In one register, bits 19 to
// 24: the others are PreparedRay's.
struct Axes {
  std::uint32_t bits;

  RAYLIFT_HD static constexpr std::uint32_t packed(std::uint32_t x, std::uint32_t y, std::uint32_t z) {
    return z << 23 | y << 21 | x << 19;
  }

  Axes() = default;
  RAYLIFT_HD explicit Axes(Float3 direction) : Axes(LongestAxis(direction), direction) {}
  // By constants: few instructions on a GPU.
  RAYLIFT_HD Axes(LongestAxis longest, Float3 direction)
      : bits(longest.of(direction) < 0 ? longest.choose(packed(2, 1, 0), packed(0, 2, 1), packed(1, 0, 2))
                                       : longest.choose(packed(1, 2, 0), packed(2, 0, 1), packed(0, 1, 2))) {}
  [[nodiscard]] RAYLIFT_HD int kx() const { return static_cast<int>(bits >> 19 & 3u); }
  [[nodiscard]] RAYLIFT_HD int ky() const { return static_cast<int>(bits >> 21 & 3u); }
  [[nodiscard]] RAYLIFT_HD int kz() const { return static_cast<int>(bits >> 23 & 3u); }
};

// The ray in the frame of the triangle test.
struct ShearedRay : Axes {
  Float3 origin;
  float shear_x, shear_y;

  ShearedRay() = default;
  RAYLIFT_HD ShearedRay(Float3 from, Float3 direction) : ShearedRay(from, direction, LongestAxis(direction)) {}

 private:
  // The components along kx and ky are chosen as Axes does it: by kx() and ky() a GPU would take more instructions.
  RAYLIFT_HD ShearedRay(Float3 from, Float3 d, LongestAxis longest) : Axes(longest, d), origin(from) {
    const float along = longest.of(d), inverse = rough_inverse(along), next = longest.choose(d.y, d.z, d.x),
                last = longest.choose(d.z, d.x, d.y);
    shear_x = (along < 0 ? last : next) * inverse;
    shear_y = (along < 0 ? next : last) * inverse;
  }
};

struct Sheared {
  float x, y, z;
};

RAYLIFT_HD inline Sheared shear(const ShearedRay& ray, Float3 vertex) {
  const Float3 d{vertex.x - ray.origin.x, vertex.y - ray.origin.y, vertex.z - ray.origin.z};
  const float z = component(d, ray.kz());
  return {component(d, ray.kx()) - product(ray.shear_x, z), component(d, ray.ky()) - product(ray.shear_y, z), z};
}

// Twice the signed area of (0, a, b).
RAYLIFT_HD inline float edge(Sheared a, Sheared b) {
  return product(a.x, b.y) - product(a.y, b.x);
}

// A bound on the error of edge functions between vertices with |x|, |y| <= extent and |z| <= depth.
//
// With u = 2^-24: the subtraction of the origin, the shear, which is off by 3u, its product and the last subtraction
// make an error of x of at most u (|dx| + 5 |z| + |x|), and |dx| <= |x| + |z|: at most e = u (2 extent + 6 depth) +
// O(u^2). The edge function x1 y2 - y1 x2 then is off by 4 extent e + 2 e^2 for that, and by 4 u extent^2 for its own
// roundings: in all u (12 extent^2 + 24 extent depth) + 2 u^2 (2 extent + 6 depth)^2. The bound has a factor of 32
// before both products, and more than that before the square of the depth. Its last term is above what underflow can
// do.
RAYLIFT_HD inline float edge_bound(float extent, float depth) {
  return (extent + depth * 0x1p-18f) * ((extent + depth) * 0x1p-19f) + 0x1p-120f;
}
// The same for a ray that is the exact one, rounded to floats on its way into the mesh's frame, and for vertices that
// are rounded from what they are. reach: the largest |z|, or the largest coordinate of the ray's origin if that is
// more.
//
// In addition, the direction is off by 2u, the origin by u reach on each axis, and vertices by u (extent + 2 reach),
// each once in x and once in z. Then e = u (4 extent + 14 reach), and the edge function is off by u (20 extent^2 + 56
// extent reach) + 2 e^2: the bound has a factor of 80 before both.
RAYLIFT_HD inline float fine_edge_bound(float extent, float reach) {
  return (extent + reach * 0x1p-17f) * ((extent + reach) * 0x1.4p-18f) + 0x1p-120f;
}
// The largest |x| and |y|, and the largest |z|.
RAYLIFT_HD inline float extent_of(Sheared a, Sheared b, Sheared c, Sheared d) {
  return maximum(maximum(maximum(fabsf(a.x), fabsf(a.y)), maximum(fabsf(b.x), fabsf(b.y))),
                 maximum(maximum(fabsf(c.x), fabsf(c.y)), maximum(fabsf(d.x), fabsf(d.y))));
}
RAYLIFT_HD inline float depth_of(Sheared a, Sheared b, Sheared c, Sheared d) {
  return maximum(maximum(fabsf(a.z), fabsf(b.z)), maximum(fabsf(c.z), fabsf(d.z)));
}

// A triangle's edge functions: that between its second and third vertex, and so on.
struct Edges {
  float u, v, w;
};

// The result of float arithmetic for a triangle, by its edge functions. NaN, as overflow makes it, leaves all open.
struct Verdict {
  bool missed;  // surely
  bool hit;     // surely; neither: exact arithmetic decides
};
// What is surely hit or missed is so by more than `least_sure`, which is at least the error of edge functions.
RAYLIFT_HD inline Verdict judge(const Edges& e, float least_sure) {
  const float least = minimum(minimum(e.u, e.v), e.w), most = maximum(maximum(e.u, e.v), e.w);
  return {least < -least_sure && most > least_sure, least > least_sure || most < -least_sure};
}

// Bounds on the t of a triangle that is surely hit.
struct Impression {
  float near, far;
  bool from_inside;
};

// From edge functions that are off by at most `bound`, and the vertices' z; inverse_z is that of the direction's z.
//
// The bound is about twice the error, and a sure hit's determinant D is more than three times the bound. So weights are
// off by at most 4.5 bound / D each, and t, the vertices' z weighted with them, by 7 bound / D of the spread of z, and
// by 9 roundings of the largest z, or of `reach` if that is more.
RAYLIFT_HD inline Impression measure(float inverse_z, float a, float b, float c, const Edges& e, float bound,
                                     float reach = 0) {
  const float inverse = 1.0f / (e.u + e.v + e.w);
  const float z =
      product(product(e.u, inverse), a) + product(product(e.v, inverse), b) + product(product(e.w, inverse), c);
  const float lowest = minimum(minimum(a, b), c), highest = maximum(maximum(a, b), c);
  const float error = fabsf(bound * inverse) * (highest - lowest) * 8 +
                      maximum(maximum(fabsf(lowest), fabsf(highest)), reach) * 0x1p-20f;
  const float t = z * inverse_z, error_of_t = error * fabsf(inverse_z);
  return {t - error_of_t, t + error_of_t, e.u > 0};
}

// Where the ray meets a triangle, as exact as double arithmetic, or pairs of doubles, make it. t is the sum of t and
// t_low, the second at most half an ulp of the first.
struct Crossing {
  float t, t_low;
  float u, v;  // weights of vertices b and c
  bool hit, from_inside;

  // Whether it lies before another one.
  [[nodiscard]] RAYLIFT_HD bool before(const Crossing& other) const {
    return t != other.t ? t < other.t : t_low < other.t_low;
  }
  [[nodiscard]] RAYLIFT_HD bool same_place(const Crossing& other) const { return t == other.t && t_low == other.t_low; }
  // How far it lies behind another one.
  [[nodiscard]] RAYLIFT_HD float behind(const Crossing& other) const { return (t - other.t) + (t_low - other.t_low); }
};

// The triangle in the ray's frame, scaled by the direction's z: no division, so that x and y are exact to their type's
// precision, and the same for all triangles at a vertex.
template <class Real>
struct ScaledVertex {
  Real x, y, z;
};

RAYLIFT_HD inline void lift(double a, double b, double& result) {
  result = a - b;
}
RAYLIFT_HD inline void lift(double a, double b, DoublePair& result) {
  result = exact_sum(a, -b);
}

// A ray and a triangle, as the slow path gets them: by value, so that on a GPU they stay in registers where the slow
// path is a call.
template <class Vector>
struct RayAndTriangleOf {
  Vector origin, direction;
  Vector a, b, c;
};
using RayAndTriangle = RayAndTriangleOf<Float3>;
// The ray and the triangle to more than a float's precision.
using FineRayAndTriangle = RayAndTriangleOf<Double3>;

RAYLIFT_HD inline double lifted(double value, double) {
  return value;
}
RAYLIFT_HD inline DoublePair lifted(double value, DoublePair) {
  return {value, 0};
}

RAYLIFT_HD inline Float3 rounded(Float3 v) {
  return v;
}
RAYLIFT_HD inline Float3 rounded(const Double3& v) {
  return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)};
}

// The triangle's vertices in the ray's frame.
template <class Real>
struct ScaledTriangle {
  ScaledVertex<Real> a, b, c;
  Real dz;

  template <class Vector>
  RAYLIFT_HD explicit ScaledTriangle(const RayAndTriangleOf<Vector>& in) {
    const Axes axes(rounded(in.direction));
    const auto at = [](const Vector& v, int axis) { return static_cast<double>(component(v, axis)); };
    const Real dx = lifted(at(in.direction, axes.kx()), Real()), dy = lifted(at(in.direction, axes.ky()), Real());
    dz = lifted(at(in.direction, axes.kz()), Real());
    const auto scale = [&](const Vector& vertex) {
      Real x, y, z;
      lift(at(vertex, axes.kx()), at(in.origin, axes.kx()), x);
      lift(at(vertex, axes.ky()), at(in.origin, axes.ky()), y);
      lift(at(vertex, axes.kz()), at(in.origin, axes.kz()), z);
      return ScaledVertex<Real>{difference(product(x, dz), product(dx, z)), difference(product(y, dz), product(dy, z)),
                                z};
    };
    a = scale(in.a);
    b = scale(in.b);
    c = scale(in.c);
  }
};

template <class Real>
RAYLIFT_HD inline Real edge(const ScaledVertex<Real>& a, const ScaledVertex<Real>& b) {
  return difference(product(a.x, b.y), product(a.y, b.x));
}

// The sign of edge(a, b) for these vertices in exact arithmetic; `rounded` is its value in double, whose sign is right
// or zero, as rounding is monotone. On the ray itself: the sign for a ray moved by (e, e^2), with e towards 0. Zero
// only where a equals b.
RAYLIFT_HD inline int edge_sign(const ScaledVertex<double>& a, const ScaledVertex<double>& b, double rounded) {
  if (rounded != 0) return rounded > 0 ? 1 : -1;
  const double left = exact_product(a.x, b.y).low, right = exact_product(a.y, b.x).low;
  if (left != right) return left > right ? 1 : -1;
  if (a.y != b.y) return a.y > b.y ? 1 : -1;
  if (a.x != b.x) return b.x > a.x ? 1 : -1;
  return 0;
}

template <class Real>
struct Solution {
  Real u, v, w;             // edge functions
  Real determinant, depth;  // their sum, and z times it
};

template <class Real>
RAYLIFT_HD inline Solution<Real> solve(const ScaledTriangle<Real>& of) {
  Solution<Real> s;
  s.u = edge(of.b, of.c);
  s.v = edge(of.c, of.a);
  s.w = edge(of.a, of.b);
  s.determinant = sum(sum(s.u, s.v), s.w);
  s.depth = sum(sum(product(s.u, of.a.z), product(s.v, of.b.z)), product(s.w, of.c.z));
  return s;
}

RAYLIFT_HD inline Crossing crossing_at(double t, double u, double v, bool from_inside) {
  const FloatPair at = split(t);
  return {at.high, at.low, static_cast<float>(u), static_cast<float>(v), true, from_inside};
}

// For the few triangles that are seen so nearly edge-on, or are so thin, that double does not do.
template <class Vector>
RAYLIFT_SLOW_PATH inline Crossing cross_again(RayAndTriangleOf<Vector> in, bool from_inside) {
  const ScaledTriangle<DoublePair> of(in);
  const Solution<DoublePair> s = solve(of);
  // Seen edge-on to 100 bits: any of its points will do.
  if (s.determinant.high == 0) return crossing_at(ratio(of.a.z, of.dz), 0, 0, from_inside);
  return crossing_at(ratio(s.depth, product(s.determinant, of.dz)), ratio(s.v, s.determinant),
                     ratio(s.w, s.determinant), from_inside);
}

// The sign that all three edge functions have in exact arithmetic, or 0: the triangle is missed.
RAYLIFT_HD inline int common_sign(const ScaledTriangle<double>& of, const Solution<double>& s) {
  const int sign = edge_sign(of.b, of.c, s.u);
  return sign != 0 && edge_sign(of.c, of.a, s.v) == sign && edge_sign(of.a, of.b, s.w) == sign ? sign : 0;
}

// Whether the ray meets the triangle, and where. `sure`: it does.
//
// Of what is given in double, t is as exact across the triangle as the vertices are, which is what a step's end needs:
// see docs/boundaries.md. With v = 2^-53 the roundings of vertices move the place across the triangle by no more than
// them; those of edge functions move the weights by 8 v m^2 / |determinant| each, so that thin triangles, and such that
// are seen edge-on, go by pairs of doubles.
template <class Vector>
RAYLIFT_HD inline Crossing cross(RayAndTriangleOf<Vector> in, bool sure) {
  const ScaledTriangle<double> of(in);
  const Solution<double> s = solve(of);
  bool from_inside = s.determinant > 0;
  if (!sure || s.determinant == 0) {
    const int sign = common_sign(of, s);
    // NaN, as overflow makes it, meets nothing: least of all what stands for a pair's absent second triangle.
    if (sign == 0 || s.determinant != s.determinant) return {0, 0, 0, 0, false, false};
    from_inside = sign > 0;
  }
  // With v = 2^-53, |x|, |y| <= m and f = |z dz|: x and y are off by v (3 m + 4 f), edge functions by 16 v m (m + f),
  // and the depth by 64 v m (m + f) z. If what is asked below holds, that is 2^-27 of t and of the origin's distance
  // (as far as that is not more than 16 z) at most, and 2^-23 of the weights.
  // By comparisons: fmax takes twice as long on a GPU, for the sake of NaN.
  const auto larger = [](double x, double y) { return x > y ? x : y; };
  const auto most = [=](double x, double y, double z) { return larger(larger(fabs(x), fabs(y)), fabs(z)); };
  const double m = larger(most(of.a.x, of.b.x, of.c.x), most(of.a.y, of.b.y, of.c.y)), z = most(of.a.z, of.b.z, of.c.z),
               f = fabs(of.dz) * z;
  const double reach = most(in.origin.x, in.origin.y, in.origin.z);
  const double origin = reach < 16 * z ? reach : 16 * z;
  if constexpr (std::is_same_v<Vector, Double3>)
    if (!(fabs(s.determinant) > product(product(m, m), 0x1p-8))) return cross_again(in, from_inside);
  if (!(fabs(s.depth) + product(fabs(s.determinant), origin) > product(product(product(m, m + f), z), 0x1p-20)))
    return cross_again(in, from_inside);
  const double inverse = 1.0 / product(s.determinant, of.dz);
  return crossing_at(product(s.depth, inverse), product(product(s.v, inverse), of.dz),
                     product(product(s.w, inverse), of.dz), from_inside);
}

}  // namespace raylift::bvh_detail
