// SPDX-License-Identifier: Apache-2.0
// Which of a node's boxes a ray meets.
#pragma once

#include <raylift/geometry/bvh/bvh_format.h>
#include <raylift/geometry/bvh/detail/ray_triangle.h>
#include <raylift/geometry/bvh/ray.h>
#include <raylift/geometry/detail/standard.h>

namespace raylift::bvh_detail {

// In which frame a ray is.
enum class RaySpace { mesh, world };

// The ray as both tests want it.
struct PreparedRay : ShearedRay {
  float inverse[3];    // of the direction; components near zero are moved off it
  float least_far[3];  // see plane_slack

  PreparedRay() = default;
  // around: boxes count that the ray passes by no farther than that, in terms of the direction's largest component.
  RAYLIFT_HD explicit PreparedRay(const Ray& ray, RaySpace frame = RaySpace::mesh, float around = 0)
      : ShearedRay(ray.origin, ray.direction) {
    prepare_for_boxes(ray, frame, around);
  }
  // From the world's frame into that of a mesh that is only moved. Only the origin and the boxes' slack change. Not for
  // rays along a plane: their slack is larger, see prepare_for_boxes.
  RAYLIFT_HD void move(Float3 moved_origin, float tmin, float slack_around) {
    origin = moved_origin;
    for (int a = 0; a < 3; ++a) least_far[a] = fabsf(tmin) + slack_around * fabsf(inverse[a]);
  }
  // What `around` adds to the slack.
  RAYLIFT_HD static float slack_around(Float3 direction, float around) { return around * longest(direction) * 0x1p20f; }
  // Whether a component of the direction is so near to zero that the ray counts as parallel to planes of boxes.
  [[nodiscard]] RAYLIFT_HD bool is_along_a_plane() const { return (bits & kAlongAPlane) != 0; }
  // Whether it is prepared in a mesh's frame. If not, it is prepared in the world's, even within a mesh that is only
  // moved.
  [[nodiscard]] RAYLIFT_HD bool in_mesh() const { return (bits & kInMesh) != 0; }
  // Off by up to 2^-23, as the largest component is not near zero.
  [[nodiscard]] RAYLIFT_HD float inverse_z() const {
    return kz() == 0 ? inverse[0] : kz() == 1 ? inverse[1] : inverse[2];
  }
  // Bit a set: the direction's component a is not negative.
  [[nodiscard]] RAYLIFT_HD std::uint32_t order() const { return order_of(bits); }
  // As it stands in `bits`: the selector of a byte permutation in 0 to 15, the order, and a shift of four bits in 27 to
  // 31. in_ray_order() wants the first and the last for each node.
  RAYLIFT_HD static constexpr std::uint32_t packed_order(std::uint32_t order) {
    return (0x3210u ^ (order >> 1) * 0x1111u) | order << 16 | (order & 1u) << 29;
  }
  RAYLIFT_HD static constexpr std::uint32_t order_of(std::uint32_t bits) { return bits >> 16 & 7u; }

 private:
  static constexpr std::uint32_t kInMesh = 1u << 25, kAlongAPlane = 1u << 26;
  // What a bit of the order changes in packed_order(), whatever the other bits are.
  RAYLIFT_HD static constexpr std::uint32_t changes(std::uint32_t bit) { return packed_order(bit) ^ packed_order(0); }

