// SPDX-License-Identifier: Apache-2.0
// Ray queries against a Bvh, for host code and kernels: closest_hit and any_hit. No recursion; the stack can't
// overflow.
//
// No ray slips between two triangles that share an edge or a vertex: the triangle test is that of Woop, Benthin, Wald,
// "Watertight Ray/Triangle Intersection" (JCGT 2(1), 2013), and boxes are widened by a bound on the rounding of both
// tests. Results are the same bits on host and device. Don't compile with -ffast-math or --use_fast_math.
#pragma once

#include <raylift/geometry/bvh_format.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>

namespace raylift {

/// origin + t * direction for tmin <= t < tmax. The direction needs no unit length, t counts in its lengths; it is not
/// zero, tmin is not negative, and all numbers but tmax are finite.
struct alignas(16) Ray {
  float3 origin;
  float tmin = 0;
  float3 direction;
  float tmax = std::numeric_limits<float>::infinity();
};

static_assert(sizeof(Ray) == 32);

/// Where a ray meets a triangle first. The point is (1 - u - v) a + u b + v c of the triangle's vertices a, b, c.
struct alignas(16) Hit {
  float t;
  std::uint32_t triangle;  ///< kNoTriangle: nothing was hit, and t is the ray's tmax
  float u, v;
  float3 normal;                  ///< (b - a) x (c - a): outward by the winding, not of unit length
  std::uint32_t instance : 31;    ///< of a scene in two levels: which one; else 0
  std::uint32_t from_inside : 1;  ///< 1: the ray runs along the normal, it leaves the solid
  [[nodiscard]] RAYLIFT_HD bool valid() const { return triangle != kNoTriangle; }
};
static_assert(sizeof(Hit) == 32);

/// The nearest hit. `exclude` is a triangle that does not count: the one that the ray starts on.
[[nodiscard]] RAYLIFT_HD inline Hit closest_hit(const BvhView& bvh, const Ray& ray,
                                                std::uint32_t exclude = kNoTriangle);

/// Whether there is any hit: stops at the first one found.
[[nodiscard]] RAYLIFT_HD inline bool any_hit(const BvhView& bvh, const Ray& ray, std::uint32_t exclude = kNoTriangle);

namespace bvh_detail {

// A product that is rounded on its own: fused into an addition it would break the antisymmetry of the edge functions.
RAYLIFT_HD inline float product(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fmul_rn(a, b);
#else
  float p = a * b;
#if defined(__FMA__)
  asm("" : "+x"(p));
#elif defined(__aarch64__)
  asm("" : "+w"(p));
#endif
  return p;
#endif
}

RAYLIFT_HD inline float minimum(float a, float b) {
#if defined(__CUDA_ARCH__)
  return fminf(a, b);
#else
  return a < b ? a : b;
#endif
}
RAYLIFT_HD inline float maximum(float a, float b) {
#if defined(__CUDA_ARCH__)
  return fmaxf(a, b);
#else
  return a > b ? a : b;
#endif
}

RAYLIFT_HD inline float as_float(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __uint_as_float(bits);
#else
  return std::bit_cast<float>(bits);
#endif
}

RAYLIFT_HD inline int highest_bit(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return 31 - __clz(static_cast<int>(bits));
#else
  return 31 - std::countl_zero(bits);
#endif
}
RAYLIFT_HD inline std::uint32_t count_bits(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<std::uint32_t>(__popc(bits));
#else
  return static_cast<std::uint32_t>(std::popcount(bits));
#endif
}

// The ray as both tests want it.
struct PreparedRay {
  float3 origin;
  float inverse[3];  // of the direction; components near zero are moved off it
  float shear_x, shear_y, shear_z;
  int kx, ky, kz;       // axes permuted so that kz is the longest, winding kept
  std::uint32_t order;  // bit a set: the direction's component a is not negative

