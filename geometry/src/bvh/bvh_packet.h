// SPDX-License-Identifier: Apache-2.0
// Rays that lie close together, through the tree as one: what packet.h in gpu/ does for a warp.
//
// A node is tested once for all of them, by interval arithmetic (Boulos, Wald, Shirley, "Geometric and Arithmetic
// Culling Methods for Entire Ray Packets", UUCS-06-010, 2006), its eight slots at once. A pair of triangles is tested
// with all rays at once, as far as it takes to see which of them surely miss it; the others test it one by one.
// For bvh_avx2.cpp and bvh_avx512.cpp: see bvh_simd.h.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "bvh_lane_hits.h"
#include "bvh_lane_pair.h"
#include "bvh_lane_ray.h"
#include "bvh_simd.h"

namespace raylift::bvh {
namespace {

inline constexpr int kPacketRays = 16;
/// How much a walk may cost before it is given up, in nodes; a pair counts as two.
inline constexpr int kPacketBudget = 384;

/// What the rays of a packet have in common along an axis.
struct PacketAxis {
  float near_origin, far_origin;      // extreme origins, as near and far planes want them
  float least_inverse, most_inverse;  // of the directions
  float share;                        // of a distance: what rounding does to it in terms of t
  float slack;                        // what is added to the stretch within a child's planes
  PlaneOffsets planes;
};

class Packet {
 public:
  /// False: the rays do not go the same way along each axis, or start behind their origins, or are not all finite.
  RAYLIFT_LANES bool start(const Ray* rays, RaySpace frame) {
    // Looked at first, since most rays of no bundle end here.
    const int signs = negative(rays[0]);
    for (int i = 1; i < kPacketRays; ++i)
      if (negative(rays[i]) != signs) return false;
    rays_ = rays;
    tmin_ = rays[0].tmin;
    for (int i = 0; i < kPacketRays; ++i) {
      if (lanes_have_nan(rays[i]) || !(rays[i].tmin >= 0) || !(rays[i].tmin < 0x1p60f)) return false;
      tmin_ = std::fmin(tmin_, rays[i].tmin);
      queries_[i] = Nearest<Any>(rays[i], Cold(candidates_ + i), {});
      lanes_[i].set(rays[i], frame);
    }
    return set();
  }
  /// The same rays in the frame of a mesh, or back in the world's.
  RAYLIFT_LANES bool enter(const bvh_detail::InstanceNode& placed) {
    for (int i = 0; i < kPacketRays; ++i) lanes_[i].set(in_mesh(placed, rays_[i]), RaySpace::mesh);
    return set();
  }
  RAYLIFT_LANES bool leave() {
    for (int i = 0; i < kPacketRays; ++i) lanes_[i].set(rays_[i], RaySpace::world);
    return set();
  }

  [[nodiscard]] float tmin() const { return tmin_; }
  /// The farthest end of a stretch that still counts.
  [[nodiscard]] RAYLIFT_LANES float tmax() const {
    float most = queries_[0].farthest();
    for (int i = 1; i < kPacketRays; ++i) most = std::fmax(most, queries_[i].farthest());
    return most;
  }
  [[nodiscard]] Site site(int i) const { return queries_[i].site(); }

  /// The slots whose boxes some ray may meet in [tmin, tmax], a bit each, and where the first of them may enter.
  ///
  /// A plane's distance from an origin is rounded twice, which with the product and the inverse's own rounding makes
  /// an error of t of at most 2^-24 (4 |distance| + 255 |step|) |inverse|. What is left of the slack is for the
  /// rounding of the hit's t that a box is compared with, as in plane_slack.
  RAYLIFT_LANES std::uint32_t meet(const bvh_detail::BvhNode* node, float tmax, __m256& entries) const {
    const __m256 sign = _mm256_set1_ps(-0.0f);
    __m256 enter = _mm256_set1_ps(tmin_), leave = _mm256_set1_ps(tmax);
    for (int a = 0; a < 3; ++a) {
      const PacketAxis& axis = axes_[a];
      const float step_alone = std::bit_cast<float>(std::uint32_t{node->exponent[a]} << 23);
      const __m256 step = _mm256_set1_ps(step_alone);
      const __m256 near = _mm256_fmadd_ps(planes(node, axis.planes.near_plane), step,
                                          _mm256_set1_ps(node->origin[a] - axis.near_origin));
      const __m256 far =
          _mm256_fmadd_ps(planes(node, axis.planes.far_plane), step, _mm256_set1_ps(node->origin[a] - axis.far_origin));
      const __m256 reach = _mm256_add_ps(_mm256_andnot_ps(sign, near), _mm256_andnot_ps(sign, far));
      const __m256 error = _mm256_fmadd_ps(_mm256_add_ps(reach, _mm256_set1_ps(4096 * step_alone)),
                                           _mm256_set1_ps(axis.share), _mm256_set1_ps(axis.slack));
      const __m256 least = _mm256_set1_ps(axis.least_inverse), most = _mm256_set1_ps(axis.most_inverse);
      enter = _mm256_max_ps(enter,
                            _mm256_sub_ps(_mm256_min_ps(_mm256_mul_ps(near, least), _mm256_mul_ps(near, most)), error));
      leave = _mm256_min_ps(leave,
                            _mm256_add_ps(_mm256_max_ps(_mm256_mul_ps(far, least), _mm256_mul_ps(far, most)), error));
    }
    entries = enter;
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(enter, leave, _CMP_LE_OQ)));
  }

