// SPDX-License-Identifier: Apache-2.0
// The two kernels of trace(): groups of rays as packets, and then the pending ones, ray by ray.
#pragma once

#include "rays/image_rows.h"
#include "trace_steps.h"

namespace raylift::cuda {

// Each group whose rays stay together. Where one's do not, the rest of the warp's are not tried either, unless they
// part in the frame of a turned mesh alone.
template <class Geometry>
__global__ void __launch_bounds__(kThreads, kPacketBlocks)
    packet_kernel(const __grid_constant__ Geometry geometry, const Ray* __restrict__ rays, Hit* hits, std::size_t count,
                  RowsNote* note) {
  if (note != nullptr && note->no_packets != 0) {
    // All groups are pending.
    const std::size_t group = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
    for (std::size_t i = group * rows::kGroup; i < count; i += std::size_t{gridDim.x} * kThreads * rows::kGroup)
      hits[i].instance = kPending;
    if ((threadIdx.x & 31u) == 0) count_parted(geometry);
    return;
  }
  const rows::Groups groups{count, note == nullptr ? 0 : note->width};
  const std::uint64_t warps = std::uint64_t{gridDim.x} * (kThreads / 32), all = groups.size(),
                      share = (all + warps - 1) / warps;
  const std::uint64_t first = (blockIdx.x * std::uint64_t{kThreads / 32} + threadIdx.x / 32) * share,
                      last = first + share < all ? first + share : all;
  bool together = true, all_done = true;
  for (std::uint64_t group = first; group < last; ++group) {
    const std::size_t i = groups.ray(group, threadIdx.x & 31u);
    bool is_done = false;
    if (together) {
      const auto& bvh = bvh_of(geometry);
      const auto ray = [&] { return i < count ? rays[i] : Ray{LocalPoint(0, 0, 0), 0, {1, 1, 1}, 0}; };
      auto end = bvh_detail::PacketEnd::done;
      bvh_detail::Site site{};
      do {
        const Ray start = ray();
        PacketQuery<Geometry> query(start, bvh_detail::packet_cold(), {});
        const bool active = i < count && !bvh_detail::has_nan(start);
        end = bvh_detail::traverse_packet<kScene<Geometry>>(bvh, start, ray, active, query);
        site = query.site();
      } while (brings_what_stopped(geometry, end, site));
      is_done = end == bvh_detail::PacketEnd::done;
      // The next group may meet no such mesh.
      together = is_done || end == bvh_detail::PacketEnd::parted_in_mesh;
      if (is_done && i < count) hits[i] = finished(geometry, rays[i], site);
      if (!is_done && (threadIdx.x & 31u) == 0) {
        if (note != nullptr) *static_cast<volatile std::uint32_t*>(&note->pending) = 1;
        if (all_done) count_parted(geometry);
      }
      all_done = all_done && is_done;
    }
    // By the group's first ray; of tiles by that of each run.
    if (!is_done && i < count && i % (groups.width != 0 ? rows::kTileWidth : rows::kGroup) == 0) {
      Hit pending{};
      pending.instance = kPending;
      hits[i] = pending;
    }
  }
}

// Stores the hits of a warp's first `count` lanes to hits[lane]. Pairs of lanes write both halves of one hit together:
// one whole sector per request to the L2.
__device__ inline void store_hits(Hit* hits, const Hit& hit, std::uint32_t count) {
  const std::uint32_t lane = threadIdx.x & 31u;
  const bool odd = (lane & 1u) != 0;
  std::uint32_t halves[2][4];
  memcpy(halves, &hit, sizeof hit);
  ::uint4 even_hit, odd_hit;
  std::uint32_t* const to_even = &even_hit.x;
  std::uint32_t* const to_odd = &odd_hit.x;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const std::uint32_t others = __shfl_xor_sync(bvh_detail::kWholeWarp, odd ? halves[0][k] : halves[1][k], 1);
    to_even[k] = odd ? others : halves[0][k];
    to_odd[k] = odd ? halves[1][k] : others;
  }
  const std::uint32_t first = lane & ~1u;
  auto* const place = reinterpret_cast<::uint4*>(hits + first) + (lane & 1u);
  if (first < count) __stcs(place, even_hit);
  if (first + 1 < count) __stcs(place + 2, odd_hit);
}

