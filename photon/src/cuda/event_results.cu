// SPDX-License-Identifier: Apache-2.0
#include "event_results_kernel.h"

#include <algorithm>

#include "blocks.h"
#include "results_kernel.h"

namespace raylift::photon {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kPhotonsOfBlock = 2048;  // that lie together, so that most are of one event
constexpr unsigned kScanThreads = 1024;

__device__ void add_to(std::uint64_t* count, std::uint64_t by) {
  atomicAdd(reinterpret_cast<unsigned long long*>(count), by);
}

// The counts of the event of a block's first photon are summed in the block.
__global__ void __launch_bounds__(kThreads) count_events(const __grid_constant__ EventArrays launch) {
  __shared__ std::uint32_t shared[kEventCounts];
  const std::size_t begin = blockIdx.x * std::size_t{kPhotonsOfBlock};
  const std::size_t end = begin + kPhotonsOfBlock < launch.count ? begin + kPhotonsOfBlock : launch.count;
  for (std::uint32_t i = threadIdx.x; i < kEventCounts; i += kThreads) shared[i] = 0;
  __syncthreads();
  const std::uint32_t first = launch.outcomes[begin].event;
  std::uint64_t steps = 0;
  for (std::size_t i = begin + threadIdx.x; i < end; i += kThreads) {
    const Outcome& outcome = launch.outcomes[i];
    const std::uint32_t at_end = place_of_end(outcome.last.kind), at_birth = place_of_birth(outcome);
    if (outcome.event == first) {
      steps += outcome.steps;
      atomicAdd(shared + at_end, 1U);
      atomicAdd(shared + at_birth, 1U);
    } else {
      auto* const counts = reinterpret_cast<std::uint64_t*>(launch.counts + outcome.event);
      add_to(counts, outcome.steps);
      add_to(counts + at_end, 1);
      add_to(counts + at_birth, 1);
    }
  }
  auto* const counts = reinterpret_cast<std::uint64_t*>(launch.counts + first);
  for (int apart = 16; apart != 0; apart /= 2) steps += __shfl_down_sync(0xFFFFFFFFU, steps, apart);
  if (threadIdx.x % 32 == 0 && steps != 0) add_to(counts, steps);
  __syncthreads();
  for (std::uint32_t i = threadIdx.x; i < kEventCounts; i += kThreads)
    if (shared[i] != 0) add_to(counts + i, shared[i]);
}

// Prefix sums over the events, by one block: each thread has a part of them.
__global__ void __launch_bounds__(kScanThreads) find_event_hits(const __grid_constant__ EventArrays launch) {
  __shared__ EventHits sums[kScanThreads];
  const std::uint32_t count = launch.events.count, share = (count + kScanThreads - 1) / kScanThreads;
  const std::uint32_t begin = threadIdx.x * share < count ? threadIdx.x * share : count;
  const std::uint32_t end = begin + share < count ? begin + share : count;
  const auto hits_of = [&](std::uint32_t event) {
    const std::uint64_t hits = launch.counts[event].ends[static_cast<std::size_t>(StepKind::detected)];
    return EventHits{hits, hits * launch.columns[event].size()};
  };
  EventHits own{0, 0};
  for (std::uint32_t event = begin; event != end; ++event) {
    const EventHits more = hits_of(event);
    own = {own.first + more.first, own.first_word + more.first_word};
  }
  sums[threadIdx.x] = own;
  __syncthreads();
  for (unsigned apart = 1; apart != kScanThreads; apart *= 2) {
    EventHits before{0, 0};
    if (threadIdx.x >= apart) before = sums[threadIdx.x - apart];
    __syncthreads();
    sums[threadIdx.x] = {sums[threadIdx.x].first + before.first, sums[threadIdx.x].first_word + before.first_word};
    __syncthreads();
  }
  const EventHits through = sums[threadIdx.x];
  EventHits next{through.first - own.first, through.first_word - own.first_word};
  for (std::uint32_t event = begin; event != end; ++event) {
    launch.hits[event] = next;
    const EventHits more = hits_of(event);
    next = {next.first + more.first, next.first_word + more.first_word};
  }
  if (threadIdx.x == kScanThreads - 1) launch.hits[count] = through;
}

__global__ void __launch_bounds__(kThreads)
    write_hits(const __grid_constant__ GeometryView geometry, const __grid_constant__ EventArrays launch) {
  const std::uint32_t hits = *launch.hit_count;
  for (std::uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < hits; i += gridDim.x * kThreads)
    write_hit(geometry, launch, i);
}

__global__ void __launch_bounds__(kThreads)
    write_finals(const __grid_constant__ GeometryView geometry, const __grid_constant__ EventArrays launch) {
  const std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x;
  if (i < launch.count) launch.finals[i] = row_at(geometry, launch, i);
}

}  // namespace

int launch_event_results(const GeometryView& geometry, const EventArrays& launch, void* handle) {
  if (launch.count == 0) return cudaSuccess;
  const auto stream = static_cast<cudaStream_t>(handle);
  count_events<<<blocks_of(launch.count, kPhotonsOfBlock), kThreads, 0, stream>>>(launch);
  find_event_hits<<<1, kScanThreads, 0, stream>>>(launch);
  const unsigned blocks = blocks_of(launch.count, kThreads);
  if (launch.hit_words != nullptr) {
    const int code =
        select_hits(launch.outcomes, launch.count, launch.hit_places, launch.hit_count, launch.scratch, handle);
    if (code != cudaSuccess) return code;
    write_hits<<<std::min(blocks, 2048U), kThreads, 0, stream>>>(geometry, launch);
  }
  if (launch.finals != nullptr) write_finals<<<blocks, kThreads, 0, stream>>>(geometry, launch);
  return cudaGetLastError();
}

}  // namespace raylift::photon
