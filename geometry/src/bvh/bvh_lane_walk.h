// SPDX-License-Identifier: Apache-2.0
// Rays on the host with vector instructions: packets of rays that stay together; of the others all slots of a node at
// once, all vertices of a pair at once, children by distance, and several rays in flight so that one's memory accesses
// hide behind the others' arithmetic.
//
// Hits are the portable code's, bit for bit: boxes only have to be wide enough, triangles are computed by the same
// operations in the same order, and which of several hits at the same t counts does not depend on the order of visits.
// For bvh_avx2.cpp and bvh_avx512.cpp: see bvh_simd.h.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "bvh_lane_hits.h"
#include "bvh_lane_pair.h"
#include "bvh_lane_ray.h"
#include "bvh_packet.h"
#include "bvh_simd.h"

namespace raylift::bvh {
namespace {

constexpr int kInFlight = 8;
// What stands on a stack for no node: where the walk ends, and where it leaves a mesh. Any ray goes on to them, as it
// does to the root; what they name is prefetched, and never read.
constexpr std::uint64_t kEnd = std::uint64_t{0xFF800000u} << 32, kLeaveMesh = kEnd | 1;
constexpr std::uint64_t root_entry(std::uint32_t node) {
  return std::uint64_t{0xFF7FFFFFu} << 32 | node;
}

// One ray on its way.
struct LaneWalk {
  LaneRay lanes;
  std::uint64_t* end;  // of the stack
  PairHits hits;
  std::uint32_t placed;  // in a mesh of a scene: its InstanceNode; else kNoInstance
  Candidate candidate;
  Nearest<Any> query{{LocalPoint(0, 0, 0), 0, {0, 0, 1}}, Cold(&candidate), {}};
  const Ray* ray;
  Hit* hit;
  std::uint64_t stack[kStack];  // t of entry and node: the lower the nearer, where t is not negative
};

// Slots that the ray meets, a bit each, and where it enters them. The slack is plane_slack's, whose derivation has more
// roundings.
RAYLIFT_LANES inline std::uint32_t test_slots(const bvh_detail::BvhNode* node, const LaneRay& ray, float tmax,
                                              __m256& entries) {
  const __m128 origin = _mm_load_ps(ray.origin);
  // The fourth lane would be a denormal number.
  const __m128 corner = _mm_blend_ps(_mm_load_ps(node->origin), origin, 8);
  const __m128 inverse = _mm_load_ps(ray.inverse);
  const __m128i exponents = _mm_cvtepu8_epi32(_mm_loadu_si32(node->exponent));
  const __m128 grid = _mm_castsi128_ps(_mm_slli_epi32(exponents, 23)), step = _mm_mul_ps(grid, inverse);
  const __m128 offset = _mm_mul_ps(_mm_sub_ps(corner, origin), inverse);
  const __m128 slack = _mm_fmadd_ps(_mm_andnot_ps(_mm_set1_ps(-0.0f), offset), _mm_set1_ps(0x1p-20f),
                                    _mm_fmadd_ps(grid, _mm_load_ps(ray.grid_slack), _mm_load_ps(ray.slack)));
  const __m128 near_offset = _mm_sub_ps(offset, slack), far_offset = _mm_add_ps(offset, slack);
  // Broadcast out of memory, which takes no shuffle: the bytes' conversions need these already.
  alignas(16) float steps[4], near_offsets[4], far_offsets[4];
  _mm_store_ps(steps, step);
  _mm_store_ps(near_offsets, near_offset);
  _mm_store_ps(far_offsets, far_offset);
  const __m256 sx = _mm256_broadcast_ss(steps), sy = _mm256_broadcast_ss(steps + 1),
               sz = _mm256_broadcast_ss(steps + 2);
  const PlaneOffsets* const at = ray.frame->planes;
  const __m256 near_x = _mm256_fmadd_ps(planes(node, at[0].near_plane), sx, _mm256_broadcast_ss(near_offsets + 0));
  const __m256 near_y = _mm256_fmadd_ps(planes(node, at[1].near_plane), sy, _mm256_broadcast_ss(near_offsets + 1));
  const __m256 near_z = _mm256_fmadd_ps(planes(node, at[2].near_plane), sz, _mm256_broadcast_ss(near_offsets + 2));
  const __m256 far_x = _mm256_fmadd_ps(planes(node, at[0].far_plane), sx, _mm256_broadcast_ss(far_offsets + 0));
  const __m256 far_y = _mm256_fmadd_ps(planes(node, at[1].far_plane), sy, _mm256_broadcast_ss(far_offsets + 1));
  const __m256 far_z = _mm256_fmadd_ps(planes(node, at[2].far_plane), sz, _mm256_broadcast_ss(far_offsets + 2));
  const __m256 enter =
      _mm256_max_ps(_mm256_max_ps(near_x, near_y), _mm256_max_ps(near_z, _mm256_broadcast_ss(&ray.tmin)));
  const __m256 leave = _mm256_min_ps(_mm256_min_ps(far_x, far_y), _mm256_min_ps(far_z, _mm256_set1_ps(tmax)));
  entries = enter;
  return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(enter, leave, _CMP_LE_OQ)));
}

RAYLIFT_LANES inline void start(LaneWalk& walk, const Ray& ray, Hit* hit, RaySpace frame) {
  walk.lanes.set(ray, frame);
  walk.query = {ray, Cold(&walk.candidate), {}};
  walk.ray = &ray;
  walk.hit = hit;
  walk.stack[0] = kEnd;
  walk.stack[1] = root_entry(0);
  walk.end = walk.stack + 2;
  if (lanes_have_nan(ray)) {
    --walk.end;
    walk.query.far = 0;  // anything that compares, for the end to be reached
  }
  walk.placed = kNoInstance;
  walk.hits = {0, 0, 0};
}

