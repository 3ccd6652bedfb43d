// SPDX-License-Identifier: Apache-2.0
// Rays on their own, where more of the BVH lies in host memory than is copied beforehand.
//
// A thread that reads host memory at random makes a request of its own for every 32 bytes. The link carries some 0.7 of
// them a nanosecond, and a tenth of that where they are spread over more than half a gigabyte; nothing is kept in the
// L2. So rays are traced first as far as device memory suffices. Those that need a pair of the host's are postponed and
// sorted by it. Then window after window of the host's pairs is copied, at the rate of the link, and the rays that wait
// for it are traced from their beginning, while the next window comes.
#pragma once

#include "memory_plan.h"
#include "paged_trace.h"
#include "trace_kernels.h"

namespace raylift::cuda {

using bvh_detail::Site;

// The most rays of a warp of the second pass.
inline constexpr std::uint32_t kSortedRaysPerWarp = 128;

// With a ray's number: it is known what the ray hits, and only the triangle's number is wanted.
inline constexpr std::uint32_t kOnlyId = 0x80000000u;

// In Site::placed, of a ray that waits for pair Site::triangle. No instance has that number.
inline constexpr std::uint32_t kWaits = 0xBFFFFFFEu;

// The nearest triangle, as long as that needs no pair of the host's.
template <class Cold>
struct NearestOnDevice : bvh_detail::Nearest<bvh_detail::Any, Cold> {
  using bvh_detail::Nearest<bvh_detail::Any, Cold>::Nearest;
  __device__ bool stops_at(const BvhView& bvh, std::uint32_t pair) const {
    if (pair < bvh.pair_count - bvh.host_pairs) return false;
    this->cold.set({pair, kWaits}, 0);
    return true;
  }
};

// Where a ray that only lacks its triangle's number keeps what it hits: in the hit's own place.
__device__ inline Site& site_in(Hit& hit) {
  return reinterpret_cast<Site&>(hit);
}

// What the kernels have to do with: rays, hits, and the list of those that wait.
struct Work {
  const Ray* rays;
  Hit* hits;
  std::size_t count;
  Key* keys;
  std::uint32_t* numbers;
  const std::uint32_t* parted;  // how many warps of packets have left some to be traced
};

__device__ inline void copy_pairs(const StagedBvh& bvh) {
  copy_window(bvh.pairs, bvh.staged_pairs);
  copy_window(bvh.ids, bvh.staged_ids);
}

// True: this block is there to copy the next window, if rays wait for one.
__device__ inline bool copies_next(const std::uint32_t* begins, const StagedBvh& next) {
  if (blockIdx.x >= kCopyBlocks) return false;
  if (begins[1] != begins[2]) copy_pairs(next);
  return true;
}

// Nothing is to be walked for it.
__device__ inline float no_stretch() {
  return __uint_as_float(0x7FC00000u);
}

// The first kCopyBlocks blocks copy a window for the kernel that comes next.
template <class Geometry>
__global__ void __launch_bounds__(kThreads, kBlocks)
    first_kernel(const __grid_constant__ Geometry geometry, const __grid_constant__ StagedBvh bvh,
                 const __grid_constant__ StagedBvh next, const SortPlan plan, const Work work,
                 std::size_t rays_per_warp, const RowsNote* note) {
  if (blockIdx.x < kCopyBlocks) {
    if (*work.parted != 0) copy_pairs(next);
    return;
  }
  if (none_pending(note)) return;
  for_pending_runs(
      blockIdx.x - kCopyBlocks, work.hits, work.count, rays_per_warp, note != nullptr,
      [&](std::size_t run, std::uint32_t rays_of_run) {
        const auto found = reinterpret_cast<Found*>(work.hits + run);
        const Ray* const rays = work.rays + run;
        typename SharedStack<kScene<Geometry>>::Overflow overflow;
        SharedStack<kScene<Geometry>> stack(overflow);
        bvh_detail::trace_warp<kScene<Geometry>>(
            bvh, rays_of_run, [=](std::uint32_t i) { return rays[i]; },
            [](std::uint32_t, const Ray& ray, auto cold) { return NearestOnDevice<decltype(cold)>(ray, cold, {}); },
            [=](std::uint32_t i, const auto& query) { found[i] = query.site(); }, stack);
        const Geometry* const view = &geometry;
        const StagedBvh* const tree = &bvh;
        const SortPlan* const buckets = &plan;
        const Work* const list = &work;
        bvh_detail::finish_in_warp(rays_of_run, found, [=](std::uint32_t in_run, Site site) {
          const std::size_t i = run + in_run;
          std::uint32_t number = static_cast<std::uint32_t>(i), key = kDone;
          if (site.placed == kWaits) {
            key = buckets->key_of(site.triangle);
          } else if (const std::uint32_t pair = site.triangle >> 1;
                     site.triangle != kNoTriangle && pair >= tree->pair_count - tree->host_ids) {
            key = buckets->key_of(pair);
            number |= kOnlyId;
            site_in(list->hits[i]) = site;
          } else {
            list->hits[i] = finished(*view, *tree, list->rays[i], site);
          }
          list->keys[i] = static_cast<Key>(key);
          list->numbers[i] = number;
        });
      });
}

// Where each window's rays begin in the sorted list, and, twice, where the last one's end: there is no next one.
inline __global__ void find_windows(const Key* keys, std::size_t count, std::uint32_t buckets_of_window,
                                    std::uint32_t windows, std::uint32_t* begins) {
  for (std::uint32_t window = threadIdx.x; window <= windows + 1; window += blockDim.x) {
    const std::uint32_t key = window >= windows ? kDone : window * buckets_of_window;
    std::size_t low = 0, high = count;
    while (low != high) {
      const std::size_t middle = (low + high) / 2;
      if (keys[middle] < key)
        low = middle + 1;
      else
        high = middle;
    }
    begins[window] = static_cast<std::uint32_t>(low);
  }
}

// The rays of a window in their order.
template <class Geometry>
__global__ void __launch_bounds__(kThreads, kBlocks)
    second_kernel(const __grid_constant__ Geometry geometry, const __grid_constant__ StagedBvh bvh,
                  const __grid_constant__ StagedBvh next, const __grid_constant__ Work work,
                  const std::uint32_t* begins) {
  if (copies_next(begins, next)) return;
  __shared__ Found found[kThreads / 32][kSortedRaysPerWarp];
  const std::uint32_t warp = (blockIdx.x - kCopyBlocks) * (kThreads / 32) + threadIdx.x / 32;
  const std::uint64_t first = begins[0] + std::uint64_t{warp} * kSortedRaysPerWarp, end = begins[1];
  if (first >= end) return;
  const std::uint64_t left = end - first;
  const std::uint32_t here = left < kSortedRaysPerWarp ? static_cast<std::uint32_t>(left) : kSortedRaysPerWarp;
  const std::uint32_t* const numbers = work.numbers + first;
  const Ray* const rays = work.rays;
  typename SharedStack<kScene<Geometry>>::Overflow overflow;
  SharedStack<kScene<Geometry>> stack(overflow);
  Found* const of_warp = found[threadIdx.x / 32];
  bvh_detail::nearest_of_warp<kScene<Geometry>>(
      bvh, here,
      [=](std::uint32_t i) {
        const std::uint32_t number = numbers[i];
        Ray ray = rays[number & ~kOnlyId];
        if ((number & kOnlyId) != 0) ray.tmin = no_stretch();
        return ray;
      },
      [=](std::uint32_t i, Site site) { of_warp[i] = site; }, stack);
  const Geometry* const view = &geometry;
  const StagedBvh* const tree = &bvh;
  Hit* const hits = work.hits;
  bvh_detail::finish_in_warp(here, of_warp, [=](std::uint32_t i, Site site) {
    const std::uint32_t number = numbers[i] & ~kOnlyId;
    if ((numbers[i] & kOnlyId) != 0) site = site_in(hits[number]);
    hits[number] = finished(*view, *tree, rays[number], site);
  });
}

// The rays that packets have left pending.
template <class Geometry>
int launch_sorted(const Geometry& geometry, const MemoryPlan& memory, const Ray* rays, Hit* hits, std::size_t count,
                  const LaunchShape& shape, const RowsNote* note, cudaStream_t stream) {
  const SortPlan& plan = memory.sorting;
  SortScratch scratch(memory.bvh, plan, count, memory.bvh.slots.memory);
  if (const cudaError_t code = cudaMemsetAsync(scratch.keys.Current(), 0xFF, count * sizeof(Key), stream);
      code != cudaSuccess)
    return code;
  // What packets are done with has no number, and is sorted all the same.
  if (const cudaError_t code = cudaMemsetAsync(scratch.numbers.Current(), 0, count * sizeof(std::uint32_t), stream);
      code != cudaSuccess)
    return code;
  const auto work = [&] {
    return Work{rays, hits, count, scratch.keys.Current(), scratch.numbers.Current(), memory.counters + 1};
  };
  const StagedBvh nodes = with_window(memory.bvh, plan, scratch, plan.windows);
  StagedBvh next = with_window(memory.bvh, plan, scratch, 0);
  first_kernel<<<kCopyBlocks + shape.blocks(count), kThreads, 0, stream>>>(geometry, nodes, next, plan, work(),
                                                                           shape.rays_per_warp, note);
  if (const cudaError_t code = scratch.sort(count, stream); code != cudaSuccess) return code;
  find_windows<<<1, kThreads, 0, stream>>>(scratch.keys.Current(), count, plan.window_pairs / plan.bucket_pairs,
                                           plan.windows, scratch.begins);
  const LaunchShape sorted{kSortedRaysPerWarp};
  for (std::uint32_t window = 0; window != plan.windows; ++window) {
    const StagedBvh staged = next;
    next = with_window(memory.bvh, plan, scratch, window + 1);
    second_kernel<<<kCopyBlocks + sorted.blocks(count), kThreads, 0, stream>>>(geometry, staged, next, work(),
                                                                               scratch.begins + window);
  }
  return cudaSuccess;
}

}  // namespace raylift::cuda
