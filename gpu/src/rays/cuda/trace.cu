// SPDX-License-Identifier: Apache-2.0
#include "rays/image_rows.h"
#include "rays/trace_kernel.h"
#include "trace_steps.h"

namespace raylift::inline v0_1::cuda {
namespace {

// The note lies where the first ray's hit comes to lie. So the first group waits until all blocks have read the note:
// the block that is the last to do so traces it, as its last one.
class NoteReader {
 public:
  __device__ explicit NoteReader(RowsNote* note) {
    if (note == nullptr) return;
    __shared__ std::uint32_t width;
    if (threadIdx.x == 0) {
      width = *static_cast<volatile std::uint32_t*>(&note->width);
      __threadfence();
      turn_ = atomicAdd(&note->readers, 1u);
    }
    __syncthreads();
    width_ = width;
  }
  [[nodiscard]] __device__ std::uint32_t width() const { return width_; }
  // By a whole warp: true for one, once.
  [[nodiscard]] __device__ bool traces_first_group() {
    const bool last = threadIdx.x < 32 && __shfl_sync(bvh_detail::kWholeWarp, turn_, 0) == gridDim.x - 1;
    turn_ = 0xFFFFFFFFu;
    return last;
  }

 private:
  std::uint32_t width_ = 0, turn_ = 0xFFFFFFFFu;
};

// Says of a ray's group that it is pending: by its first ray, of tiles by that of each run.
__device__ inline void leave(Hit* hits, std::size_t i, bool in_tiles, RowsNote* note) {
  if (i % (in_tiles ? rows::kTileWidth : rows::kGroup) != 0) return;
  if (note != nullptr) *static_cast<volatile std::uint32_t*>(&note->pending) = kSomePending;
  if (note != nullptr && i == 0) {
    note->first_pending = 1;
    return;
  }
  Hit pending{};
  pending.instance = kPending;
  hits[i] = pending;
}

// Each group whose rays stay together; where one's do not, the rest of the warp's are not tried either.
template <class Geometry>
__global__ void __launch_bounds__(kThreads, kBlocks)
    packet_kernel(const __grid_constant__ Geometry geometry, const Ray* __restrict__ rays, Hit* hits, std::size_t count,
                  RowsNote* note) {
  NoteReader reader(note);
  const rows::Groups groups{count, reader.width()};
  const std::uint64_t warps = std::uint64_t{gridDim.x} * (kThreads / 32), all = groups.size(),
                      share = (all + warps - 1) / warps;
  std::uint64_t group = (blockIdx.x * std::uint64_t{kThreads / 32} + threadIdx.x / 32) * share,
                end = group + share < all ? group + share : all;
  if (note != nullptr && group == 0) group = 1;
  bool together = true;
  for (;; ++group) {
    if (group >= end) {
      if (!reader.traces_first_group()) return;
      group = 0;
      end = 1;
      together = true;
    }
    const std::size_t i = groups.ray(group, threadIdx.x & 31u);
    if (together) {
      const BvhView& bvh = bvh_of(geometry);
      const auto ray = [&] { return i < count ? rays[i] : Ray{{0, 0, 0}, 0, {1, 1, 1}, 0}; };
      const Ray start = ray();
      bvh_detail::Group cold[2];
      bvh_detail::Nearest<bvh_detail::Any> query(start, cold, {});
      const bool active = i < count && !bvh_detail::has_nan(start);
      together = bvh_detail::traverse_packet<kScene<Geometry>>(bvh, start, ray, active, query) ==
                 bvh_detail::PacketEnd::done;
      if (together && i < count) {
        if (note != nullptr && i == 0)
          note->first = query.site();
        else
          hits[i] = finished(geometry, rays[i], query.site());
      }
    }
    if (!together && i < count) leave(hits, i, groups.width != 0, note);
  }
}

// By the warp whose range begins with the first ray: puts its hit in the note's place, or that it is pending.
template <class Geometry>
__device__ inline void settle_note(const Geometry& geometry, const Ray* rays, Hit* hits, const RowsNote* note) {
  if (note->first_pending != 0) {
    __syncwarp();
    if ((threadIdx.x & 31u) == 0) hits[0].instance = kPending;
    __syncwarp();
    return;
  }
  const Geometry* const view = &geometry;
  bvh_detail::finish_in_warp(1, &note->first,
                             [=](std::uint32_t, bvh_detail::Site site) { hits[0] = finished(*view, rays[0], site); });
}

template <class Geometry>
__global__ void __launch_bounds__(kThreads, kBlocks)
    trace_kernel(const __grid_constant__ Geometry geometry, const Ray* __restrict__ rays, Hit* hits, std::size_t count,
                 std::size_t rays_per_warp, const RowsNote* note) {
  if (note != nullptr) {
    // Where it is gone already, there is the first ray's hit.
    const std::uint32_t pending = *static_cast<const volatile std::uint32_t*>(&note->pending);
    if (blockIdx.x == 0 && threadIdx.x < 32) settle_note(geometry, rays, hits, note);
    if (pending == kNonePending) return;
  }
  for_pending_runs(blockIdx.x, hits, count, rays_per_warp, note != nullptr,
                   [&](std::size_t run, std::uint32_t rays_of_run) {
                     closest_hits_of_warp(
                         geometry, run, rays_of_run, [rays](std::size_t i) { return rays[i]; },
                         [hits](std::size_t i, const Hit& hit) { hits[i] = hit; },
                         reinterpret_cast<Found*>(hits + run));
                   });
}

template <class Geometry>
int launch(const Geometry& geometry, const Ray* rays, Hit* hits, std::size_t count, void* on) {
  if (count == 0) return cudaSuccess;
  const auto stream = static_cast<cudaStream_t>(on);
  LaunchShape shape{};
  if (const int code = launch_shape(count, shape); code != cudaSuccess) return code;
  const LaunchShape packets = shape.of_packets();
  // A grid has up to 2^31 - 1 blocks.
  const std::size_t most = std::size_t{0x7FFFFFFF} * (kThreads / 32) * 32;
  for (std::size_t first = 0; first < count; first += most) {
    const std::size_t n = count - first < most ? count - first : most;
    RowsNote* const note =
        n >= rows::kFewestRays && n <= rows::kMostRays ? reinterpret_cast<RowsNote*>(hits + first) : nullptr;
    if (note != nullptr)
      if (const int code = launch_find_rows(rays + first, n, note, on); code != cudaSuccess) return code;
    packet_kernel<<<packets.blocks(n), kThreads, 0, stream>>>(geometry, rays + first, hits + first, n, note);
    trace_kernel<<<shape.blocks(n), kThreads, 0, stream>>>(geometry, rays + first, hits + first, n, shape.rays_per_warp,
                                                           note);
  }
  return cudaGetLastError();
}

}  // namespace

int launch_shape(std::size_t count, LaunchShape& shape) {
  int device = 0, multiprocessors = 0;
  if (const cudaError_t code = cudaGetDevice(&device); code != cudaSuccess) return code;
  if (const cudaError_t code = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
      code != cudaSuccess)
    return code;
  const std::size_t warps = static_cast<std::size_t>(multiprocessors) * kBlocks * (kThreads / 32);
  const std::size_t share = (count / warps + 31) / 32 * 32;
  shape.rays_per_warp = share < 32 ? 32 : share < kRaysPerWarp ? share : kRaysPerWarp;
  return cudaSuccess;
}

int launch_trace(const BvhView& bvh, const Ray* rays, Hit* hits, std::size_t count, void* stream) {
  return launch(bvh, rays, hits, count, stream);
}

int launch_trace(const GeometryView& geometry, const Ray* rays, Hit* hits, std::size_t count, void* stream) {
  // One level costs nothing for the second: the smaller kernel.
  if (geometry.bvh_levels != 2) return launch(geometry.bvh, rays, hits, count, stream);
  return launch(geometry, rays, hits, count, stream);
}

}  // namespace raylift::inline v0_1::cuda
