// SPDX-License-Identifier: Apache-2.0
// How the kernels that follow photons share lists of them, and the size of their launches.
#pragma once

#include <cstddef>
#include <cstdint>

#include "propagate_kernel.h"

namespace raylift::photon {

inline constexpr unsigned kThreads = 128;

// kSize: the threads of a block.
template <unsigned kSize = kThreads>
__device__ inline std::uint32_t first_of_thread() {
  return blockIdx.x * kSize + threadIdx.x;
}
template <unsigned kSize = kThreads>
__device__ inline std::uint32_t stride() {
  return gridDim.x * kSize;
}
// The first item of a thread that takes every stride()-th one. Few items are spread over all warps: the threads of a
// warp wait for each other.
template <unsigned kSize = kThreads>
__device__ inline std::uint32_t first_item(std::uint32_t count) {
  return count >= stride<kSize>() ? first_of_thread<kSize>()
                                  : (threadIdx.x & 31u) * (stride<kSize>() / 32) + first_of_thread<kSize>() / 32;
}

// A place in the list for each thread of a warp that wants one. All of its threads are there.
__device__ inline std::uint32_t append(bool wanted, std::uint32_t* count) {
  const unsigned all = __ballot_sync(0xFFFFFFFFu, wanted);
  const unsigned lane = threadIdx.x & 31u;
  std::uint32_t first = 0;
  if (lane == 0 && all != 0) first = atomicAdd(count, static_cast<std::uint32_t>(__popc(all)));
  return __shfl_sync(0xFFFFFFFFu, first, 0) + static_cast<std::uint32_t>(__popc(all & ((1u << lane) - 1u)));
}

// For chains of calls that stop at the first one that fails.
struct FirstError {
  cudaError_t code = cudaSuccess;
  bool set(cudaError_t next) {
    code = next;
    return code != cudaSuccess;
  }
};

// Blocks of a kernel that fill the device, or fewer for less work. shared: the bytes of dynamic shared memory of each.
template <class Kernel>
inline cudaError_t blocks_for(const Kernel& kernel, std::size_t count, unsigned& blocks, unsigned threads = kThreads,
                              std::size_t shared = 0) {
  int device = 0, multiprocessors = 0, resident = 0;
  FirstError error;
  if (error.set(cudaGetDevice(&device)) ||
      error.set(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device)) ||
      error.set(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, static_cast<int>(threads), shared)))
    return error.code;
  const std::size_t wanted = (count + threads - 1) / threads;
  const std::size_t most = static_cast<std::size_t>(multiprocessors) * static_cast<std::size_t>(resident);
  blocks = static_cast<unsigned>(wanted < most ? wanted : most);
  return cudaSuccess;
}

/// One of the three lists of waiting photons of Flights.
inline Waiting waiting_in(const Flights& flights, std::uint32_t list) {
  list %= 3;
  const std::size_t begin = list * std::size_t{flights.capacity};
  const Waiting& all = flights.waiting;
  return {all.starts + begin,
          all.ways + begin,
          all.lights + begin,
          all.pasts + begin,
          all.numbers + begin,
          all.exceptions + begin,
          all.rests != nullptr ? all.rests + begin : nullptr,
          flights.counts->waiting + list};
}

/// One step of all photons that wait. Rounds n and n + 1 may run at the same time, as far as their parts allow: the
/// postponed photons of round n and the physics of round n + 1 both append to list n + 2, whose number became 0 in the
/// search of round n. The kernel for those of round n reads list n and its half of `found`, which round n + 2 writes
/// again.
struct Round {
  Waiting from, to;
  Waiting behind;                 ///< the list that postponed photons go to
  bvh_detail::FoundFaces* found;  ///< by the search, of each of `from`
  std::uint32_t* postponed;       ///< places in `from` whose boundary takes a search in full
  std::uint32_t* postponed_count;
  std::uint32_t* searched;  ///< how many of `from` have been taken for a search
  const Births* births;     ///< photons that are born into `from` before the step
};
inline Round round_of(const Flights& flights, std::uint32_t number) {
  const std::size_t half = number % 2 * std::size_t{flights.capacity};
  FlightCounts* const counts = flights.counts;
  return {waiting_in(flights, number),
          waiting_in(flights, number + 1),
          waiting_in(flights, number + 2),
          flights.found + half,
          flights.postponed + half,
          counts->postponed + number % 2,
          &counts->searched,
          &counts->births};
}

/// Blocks of the kernel that searches, for at most `count` photons.
cudaError_t blocks_for_search(const GeometryView& geometry, std::size_t count, unsigned& blocks);
/// Writes what the search has found for photons that wait. The numbers of postponed photons and of those that wait
/// behind the next round become 0.
cudaError_t launch_search(const GeometryView& geometry, const Round& round, unsigned blocks, cudaStream_t stream);
/// The last photons on their way, to their ends.
cudaError_t launch_finish(const GeometryView& geometry, const Source& source, const Anchor* anchor, const Run& run,
                          const Waiting& waiting, Outcome* outcomes, std::uint32_t count, cudaStream_t stream);

}  // namespace raylift::photon