// hits[i] = finish(fetch(i), found[i]) for each ray, 32 at a time: like finish_in_warp. `hits` may overlap `found`,
// whose sites are read before the stores.
template <class Fetch, class Finish>
__device__ __noinline__ void finish_hits(std::uint32_t count, const bvh_detail::Site* found, Hit* hits, Fetch fetch,
                                         Finish finish) {
  __syncwarp();
  for (std::uint32_t left = count; left != 0;) {
    const std::uint32_t begin = (left - 1) / 32 * 32, i = begin + (threadIdx.x & 31u);
    bvh_detail::Site site{kNoTriangle, bvh_detail::kNoInstance};
    Ray ray{};
    if (i < left) {
      site = found[i];
      ray = fetch(i);
    }
    Hit hit{};
    if (i < left) hit = finish(ray, site);
    __syncwarp();
    store_hits(hits + begin, hit, left - begin);
    __syncwarp();
    left = begin;
  }
}

// Whether no group is pending, so that a block of the kernel after the packets' has nothing to do.
__device__ inline bool none_pending(const RowsNote* note) {
  return note != nullptr && note->pending == 0;
}

template <class Geometry>
__global__ void __launch_bounds__(kThreads, kBlocks)
    trace_kernel(const __grid_constant__ Geometry geometry, const Ray* __restrict__ rays, Hit* hits, std::size_t count,
                 std::size_t rays_per_warp, const RowsNote* note) {
  if (none_pending(note)) return;
  for_pending_runs(blockIdx.x, hits, count, rays_per_warp, note != nullptr,
                   [&](std::size_t run, std::uint32_t rays_of_run) {
                     typename SharedStack<kScene<Geometry>>::Overflow overflow;
                     SharedStack<kScene<Geometry>> stack(overflow);
                     const auto kept = stack.keep(run);
                     bvh_detail::nearest_of_warp<kScene<Geometry>>(
                         bvh_of(geometry), rays_of_run, [=](std::uint32_t i) { return streamed(rays + (*kept + i)); },
                         [=](std::uint32_t i, Found site) { reinterpret_cast<Found*>(hits + *kept)[i] = site; }, stack);
                     const Geometry* const all = &geometry;
                     Hit* const hits_of_run = hits + *kept;
                     finish_hits(
                         rays_of_run, reinterpret_cast<const Found*>(hits_of_run), hits_of_run,
                         [=](std::uint32_t i) { return streamed(rays + (*kept + i)); },
                         [=](const Ray& ray, Found site) { return finished(*all, ray, site); });
                   });
}

// `note` is memory on the device, or nullptr: then no rows are looked for. It becomes nullptr where rays are not
// examined.
template <class Geometry>
int launch_packets(const Geometry& geometry, const Ray* rays, Hit* hits, std::size_t count, const LaunchShape& shape,
                   RowsNote*& note, cudaStream_t stream) {
  if (count < rows::kFewestRays || count > rows::kMaxRays) note = nullptr;
  if (note != nullptr)
    if (const int code = launch_find_rows(rays, count, note, stream); code != cudaSuccess) return code;
  packet_kernel<<<shape.of_packets().blocks(count), kThreads, 0, stream>>>(geometry, rays, hits, count, note);
  return cudaSuccess;
}

template <class Geometry>
void launch_pending(const Geometry& geometry, const Ray* rays, Hit* hits, std::size_t count, const LaunchShape& shape,
                    const RowsNote* note, cudaStream_t stream) {
  trace_kernel<<<shape.blocks(count), kThreads, 0, stream>>>(geometry, rays, hits, count, shape.rays_per_warp, note);
}

}  // namespace raylift::cuda
