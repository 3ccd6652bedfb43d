// SPDX-License-Identifier: Apache-2.0
#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_select.cuh>

#include <algorithm>

#include "blocks.h"
#include "results_kernel.h"

namespace raylift::photon {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kFollow = 128;         // where photons are followed again
constexpr std::size_t kMaxShared = 4096;  // counts that a block keeps to itself

struct IsHit {
  const Outcome* outcomes;
  __device__ bool operator()(std::uint32_t place) const { return outcomes[place].last.kind == StepKind::detected; }
};

__device__ void add_to(std::uint64_t* count, std::uint64_t by) {
  atomicAdd(reinterpret_cast<unsigned long long*>(count), by);
}

// Most photons end in few ways: their counts are summed in a block first.
__global__ void __launch_bounds__(kThreads)
    count_outcomes(const __grid_constant__ GeometryView geometry, const __grid_constant__ BatchArrays batch,
                   std::uint32_t shared_counts) {
  __shared__ std::uint32_t shared[kMaxShared];
  for (std::uint32_t i = threadIdx.x; i < shared_counts; i += kThreads) shared[i] = 0;
  __syncthreads();
  std::uint64_t steps = 0;
  const std::size_t stride = gridDim.x * std::size_t{kThreads};
  for (std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x; i < batch.count; i += stride) {
    const Outcome& outcome = batch.outcomes[i];
    steps += outcome.steps;
    tally(batch, geometry.optics, outcome, [&](std::size_t place, std::uint32_t by) {
      if (place < shared_counts)
        atomicAdd(shared + place, by);
      else
        add_to(batch.counts + place, by);
    });
  }
  for (int apart = 16; apart != 0; apart /= 2) steps += __shfl_down_sync(0xFFFFFFFFU, steps, apart);
  if (threadIdx.x % 32 == 0) add_to(batch.counts, steps);
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < shared_counts; i += kThreads)
    if (shared[i] != 0) add_to(batch.counts + i, shared[i]);
}

__global__ void __launch_bounds__(kThreads)
    write_hits(const __grid_constant__ GeometryView geometry, const __grid_constant__ BatchArrays batch) {
  const std::uint32_t hits = *batch.hit_count;
  for (std::uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < hits; i += gridDim.x * kThreads) {
    const std::uint32_t place = batch.hit_places[i];
    batch.hits[i] = photon_row(geometry, batch.outcomes[place], batch.first + place);
  }
}

__global__ void __launch_bounds__(kThreads)
    write_finals(const __grid_constant__ GeometryView geometry, const __grid_constant__ BatchArrays batch) {
  const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
  if (i < batch.count) batch.finals[i] = photon_row(geometry, batch.outcomes[i], batch.first + i);
}

__global__ void __launch_bounds__(kFollow)
    write_sequences(const __grid_constant__ GeometryView geometry, const __grid_constant__ Source source,
                    const Anchor* anchor, const __grid_constant__ Run run, const Outcome* outcomes, Sequence* sequences,
                    std::size_t count) {
  const std::size_t i = blockIdx.x * std::size_t{kFollow} + threadIdx.x;
  if (i < count) sequences[i] = sequence_of(geometry, source, anchor_at(anchor), run, run.first + i, outcomes[i]);
}

__global__ void __launch_bounds__(kFollow)
    write_record(const __grid_constant__ GeometryView geometry, const __grid_constant__ Source source,
                 const Anchor* anchor, const __grid_constant__ Run run, PhotonRow* rows, std::size_t photons) {
  const std::size_t i = blockIdx.x * std::size_t{kFollow} + threadIdx.x;
  if (i < photons) record_steps(geometry, source, anchor_at(anchor), run, run.first + i, rows + i * kSequenceEvents);
}

cudaError_t select(const Outcome* outcomes, std::size_t count, std::uint32_t* places, std::uint32_t* hit_count,
                   void* scratch, std::size_t& bytes, void* handle) {
  return cub::DeviceSelect::If(scratch, bytes, thrust::counting_iterator<std::uint32_t>(0), places, hit_count,
                               static_cast<int>(count), IsHit{outcomes}, static_cast<cudaStream_t>(handle));
}

}  // namespace

int select_hits(const Outcome* outcomes, std::size_t count, std::uint32_t* places, std::uint32_t* hit_count,
                std::byte* scratch, void* handle) {
  std::size_t bytes = 0;
  if (const cudaError_t code = select(outcomes, count, places, hit_count, nullptr, bytes, handle); code != cudaSuccess)
    return code;
  return select(outcomes, count, places, hit_count, scratch, bytes, handle);
}

int results_scratch(std::size_t count, std::size_t& bytes) {
  bytes = 0;
  return select(nullptr, count, nullptr, nullptr, nullptr, bytes, nullptr);
}

int launch_results(const GeometryView& geometry, const BatchArrays& batch, void* handle) {
  if (batch.count == 0) return cudaSuccess;
  const auto stream = static_cast<cudaStream_t>(handle);
  const std::size_t ends = batch.layout.channel(0);
  const auto shared = static_cast<std::uint32_t>(std::min(ends, kMaxShared));
  const unsigned blocks = blocks_of(batch.count, kThreads);
  const unsigned few = std::min(blocks, 2048U);  // a few waves: each block adds its counts once
  count_outcomes<<<few, kThreads, 0, stream>>>(geometry, batch, shared);
  if (batch.hits != nullptr) {
    const int code = select_hits(batch.outcomes, batch.count, batch.hit_places, batch.hit_count, batch.scratch, handle);
    if (code != cudaSuccess) return code;
    write_hits<<<few, kThreads, 0, stream>>>(geometry, batch);
  }
  if (batch.finals != nullptr) write_finals<<<blocks, kThreads, 0, stream>>>(geometry, batch);
  return cudaGetLastError();
}

int launch_sequences(const GeometryView& geometry, const Source& source, const Anchor* anchor, const Run& run,
                     const Outcome* outcomes, Sequence* sequences, std::size_t count, void* handle) {
  if (count == 0) return cudaSuccess;
  const auto stream = static_cast<cudaStream_t>(handle);
  const unsigned blocks = blocks_of(count, kFollow);
  write_sequences<<<blocks, kFollow, 0, stream>>>(geometry, source, anchor, run, outcomes, sequences, count);
  return cudaGetLastError();
}

int launch_record(const GeometryView& geometry, const Source& source, const Anchor* anchor, const Run& run,
                  PhotonRow* rows, std::size_t photons, void* handle) {
  if (photons == 0) return cudaSuccess;
  const auto stream = static_cast<cudaStream_t>(handle);
  const unsigned blocks = blocks_of(photons, kFollow);
  write_record<<<blocks, kFollow, 0, stream>>>(geometry, source, anchor, run, rows, photons);
  return cudaGetLastError();
}

}  // namespace raylift::photon
