// SPDX-License-Identifier: Apache-2.0
// Hits of rays whose walks are done, several at a time in double: what hit_of computes, by the same operations in the
// same order. Where that needs more than double's precision, it is left to hit_of.
// For bvh_avx2.cpp and bvh_avx512.cpp: see bvh_simd.h.
#pragma once

#include <cstdint>

#include "bvh_simd.h"

namespace raylift::bvh {
namespace {

#ifdef RAYLIFT_LANES_AVX512
constexpr int kHitLanes = 8;
using Doubles = __m512d;
RAYLIFT_LANES inline Doubles doubles(const float* values) {
  return _mm512_cvtps_pd(_mm256_load_ps(values));
}
RAYLIFT_LANES inline void store_floats(float* to, Doubles values) {
  _mm256_store_ps(to, _mm512_cvtpd_ps(values));
}
RAYLIFT_LANES inline Doubles larger(Doubles a, Doubles b) {
  return _mm512_max_pd(a, b);
}
RAYLIFT_LANES inline Doubles smaller(Doubles a, Doubles b) {
  return _mm512_min_pd(a, b);
}
RAYLIFT_LANES inline Doubles absolute(Doubles a) {
  return _mm512_abs_pd(a);
}
RAYLIFT_LANES inline Doubles every(double value) {
  return _mm512_set1_pd(value);
}
using LaneMask = __mmask8;
RAYLIFT_LANES inline LaneMask lanes_of(std::uint32_t bits) {
  return static_cast<LaneMask>(bits);
}
RAYLIFT_LANES inline Doubles choose(LaneMask mask, Doubles yes, Doubles no) {
  return _mm512_mask_mov_pd(no, mask, yes);
}
RAYLIFT_LANES inline std::uint32_t greater(Doubles a, Doubles b) {
  return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ);
}
#else
constexpr int kHitLanes = 4;
using Doubles = __m256d;
RAYLIFT_LANES inline Doubles doubles(const float* values) {
  return _mm256_cvtps_pd(_mm_load_ps(values));
}
RAYLIFT_LANES inline void store_floats(float* to, Doubles values) {
  _mm_store_ps(to, _mm256_cvtpd_ps(values));
}
RAYLIFT_LANES inline Doubles larger(Doubles a, Doubles b) {
  return _mm256_max_pd(a, b);
}
RAYLIFT_LANES inline Doubles smaller(Doubles a, Doubles b) {
  return _mm256_min_pd(a, b);
}
RAYLIFT_LANES inline Doubles absolute(Doubles a) {
  return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
}
RAYLIFT_LANES inline Doubles every(double value) {
  return _mm256_set1_pd(value);
}
using LaneMask = __m256d;
RAYLIFT_LANES inline LaneMask lanes_of(std::uint32_t bits) {
  const __m256i bit = _mm256_setr_epi64x(1, 2, 4, 8);
  return _mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(bits), bit), bit));
}
RAYLIFT_LANES inline Doubles choose(LaneMask mask, Doubles yes, Doubles no) {
  return _mm256_blendv_pd(no, yes, mask);
}
RAYLIFT_LANES inline std::uint32_t greater(Doubles a, Doubles b) {
  return static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_GT_OQ)));
}
#endif

/// Vectors of lanes: along the two axes after the direction's longest one, in turn, and along that.
struct LaneVectors {
  Doubles x, y, z;
};

/// Hits that wait until there are as many as there are lanes.
template <bool kScene>
class HitLanes {
 public:
  explicit HitLanes(const BvhView& bvh) : bvh_(bvh) {}

  /// The hit of a ray at a site that its walk has found. `hit` is set by finish(), if not before.
  RAYLIFT_LANES void add(const Ray& world, Site site, Hit* hit) {
    if (site.triangle == kNoTriangle) {
      *hit = {world.tmax, kNoTriangle, 0, 0, {0, 0, 0}, 0, 0};
      return;
    }
    const int i = count_++;
    world_[i] = &world;
    sites_[i] = site;
    hits_[i] = hit;
    __builtin_prefetch(bvh_.ids + (site.triangle >> 1));
    const Ray ray = kScene && site.placed != kNoInstance ? in_mesh(instance_node(bvh_, site.placed), world) : world;
    const __m128 d = _mm_load_ps(&ray.direction.x), size = _mm_andnot_ps(_mm_set1_ps(-0.0f), d);
    const int larger = _mm_movemask_ps(_mm_cmpgt_ps(_mm_permute_ps(size, _MM_SHUFFLE(3, 1, 0, 0)),
                                                    _mm_permute_ps(size, _MM_SHUFFLE(3, 2, 2, 1)))) &
                       7;
    const std::uint32_t z = kLongest[larger], x = kNext[z], y = kNext[x];
    axes_[i] = z;
    const float* const from = &ray.origin.x;
    const float* const along = &ray.direction.x;
    const float(*const vertex)[3] = bvh_.pairs[site.triangle >> 1].vertex;
    const std::uint32_t second = site.triangle & 1u;
    const float *const a = vertex[2 * second], *const b = vertex[1], *const c = vertex[2 + second];
    backward_ |= static_cast<std::uint32_t>(along[z] < 0) << i;
    const std::uint32_t axis[3] = {x, y, z};
    for (int k = 0; k < 3; ++k) {
      in_[k][i] = from[axis[k]];
      in_[3 + k][i] = along[axis[k]];
      in_[6 + k][i] = a[axis[k]];
      in_[9 + k][i] = b[axis[k]];
      in_[12 + k][i] = c[axis[k]];
    }
    if (count_ == kHitLanes) finish();
  }

