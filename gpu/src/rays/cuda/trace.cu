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
  __device__ explicit NoteReader(RowsNote* note) : note_(note) {
    if (note == nullptr) return;
    if (threadIdx.x == 0) {
      shared().width = *static_cast<volatile std::uint32_t*>(&note->width);
      shared().says_pending = false;
      __threadfence();
      turn_ = atomicAdd(&note->readers, 1u);
    }
    __syncthreads();
  }
  [[nodiscard]] __device__ std::uint32_t width() const { return note_ == nullptr ? 0 : shared().width; }
  // By a whole warp: true for one, once.
  [[nodiscard]] __device__ bool traces_first_group() {
    const bool last = threadIdx.x < 32 && __shfl_sync(bvh_detail::kWholeWarp, turn_, 0) == gridDim.x - 1;
    turn_ = kNoTurn;
    return last;
  }
  // Says that a group is pending: a block once, or a few times.
  __device__ void say_pending() const {
    if (note_ == nullptr || shared().says_pending) return;
    shared().says_pending = true;
    atomicAnd(&note_->none_pending, ~kNonePending);
  }
  // Where the note is, what it says of pending groups stays.
  __device__ void store(Hit* hits, std::size_t i, const Hit& hit) const {
    if (note_ == nullptr || i != 0) {
      hits[i] = hit;
      return;
    }
    std::uint32_t words[8];
    memcpy(words, &hit, sizeof hit);
    memcpy(note_, words, 7 * sizeof *words);
    atomicOr(&note_->none_pending, words[7]);
  }

 private:
  static constexpr std::uint32_t kNoTurn = 0xFFFFFFFFu;
  struct OfBlock {
    std::uint32_t width;
    volatile bool says_pending;
  };
  __device__ static OfBlock& shared() {
    __shared__ OfBlock of_block;
    return of_block;
  }
  RowsNote* note_;
  std::uint32_t turn_ = kNoTurn;
};

// Each group whose rays stay together; where one's do not, the rest of the warp's are not tried either.
template <class Geometry>
__global__ void __launch_bounds__(kThreads, kPacketBlocks)
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
      bvh_detail::Nearest<bvh_detail::Any> query(start, bvh_detail::packet_cold(), {});
      const bool active = i < count && !bvh_detail::has_nan(start);
      together =
          bvh_detail::traverse_packet<kScene<Geometry>>(bvh, start, ray, active, query) == bvh_detail::PacketEnd::done;
      if (together && i < count) reader.store(hits, i, finished(geometry, rays[i], query.site()));
      if (!together && (threadIdx.x & 31u) == 0) reader.say_pending();
    }
    // By the group's first ray; of tiles by that of each run.
    if (!together && i < count && i % (groups.width != 0 ? rows::kTileWidth : rows::kGroup) == 0) {
      Hit pending{};
      pending.instance = kPending;
      reader.store(hits, i, pending);
    }
  }
}

template <class Geometry>
__global__ void __launch_bounds__(kThreads, kBlocks)
    trace_kernel(const __grid_constant__ Geometry geometry, const Ray* __restrict__ rays, Hit* hits, std::size_t count,
                 std::size_t rays_per_warp, RowsNote* note) {
  // Once the last block has taken the bit out of the first hit, the others that still come look for themselves. Where
  // some are pending, there may be kNoInstance, of what a warp notes in the hits' place.
  if (note != nullptr) {
    const std::uint32_t word = *static_cast<volatile std::uint32_t*>(&note->none_pending);
    if ((word & kNonePending) != 0 && word != bvh_detail::kNoInstance) {
      if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) note->none_pending = word & ~kNonePending;
      return;
    }
  }
  for_pending_runs(
      blockIdx.x, hits, count, rays_per_warp, note != nullptr, [&](std::size_t run, std::uint32_t rays_of_run) {
        closest_hits_of_warp(
            geometry, run, rays_of_run, [rays](std::size_t i) { return rays[i]; },
            [hits](std::size_t i, const Hit& hit) { hits[i] = hit; }, reinterpret_cast<Found*>(hits + run));
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
    // Nodes and instances have numbers without the bit kNonePending, as a device has no memory for more.
    const bool looks = n >= rows::kFewestRays && n <= rows::kMostRays && bvh_of(geometry).node_count < kPending;
    RowsNote* const note = looks ? reinterpret_cast<RowsNote*>(hits + first) : nullptr;
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
