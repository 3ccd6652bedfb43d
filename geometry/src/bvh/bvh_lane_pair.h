// SPDX-License-Identifier: Apache-2.0
// A ray and a pair of triangles, all vertices and all edge functions at once.
// For bvh_avx2.cpp and bvh_avx512.cpp: see bvh_simd.h.
#pragma once

#include <cstdint>

#include "bvh_lane_ray.h"
#include "bvh_simd.h"

namespace raylift::bvh {
namespace {

RAYLIFT_LANES inline float largest(__m128 values) {
  const __m128 halves = _mm_max_ps(values, _mm_movehl_ps(values, values));
  return _mm_cvtss_f32(_mm_max_ss(halves, _mm_movehdup_ps(halves)));
}

// Out of line, as few pairs need it.
[[gnu::noinline]] void decide(const BvhView& bvh, std::uint32_t index, std::uint32_t open, const Ray& world,
                              std::uint32_t placed, Nearest<Any>& query) {
  decide_pair(bvh, index, open, world, placed, query);
}

// intersect_pair with all edge functions at once; what they leave open goes through the scalar code.
RAYLIFT_LANES inline void test_pair(const BvhView& bvh, std::uint32_t index, const LaneRay& ray, std::uint32_t placed,
                                    const Ray& world, Nearest<Any>& query) {
  const float* p = bvh.pairs[index].vertex[0];
  const __m128 origin = _mm_load_ps(ray.origin);
  const __m128i axes = _mm_load_si128(reinterpret_cast<const __m128i*>(ray.frame->axes));
  const __m128 d0 = _mm_permutevar_ps(_mm_sub_ps(_mm_load_ps(p), origin), axes);
  const __m128 d1 = _mm_permutevar_ps(_mm_sub_ps(_mm_loadu_ps(p + 3), origin), axes);
  const __m128 d2 = _mm_permutevar_ps(_mm_sub_ps(_mm_loadu_ps(p + 6), origin), axes);
  const __m128 last = _mm_load_ps(p + 8);
  const __m128 d3 = _mm_permutevar_ps(_mm_sub_ps(_mm_permute_ps(last, 0b11111001), origin), axes);
  const __m128 xy01 = _mm_unpacklo_ps(d0, d1), xy23 = _mm_unpacklo_ps(d2, d3);
  const __m128 z = _mm_movelh_ps(_mm_unpackhi_ps(d0, d1), _mm_unpackhi_ps(d2, d3));
  const __m128 x = _mm_sub_ps(_mm_movelh_ps(xy01, xy23), _mm_mul_ps(_mm_set1_ps(ray.shear_x), z));
  const __m128 y = _mm_sub_ps(_mm_movehl_ps(xy23, xy01), _mm_mul_ps(_mm_set1_ps(ray.shear_y), z));
  // Edge functions (p2, p0), (p0, p1), (p1, p3), (p3, p2), and (p1, p2), which both triangles share.
  const __m128 ax = _mm_permute_ps(x, _MM_SHUFFLE(3, 1, 0, 2)), ay = _mm_permute_ps(y, _MM_SHUFFLE(3, 1, 0, 2));
  const __m128 bx = _mm_permute_ps(x, _MM_SHUFFLE(2, 3, 1, 0)), by = _mm_permute_ps(y, _MM_SHUFFLE(2, 3, 1, 0));
  const __m128 edges = _mm_sub_ps(_mm_mul_ps(ax, by), _mm_mul_ps(ay, bx));
  const __m128 crossed = _mm_mul_ps(x, _mm_permute_ps(y, _MM_SHUFFLE(3, 1, 2, 0)));
  const __m128 shared = _mm_sub_ss(_mm_permute_ps(crossed, 1), _mm_permute_ps(crossed, 2));
  // Lane 0: shared, (p2, p0), (p0, p1); lane 1: (p1, p3), (p3, p2), -shared.
  const __m128 u = _mm_insert_ps(shared, edges, 0b10011100);
  const __m128 v = _mm_permute_ps(edges, _MM_SHUFFLE(3, 3, 3, 0));
  const __m128 w = _mm_insert_ps(_mm_permute_ps(edges, 1), _mm_xor_ps(shared, _mm_set1_ps(-0.0f)), 0b00011100);
  const __m128 least = _mm_min_ps(_mm_min_ps(u, v), w), most = _mm_max_ps(_mm_max_ps(u, v), w);
  const __m128 sign = _mm_set1_ps(-0.0f);
  const __m128 extents = _mm_max_ps(_mm_andnot_ps(sign, x), _mm_andnot_ps(sign, y));
  const float bound = edge_bound(largest(extents), largest(_mm_andnot_ps(sign, z)));
  const __m128 bounds = _mm_set1_ps(bound);
  const __m128 missed = _mm_and_ps(_mm_cmplt_ps(least, _mm_xor_ps(bounds, sign)), _mm_cmpgt_ps(most, bounds));
  if ((_mm_movemask_ps(missed) & 3) == 3) return;
  alignas(16) float zs[4], us[4], vs[4], ws[4];
  _mm_store_ps(zs, z);
  _mm_store_ps(us, u);
  _mm_store_ps(vs, v);
  _mm_store_ps(ws, w);
  const PairEdges tests{{us[0], vs[0], ws[0]}, {us[1], vs[1], ws[1]}, {zs[0], zs[1], zs[2], zs[3]}};
  const std::uint32_t open = offer_pair(bvh, index, ray.inverse_z, tests, bound, bound, placed, query);
  if (open != 0) decide(bvh, index, open, world, placed, query);
}

}  // namespace
}  // namespace raylift::bvh