  RAYLIFT_HD explicit PreparedRay(const Ray& ray) : origin(ray.origin) {
    const float d[3] = {ray.direction.x, ray.direction.y, ray.direction.z};
    const float ax = fabsf(d[0]), ay = fabsf(d[1]), az = fabsf(d[2]);
    kz = ax > ay ? (ax > az ? 0 : 2) : (ay > az ? 1 : 2);
    const float dz = kz == 0 ? d[0] : kz == 1 ? d[1] : d[2];
    kx = kz == 2 ? 0 : kz + 1;
    ky = kx == 2 ? 0 : kx + 1;
    if (dz < 0) {
      const int k = kx;
      kx = ky;
      ky = k;
    }
    shear_x = pick({d[0], d[1], d[2]}, kx) / dz;
    shear_y = pick({d[0], d[1], d[2]}, ky) / dz;
    shear_z = 1.0f / dz;
    const float least = fabsf(dz) * 0x1p-60f;
    order = 0;
    for (int a = 0; a < 3; ++a) {
      const bool forward = !(d[a] < 0);
      order |= forward ? 1u << a : 0u;
      inverse[a] = 1.0f / (fabsf(d[a]) > least ? d[a] : forward ? least : -least);
    }
  }

  RAYLIFT_HD static float pick(float3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }
};

// A vertex in the ray's frame: the ray runs along +z through x = y = 0.
struct Sheared {
  float x, y, z;
};

RAYLIFT_HD inline Sheared shear(const PreparedRay& ray, float3 vertex) {
  const float3 d{vertex.x - ray.origin.x, vertex.y - ray.origin.y, vertex.z - ray.origin.z};
  const float z = PreparedRay::pick(d, ray.kz);
  return {PreparedRay::pick(d, ray.kx) - product(ray.shear_x, z),
          PreparedRay::pick(d, ray.ky) - product(ray.shear_y, z), z};
}

// Twice the signed area of (0, a, b). Rounding is monotone, so the sign is right or the result zero.
RAYLIFT_HD inline float edge(Sheared a, Sheared b) {
  return product(a.x, b.y) - product(a.y, b.x);
}
// The same from exact products.
RAYLIFT_HD inline float exact_edge(Sheared a, Sheared b) {
  return static_cast<float>(static_cast<double>(a.x) * static_cast<double>(b.y) -
                            static_cast<double>(a.y) * static_cast<double>(b.x));
}

RAYLIFT_HD inline bool same_sign(float u, float v, float w) {
  return minimum(minimum(u, v), w) >= 0 || maximum(maximum(u, v), w) <= 0;
}

// Weights of a, b, c where the ray meets their triangle, or not. u, v, w come as the rounded edge functions.
struct Crossing {
  float t, u, v, w, determinant;
};

RAYLIFT_HD inline bool cross(const PreparedRay& ray, Sheared a, Sheared b, Sheared c, float u, float v, float w,
                             Crossing& result) {
  if (!same_sign(u, v, w)) return false;
  if (u == 0 || v == 0 || w == 0) {
    u = exact_edge(b, c);
    v = exact_edge(c, a);
    w = exact_edge(a, b);
    if (!same_sign(u, v, w)) return false;
  }
  const float determinant = u + v + w;
  if (determinant == 0) return false;  // no area as seen along the ray
  const float inverse = 1.0f / determinant;
  result.u = product(u, inverse);
  result.v = product(v, inverse);
  result.w = product(w, inverse);
  result.t = product(product(result.u, a.z) + product(result.v, b.z) + product(result.w, c.z), ray.shear_z);
  result.determinant = determinant;
  return true;
}

// Siblings yet to visit, from `first` on. Four bits a slot: bit 4p is set for a slot p ^ order that is to be visited,
// the highest first; bit 4s + 1 for a slot s that is an inner node.
struct Group {
  std::uint32_t first;
  std::uint32_t bits;
};

RAYLIFT_HD inline bool any_child(Group nodes) {
  return (nodes.bits & 0x11111111u) != 0;
}

// The next one, taken out of the group. `order` is that of the ray for which the group was made.
RAYLIFT_HD inline std::uint32_t next_child(Group& nodes, std::uint32_t order) {
  const int bit = highest_bit(nodes.bits & 0x11111111u);
  const std::uint32_t slot = static_cast<std::uint32_t>(bit) ^ order << 2;
  nodes.bits &= ~(1u << bit);
  return nodes.first + count_bits(nodes.bits & 0x22222222u & ((1u << slot) - 1u));
}

// The group whose only child is `first`, whatever the order: no slot below it is an inner node.
RAYLIFT_HD inline Group only_child(std::uint32_t first) {
  return {first, 0x10000000u};
}

// Moves the four bits of slot s to slot s ^ order.
RAYLIFT_HD inline std::uint32_t in_ray_order(std::uint32_t bits, std::uint32_t order) {
#if defined(__CUDA_ARCH__)
  // Byte b comes from b ^ (order >> 1): 0x3210 with each digit so changed.
  bits = __byte_perm(bits, 0, 0x3210u ^ (order >> 1) * 0x1111u);
#else
  if ((order & 4u) != 0) bits = bits << 16 | bits >> 16;
  if ((order & 2u) != 0) bits = (bits << 8 & 0xFF00FF00u) | (bits >> 8 & 0x00FF00FFu);
#endif
  return (order & 1u) != 0 ? (bits << 4 & 0xF0F0F0F0u) | (bits >> 4 & 0x0F0F0F0Fu) : bits;
}

struct NodeHits {
  Group children;
  std::uint32_t pairs;  // what is hit of pair_mask
  std::uint32_t pair_mask, first_pair;
};

// The next pair that is hit, taken out.
RAYLIFT_HD inline std::uint32_t next_pair(NodeHits& hits) {
  const int bit = highest_bit(hits.pairs);
  hits.pairs &= ~(1u << bit);
  return hits.first_pair + count_bits(hits.pair_mask & ((1u << bit) - 1u));
}

#if defined(__CUDA_ARCH__)
// One byte of four as the float 2^15 + byte, in one instruction; an integer conversion has a fraction of its rate.
__device__ inline float grid_float(std::uint32_t bytes, int j) {
  return __uint_as_float(__byte_perm(bytes, 0x47000000u, 0x7404u | static_cast<unsigned>(j) << 4));
}
#endif

// A BvhNode or an InstanceNode as it was read, at once.
struct NodeWords {
  std::uint32_t word[20];

