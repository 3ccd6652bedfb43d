// SPDX-License-Identifier: Apache-2.0
// trace() where a part of the BVH lies in host memory, at the other end of the link.
//
// Packets are traced as they are elsewhere, images by tiles too. The pages of pairs that they need are copied to the
// device when the first of them needs one, while others trace; ids they read over the link. Rays on their own need pages
// from everywhere: if there are many, and there are slots for all pages, all are copied before. If not, the rays are sorted
// by what they wait for.
#include <type_traits>

#include "rays/trace_kernel.h"
#include "trace_sorted.h"

namespace raylift::cuda {
namespace {

// Enough that the link is busy.
constexpr unsigned kFetchBlocks = 264;

__global__ void __launch_bounds__(kThreads) copy_nodes(const __grid_constant__ StagedBvh bvh) {
  copy_window(bvh.nodes, bvh.staged_nodes);
}

// By a grid's warps in turn.
template <class T>
__device__ void fetch_all(const Pages<T>& pages, const T* array, const PageSlots& slots) {
  constexpr std::uint32_t kWarps = kThreads / 32;
  for (std::uint32_t page = blockIdx.x * kWarps + threadIdx.x / 32; page < pages.count(); page += gridDim.x * kWarps)
    (void)bring_page(pages, array, pages.begin_page() + page, slots);
}

__global__ void __launch_bounds__(kThreads)
    fetch_rest(const __grid_constant__ PagedBvh bvh, const std::uint32_t* parted, std::uint64_t enough) {
  if (*parted < enough) return;
  fetch_all(bvh.pair_pages, bvh.pairs, bvh.slots);
  fetch_all(bvh.id_pages, bvh.ids, bvh.slots);
}

template <class Geometry>
int launch(const Geometry& geometry, const BvhView& tree, const Ray* rays, Hit* hits, std::size_t count, void* memory,
           void* on) {
  const auto stream = static_cast<cudaStream_t>(on);
  const MemoryPlan plan(clamped(tree), count, memory);
  LaunchShape shape{};
  if (const int code = launch_shape(count, shape); code != cudaSuccess) return code;
  if (const cudaError_t code = cudaMemsetAsync(plan.counters, 0, plan.counter_bytes, stream); code != cudaSuccess)
    return code;
  if (plan.sorting.stages_nodes)
    copy_nodes<<<kCopyBlocks, kThreads, 0, stream>>>(StagedBvh{plan.bvh, plan.bvh.staged_nodes, {}, {}});
  std::uint32_t* const parted = plan.counters + 1;
  RowsNote* note = plan.note;
  const auto by_packets = [&](const auto& bvh) {
    return launch_packets(Paged<Geometry, std::decay_t<decltype(bvh)>>{geometry, bvh, parted}, rays, hits, count, shape,
                          note, stream);
  };
  // What a packet looks up for each node and pair takes a fifth of its time.
  const int packets = plan.sorting.stages_nodes   ? by_packets(FillingBvh<true>{plan.bvh})
                      : plan.bvh.host_pairs != 0 ? by_packets(FillingBvh<false>{plan.bvh})
                                                 : by_packets(static_cast<const BvhView&>(plan.bvh));
  if (packets != cudaSuccess) return packets;
  if (plan.sorts) {
    if (const int code = launch_sorted(geometry, plan, rays, hits, count, shape, note, stream); code != cudaSuccess)
      return code;
  } else {
    const std::uint64_t missing = std::uint64_t{plan.bvh.slots.count} * kPageBytes,
                        worth = shape.of_packets().rays_per_warp * kStagedBytesPerRay;
    fetch_rest<<<kFetchBlocks, kThreads, 0, stream>>>(plan.bvh, parted, (missing + worth - 1) / worth);
    launch_pending(Paged<Geometry, PagedBvh>{geometry, plan.bvh, parted}, rays, hits, count, shape, note, stream);
  }
  return cudaGetLastError();
}

}  // namespace

std::size_t parts_trace_bytes(const BvhView& tree, std::size_t count) {
  const BvhView bvh = clamped(tree);
  if (bvh.host_nodes == 0 && bvh.host_pairs == 0 && bvh.host_ids == 0) return 0;
  const MemoryPlan plan(bvh, count, nullptr);
  // All kernels would wait for nodes.
  if (!plan.sorting.stages_nodes && bvh.host_nodes > bvh.node_count / 2) return 0;
  return plan.bytes;
}

bool is_captured(void* stream) {
  auto status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status) != cudaSuccess) (void)cudaGetLastError();
  return status != cudaStreamCaptureStatusNone;
}

int launch_parts_trace(const BvhView& bvh, const Ray* rays, Hit* hits, std::size_t count, void* memory, void* stream) {
  return launch(bvh, bvh, rays, hits, count, memory, stream);
}

int launch_parts_trace(const GeometryView& geometry, const Ray* rays, Hit* hits, std::size_t count, void* memory,
                       void* stream) {
  if (geometry.bvh_levels != 2) return launch(geometry.bvh, geometry.bvh, rays, hits, count, memory, stream);
  return launch(geometry, geometry.bvh, rays, hits, count, memory, stream);
}

}  // namespace raylift::cuda