  RAYLIFT_HD static float longest(Float3 v) { return maximum(maximum(fabsf(v.x), fabsf(v.y)), fabsf(v.z)); }
  // Sets `inverse`, `least_far`, and in `bits`, where these are zero, packed_order() and what is known of the frame.
  RAYLIFT_HD void prepare_for_boxes(const Ray& ray, RaySpace frame, float around) {
    const float d[3] = {ray.direction.x, ray.direction.y, ray.direction.z};
    const float reach = longest(origin), least = longest(ray.direction) * 0x1p-60f;
    bits |= packed_order(0) | (frame == RaySpace::mesh ? kInMesh : 0u);
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int a = 0; a < 3; ++a) {
      const bool forward = !(d[a] < 0), parallel = !(fabsf(d[a]) > least);
      bits ^= forward ? changes(1u << a) : 0u;
      bits |= parallel ? kAlongAPlane : 0u;
      inverse[a] = rough_inverse(!parallel ? d[a] : forward ? least : -least);
      // Parallel to the planes, a ray is within them or not; where it runs in one, a slack of 2^-24 says that it is
      // within. The share of the origin's distance is for how far the ray drifts off along its way.
      float slack = parallel ? 0x1p-4f + 0x1p-4f * reach : 0;
      // The boxes of instances hold what rounding does to a ray on its way into a mesh's frame, but for the share of
      // the ray's origin: see bvh_detail::in_mesh.
      if (frame == RaySpace::world) slack += 2 * reach;
      if (around != 0) slack += slack_around(ray.direction, around);
      least_far[a] = fabsf(ray.tmin) + slack * fabsf(inverse[a]);
    }
  }
};

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
// rounding put the corner off by 3u |far|. Moving it by 2^15 steps, the sum with the slack and the last sum add
// u (4 |far| + (2^16 + 2^9) |step| + 2 slack). Slack is 16u (|far| + least_far) + 2^17 u |step|, with least_far at
// least |tmin|. What is left of it is more than the rounding of the hit's t that a box is compared with.
RAYLIFT_HD inline float plane_slack(float far, float least_far, float step) {
  return (fabsf(far) + least_far) * 0x1p-20f + fabsf(step) * 0x1p-7f;
}

#if defined(__CUDA_ARCH__)

// Two halfs in one register, the first in the lower 16 bits. In PTX, because kernels compiled at run time may not have
// cuda_fp16.h.
using Halfs = std::uint32_t;

__device__ inline Halfs to_halfs(float first, float second) {
  Halfs result;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(second), "f"(first));
#else
  asm("{ .reg .f16 a, b; cvt.rn.f16.f32 a, %1; cvt.rn.f16.f32 b, %2; mov.b32 %0, {a, b}; }"
      : "=r"(result)
      : "f"(first), "f"(second));