  /// Not an InstanceNode, that is.
  [[nodiscard]] RAYLIFT_HD bool is_node() const { return word[3] != 0; }
  [[nodiscard]] RAYLIFT_HD InstanceNode instance() const {
    InstanceNode result;
    std::memcpy(&result, word, sizeof result);
    return result;
  }
};
static_assert(sizeof(NodeWords) == sizeof(BvhNode) && offsetof(InstanceNode, zero) == 12);

RAYLIFT_HD inline NodeWords load_node(const BvhNode* node) {
  NodeWords result;
#if defined(__CUDA_ARCH__)
  const uint4* source = reinterpret_cast<const uint4*>(node);
#pragma unroll
  for (int k = 0; k < 5; ++k) {
    const uint4 four = __ldg(source + k);
    result.word[4 * k] = four.x;
    result.word[4 * k + 1] = four.y;
    result.word[4 * k + 2] = four.z;
    result.word[4 * k + 3] = four.w;
  }
#else
  std::memcpy(&result, node, sizeof result);
#endif
  return result;
}

// The slots whose boxes the ray meets in [tmin, tmax].
//
// A plane's t is (2^15 + q) * step + offset. With u = 2^-24: origin - o, its product with the inverse, and the
// inverse's own rounding make 3u |far|, far = (origin - o) * inverse; the triangle test adds 4u |far| and 4u * 256
// |step|; moving by 2^15 steps and the final sum add 3u * 2^15 |step|. Widening by 16u |far| + 2^-7 |step| covers all
// of it.
RAYLIFT_HD inline NodeHits intersect_node(const NodeWords& node, const PreparedRay& ray, float tmin, float tmax) {
  const std::uint32_t* words = node.word;
  const float origin[3] = {ray.origin.x, ray.origin.y, ray.origin.z};
  float step[3], near_offset[3], far_offset[3];
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int a = 0; a < 3; ++a) {
    step[a] = as_float((words[3] >> (8 * a) & 0xFFu) << 23) * ray.inverse[a];
    const float far = product(as_float(words[a]) - origin[a], ray.inverse[a]);
#if defined(__CUDA_ARCH__)
    // From here on t counts from tmin; see below.
    const float slack = (fabsf(far) + tmin) * 0x1p-20f + fabsf(step[a]) * 0x1p-7f;
    const float moved = (far - tmin) - step[a] * 0x1p15f;
#else
    const float slack = fabsf(far) * 0x1p-20f + fabsf(step[a]) * 0x1p-7f;
    const float moved = far - step[a] * 0x1p15f;
#endif
    near_offset[a] = moved - slack;
    far_offset[a] = moved + slack;
  }