inline void prefetch(const void* address, std::size_t bytes) {
  __builtin_prefetch(address);
  __builtin_prefetch(static_cast<const char*>(address) + bytes - 1);
}

// Asks for the first pair that is hit; if there is none, for what is there already, since no branch decides it
// beforehand.
inline void prefetch_pair(const BvhView& bvh, const PairHits& hits, const bvh_detail::BvhNode* node) {
  const std::uint32_t below = (hits.pairs & -hits.pairs) - 1u;
  const void* const pair = bvh.pairs + hits.first_pair + count_bits(hits.pair_mask & below);
  prefetch(hits.pairs != 0 ? pair : node, sizeof(bvh_detail::TrianglePair));
}

// Tests the pairs found before, then one node, and asks for what comes next. False: the ray is done.
template <bool kScene>
RAYLIFT_LANES inline bool step(const BvhView& bvh, LaneWalk& walk) {
  for (std::uint32_t& pairs = walk.hits.pairs; pairs != 0; pairs &= pairs - 1) {
    const std::uint32_t below = (pairs & -pairs) - 1u;
    test_pair(bvh, walk.hits.first_pair + count_bits(walk.hits.pair_mask & below), walk.lanes, walk.placed, *walk.ray,
              walk.query);
  }
  const float tmax = walk.query.farthest();
  std::uint64_t top;
  do top = *--walk.end;
  while (!(std::bit_cast<float>(static_cast<std::uint32_t>(top >> 32)) <= tmax));
  if constexpr (kScene) {
    if (top == kLeaveMesh) {
      walk.lanes.set(*walk.ray, RaySpace::world);
      walk.placed = kNoInstance;
      return true;
    }
  }
  if (top == kEnd) return false;
  const auto index = static_cast<std::uint32_t>(top);
  if constexpr (kScene) {
    const bvh_detail::InstanceNode& placed = reinterpret_cast<const bvh_detail::InstanceNode*>(bvh.nodes)[index];
    if (walk.placed == kNoInstance && placed.zero == 0) {
      walk.placed = index;
      walk.lanes.set(in_mesh(placed, *walk.ray), RaySpace::mesh);
      *walk.end++ = kLeaveMesh;
      *walk.end++ = root_entry(placed.root);
      prefetch(bvh.nodes + placed.root, sizeof(bvh_detail::BvhNode));
      return true;
    }
  }
  const bvh_detail::BvhNode* node = bvh.nodes + index;
  __m256 entries;
  const std::uint32_t met = test_slots(node, walk.lanes, tmax, entries);
  walk.hits = {fours(met) & node->pairs, node->pairs, node->first_pair};
  prefetch_pair(bvh, walk.hits, node);
  walk.end = push_children(node, met, entries, walk.end);
  prefetch(bvh.nodes + static_cast<std::uint32_t>(walk.end[-1]), sizeof(bvh_detail::BvhNode));
  return true;
}

template <bool kScene>
RAYLIFT_LANES void trace_all(const BvhView& bvh, const Ray* rays, Hit* hits, std::size_t count,
                             HitLanes<kScene>& done) {
  constexpr RaySpace kFrame = kScene ? RaySpace::world : RaySpace::mesh;
  alignas(64) LaneWalk walks[kInFlight];
  LaneWalk* order[kInFlight];
  std::size_t next = 0;
  int active = 0;
  for (; next < count && active < kInFlight; ++next) {
    order[active] = walks + active;
    start(walks[active++], rays[next], hits + next, kFrame);
  }
  while (active != 0)
    for (int i = 0; i < active;) {
      LaneWalk& walk = *order[i];
      if (step<kScene>(bvh, walk)) {
        ++i;
        continue;
      }
      done.add(*walk.ray, walk.query.site(), walk.hit);
      if (next < count) {
        start(walk, rays[next], hits + next, kFrame);
        ++next;
      } else {
        order[i] = order[--active];
      }
    }
}

// Packets as long as they stay together, the other rays on their own. Where one has parted, more and more are not
// tried.
template <bool kScene>
RAYLIFT_LANES std::size_t trace_groups(const BvhView& bvh, const Ray* rays, Hit* hits, std::size_t count) {
  Packet packet;
  HitLanes<kScene> done(bvh);
  std::size_t alone = 0, at = 0, skipped = 1, together = 0;  // rays from `alone` to `at` go on their own
  while (at < count) {
    if (count - at >= kPacketRays && trace_packet(bvh, rays + at, hits + at, packet, done)) {
      trace_all(bvh, rays + alone, hits + alone, at - alone, done);
      alone = at += kPacketRays;
      together += kPacketRays;
      skipped = 1;
    } else {
      at = std::min(count, at + skipped * kPacketRays);
      skipped = std::min<std::size_t>(2 * skipped, 16);
    }
  }
  trace_all(bvh, rays + alone, hits + alone, count - alone, done);
  done.finish();
  return together;
}

std::size_t trace_lanes(const BvhView& bvh, BvhLevels levels, const Ray* rays, Hit* hits, std::size_t count) {
  if (bvh.node_count == 0) return trace_portable(bvh, levels, rays, hits, count);
  return levels == BvhLevels::scene ? trace_groups<true>(bvh, rays, hits, count)
                                    : trace_groups<false>(bvh, rays, hits, count);
}

}  // namespace
}  // namespace raylift::bvh
