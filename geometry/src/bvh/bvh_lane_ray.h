// SPDX-License-Identifier: Apache-2.0
// A ray as the tests with vector instructions want it, prepared without a branch: of rays in all directions each would
// be mispredicted half of the time. The values are PreparedRay's. For bvh_avx2.cpp and bvh_avx512.cpp: see bvh_simd.h.
#pragma once

#include <array>
#include <cstdint>

#include "bvh_simd.h"

namespace raylift::bvh {
namespace {

/// What follows from a direction's signs, and from which of its components is the largest.
struct RayFrame {
  alignas(16) std::int32_t axes[4];  // kx, ky, kz, kz
  PlaneOffsets planes[3];
  std::uint32_t bits;  // as of PreparedRay
};

/// By three bits for |x| > |y|, |x| > |z|, |y| > |z|, and above them three for components that are negative.
constexpr std::array<RayFrame, 64> kRayFrames = [] {
  std::array<RayFrame, 64> frames{};
  for (std::uint32_t i = 0; i < 64; ++i) {
    const bool xy = (i & 1u) != 0, xz = (i & 2u) != 0, yz = (i & 4u) != 0;
    const std::uint32_t negative = i >> 3;
    const std::uint32_t z = xy ? (xz ? 0 : 2) : (yz ? 1 : 2), next = (z + 1) % 3, last = (z + 2) % 3;
    const bool backward = (negative >> z & 1u) != 0;
    const std::uint32_t x = backward ? last : next, y = backward ? next : last;
    RayFrame& frame = frames[i];
    frame.axes[0] = static_cast<std::int32_t>(x);
    frame.axes[1] = static_cast<std::int32_t>(y);
    frame.axes[2] = frame.axes[3] = static_cast<std::int32_t>(z);
    for (std::uint32_t a = 0; a < 3; ++a) frame.planes[a] = plane_offsets(a, (negative >> a & 1u) == 0);
    frame.bits = Axes::packed(x, y, z) | PreparedRay::packed_order(~negative & 7u);
  }
  return frames;
}();

/// Four lanes, of which the last holds nothing.
struct LaneRay {
  alignas(16) float origin[4];
  alignas(16) float inverse[4];
  alignas(16) float slack[4];       // plane_slack's share of least_far
  alignas(16) float grid_slack[4];  // and of a grid's step, divided by it
  float shear_x, shear_y, inverse_z;
  float tmin;  // for boxes; lower than the ray's if that is negative
  const RayFrame* frame;

  RAYLIFT_LANES void set(const Ray& ray, RaySpace in) {
    const __m128 sign = _mm_set1_ps(-0.0f), zero = _mm_setzero_ps();
    // Without the fourth component, which may be infinite.
    const __m128 from = _mm_blend_ps(_mm_load_ps(&ray.origin.x), zero, 8);
    const __m128 d = _mm_blend_ps(_mm_load_ps(&ray.direction.x), zero, 8), size = _mm_andnot_ps(sign, d);
    const __m128 negative = _mm_cmplt_ps(d, zero);
    const int larger = _mm_movemask_ps(
        _mm_cmpgt_ps(_mm_permute_ps(size, _MM_SHUFFLE(3, 1, 0, 0)), _mm_permute_ps(size, _MM_SHUFFLE(3, 2, 2, 1))));
    frame = &kRayFrames[static_cast<unsigned>(larger | _mm_movemask_ps(negative) << 3)];
    const __m128i axes = _mm_load_si128(reinterpret_cast<const __m128i*>(frame->axes));
    const __m128 along = _mm_permutevar_ps(d, axes), z = _mm_permute_ps(along, _MM_SHUFFLE(2, 2, 2, 2));
    const __m128 least = _mm_mul_ps(_mm_andnot_ps(sign, z), _mm_set1_ps(0x1p-60f));
    const __m128 slanted = _mm_cmpgt_ps(size, least);
    const __m128 moved_off = _mm_or_ps(least, _mm_and_ps(negative, sign));
    const __m128 inverses = _mm_div_ps(_mm_set1_ps(1.0f), _mm_blendv_ps(moved_off, d, slanted));
    const __m128 size_of_inverse = _mm_andnot_ps(sign, inverses);
    const __m128 at = _mm_andnot_ps(sign, from);
    const __m128 reach = _mm_max_ps(_mm_max_ps(_mm_permute_ps(at, 0), _mm_permute_ps(at, _MM_SHUFFLE(1, 1, 1, 1))),
                                    _mm_permute_ps(at, _MM_SHUFFLE(2, 2, 2, 2)));
    const __m128 sixteenth = _mm_set1_ps(0x1p-4f);
    const __m128 of_parallel = _mm_andnot_ps(slanted, _mm_add_ps(sixteenth, _mm_mul_ps(sixteenth, reach)));
    const __m128 moved = in == RaySpace::world ? _mm_add_ps(reach, reach) : zero;
    // With a negative t, what push_children rounds up counts as well: less than 2^-20 of it.
    const __m128 start = _mm_set1_ps(ray.tmin), before = _mm_max_ps(_mm_xor_ps(start, sign), zero);
    const __m128 least_far = _mm_add_ps(_mm_add_ps(_mm_andnot_ps(sign, start), before),
                                        _mm_mul_ps(_mm_add_ps(moved, of_parallel), size_of_inverse));
    tmin = _mm_cvtss_f32(_mm_sub_ss(start, _mm_mul_ss(before, _mm_set1_ps(0x1p-19f))));
    const __m128 shears = _mm_div_ps(along, z);
    _mm_store_ps(origin, from);
    _mm_store_ps(inverse, inverses);
    _mm_store_ps(slack, _mm_mul_ps(least_far, _mm_set1_ps(0x1p-20f)));
    _mm_store_ps(grid_slack, _mm_mul_ps(size_of_inverse, _mm_set1_ps(0x1p-7f)));
    shear_x = _mm_cvtss_f32(shears);
    shear_y = _mm_cvtss_f32(_mm_movehdup_ps(shears));
    inverse_z = _mm_cvtss_f32(_mm_permute_ps(_mm_permutevar_ps(inverses, axes), _MM_SHUFFLE(2, 2, 2, 2)));
  }
};

RAYLIFT_LANES inline bool lanes_have_nan(const Ray& ray) {
  const __m128 from = _mm_load_ps(&ray.origin.x), to = _mm_load_ps(&ray.direction.x);
  return _mm_movemask_ps(_mm_cmpunord_ps(from, to)) != 0;
}

}  // namespace
}  // namespace raylift::bvh