  std::uint32_t hits = 0;
#if defined(__CUDA_ARCH__)
  const bool forward[3] = {(ray.order & 1u) != 0, (ray.order & 2u) != 0, (ray.order & 4u) != 0};
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    std::uint32_t near[3], far[3];
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      const std::uint32_t lower = words[8 + 2 * a + half], upper = words[14 + 2 * a + half];
      near[a] = forward[a] ? lower : upper;
      far[a] = forward[a] ? upper : lower;
    }
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const auto plane = [&](const std::uint32_t* bytes, int a, const float* offset) {
        return __float_as_int(fmaf(grid_float(bytes[a], j), step[a], offset[a]));
      };
      // As integers floats compare as they do as floats where one side is not negative, and here the ray's start, now
      // 0, is: so the instructions for three operands serve.
      const int enter =
          __vimax3_s32_relu(plane(near, 0, near_offset), plane(near, 1, near_offset), plane(near, 2, near_offset));
      const int leave =
          min(__vimin3_s32(plane(far, 0, far_offset), plane(far, 1, far_offset), plane(far, 2, far_offset)),
              __float_as_int(__fsub_ru(tmax, tmin)));
      if (enter <= leave) hits |= 0xFu << (4 * (4 * half + j));
    }
  }
#else
  // Lanes are slots; written for the compiler's vectoriser.
  float enter[8], leave[8];
  for (int i = 0; i < 8; ++i) enter[i] = tmin;
  for (int i = 0; i < 8; ++i) leave[i] = tmax;
  for (int a = 0; a < 3; ++a) {
    const bool forward = (ray.order >> a & 1u) != 0;
    const std::uint8_t* const lower = reinterpret_cast<const std::uint8_t*>(words + 8 + 2 * a);
    const std::uint8_t* const upper = reinterpret_cast<const std::uint8_t*>(words + 14 + 2 * a);
    const std::uint8_t* near = forward ? lower : upper;
    const std::uint8_t* far = forward ? upper : lower;
    for (int i = 0; i < 8; ++i) {
      const float t = (32768.0f + static_cast<float>(near[i])) * step[a] + near_offset[a];
      enter[i] = t > enter[i] ? t : enter[i];
    }
    for (int i = 0; i < 8; ++i) {
      const float t = (32768.0f + static_cast<float>(far[i])) * step[a] + far_offset[a];
      leave[i] = t < leave[i] ? t : leave[i];
    }
  }
  for (int i = 0; i < 8; ++i) hits |= enter[i] <= leave[i] ? 0xFu << (4 * i) : 0u;
#endif
  const std::uint32_t first_child = words[4], first_pair = words[5], pairs = words[6], inner = words[7];
  return {{first_child, in_ray_order(hits & inner, ray.order) | inner << 1}, hits & pairs, pairs, first_pair};
}

// What is known of the nearest hit so far: the pair, which of its two, and the stored weights.
struct Candidate {
  float t;
  float u, v;  // of stored vertices 1 and 2 of the triangle
  std::uint32_t pair;
  std::uint32_t second;  // 0 or 1
  std::uint32_t instance;
  bool from_inside;
};

