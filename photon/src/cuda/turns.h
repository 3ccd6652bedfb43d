// SPDX-License-Identifier: Apache-2.0
// The order in which the physics of a step takes the photons of a list.
#pragma once

#include "launches.h"

namespace raylift::photon {

/// Threads of a block of that kernel.
inline constexpr unsigned kStepThreads = 256;
inline constexpr std::uint32_t kNoPlace = 0xFFFFFFFFu;

/// Places in the list that a block has read and not taken yet: of photons whose rays met no face, and of those whose
/// rays met one. Each time fewer than kStepThreads are there, and as many come.
struct Queues {
  std::uint32_t counts[2];
  std::uint32_t places[2][2 * kStepThreads];
};

/// The order in which a block takes photons: those whose rays met no face together, or those whose rays met one. The
/// two have little code in common, and the instruction cache bounds a step's physics: the warps of a block go through
/// the same code at the same time. Which kind a photon is of, is read a turn ahead.
class Turns {
 public:
  __device__ Turns(const bvh_detail::FoundFaces* found, std::uint32_t count, Queues& queues)
      : found_(found), count_(count), queues_(queues), few_(count < 2 * stride<kStepThreads>()) {
    next_ = few_ ? first_item<kStepThreads>(count) : first_of_thread<kStepThreads>();
    if (!few_) kind_ = kind_of(next_);
    if (threadIdx.x < 2) queues.counts[threadIdx.x] = 0;
  }
  /// The place of a photon for the thread, or kNoPlace. False: there is none left for any thread of the block. All of
  /// its threads call it.
  __device__ bool take(std::uint32_t& q) {
    if (few_) {
      q = next_ < count_ ? next_ : kNoPlace;
      next_ += stride<kStepThreads>();
      return __syncthreads_or(q != kNoPlace) != 0;
    }
    const std::uint32_t lane = threadIdx.x & 31u;
    std::uint32_t counts[2];
    for (;;) {
      const bool more = __syncthreads_or(next_ < count_) != 0;
      counts[0] = queues_.counts[0];
      counts[1] = queues_.counts[1];
      if (counts[0] >= kStepThreads || counts[1] >= kStepThreads || !more) break;
      __syncthreads();
      for (std::uint32_t k = 0; k != 2; ++k) {
        const unsigned of_kind = __ballot_sync(0xFFFFFFFFu, kind_ == k);
        std::uint32_t first = 0;
        if (lane == 0) first = atomicAdd(queues_.counts + k, static_cast<std::uint32_t>(__popc(of_kind)));
        first = __shfl_sync(0xFFFFFFFFu, first, 0);
        if (kind_ == k)
          queues_.places[k][first + static_cast<std::uint32_t>(__popc(of_kind & ((1u << lane) - 1u)))] = next_;
      }
      next_ += stride<kStepThreads>();
      kind_ = kind_of(next_);
    }
    const std::uint32_t misses = counts[0] >= kStepThreads ? kStepThreads : counts[1] >= kStepThreads ? 0 : counts[0];
    const std::uint32_t faces = kStepThreads - misses < counts[1] ? kStepThreads - misses : counts[1];
    const std::uint32_t i = threadIdx.x;
    q = i < misses           ? queues_.places[0][counts[0] - misses + i]
        : i < misses + faces ? queues_.places[1][counts[1] - faces + i - misses]
                             : kNoPlace;
    __syncthreads();
    if (i < 2) queues_.counts[i] -= i == 0 ? misses : faces;
    return misses + faces != 0;
  }

 private:
  __device__ std::uint32_t kind_of(std::uint32_t q) const {
    return q >= count_ ? 2 : found_[q].best.triangle != kNoTriangle ? 1 : 0;
  }
  const bvh_detail::FoundFaces* found_;
  std::uint32_t count_, next_, kind_ = 2;
  Queues& queues_;
  bool few_;
};

}  // namespace raylift::photon
