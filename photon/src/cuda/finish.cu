// SPDX-License-Identifier: Apache-2.0
// The last photons on their way, a thread each, to their ends: too few to share work. Warps that search together for 16
// of them at a time took 10 to 25 % longer.
#include "launches.h"
#include "waiting.h"

namespace raylift::photon {
namespace {

constexpr int kBlocks = 4;  // that a multiprocessor is to hold

__global__ void __launch_bounds__(kThreads, kBlocks)
    finish(const __grid_constant__ GeometryView geometry, const __grid_constant__ Source source, const Anchor* anchor,
           const __grid_constant__ Run run, Waiting waiting, Outcome* outcomes) {
  const std::uint32_t count = *waiting.count;
  const Anchor at = anchor_at(anchor);
  for (std::uint32_t q = first_item(count); q < count; q += stride()) {
    const Resumed photon = resumed<true>(waiting, parts_of(waiting, q), q);
    Follower follower(geometry, source, at, run);
    follower.resume(run.first + photon.photon, photon.so_far, photon.pause);
    FineRay ray = follower.last_ray(waiting.starts[q].tmax);
    do follower.arrive(next_boundary(geometry, ray, follower.in()));
    while (follower.ray(ray));
    outcomes[photon.photon] = follower.outcome();
  }
}

}  // namespace

cudaError_t launch_finish(const GeometryView& geometry, const Source& source, const Anchor* anchor, const Run& run,
                          const Waiting& waiting, Outcome* outcomes, std::uint32_t count, cudaStream_t stream) {
  unsigned blocks = 0;
  if (const cudaError_t error = blocks_for(finish, count, blocks); error != cudaSuccess) return error;
  finish<<<blocks, kThreads, 0, stream>>>(geometry, source, anchor, run, waiting, outcomes);
  return cudaGetLastError();
}

}  // namespace raylift::photon