RAYLIFT_HD inline Candidate no_candidate(float tmax) {
  return {tmax, 0, 0, kNoTriangle, 0, 0, false};
}

RAYLIFT_HD inline TrianglePair load_pair(const TrianglePair* pair) {
#if defined(__CUDA_ARCH__)
  TrianglePair result;
  const float4* source = reinterpret_cast<const float4*>(pair);
  const float4 a = __ldg(source), b = __ldg(source + 1), c = __ldg(source + 2);
  const float flat[12] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w};
#pragma unroll
  for (int k = 0; k < 12; ++k) result.vertex[k / 3][k % 3] = flat[k];
  return result;
#else
  return *pair;
#endif
}

RAYLIFT_HD inline float3 vertex(const TrianglePair& pair, int k) {
  return {pair.vertex[k][0], pair.vertex[k][1], pair.vertex[k][2]};
}

RAYLIFT_HD inline void take(const BvhView& bvh, std::uint32_t pair, std::uint32_t second, const Crossing& crossing,
                            float tmin, std::uint32_t exclude, std::uint32_t instance, Candidate& best) {
  if (!(crossing.t >= tmin && crossing.t <= best.t)) return;
  // Of several at the same t the lowest pair counts, so that the order of visits is of no consequence. No pair yet is
  // -1: a hit at tmax itself is none.
  if (crossing.t == best.t && !(static_cast<std::int32_t>(pair) < static_cast<std::int32_t>(best.pair) ||
                                (pair == best.pair && instance < best.instance)))
    return;
  if (exclude != kNoTriangle && bvh.ids[pair].triangle[second] >> 2 == exclude) return;
  best.t = crossing.t;
  best.u = crossing.v;
  best.v = crossing.w;
  best.pair = pair;
  best.second = second;
  best.instance = instance;
  best.from_inside = crossing.determinant > 0;
}

RAYLIFT_HD inline void intersect_pair(const BvhView& bvh, std::uint32_t index, const PreparedRay& ray, float tmin,
                                      std::uint32_t exclude, std::uint32_t instance, Candidate& best) {
  const TrianglePair pair = load_pair(bvh.pairs + index);
  const Sheared p0 = shear(ray, vertex(pair, 0)), p1 = shear(ray, vertex(pair, 1)), p2 = shear(ray, vertex(pair, 2)),
                p3 = shear(ray, vertex(pair, 3));
  const float shared = edge(p1, p2);
  Crossing crossing;
  if (cross(ray, p0, p1, p2, shared, edge(p2, p0), edge(p0, p1), crossing))
    take(bvh, index, 0, crossing, tmin, exclude, instance, best);
  if (cross(ray, p2, p1, p3, edge(p1, p3), edge(p3, p2), -shared, crossing))
    take(bvh, index, 1, crossing, tmin, exclude, instance, best);
}

// The ray in a mesh's frame. Rounded the same way everywhere, unlike Affine::point.
RAYLIFT_HD inline Ray in_mesh(const InstanceNode& placed, const Ray& ray) {
  const float* m = placed.to_mesh.m;
  const float o[3] = {ray.origin.x, ray.origin.y, ray.origin.z};
  const float d[3] = {ray.direction.x, ray.direction.y, ray.direction.z};
  float origin[3], direction[3];
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int row = 0; row < 3; ++row, m += 4) {
    origin[row] = product(m[0], o[0]) + product(m[1], o[1]) + product(m[2], o[2]) + m[3];
    direction[row] = product(m[0], d[0]) + product(m[1], d[1]) + product(m[2], d[2]);
  }
  return {{origin[0], origin[1], origin[2]}, ray.tmin, {direction[0], direction[1], direction[2]}, ray.tmax};
}