  /// Sets the hits that wait.
  RAYLIFT_LANES void finish() {
    if (count_ == 0) return;
    const std::uint32_t sure = cross();
    for (int i = 0; i < count_; ++i) {
      if ((sure >> i & 1u) != 0)
        write(i);
      else
        *hits_[i] = hit_of(bvh_, *world_[i], sites_[i]);
    }
    count_ = 0;
    backward_ = 0;
  }

 private:
  [[nodiscard]] RAYLIFT_LANES LaneVectors vectors(int k) const {
    return {doubles(in_[k]), doubles(in_[k + 1]), doubles(in_[k + 2])};
  }
  RAYLIFT_LANES static Doubles edge_of(const LaneVectors& a, const LaneVectors& b) { return a.x * b.y - a.y * b.x; }
  RAYLIFT_LANES static Doubles most(Doubles a, Doubles b, Doubles c) {
    return larger(larger(absolute(a), absolute(b)), absolute(c));
  }

  /// cross() of bvh_detail, of a ray that surely meets the triangle, and normal_of(). Returns a bit for each lane of
  /// which it holds.
  RAYLIFT_LANES std::uint32_t cross() {
    const LaneVectors o = vectors(0), d = vectors(3), va = vectors(6), vb = vectors(9), vc = vectors(12);
    const LaneMask swapped = lanes_of(backward_);
    const auto scale = [&](const LaneVectors& v) RAYLIFT_LANES {
      const Doubles z = v.z - o.z;
      const Doubles x = (v.x - o.x) * d.z - d.x * z, y = (v.y - o.y) * d.z - d.y * z;
      return LaneVectors{choose(swapped, y, x), choose(swapped, x, y), z};
    };
    const LaneVectors a = scale(va), b = scale(vb), c = scale(vc);
    const Doubles u = edge_of(b, c), v = edge_of(c, a), w = edge_of(a, b);
    const Doubles determinant = u + v + w, depth = u * a.z + v * b.z + w * c.z;
    const Doubles m = larger(most(a.x, b.x, c.x), most(a.y, b.y, c.y)), z = most(a.z, b.z, c.z), f = absolute(d.z) * z;
    const Doubles origin = smaller(most(o.x, o.y, o.z), every(16) * z);
    const Doubles limit = m * (m + f) * z * every(0x1p-20);
    const std::uint32_t sure =
        greater(absolute(depth) + absolute(determinant) * origin, limit) & greater(absolute(determinant), every(0));
    const Doubles inverse = every(1) / (determinant * d.z);
    store_floats(t_, depth * inverse);
    store_floats(weights_[0], v * inverse * d.z);
    store_floats(weights_[2], w * inverse * d.z);
    from_inside_ = greater(determinant, every(0));
    for (int i = 0; i < kHitLanes; ++i) weights_[1][i] = 1.0f - weights_[0][i] - weights_[2][i];
    const LaneVectors e{vb.x - va.x, vb.y - va.y, vb.z - va.z}, g{vc.x - va.x, vc.y - va.y, vc.z - va.z};
    store_floats(normal_[0], e.y * g.z - e.z * g.y);
    store_floats(normal_[1], e.z * g.x - e.x * g.z);
    store_floats(normal_[2], e.x * g.y - e.y * g.x);
    return sure;
  }

  RAYLIFT_LANES void write(int i) const {
    const std::uint32_t id = id_of(bvh_, sites_[i]), rotation = id & 3u, z = axes_[i], x = kNext[z], y = kNext[x];
    Hit& hit = *hits_[i];
    hit.t = t_[i];
    hit.triangle = id >> 2;
    hit.u = weights_[rotation][i];
    hit.v = weights_[kNext[kNext[rotation]]][i];
    float* const normal = &hit.normal.x;
    normal[x] = normal_[0][i];
    normal[y] = normal_[1][i];
    normal[z] = normal_[2][i];
    const std::uint32_t instance = kScene ? instance_of(bvh_, sites_[i]) : 0;
    hit.instance = instance & 0x7FFFFFFFu;
    hit.from_inside = from_inside_ >> i & 1u;
  }

  // By bits for |x| > |y|, |x| > |z|, |y| > |z|: the axis of the longest component, as Axes takes it.
  static constexpr std::uint8_t kLongest[8] = {2, 2, 2, 0, 1, 2, 1, 0};
  static constexpr std::uint8_t kNext[3] = {1, 2, 0};

  const BvhView& bvh_;
  int count_ = 0;
  std::uint32_t backward_ = 0, from_inside_ = 0;  // a bit for each lane
  const Ray* world_[kHitLanes];
  Hit* hits_[kHitLanes];
  Site sites_[kHitLanes];
  std::uint32_t axes_[kHitLanes];
  alignas(32) float in_[15][kHitLanes] = {};  // origin, direction, a, b, c
  alignas(32) float t_[kHitLanes], weights_[3][kHitLanes], normal_[3][kHitLanes];
};

}  // namespace
}  // namespace raylift::bvh