#endif
  return result;
}
__device__ inline Halfs first_twice(Halfs value) {
  Halfs result;
  asm("{ .reg .b16 a, b; mov.b32 {a, b}, %1; mov.b32 %0, {a, a}; }" : "=r"(result) : "r"(value));
  return result;
}
__device__ inline Halfs second_twice(Halfs value) {
  Halfs result;
  asm("{ .reg .b16 a, b; mov.b32 {a, b}, %1; mov.b32 %0, {b, b}; }" : "=r"(result) : "r"(value));
  return result;
}
__device__ inline Halfs fma_of_halfs(Halfs a, Halfs b, Halfs c) {
  Halfs result;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c));
  return result;
}
__device__ inline Halfs difference_of_halfs(Halfs a, Halfs b) {
  Halfs result;
  asm("sub.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}
// The maximum of each half and 0, and the minimum of each half. If one operand is not negative, halfs compare like
// integers, for which there are instructions with three operands from compute capability 9.0 on; below 8.0 there are
// none for halves.
__device__ inline Halfs largest_of_halfs(Halfs a, Halfs b, Halfs c) {
#if __CUDA_ARCH__ >= 900 || __CUDA_ARCH__ < 800
  return __vimax3_s16x2_relu(a, b, c);
#else
  asm("{ .reg .b32 t; max.f16x2 t, %1, %2; max.f16x2 t, t, %3; max.f16x2 %0, t, %4; }"
      : "=r"(a)
      : "r"(a), "r"(b), "r"(c), "r"(0));
  return a;
#endif
}
__device__ inline Halfs smallest_of_halfs(Halfs a, Halfs b, Halfs c, Halfs d) {
#if __CUDA_ARCH__ >= 900 || __CUDA_ARCH__ < 800
  return __vimin3_s16x2(__vimin3_s16x2(a, b, c), d, d);
#else
  asm("{ .reg .b32 s, t; min.f16x2 s, %1, %2; min.f16x2 t, %3, %4; min.f16x2 %0, s, t; }"
      : "=r"(a)
      : "r"(a), "r"(b), "r"(c), "r"(d));
  return a;
#endif
}
// One byte for each of four halfs: 0xFF if it is negative, else 0.
__device__ inline std::uint32_t negative_of_halfs(Halfs a, Halfs b) {
  std::uint32_t result;
  asm("prmt.b32 %0, %1, %2, 0xFDB9;" : "=r"(result) : "r"(a), "r"(b));
  return result;
}

// The slots whose boxes the ray meets in [tmin, tmax], four bits each. Planes are computed in half precision, two slots
// per instruction, because the walk is limited by instructions. Only the node's frame is computed in float.
//
// t is measured from t0, in units of the longest axis: the node's box spans at most 1 on each axis. t0 is on the ray,
// at most one span of any axis before the box is entered on that axis, and not behind where a box of the node is
// entered. A plane is q * a + b; the byte q is the subnormal half q * 2^-24.
//
// Error, with v = 2^-11, half's unit roundoff, and s the slack for the float part, 16u (|corner| + least_far) (see
// plane_slack): if the ray meets a box, |b| <= 255 a + s and t <= 510 a + s. Rounding a, b and the result moves a plane
// by at most v (255 a + 255 a + 510 a + 2 s) < a / 2 + s / 1000, and by 2^-24 if the result is subnormal. The planes
// are moved outward by 3/4 a + s + 2^-22.
//
// If an axis's step is longer than 2^13 times the smallest slack of an axis, the ray moves by less than 0.09 steps
// along it within the box. Its step is then reduced to that length, with the plane's distance from the ray's position
// at t0 unchanged in steps. A plane on either side of the ray at t0, by the 3/4 steps above, remains on that side.
template <bool kAnyStep = false>
__device__ inline std::uint32_t met_by_halfs(const NodeWords& node, const PreparedRay& ray, float tmin, float tmax);
// The same where a step is long, which is rare: a call, so that other rays do not move registers for it.
__device__ __noinline__ inline std::uint32_t met_by_call(NodeWords node, PreparedRay ray, float tmin, float tmax) {
  return met_by_halfs<true>(node, ray, tmin, tmax);
}
template <bool kAnyStep>
__device__ inline std::uint32_t met_by_halfs(const NodeWords& node, const PreparedRay& ray, float tmin, float tmax) {
  constexpr float kHalfSteps = 0.75f, kApart = 0x1p-22f;
  const std::uint32_t* words = node.word;
  const float origin[3] = {ray.origin.x, ray.origin.y, ray.origin.z};
  float step[3], near_corner[3], far_corner[3], slack[3];
  int before[3];
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    step[a] = as_float((words[3] >> (8 * a) & 0xFFu) << 23) * ray.inverse[a];
    const float corner = product(as_float(words[a]) - origin[a], ray.inverse[a]);
    const float own = fabsf(step[a]) * kHalfSteps;
    slack[a] = fmaf(fabsf(corner) + ray.least_far[a], 0x1p-20f, own);
    const float moved = corner - tmin;  // from here on t counts from tmin
    near_corner[a] = moved - slack[a];
    far_corner[a] = moved + slack[a];
    before[a] = __float_as_int(fmaf(own, -255 / kHalfSteps, near_corner[a]));
  }
  // If one operand is not negative, floats compare like integers.
  const float t0 = __int_as_float(__vimax3_s32_relu(before[0], before[1], before[2]));
  const float longest = fmaxf(fmaxf(fabsf(step[0]), fabsf(step[1])), fabsf(step[2]));
  const float most = 0x1p13f * fminf(fminf(slack[0], slack[1]), slack[2]);
  float unit = longest;
  if (longest > most) {
    if constexpr (!kAnyStep) return met_by_call(node, ray, tmin, tmax);
    unit = fmaxf(most, longest * 0x1p-40f);
#pragma unroll
    for (int a = 0; a < 3; ++a) {
      const float share = fminf(unit / fabsf(step[a]), 1.0f);
      step[a] *= share;
      near_corner[a] = fmaf(near_corner[a] - t0, share, t0);
      far_corner[a] = fmaf(far_corner[a] - t0, share, t0);
    }
  }
  float scale = rough_inverse(unit);  // infinite below normal numbers
  // a is at most 2^-8, so that the half a * 2^24 is finite.
  scale = fminf(scale * 0x1.FCp-9f, 0x1p100f);
  const float near_t0 = -fmaf(t0, scale, kApart), far_t0 = fmaf(-t0, scale, kApart), scale_of_steps = scale * 0x1p24f;
  Halfs near_at[3], far_at[3];
#pragma unroll
  for (int a = 0; a < 3; ++a) {
    near_at[a] = to_halfs(fmaf(near_corner[a], scale, near_t0), fmaf(far_corner[a], scale, far_t0));
    far_at[a] = second_twice(near_at[a]);
    near_at[a] = first_twice(near_at[a]);
  }
  const Halfs steps_xy = to_halfs(step[0] * scale_of_steps, step[1] * scale_of_steps),
              step_z_end =
                  to_halfs(step[2] * scale_of_steps, fmaf((__fsub_ru(tmax, tmin) - t0) * scale, 1 + 0x1p-9f, kApart));
  const Halfs steps[3] = {first_twice(steps_xy), second_twice(steps_xy), first_twice(step_z_end)},
              end = second_twice(step_z_end);

  // The same as order(), in one instruction each.
  const bool forward[3] = {ray.inverse[0] > 0, ray.inverse[1] > 0, ray.inverse[2] > 0};
  Halfs left[2][2];  // leave - enter, of slots 4 half + odd and 4 half + odd + 2
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
    for (unsigned odd = 0; odd < 2; ++odd) {
      const auto plane = [&](std::uint32_t bytes, int a, const Halfs* at) {
        return fma_of_halfs(__byte_perm(bytes, 0, 0x4240u + 0x101u * odd), steps[a], at[a]);
      };
      const Halfs enter =
          largest_of_halfs(plane(near[0], 0, near_at), plane(near[1], 1, near_at), plane(near[2], 2, near_at));
      const Halfs leave =
          smallest_of_halfs(plane(far[0], 0, far_at), plane(far[1], 1, far_at), plane(far[2], 2, far_at), end);
      left[half][odd] = difference_of_halfs(leave, enter);
    }
  }
  return ~((negative_of_halfs(left[0][0], left[1][0]) & 0x0F0F0F0Fu) |
           (negative_of_halfs(left[0][1], left[1][1]) & 0xF0F0F0F0u));
}