// Walks the tree; nodes nearer by octant first. kAny stops at the first hit. kScene: nodes[0] is over instances.
template <bool kAny, bool kScene>
RAYLIFT_HD inline Candidate traverse(const BvhView& bvh, const Ray& ray, std::uint32_t exclude,
                                     [[maybe_unused]] std::uint32_t exclude_instance) {
  Candidate best = no_candidate(ray.tmax);
  if (bvh.node_count == 0) return best;
  PreparedRay prepared(ray);
  Group stack[kScene ? 2 * kBvhMaxDepth : kBvhMaxDepth];  // one level leaves at most one group of siblings
  int depth = 0;
  [[maybe_unused]] int mesh_depth = -1;  // in a mesh: entries of the stack below it, which are the world's
  std::uint32_t instance = 0;            // that mesh's
  std::uint32_t excluded = kScene ? kNoTriangle : exclude;
  Group nodes = only_child(0);
  while (true) {
    const std::uint32_t child = next_child(nodes, prepared.order);
    if (any_child(nodes)) stack[depth++] = nodes;
    NodeWords node = load_node(bvh.nodes + child);
    if constexpr (kScene) {
      if (mesh_depth < 0 && !node.is_node()) {
        const InstanceNode placed = node.instance();
        instance = placed.instance;
        excluded = instance == exclude_instance ? exclude : kNoTriangle;
        prepared = PreparedRay(in_mesh(placed, ray));
        node = load_node(bvh.nodes + placed.root);
        mesh_depth = depth;
      }
    }
    NodeHits hits = intersect_node(node, prepared, ray.tmin, best.t);
    while (hits.pairs != 0) {
      intersect_pair(bvh, next_pair(hits), prepared, ray.tmin, excluded, instance, best);
      if (kAny && best.pair != kNoTriangle) return best;
    }
    nodes = hits.children;
    if (!any_child(nodes)) {
      if (depth == 0) return best;
      if constexpr (kScene) {
        if (depth == mesh_depth) {
          mesh_depth = -1;
          prepared = PreparedRay(ray);
        }
      }
      nodes = stack[--depth];
    }
  }
}

// What is known of a candidate in its mesh's frame, in the terms of the triangle's own vertices.
RAYLIFT_HD inline Hit hit_of(const BvhView& bvh, const Candidate& best) {
  Hit hit{best.t, kNoTriangle, 0, 0, {0, 0, 0}, 0, 0};
  if (best.pair == kNoTriangle) return hit;
  const TrianglePair pair = load_pair(bvh.pairs + best.pair);
  const bool second = best.second != 0;
  const float3 a = vertex(pair, second ? 2 : 0), b = vertex(pair, 1), c = vertex(pair, second ? 3 : 2);
  const float3 e{b.x - a.x, b.y - a.y, b.z - a.z}, f{c.x - a.x, c.y - a.y, c.z - a.z};
  hit.normal = {product(e.y, f.z) - product(e.z, f.y), product(e.z, f.x) - product(e.x, f.z),
                product(e.x, f.y) - product(e.y, f.x)};
  // Stored vertex k is the triangle's (k + r) % 3, so its own vertex j is stored at (j + 3 - r) % 3.
  const std::uint32_t id = bvh.ids[best.pair].triangle[best.second];
  const std::uint32_t rotation = id & 3u;
  hit.triangle = id >> 2;
  const float first = 1.0f - best.u - best.v;
  hit.u = rotation == 0 ? best.u : rotation == 1 ? first : best.v;
  hit.v = rotation == 0 ? best.v : rotation == 1 ? best.u : first;
  hit.instance = best.instance & 0x7FFFFFFFu;
  hit.from_inside = best.from_inside ? 1 : 0;
  return hit;
}

}  // namespace bvh_detail

RAYLIFT_HD inline Hit closest_hit(const BvhView& bvh, const Ray& ray, std::uint32_t exclude) {
  return bvh_detail::hit_of(bvh, bvh_detail::traverse<false, false>(bvh, ray, exclude, 0));
}

RAYLIFT_HD inline bool any_hit(const BvhView& bvh, const Ray& ray, std::uint32_t exclude) {
  return bvh_detail::traverse<true, false>(bvh, ray, exclude, 0).pair != kNoTriangle;
}

}  // namespace raylift