  /// Tests a pair with all rays.
  RAYLIFT_LANES void test(const BvhView& bvh, std::uint32_t pair, std::uint32_t placed) {
    const bvh_detail::TrianglePair& p = bvh.pairs[pair];
    std::uint32_t open = 0;
    for (int half = 0; half < kPacketRays; half += 8) open |= not_missed(p, half) << half;
    for (; open != 0; open &= open - 1) {
      const int i = std::countr_zero(open);
      test_pair(bvh, pair, lanes_[i], placed, rays_[i], queries_[i]);
    }
  }

 private:
  /// Bits for the direction's negative components.
  RAYLIFT_LANES static int negative(const Ray& ray) {
    return _mm_movemask_ps(_mm_cmplt_ps(_mm_load_ps(&ray.direction.x), _mm_setzero_ps())) & 7;
  }
  /// From the prepared rays.
  RAYLIFT_LANES bool set() {
    const RayFrame& first = *lanes_[0].frame;
    // Alike in the direction's signs, and in its largest component: pairs are sheared along the same axis.
    for (const LaneRay& ray : lanes_)
      if (ray.frame->bits != first.bits) return false;
    for (int i = 0; i < kPacketRays; ++i) {
      for (int k = 0; k < 3; ++k) origins_[k][i] = lanes_[i].origin[first.axes[k]];
      shears_[0][i] = lanes_[i].shear_x;
      shears_[1][i] = lanes_[i].shear_y;
    }
    for (std::uint32_t a = 0; a < 3; ++a)
      if (!set_axis(a)) return false;
    return true;
  }
  RAYLIFT_LANES bool set_axis(std::uint32_t a) {
    float least_origin = lanes_[0].origin[a], most_origin = least_origin;
    float least = lanes_[0].inverse[a], most = least, slack = lanes_[0].slack[a];
    for (const LaneRay& ray : lanes_) {
      least_origin = std::min(least_origin, ray.origin[a]);
      most_origin = std::max(most_origin, ray.origin[a]);
      least = std::min(least, ray.inverse[a]);
      most = std::max(most, ray.inverse[a]);
      slack = std::max(slack, ray.slack[a]);
    }
    const float magnitude = std::max(std::fabs(least), std::fabs(most));
    // Products with what is larger could overflow.
    if (!(magnitude < 0x1p66f) || !(std::max(std::fabs(least_origin), std::fabs(most_origin)) < 0x1p60f)) return false;
    const bool forward = (PreparedRay::order_of(lanes_[0].frame->bits) >> a & 1u) != 0;
    axes_[a] = {forward ? most_origin : least_origin,
                forward ? least_origin : most_origin,
                least,
                most,
                magnitude * 0x1p-20f,
                slack,
                plane_offsets(a, forward)};
    return true;
  }

