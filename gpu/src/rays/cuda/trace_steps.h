// SPDX-License-Identifier: Apache-2.0
// What the kernels of trace() share. Rays are traced in groups of 32 that follow each other, group by group as a
// packet first. What is left is pending.
#pragma once

#include <raylift/gpu/rays/detail/shared_stack.h>
#include <raylift/gpu/rays/warp_query.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "find_rows.h"
#include "packet.h"

namespace raylift::cuda {

inline constexpr int kThreads = 128;
static_assert(kThreads == bvh_detail::kPacketThreads);
// Blocks of a multiprocessor; and of those that try packets.
inline constexpr int kBlocks = 8, kPacketBlocks = 8;

template <bool kScene>
using SharedStack = bvh_detail::StackInShared<kScene, kThreads>;

// Rays of one warp, at most: enough that waiting for the last of them costs little.
inline constexpr std::size_t kRaysPerWarp = 512;
static_assert(kRaysPerWarp / 32 <= 16);
// Rays of a warp that tries packets.
inline constexpr std::size_t kPacketRaysPerWarp = 256;
// Stands in Hit::instance of the first ray of a group that is pending. No instance has that number.
inline constexpr std::uint32_t kPending = 0x3FFFFFFFu;

__host__ __device__ inline const BvhView& bvh_of(const BvhView& bvh) {
  return bvh;
}
__host__ __device__ inline const BvhView& bvh_of(const GeometryView& geometry) {
  return geometry.bvh;
}
// In one level the compiler must see that there is no instance.
__device__ inline Hit finished(const BvhView& bvh, const Ray& ray, bvh_detail::Site site) {
  return bvh_detail::hit_of(bvh, ray, {site.triangle, bvh_detail::kNoInstance});
}
__device__ inline Hit finished(const GeometryView& geometry, const Ray& ray, bvh_detail::Site site) {
  return bvh_detail::scene_hit_of(geometry, ray, site);
}
// Rays and hits are streamed by the L2, which is to keep nodes and triangles instead.
__device__ inline Ray streamed(const Ray* from) {
  const auto* const halves = reinterpret_cast<const ::float4*>(from);
  const ::float4 a = __ldcs(halves), b = __ldcs(halves + 1);
  return {LocalPoint(a.x, a.y, a.z), a.w, {b.x, b.y, b.z}, b.w};
}
template <class Geometry>
inline constexpr bool kScene = std::is_same_v<Geometry, GeometryView>;

// What only a BVH in parts wants: see paged_trace.h.
template <class Geometry>
struct PacketQueryOf {
  using Type = bvh_detail::Nearest<bvh_detail::Any>;
};
template <class Geometry>
using PacketQuery = typename PacketQueryOf<Geometry>::Type;
template <class Geometry>
__device__ inline bool brings_what_stopped(const Geometry&, bvh_detail::PacketEnd, bvh_detail::Site) {
  return false;
}
template <class Geometry>
__device__ inline void count_parted(const Geometry&) {}

// Which of the groups of a warp's range are pending, by what stands in their first hits; or, where tiles of an image
// may have been left, in one of their eighths, each of which belongs to one tile.
__device__ inline unsigned pending_groups(const Hit* hits, std::uint32_t count, bool in_tiles) {
  const std::uint32_t groups = (count + 31) / 32, lane = threadIdx.x & 31u;
  const auto ask = [=](std::uint32_t ray) {
    return __ballot_sync(bvh_detail::kWholeWarp, ray < count && hits[ray].instance == kPending);
  };
  const unsigned first = ask(32 * lane);
  // Mostly all are pending, or none.
  if (!in_tiles || first == (1u << groups) - 1u) return first;
  const std::uint32_t in_half = 32 * (lane & 15u) + 8 * (lane >> 4);
  const unsigned others = ask(in_half + 8) | (ask(in_half + 16) & 0xFFFF0000u);
  return first | (others & 0xFFFFu) | others >> 16;
}

// Calls trace_run(first ray, number of rays) for the pending groups of a warp's range, by a block's number. Groups that
// follow each other are one run.
template <class TraceRun>
__device__ inline void for_pending_runs(std::uint32_t block, const Hit* hits, std::size_t count,
                                        std::size_t rays_per_warp, bool in_tiles, const TraceRun& trace_run) {
  const auto first = [=] { return (block * std::size_t{kThreads / 32} + threadIdx.x / 32) * rays_per_warp; };
  const auto here = [=] {
    const std::size_t left = count - first();
    return static_cast<std::uint32_t>(left < rays_per_warp ? left : rays_per_warp);
  };
  if (first() >= count) return;
  // In memory: tracing needs the registers.
  unsigned pending = pending_groups(hits + first(), here(), in_tiles);
  asm volatile("" ::"l"(&pending) : "memory");
  while (pending != 0) {
    const auto begin = static_cast<std::uint32_t>(__ffs(static_cast<int>(pending))) - 1;
    const auto groups = static_cast<std::uint32_t>(__ffs(static_cast<int>(~(pending >> begin)))) - 1;
    pending &= ~(((1u << groups) - 1u) << begin);
    asm volatile("" ::"l"(&pending) : "memory");
    const std::uint32_t rest = here() - 32 * begin;
    trace_run(first() + 32 * begin, rest < 32 * groups ? rest : 32 * groups);
    asm volatile("" ::"l"(&pending) : "memory");
  }
}

// Warps and blocks for `count` rays. Few are spread over all of the device first.
struct LaunchShape {
  std::size_t rays_per_warp;
  [[nodiscard]] LaunchShape of_packets() const {
    return {rays_per_warp < kPacketRaysPerWarp ? rays_per_warp : kPacketRaysPerWarp};
  }
  [[nodiscard]] unsigned blocks(std::size_t count) const {
    const std::size_t per_block = rays_per_warp * (kThreads / 32);
    return static_cast<unsigned>((count + per_block - 1) / per_block);
  }
};
int launch_shape(std::size_t count, LaunchShape& shape);

}  // namespace raylift::cuda
