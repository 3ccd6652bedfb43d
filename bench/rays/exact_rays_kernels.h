// SPDX-License-Identifier: Apache-2.0
// What host and device do alike for each ray, and the launches.
#pragma once

#include <raylift/gpu/rays/query.h>

#include <cmath>
#include <cstring>

#include "bench/double_vec.h"
#include "exact_rays.h"
#include "random_ray.h"

namespace raylift::bench {

void launch_exact_rays(const ExactShape& shape, Ray* rays, std::uint64_t first, std::size_t count, void* stream);
void launch_by_thread(const GeometryView& geometry, const Ray* rays, Hit* hits, std::size_t count, void* stream);
void launch_count_exact(const ExactShape& shape, const Ray* rays, const Hit* hits, std::size_t count, std::size_t check,
                        ExactCounts* counts, void* stream);

namespace exact {

RAYLIFT_HD inline Float3 to_float(Vec v) {
  return {static_cast<float>(v.x), static_cast<float>(v.y), static_cast<float>(v.z)};
}
RAYLIFT_HD inline Vec normalized(Vec a) {
  return 1 / sqrt(dot(a, a)) * a;
}

// Rounded on their own, on the device too.
RAYLIFT_HD inline double multiply(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
  const volatile double product = a * b;
  return product;
#endif
}

// A ray in a mesh's frame, as traversal has it.
RAYLIFT_HD inline Ray in_mesh(const Affine& to_mesh, const Ray& ray) {
  const float* m = to_mesh.m;
  const auto row = [&](int r, Float3 v, float shift) {
    const double sum = multiply(double{m[r]}, double{v.x}) + multiply(double{m[r + 1]}, double{v.y}) +
                       multiply(double{m[r + 2]}, double{v.z});
    return static_cast<float>(sum + double{shift});
  };
  const Float3 o = ray.origin, d = ray.direction;
  return Ray{LocalPoint(row(0, o, m[3]), row(4, o, m[7]), row(8, o, m[11])),
             ray.tmin,
             {row(0, d, 0), row(4, d, 0), row(8, d, 0)},
             ray.tmax};
}

// Inside of all planes by more than two steps of the coordinates.
RAYLIFT_HD inline bool is_inside(const ExactShape& shape, Float3 p) {
  const float largest = fmaxf(fmaxf(fabsf(p.x), fabsf(p.y)), fabsf(p.z));
  const double margin = static_cast<double>(largest) * 0x1p-22;
  const Vec at = to_double(p);
  for (std::uint32_t i = 0; i < shape.triangle_count; ++i) {
    const FacePlane& plane = shape.planes[i];
    const Vec normal{plane.normal[0], plane.normal[1], plane.normal[2]};
    if (!(plane.offset - dot(normal, at) > margin)) return false;
  }
  return true;
}

RAYLIFT_HD inline std::uint32_t below(std::uint32_t count, std::uint64_t& state) {
  return static_cast<std::uint32_t>(random_unit(state) * count);
}

RAYLIFT_HD inline Vec isotropic(std::uint64_t& state) {
  return to_double(random_direction(state, 1));
}

// Where a ray from `start` goes, in the mesh's frame.
RAYLIFT_HD inline Vec aim(const ExactShape& shape, Vec start, std::uint64_t& state) {
  const UInt3 t = shape.triangles[below(shape.triangle_count, state)];
  const Vec a = to_double(shape.vertices[t.x]), b = to_double(shape.vertices[t.y]), c = to_double(shape.vertices[t.z]);
  const Vec any = isotropic(state);
  const double s = random_unit(state), r = random_unit(state), sign = random_unit(state) < 0.5 ? 1 : -1;
  switch (below(8, state)) {
    case 0:  // along the axis
      return sign * to_double(shape.axis) + exp10(-8 * s) * any;
    case 1: {  // along a face, and a little towards it
      const Vec e = normalized(b - a), f = normalized(c - a);
      const Vec normal = normalized({e.y * f.z - e.z * f.y, e.z * f.x - e.x * f.z, e.x * f.y - e.y * f.x});
      return (s - 0.5) * e + (r - 0.5) * f + exp10(-1 - 6 * random_unit(state)) * normal;
    }
    case 2:  // along a coordinate axis
      return s < 1.0 / 3 ? Vec{sign, 0, 0} : s < 2.0 / 3 ? Vec{0, sign, 0} : Vec{0, 0, sign};
    case 3:  // in a coordinate plane
      return s < 1.0 / 3 ? Vec{0, any.y, any.z} : s < 2.0 / 3 ? Vec{any.x, 0, any.z} : Vec{any.x, any.y, 0};
    case 4:  // towards a vertex
      return a - start;
    case 5:  // towards an edge
      return a + s * (b - a) - start;
    default:
      return any;
  }
}

RAYLIFT_HD inline Vec transformed(const Affine& affine, Vec v, double one) {
  const float* m = affine.m;
  const auto row = [&](int r) {
    return static_cast<double>(m[r]) * v.x + static_cast<double>(m[r + 1]) * v.y + static_cast<double>(m[r + 2]) * v.z +
           one * static_cast<double>(m[r + 3]);
  };
  return {row(0), row(4), row(8)};
}

RAYLIFT_HD inline Ray make_ray(const ExactShape& shape, std::uint64_t number) {
  std::uint64_t state = (number + 1) * 0xD1342543DE82EF95u;
  const InstanceView* const placed =
      shape.instances == nullptr ? nullptr : shape.instances + below(shape.instance_count, state);
  // A random point of the shape, nearer to its middle at each attempt.
  const Vec center = to_double(shape.center);
  Vec mean{0, 0, 0};
  double weights = 0;
  for (int k = 0; k < 3; ++k) {
    const double weight = -log(1 - random_unit(state));
    mean = mean + weight * to_double(shape.vertices[below(shape.vertex_count, state)]);
    weights += weight;
  }
  mean = 1 / weights * mean;
  double share = cbrt(random_unit(state));
  Ray ray{LocalPoint(0, 0, 0), 0, {0, 0, 1}, 0};
  for (int attempt = 0; attempt < 8; ++attempt, share = attempt == 7 ? 0 : 0.5 * share) {
    const Vec start = center + share * (mean - center);
    ray.origin = LocalPoint(to_float(start));
    if (placed != nullptr) ray.origin = LocalPoint(to_float(transformed(placed->to_world, to_double(ray.origin), 1)));
    const Float3 local = placed == nullptr ? ray.origin : in_mesh(placed->to_mesh, ray).origin;
    if (!is_inside(shape, local)) continue;
    Vec direction = normalized(aim(shape, to_double(local), state));
    if (placed != nullptr) direction = transformed(placed->to_world, direction, 0);
    ray.direction = to_float(direction);
    if (!(dot(direction, direction) > 0)) ray.direction = {1, 0, 0};
    ray.tmax = arithmetic_detail::as_float(0x7F800000u);
    return ray;
  }
  return ray;
}

// A sum of two doubles, the second far smaller: about 106 bits.
struct Pair {
  double high, low;
};

RAYLIFT_HD inline Pair sum_of(double a, double b) {
  const double sum = a + b, back = sum - a;
  return {sum, (a - (sum - back)) + (b - back)};
}
RAYLIFT_HD inline Pair product_of(double a, double b) {
  const double p = multiply(a, b);
  return {p, fma(a, b, -p)};
}
RAYLIFT_HD inline Pair operator+(Pair a, Pair b) {
  const Pair s = sum_of(a.high, b.high);
  return sum_of(s.high, s.low + (a.low + b.low));
}
RAYLIFT_HD inline Pair operator*(Pair a, double b) {
  const Pair p = product_of(a.high, b);
  return sum_of(p.high, fma(a.low, b, p.low));
}
// a * d - b * c
RAYLIFT_HD inline Pair cross_of(double a, double b, double c, double d) {
  const Pair q = product_of(b, c);
  return product_of(a, d) + Pair{-q.high, -q.low};
}

// Where the ray meets the triangle's plane. Differences of coordinates are exact in double for shapes near their rays.
RAYLIFT_HD inline double plane_t(Vec a, Vec b, Vec c, Vec o, Vec d) {
  const Vec e = b - a, f = c - a, w = a - o;
  const Pair x = cross_of(e.y, e.z, f.y, f.z), y = cross_of(e.z, e.x, f.z, f.x), z = cross_of(e.x, e.y, f.x, f.y);
  const Pair depth = x * w.x + y * w.y + z * w.z, slope = x * d.x + y * d.y + z * d.z;
  const double t = depth.high / slope.high;
  return t + (fma(-t, slope.high, depth.high) + depth.low - t * slope.low) / slope.high;
}

// The sign of d . (p x q), and 0 where double does not determine it.
RAYLIFT_HD inline int edge_sign(Vec d, Vec p, Vec q) {
  const double yz = p.y * q.z, zy = p.z * q.y, zx = p.z * q.x, xz = p.x * q.z, xy = p.x * q.y, yx = p.y * q.x;
  const double value = d.x * (yz - zy) + d.y * (zx - xz) + d.z * (xy - yx);
  const double size =
      fabs(d.x) * (fabs(yz) + fabs(zy)) + fabs(d.y) * (fabs(zx) + fabs(xz)) + fabs(d.z) * (fabs(xy) + fabs(yx));
  return fabs(value) > 0x1p-48 * size ? (value > 0 ? 1 : -1) : 0;
}

RAYLIFT_HD inline void add_hit(const ExactShape& shape, const Ray& ray, const Hit& hit, bool check,
                               ExactCounts& counts) {
  if (ray.tmax == 0) return;
  ++counts.rays;
  if (!hit.valid()) {
    ++counts.lost;
    return;
  }
  if (hit.from_inside == 0) ++counts.wrong_side;
  if (!check) return;
  ++counts.checked;
  const Ray local = shape.instances == nullptr ? ray : in_mesh(shape.instances[hit.instance].to_mesh, ray);
  const Vec o = to_double(local.origin), d = to_double(local.direction);
  // From inside a ray passes one triangle, or touches several at an edge.
  bool sure = false, found = false, may_be = false;
  for (std::uint32_t i = 0; i < shape.triangle_count; ++i) {
    const UInt3 t = shape.triangles[i];
    const Vec a = to_double(shape.vertices[t.x]) - o, b = to_double(shape.vertices[t.y]) - o,
              c = to_double(shape.vertices[t.z]) - o;
    const int u = edge_sign(d, b, c), v = edge_sign(d, c, a), w = edge_sign(d, a, b);
    if (u < 0 || v < 0 || w < 0) continue;
    const bool inside = u > 0 && v > 0 && w > 0;
    sure = sure || inside;
    found = found || (inside && i == hit.triangle);
    may_be = may_be || i == hit.triangle;
  }
  if (!sure) ++counts.undecided;
  if (sure ? !found : !may_be) ++counts.differ;
  const UInt3 t = shape.triangles[hit.triangle];
  const double exact =
      plane_t(to_double(shape.vertices[t.x]), to_double(shape.vertices[t.y]), to_double(shape.vertices[t.z]), o, d);
  const double error = fabs(static_cast<double>(hit.t) - exact) / ldexp(1.0, ilogb(exact) - 23);
  unsigned long long bits;
  std::memcpy(&bits, &error, sizeof bits);
  if (bits > counts.worst_t) counts.worst_t = bits;  // positive doubles compare as their bits; NaN is the largest
}

}  // namespace exact
}  // namespace raylift::bench
