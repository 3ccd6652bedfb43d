// SPDX-License-Identifier: Apache-2.0
// Photons of a source from emission to end: births, physics, and the order of all launches.
#include "launches.h"

namespace raylift::photon {
namespace {

// Rounds before the host looks how many photons are left; and how few are.
constexpr std::uint32_t kRounds = 2, kFew = 32768;
// Blocks that a multiprocessor is to hold, which bounds a thread's registers. Measured: see docs/lab_notes.md.
constexpr int kPhysicsBlocks = 3;

// How many photons are born now: as many as there is room for.
__global__ void plan_births(Births* births, const std::uint32_t* waiting, std::uint32_t capacity, std::uint32_t all) {
  births->first += births->count;
  const std::uint32_t room = capacity - *waiting, left = all - births->first;
  births->count = left < room ? left : room;
}

// What all photons of a launch share.
struct Launch {
  const GeometryView& geometry;
  const Source& source;
  const Anchor& anchor;
  const Run& run;
  const Flights& flights;
  Outcome* outcomes;
};

// A photon between two rays.
struct Between {
  bool flying = false;
  std::uint32_t photon = 0;  // its number from the run's first on
  WaitingRay ray;            // where it flies
  Pause pause;
};
// kBirth: of a photon that is emitted, by its number; else from the boundary of waiting photon q on.
template <bool kBirth>
__device__ __forceinline__ Between advance(const Launch& launch, const Waiting& from, std::uint32_t q) {
  using bvh_detail::load_by_16_bytes;
  Between now;
  Follower follower(launch.geometry, launch.source, launch.anchor, launch.run);
  if constexpr (kBirth) {
    now.photon = q;
    follower.start(launch.run.first + q);
  } else {
    now.photon = from.photons[q];
    follower.resume(launch.run.first + now.photon, load_by_16_bytes(launch.outcomes + now.photon),
                    load_by_16_bytes(from.pauses + q));
    follower.arrive(load_by_16_bytes(launch.flights.boundaries + q));
  }
  FineRay ray;
  now.flying = follower.ray(ray);
  bvh_detail::store_by_16_bytes(launch.outcomes + now.photon, follower.outcome());
  if (now.flying) {
    now.pause = follower.pause();
    now.ray = {{ray.origin.point, 0, ray.direction, ray.tmax}, follower.in()};
  }
  return now;
}

// Lets a photon wait at a place of the list.
__device__ void wait_at(const Flights& flights, const Waiting& list, std::uint32_t place, const Between& now) {
  list.photons[place] = now.photon;
  bvh_detail::store_by_16_bytes(list.pauses + place, now.pause);
  bvh_detail::store_by_16_bytes(flights.rays + place, now.ray);
}

// The physics of a step: from the boundary that each photon waits for to its next ray. kBirth: from birth to the first
// ray.
template <bool kBirth>
__global__ void __launch_bounds__(kThreads, kPhysicsBlocks)
    advance_each(const __grid_constant__ GeometryView geometry, const __grid_constant__ Source source,
                 const Anchor* anchor, const __grid_constant__ Run run, const __grid_constant__ Flights flights,
                 Waiting from, Waiting to, Outcome* outcomes) {
  const std::uint32_t count = kBirth ? flights.births->count : *from.count;
  if (!kBirth && first_of_thread() == 0) *flights.rest.count = 0;
  const Anchor at = anchor_at(anchor);
  const Launch launch{geometry, source, at, run, flights, outcomes};
  const std::uint32_t rounds = (count + stride() - 1) / stride();
  std::uint32_t q = first_item(count);
  // By whole warps, as they append together.
  for (std::uint32_t round = 0; round != rounds; ++round, q += stride()) {
    Between now;
    if (q < count) now = advance<kBirth>(launch, from, kBirth ? flights.births->first + q : q);
    const std::uint32_t place = append(now.flying, to.count);
    if (now.flying) wait_at(flights, to, place, now);
  }
}

}  // namespace

int launch_propagate(const GeometryView& geometry, const Source& source, const Anchor* anchor, const Run& run,
                     const Flights& flights, Outcome* outcomes, std::uint32_t count, void* stream) {
  if (count == 0) return cudaSuccess;
  const auto on = static_cast<cudaStream_t>(stream);
  unsigned birth_blocks = 0, physics_blocks = 0;
  SearchBlocks search_blocks;
  Waiting from = flights.waiting[0], to = flights.waiting[1];
  FirstError error;
  if (error.set(blocks_for(advance_each<true>, count, birth_blocks)) ||
      error.set(blocks_for(advance_each<false>, count, physics_blocks)) ||
      error.set(blocks_for_search(geometry, count, search_blocks)) ||
      error.set(cudaMemsetAsync(from.count, 0, sizeof *from.count, on)) ||
      error.set(cudaMemsetAsync(flights.rest.count, 0, sizeof *flights.rest.count, on)) ||
      error.set(cudaMemsetAsync(flights.births, 0, sizeof *flights.births, on)))
    return error.code;
  // As long as many photons are on their way, or not yet born.
  std::uint32_t born = 0;
  for (std::uint32_t left = count; born != count || left > kFew;) {
    for (std::uint32_t round = 0; round != kRounds; ++round) {
      if (born != count) {
        plan_births<<<1, 1, 0, on>>>(flights.births, from.count, flights.capacity, count);
        advance_each<true>
            <<<birth_blocks, kThreads, 0, on>>>(geometry, source, anchor, run, flights, to, from, outcomes);
      }
      if (error.set(launch_search(geometry, flights, from, to.count, search_blocks, on))) return error.code;
      advance_each<false>
          <<<physics_blocks, kThreads, 0, on>>>(geometry, source, anchor, run, flights, from, to, outcomes);
      const Waiting done = from;
      from = to;
      to = done;
    }
    Births births{};
    if (error.set(cudaMemcpyAsync(&left, from.count, sizeof left, cudaMemcpyDeviceToHost, on)) ||
        error.set(cudaMemcpyAsync(&births, flights.births, sizeof births, cudaMemcpyDeviceToHost, on)) ||
        error.set(cudaStreamSynchronize(on)))
      return error.code;
    born = births.first + births.count;
    if (born == count && left == 0) return cudaGetLastError();
  }
  return launch_finish(geometry, source, anchor, run, flights, from, outcomes, count, on);
}

}  // namespace raylift::photon