  /// A bit for each of eight rays that does not surely miss both triangles, by intersect_pair's own operations.
  RAYLIFT_LANES std::uint32_t not_missed(const bvh_detail::TrianglePair& pair, int half) const {
    const std::int32_t* const axis = lanes_[0].frame->axes;
    const __m256 sign = _mm256_set1_ps(-0.0f);
    const __m256 ox = _mm256_load_ps(origins_[0] + half), oy = _mm256_load_ps(origins_[1] + half),
                 oz = _mm256_load_ps(origins_[2] + half);
    const __m256 shear_x = _mm256_load_ps(shears_[0] + half), shear_y = _mm256_load_ps(shears_[1] + half);
    __m256 x[4], y[4], extent = _mm256_setzero_ps(), depth = _mm256_setzero_ps();
    for (int k = 0; k < 4; ++k) {
      const float* v = pair.vertex[k];
      const __m256 z = _mm256_sub_ps(_mm256_set1_ps(v[axis[2]]), oz);
      x[k] = _mm256_sub_ps(_mm256_sub_ps(_mm256_set1_ps(v[axis[0]]), ox), _mm256_mul_ps(shear_x, z));
      y[k] = _mm256_sub_ps(_mm256_sub_ps(_mm256_set1_ps(v[axis[1]]), oy), _mm256_mul_ps(shear_y, z));
      extent = _mm256_max_ps(extent, _mm256_max_ps(_mm256_andnot_ps(sign, x[k]), _mm256_andnot_ps(sign, y[k])));
      depth = _mm256_max_ps(depth, _mm256_andnot_ps(sign, z));
    }
    // As edge_bound does.
    const __m256 bound =
        _mm256_add_ps(_mm256_mul_ps(_mm256_add_ps(extent, _mm256_mul_ps(depth, _mm256_set1_ps(0x1p-18f))),
                                    _mm256_mul_ps(_mm256_add_ps(extent, depth), _mm256_set1_ps(0x1p-19f))),
                      _mm256_set1_ps(0x1p-120f));
    const auto edge = [&](int a, int b)
                          RAYLIFT_LANES { return _mm256_sub_ps(_mm256_mul_ps(x[a], y[b]), _mm256_mul_ps(y[a], x[b])); };
    const auto missed = [&](__m256 u, __m256 v, __m256 w) RAYLIFT_LANES {
      const __m256 least = _mm256_min_ps(_mm256_min_ps(u, v), w), most = _mm256_max_ps(_mm256_max_ps(u, v), w);
      return _mm256_and_ps(_mm256_cmp_ps(least, _mm256_xor_ps(bound, sign), _CMP_LT_OQ),
                           _mm256_cmp_ps(most, bound, _CMP_GT_OQ));
    };
    const __m256 shared = edge(1, 2);
    const __m256 both = _mm256_and_ps(missed(shared, edge(2, 0), edge(0, 1)),
                                      missed(edge(1, 3), edge(3, 2), _mm256_xor_ps(shared, sign)));
    return ~static_cast<std::uint32_t>(_mm256_movemask_ps(both)) & 0xFFu;
  }

  const Ray* rays_ = nullptr;
  float tmin_ = 0;
  PacketAxis axes_[3];
  // Each ray's values along the axes of its shear: kx, ky, kz.
  alignas(32) float origins_[3][kPacketRays];
  alignas(32) float shears_[2][kPacketRays];
  LaneRay lanes_[kPacketRays];
  Candidate candidates_[kPacketRays];
  std::array<Nearest<Any>, kPacketRays> queries_ =
      filled<Nearest<Any>>(Nearest<Any>({LocalPoint(0, 0, 0), 0, {0, 0, 1}, 0}, Cold(candidates_), {}));

  template <class T>
  static std::array<T, kPacketRays> filled(const T& value) {
    return [&]<std::size_t... k>(std::index_sequence<k...>) {
      return std::array<T, kPacketRays>{((void)k, value)...};
    }
    (std::make_index_sequence<kPacketRays>());
  }
};

/// The hits of 16 rays. False: their ways part, or they meet too much; then nothing is known of them.
template <bool kScene>
RAYLIFT_LANES bool trace_packet(const BvhView& bvh, const Ray* rays, Hit* hits, Packet& packet,
                                HitLanes<kScene>& done) {
  if (!packet.start(rays, kScene ? RaySpace::world : RaySpace::mesh)) return false;
  std::uint64_t stack[kStack];
  stack[0] = entry(packet.tmin(), 0);
  int depth = 1, mesh_depth = -1, left = kPacketBudget;
  std::uint32_t placed = kNoInstance;
  float tmax = packet.tmax();
  while (true) {
    if constexpr (kScene)
      if (depth == mesh_depth) {
        mesh_depth = -1;
        if (!packet.leave()) return false;
      }
    if (depth == 0) break;
    const std::uint64_t top = stack[--depth];
    if (!(std::bit_cast<float>(static_cast<std::uint32_t>(top >> 32)) <= tmax)) continue;
    auto index = static_cast<std::uint32_t>(top);
    if (--left < 0) return false;
    if constexpr (kScene) {
      const bvh_detail::InstanceNode& instance = reinterpret_cast<const bvh_detail::InstanceNode*>(bvh.nodes)[index];
      if (mesh_depth < 0 && instance.zero == 0) {
        placed = index;
        if (!packet.enter(instance)) return false;
        mesh_depth = depth;
        index = instance.root;
        left -= 8;
      }
    }
    const bvh_detail::BvhNode* const node = bvh.nodes + index;
    __m256 entries;
    const std::uint32_t met = packet.meet(node, tmax, entries);
    if (PairHits pairs{fours(met) & node->pairs, node->pairs, node->first_pair}; pairs.pairs != 0) {
      left -= 2 * static_cast<int>(count_bits(pairs.pairs));
      while (pairs.pairs != 0) packet.test(bvh, next_pair(pairs), placed);
      tmax = packet.tmax();
    }
    depth = static_cast<int>(push_children(node, met, entries, stack + depth) - stack);
  }
  for (int i = 0; i < kPacketRays; ++i) done.add(rays[i], packet.site(i), hits + i);
  return true;
}

}  // namespace
}  // namespace raylift::bvh
