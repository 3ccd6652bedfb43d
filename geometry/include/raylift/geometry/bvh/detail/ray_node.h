// SPDX-License-Identifier: Apache-2.0
// Which of a node's children a ray meets, and the order in which they are visited.
#pragma once

#include <raylift/geometry/bvh/bvh_format.h>
#include <raylift/geometry/bvh/detail/ray_triangle.h>
#include <raylift/geometry/bvh/ray.h>
#include <raylift/geometry/detail/standard.h>

namespace raylift::inline v0_1::bvh_detail {

// In which frame a ray is.
enum class Frame { mesh, world };

// The ray as both tests want it.
struct PreparedRay : ShearedRay {
  float inverse[3];    // of the direction; components near zero are moved off it
  float least_far[3];  // see plane_slack

  // around: boxes count that the ray passes by no farther than that, in terms of the direction's largest component.
  RAYLIFT_HD explicit PreparedRay(const Ray& ray, Frame frame = Frame::mesh, float around = 0)
      : ShearedRay(ray.origin, ray.direction) {
    const float d[3] = {ray.direction.x, ray.direction.y, ray.direction.z};
    const float reach = maximum(maximum(fabsf(origin.x), fabsf(origin.y)), fabsf(origin.z));
    const float longest = fabsf(component(ray.direction, kz())), least = longest * 0x1p-60f;
    // The boxes of instances hold what rounding does to a ray on its way into a mesh's frame, but for the share of the
    // ray's origin: see in_mesh.
    const float moved = (frame == Frame::world ? 2 * reach : 0) + around * longest * 0x1p20f;
    for (int a = 0; a < 3; ++a) {
      const bool forward = !(d[a] < 0), parallel = !(fabsf(d[a]) > least);
      bits |= forward ? 1u << a : 0u;
      inverse[a] = 1.0f / (!parallel ? d[a] : forward ? least : -least);
      // Parallel to the planes, a ray is within them or not; where it runs in one, a slack of 2^-24 says that it is
      // within.
      const float slack = moved + (parallel ? 0x1p-4f + 0x1p-4f * reach : 0);
      least_far[a] = fabsf(ray.tmin) + slack * fabsf(inverse[a]);
    }
  }
  // Exact to a rounding, as the largest component is not near zero.
  [[nodiscard]] RAYLIFT_HD float inverse_z() const {
    return kz() == 0 ? inverse[0] : kz() == 1 ? inverse[1] : inverse[2];
  }
  // Bit a set: the direction's component a is not negative.
  [[nodiscard]] RAYLIFT_HD std::uint32_t order() const { return bits & 7u; }
};

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
static_assert(sizeof(NodeWords) == sizeof(BvhNode));
#if !defined(__CUDACC_RTC__)
static_assert(offsetof(InstanceNode, zero) == 12);
#endif

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

// How far a plane's t is widened, from `far`, the t of the node's corner, and the grid's step in t.
//
// What is in a box is met by the ray in exact arithmetic, so only the box test's own rounding counts. A plane's t is
// corner + q * step. With u = 2^-24: subtracting the origin, the product with the inverse and the inverse's own
// rounding put the corner off by 3u |far|. Moving it by tmin and by 2^15 steps, the sum with the slack and the last sum
// add u (4 |far| + 4 |tmin| + (2^16 + 2^9) |step| + 2 slack). Slack is 16u (|far| + least_far) + 2^17 u |step|, with
// least_far at least |tmin|. What is left of it is more than the rounding of the hit's t that a box is compared with.
RAYLIFT_HD inline float plane_slack(float far, float least_far, float step) {
  return (fabsf(far) + least_far) * 0x1p-20f + fabsf(step) * 0x1p-7f;
}

// The slots whose boxes the ray meets in [tmin, tmax]. In one function, as its steps share what is kept in registers.
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
    const float slack = plane_slack(far, ray.least_far[a], step[a]);
#if defined(__CUDA_ARCH__)
    const float moved = (far - tmin) - step[a] * 0x1p15f;  // from here on t counts from tmin; see below
#else
    const float moved = far - step[a] * 0x1p15f;
#endif
    near_offset[a] = moved - slack;
    far_offset[a] = moved + slack;
  }

  std::uint32_t hits = 0;
#if defined(__CUDA_ARCH__)
  const bool forward[3] = {(ray.order() & 1u) != 0, (ray.order() & 2u) != 0, (ray.order() & 4u) != 0};
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
    const bool forward = (ray.order() >> a & 1u) != 0;
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
  return {{first_child, in_ray_order(hits & inner, ray.order()) | inner << 1}, hits & pairs, pairs, first_pair};
}

// The ray in a mesh's frame. Rounded the same way everywhere, unlike Affine::point: products of floats are exact in
// double, fused or not, and of each component only the last rounding, to float, is felt.
//
// With u = 2^-24 and a rotation: that, and the rounding of the matrix, put the origin off by 3u |origin| + 2u
// |translation| and the direction by 3u |direction|, |.| being Euclid's, so a point within reach of the mesh by 6u
// |origin| + 5u |reach|. The boxes of instances are larger by 2^-20 times the condition of the transform and the
// scene's largest coordinate; the share of |origin|, at most twice the largest component, is added by PreparedRay.
RAYLIFT_HD inline Ray in_mesh(const InstanceNode& placed, const Ray& ray) {
  const auto d = [](float value) { return static_cast<double>(value); };
  const float* m = placed.to_mesh.m;
  const double ox = d(ray.origin.x), oy = d(ray.origin.y), oz = d(ray.origin.z);
  const double dx = d(ray.direction.x), dy = d(ray.direction.y), dz = d(ray.direction.z);
  float origin[3], direction[3];
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
  for (int row = 0; row < 3; ++row, m += 4) {
    const double x = d(m[0]), y = d(m[1]), z = d(m[2]);
    origin[row] = static_cast<float>(x * ox + y * oy + z * oz + d(m[3]));
    direction[row] = static_cast<float>(x * dx + y * dy + z * dz);
  }
  return {{origin[0], origin[1], origin[2]}, ray.tmin, {direction[0], direction[1], direction[2]}, ray.tmax};
}

}  // namespace raylift::inline v0_1::bvh_detail
