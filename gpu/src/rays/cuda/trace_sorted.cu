// SPDX-License-Identifier: Apache-2.0
// trace() where a part of the BVH lies in host memory, at the other end of the link.
//
// A thread that reads host memory at random makes a request of its own for every 32 bytes. The link carries some 0.7 of
// them a nanosecond, and a tenth of that where they are spread over more than half a gigabyte; nothing is kept in the
// L2. So rays are traced first as far as device memory suffices. Those that need a pair of the host's are postponed and
// sorted by it. Then window after window of the host's pairs is copied, at the rate of the link, and the rays that wait
// for it are traced from their beginning, while the next window comes.
#include "rays/trace_kernel.h"
#include "sort_plan.h"
#include "trace_steps.h"

namespace raylift::inline v0_1::cuda {
namespace {

using bvh_detail::Group;
using bvh_detail::Site;

// Of warps of the second pass, at most.
constexpr std::uint32_t kSortedRaysPerWarp = 128;

// With a ray's number: it is known what the ray hits, and only the triangle's number is wanted.
constexpr std::uint32_t kOnlyId = 0x80000000u;
// In a ray's number's place: it is done.
constexpr std::uint32_t kTraced = 0xFFFFFFFFu;

// In Site::placed, of a ray that waits for pair Site::triangle.
constexpr std::uint32_t kWaits = 0xFFFFFFFEu;

// The nearest triangle, as long as that needs no pair of the host's.
struct NearestOnDevice : bvh_detail::Nearest<bvh_detail::Any> {
  using Nearest::Nearest;
  __device__ bool stops_at(const BvhView& bvh, std::uint32_t pair) const {
    if (pair < bvh.pair_count - bvh.host_pairs) return false;
    cold[0].bits = pair;
    cold[1].first = kWaits;
    return true;
  }
};

// Where a ray that only lacks its triangle's number keeps what it hits: in the hit's own place.
__device__ inline Site& site_in(Hit& hit) {
  return reinterpret_cast<Site&>(hit);
}

__device__ inline Hit finished(const BvhView&, const StagedBvh& bvh, const Ray& ray, Site site) {
  return bvh_detail::hit_of(bvh, ray, site);
}
__device__ inline Hit finished(const GeometryView& geometry, const StagedBvh& bvh, const Ray& ray, Site site) {
  return bvh_detail::in_world(geometry, bvh_detail::hit_of(bvh, ray, site));
}

__global__ void __launch_bounds__(kThreads) copy_kernel(const __grid_constant__ StagedBvh bvh) {
  copy_window(bvh.nodes, bvh.staged_nodes);
}

// What the kernels have to do with: rays, hits, and the list of those that wait.
struct Work {
  const Ray* rays;
  Hit* hits;
  std::size_t count;
  Key* keys;
  std::uint32_t* numbers;
  std::uint32_t* left;  // by packets, in groups: pending ones, and whole ones that wait
};

// Which kernel of a window takes longer, and has the time to copy the next one.
__device__ inline bool mostly_packets(const Work& work) {
  return work.left[1] > work.left[0];
}

__device__ inline void copy_pairs(const StagedBvh& bvh) {
  copy_window(bvh.pairs, bvh.staged_pairs);
  copy_window(bvh.ids, bvh.staged_ids);
}

// True: this block is there to copy the next window, if rays wait for one, beside the kernel that takes longer.
__device__ inline bool copies_next(const Work& work, const std::uint32_t* begins, const StagedBvh& next, bool packets) {
  if (blockIdx.x >= kCopyBlocks) return false;
  if (mostly_packets(work) == packets && begins[1] != begins[2]) copy_pairs(next);
  return true;
}

// Nothing is to be walked for it.
__device__ inline float no_stretch() {
  return __uint_as_float(0x7FC00000u);
}

// Groups that stay together. One that needs a pair of the host's waits for it as a whole. A triangle's number is read
// wherever it is: rays that stay together mostly hit neighbours.
template <class Geometry>
__global__ void __launch_bounds__(kThreads, kBlocks)
    first_packets(const __grid_constant__ Geometry geometry, const __grid_constant__ StagedBvh bvh, const SortPlan plan,
                  const Work work, std::size_t rays_per_warp) {
  const std::size_t first = (blockIdx.x * std::size_t{kThreads / 32} + threadIdx.x / 32) * rays_per_warp;
  auto end = bvh_detail::PacketEnd::done;
  std::uint32_t pending = 0, waiting = 0;
  for (std::size_t group = first; group < work.count && group < first + rays_per_warp; group += 32) {
    const std::size_t i = group + (threadIdx.x & 31u);
    const bool mine = i < work.count;
    if (end != bvh_detail::PacketEnd::parted) {
      const auto ray = [&] { return mine ? work.rays[i] : Ray{{0, 0, 0}, 0, {1, 1, 1}, 0}; };
      const Ray start = ray();
      NearestOnDevice query(start, bvh_detail::packet_cold(), {});
      end = bvh_detail::traverse_packet<kScene<Geometry>>(bvh, start, ray, mine && !bvh_detail::has_nan(start), query);
      if (end == bvh_detail::PacketEnd::done && mine) work.hits[i] = finished(geometry, bvh, ray(), query.site());
      if (end == bvh_detail::PacketEnd::stopped && mine) {
        work.keys[i] = static_cast<Key>(plan.key_of(query.site().triangle));
        work.numbers[i] = static_cast<std::uint32_t>(i);
      }
    }
    if (end != bvh_detail::PacketEnd::done && i == group) {
      const bool parted = end == bvh_detail::PacketEnd::parted;
      Hit left{};
      left.instance = parted ? kPending : 0;
      work.hits[i] = left;
      ++(parted ? pending : waiting);
    }
  }
  if (pending != 0) atomicAdd(work.left, pending);
  if (waiting != 0) atomicAdd(work.left + 1, waiting);
}

// The first kCopyBlocks blocks copy a window for the kernel that comes next.
template <class Geometry>
__global__ void __launch_bounds__(kThreads, kBlocks)
    first_kernel(const __grid_constant__ Geometry geometry, const __grid_constant__ StagedBvh bvh,
                 const __grid_constant__ StagedBvh next, const SortPlan plan, const Work work,
                 std::size_t rays_per_warp) {
  if (blockIdx.x < kCopyBlocks) {
    if ((work.left[0] | work.left[1]) != 0) copy_pairs(next);
    return;
  }
  for_pending_runs(blockIdx.x - kCopyBlocks, work.hits, work.count, rays_per_warp, false,
                   [&](std::size_t run, std::uint32_t rays_of_run) {
                     const auto found = reinterpret_cast<Found*>(work.hits + run);
                     const Ray* const rays = work.rays + run;
                     bvh_detail::trace_warp<kScene<Geometry>>(
                         bvh, rays_of_run, [=](std::uint32_t i) { return rays[i]; },
                         [](std::uint32_t, const Ray& ray, Group* cold) { return NearestOnDevice(ray, cold, {}); },
                         [=](std::uint32_t i, const NearestOnDevice& query) { found[i] = query.site(); });
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
__global__ void find_windows(const Key* keys, std::size_t count, std::uint32_t buckets_of_window, std::uint32_t windows,
                             std::uint32_t* begins) {
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

// The rays of a window in their order. Those of a packet that waited are neighbours still.
template <class Geometry>
__global__ void __launch_bounds__(kThreads, kBlocks)
    second_packets(const __grid_constant__ Geometry geometry, const __grid_constant__ StagedBvh bvh,
                   const __grid_constant__ StagedBvh next, const __grid_constant__ Work work,
                   const std::uint32_t* begins) {
  if (copies_next(work, begins, next, true)) return;
  const std::uint32_t warp = (blockIdx.x - kCopyBlocks) * (kThreads / 32) + threadIdx.x / 32;
  const std::uint64_t first = begins[0] + std::uint64_t{warp} * kPacketRaysPerWarp, end = begins[1];
  for (std::uint64_t group = first; group < end && group < first + kPacketRaysPerWarp; group += 32) {
    const std::uint64_t i = group + (threadIdx.x & 31u);
    const std::uint32_t number = i < end ? work.numbers[i] : kOnlyId;
    const bool active = (number & kOnlyId) == 0;
    const auto ray = [&] { return active ? work.rays[number] : Ray{{0, 0, 0}, 0, {1, 1, 1}, 0}; };
    const Ray start = ray();
    bvh_detail::Nearest<bvh_detail::Any> query(start, bvh_detail::packet_cold(), {});
    if (bvh_detail::traverse_packet<kScene<Geometry>>(bvh, start, ray, active && !bvh_detail::has_nan(start), query) !=
        bvh_detail::PacketEnd::done)
      return;
    if (!active) continue;
    work.hits[number] = finished(geometry, bvh, ray(), query.site());
    work.numbers[i] = kTraced;
  }
}

template <class Geometry>
__global__ void __launch_bounds__(kThreads, kBlocks)
    second_kernel(const __grid_constant__ Geometry geometry, const __grid_constant__ StagedBvh bvh,
                  const __grid_constant__ StagedBvh next, const __grid_constant__ Work work,
                  const std::uint32_t* begins) {
  if (copies_next(work, begins, next, false)) return;
  __shared__ Found found[kThreads / 32][kSortedRaysPerWarp];
  const std::uint32_t warp = (blockIdx.x - kCopyBlocks) * (kThreads / 32) + threadIdx.x / 32;
  const std::uint64_t first = begins[0] + std::uint64_t{warp} * kSortedRaysPerWarp, end = begins[1];
  if (first >= end) return;
  const std::uint64_t left = end - first;
  const std::uint32_t here = left < kSortedRaysPerWarp ? static_cast<std::uint32_t>(left) : kSortedRaysPerWarp;
  const std::uint32_t* const numbers = work.numbers + first;
  bool any = false;
  for (std::uint32_t i = threadIdx.x & 31u; i < here; i += 32) any = any || numbers[i] != kTraced;
  if (!__any_sync(bvh_detail::kWholeWarp, any)) return;
  const Ray* const rays = work.rays;
  bvh_detail::nearest_of_warp<kScene<Geometry>>(
      bvh, here,
      [=](std::uint32_t i) {
        const std::uint32_t number = numbers[i];
        if (number == kTraced) return Ray{{0, 0, 0}, no_stretch(), {1, 1, 1}, 0};
        Ray ray = rays[number & ~kOnlyId];
        if ((number & kOnlyId) != 0) ray.tmin = no_stretch();
        return ray;
      },
      found[threadIdx.x / 32]);
  const Geometry* const view = &geometry;
  const StagedBvh* const tree = &bvh;
  Hit* const hits = work.hits;
  bvh_detail::finish_in_warp(here, found[threadIdx.x / 32], [=](std::uint32_t i, Site site) {
    if (numbers[i] == kTraced) return;
    const std::uint32_t number = numbers[i] & ~kOnlyId;
    if ((numbers[i] & kOnlyId) != 0) site = site_in(hits[number]);
    hits[number] = finished(*view, *tree, rays[number], site);
  });
}

template <class Geometry>
int launch(const Geometry& geometry, const BvhView& tree, const Ray* rays, Hit* hits, std::size_t count, void* memory,
           void* on) {
  const auto stream = static_cast<cudaStream_t>(on);
  const BvhView bvh = clamped(tree);
  const SortPlan plan = plan_for(bvh, count);
  LaunchShape shape{};
  if (const int code = launch_shape(count, shape); code != cudaSuccess) return code;
  SortScratch scratch(bvh, plan, count, memory);
  if (const cudaError_t code = cudaMemsetAsync(scratch.keys.Current(), 0xFF, count * sizeof(Key), stream);
      code != cudaSuccess)
    return code;
  // What packets are done with has no number, and is sorted all the same.
  if (const cudaError_t code = cudaMemsetAsync(scratch.numbers.Current(), 0, count * sizeof(std::uint32_t), stream);
      code != cudaSuccess)
    return code;
  if (const cudaError_t code = cudaMemsetAsync(scratch.left, 0, 2 * sizeof *scratch.left, stream); code != cudaSuccess)
    return code;
  const StagedBvh nodes = with_window(bvh, plan, scratch, plan.windows);
  if (plan.stages_nodes) copy_kernel<<<kCopyBlocks, kThreads, 0, stream>>>(nodes);
  const auto work = [&] {
    return Work{rays, hits, count, scratch.keys.Current(), scratch.numbers.Current(), scratch.left};
  };
  const LaunchShape packets = shape.of_packets();
  first_packets<<<packets.blocks(count), kThreads, 0, stream>>>(geometry, nodes, plan, work(), packets.rays_per_warp);
  StagedBvh next = with_window(bvh, plan, scratch, 0);
  first_kernel<<<kCopyBlocks + shape.blocks(count), kThreads, 0, stream>>>(geometry, nodes, next, plan, work(),
                                                                           shape.rays_per_warp);
  if (const cudaError_t code = scratch.sort(count, stream); code != cudaSuccess) return code;
  find_windows<<<1, kThreads, 0, stream>>>(scratch.keys.Current(), count, plan.window_pairs / plan.bucket_pairs,
                                           plan.windows, scratch.begins);
  const LaunchShape sorted{kSortedRaysPerWarp}, sorted_packets{kPacketRaysPerWarp};
  for (std::uint32_t window = 0; window != plan.windows; ++window) {
    const StagedBvh staged = next;
    next = with_window(bvh, plan, scratch, window + 1);
    second_packets<<<kCopyBlocks + sorted_packets.blocks(count), kThreads, 0, stream>>>(geometry, staged, next, work(),
                                                                                        scratch.begins + window);
    second_kernel<<<kCopyBlocks + sorted.blocks(count), kThreads, 0, stream>>>(geometry, staged, next, work(),
                                                                               scratch.begins + window);
  }
  return cudaGetLastError();
}

}  // namespace

std::size_t sorted_trace_bytes(const BvhView& tree, std::size_t count) {
  const BvhView bvh = clamped(tree);
  if (bvh.host_nodes == 0 && bvh.host_pairs == 0 && bvh.host_ids == 0) return 0;
  const SortPlan plan = plan_for(bvh, count);
  // Both passes would wait for nodes.
  if (!plan.stages_nodes && bvh.host_nodes > bvh.node_count / 2) return 0;
  return SortScratch(bvh, plan, count, nullptr).bytes;
}

bool is_captured(void* stream) {
  auto status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status) != cudaSuccess) (void)cudaGetLastError();
  return status != cudaStreamCaptureStatusNone;
}

int launch_sorted_trace(const BvhView& bvh, const Ray* rays, Hit* hits, std::size_t count, void* memory, void* stream) {
  return launch(bvh, bvh, rays, hits, count, memory, stream);
}

int launch_sorted_trace(const GeometryView& geometry, const Ray* rays, Hit* hits, std::size_t count, void* memory,
                        void* stream) {
  if (geometry.bvh_levels != 2) return launch(geometry.bvh, geometry.bvh, rays, hits, count, memory, stream);
  return launch(geometry, geometry.bvh, rays, hits, count, memory, stream);
}

}  // namespace raylift::inline v0_1::cuda