#endif

// The slots whose boxes the ray meets in [tmin, tmax], four bits each.
RAYLIFT_HD inline std::uint32_t met_slots(const NodeWords& node, const PreparedRay& ray, float tmin, float tmax) {
#if defined(__CUDA_ARCH__)
  return met_by_halfs(node, ray, tmin, tmax);
#else
  // Lanes are slots; written for the compiler's vectoriser.
  const std::uint32_t* words = node.word;
  const float origin[3] = {ray.origin.x, ray.origin.y, ray.origin.z};
  float enter[8], leave[8];
  for (int i = 0; i < 8; ++i) enter[i] = tmin;
  for (int i = 0; i < 8; ++i) leave[i] = tmax;
  for (int a = 0; a < 3; ++a) {
    const float step = as_float((words[3] >> (8 * a) & 0xFFu) << 23) * ray.inverse[a];
    const float corner = product(as_float(words[a]) - origin[a], ray.inverse[a]);
    const float slack = plane_slack(corner, ray.least_far[a], step), moved = corner - step * 0x1p15f;
    const float near_offset = moved - slack, far_offset = moved + slack;
    const bool forward = (ray.order() >> a & 1u) != 0;
    const std::uint8_t* const lower = reinterpret_cast<const std::uint8_t*>(words + 8 + 2 * a);
    const std::uint8_t* const upper = reinterpret_cast<const std::uint8_t*>(words + 14 + 2 * a);
    const std::uint8_t* near = forward ? lower : upper;
    const std::uint8_t* far = forward ? upper : lower;
    for (int i = 0; i < 8; ++i) {
      const float t = (32768.0f + static_cast<float>(near[i])) * step + near_offset;
      enter[i] = t > enter[i] ? t : enter[i];
    }
    for (int i = 0; i < 8; ++i) {
      const float t = (32768.0f + static_cast<float>(far[i])) * step + far_offset;
      leave[i] = t < leave[i] ? t : leave[i];
    }
  }
  std::uint32_t hits = 0;
  for (int i = 0; i < 8; ++i) hits |= enter[i] <= leave[i] ? 0xFu << (4 * i) : 0u;
  return hits;
#endif
}

}  // namespace raylift::bvh_detail
