// SPDX-License-Identifier: Apache-2.0
// Photons of a source from emission to end: births, physics, and the order of all launches.
#include <raylift/gpu/rays/warp_boundary.h>

#include "launches.h"
#include "side_stream.h"

namespace raylift::photon {
namespace {

using bvh_detail::FineWalkRay;

// Rounds before the host looks how many photons are left; and how few are.
constexpr std::uint32_t kRounds = 2, kFew = 32768;
// Blocks that a multiprocessor is to hold, which bounds a thread's registers. Measured: see docs/lab_notes.md.
constexpr int kPhysicsBlocks = 4;

// How many photons are born now: as many as there is room for.
__global__ void plan_births(FlightCounts* counts, std::uint32_t round, std::uint32_t capacity, std::uint32_t all) {
  Births& births = counts->births;
  births.first += births.count;
  const std::uint32_t room = capacity - counts->waiting[round % 3] - counts->rest[(round + 1) % 2];
  const std::uint32_t left = all - births.first;
  births.count = left < room ? left : room;
}

// What all photons of a launch share.
struct Launch {
  const GeometryView& geometry;
  const Source& source;
  const Anchor& anchor;
  const Run& run;
  const Round& round;
  Outcome* outcomes;
};

// Where photons come from: their birth; the boundary that each waits for, where the search alone gives it; or that of
// one of the rest.
enum class From { birth, boundary, rest };

// A photon between two rays.
struct Between {
  bool flying = false;
  bool later = false;        // it is one of the rest
  std::uint32_t photon = 0;  // its number from the run's first on
  WaitingRay ray;            // where it flies
  Pause pause;
};
// From its birth, by its number, or as waiting photon q.
template <From kFrom, class SomeRay>
__device__ __forceinline__ Between advance(const Launch& launch, std::uint32_t q) {
  using bvh_detail::load_by_16_bytes;
  Between now;
  Follower follower(launch.geometry, launch.source, launch.anchor, launch.run);
  if constexpr (kFrom == From::birth) {
    now.photon = q;
    follower.start(launch.run.first + q);
  } else {
    const Waiting& from = launch.round.from;
    now.photon = from.photons[q];
    const auto found = load_by_16_bytes(launch.round.found + q);
    follower.resume(launch.run.first + now.photon, load_by_16_bytes(launch.outcomes + now.photon),
                    load_by_16_bytes(from.pauses + q));
    Boundary boundary;
    if constexpr (kFrom == From::boundary) {
      // Behind a face, the end of the ray is of no consequence.
      const FineRay ray = follower.last_ray(found.best_far);
      now.later = !bvh_detail::plain_boundary<SomeRay>(launch.geometry, ray, follower.in(), found, boundary);
      if (now.later) return now;
    } else {
      const FineRay ray = follower.last_ray(from.rays[q].ray.tmax);
      boundary = bvh_detail::finish_boundary<SomeRay>(launch.geometry, ray, follower.in(), found);
    }
    follower.arrive(boundary);
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
__device__ void wait_at(const Waiting& list, std::uint32_t place, const Between& now) {
  list.photons[place] = now.photon;
  bvh_detail::store_by_16_bytes(list.pauses + place, now.pause);
  bvh_detail::store_by_16_bytes(list.rays + place, now.ray);
}

// The physics of a step: from the boundary that each photon waits for to its next ray; at birth, to its first ray.
template <From kFrom, class SomeRay>
__global__ void __launch_bounds__(kThreads, kPhysicsBlocks)
    advance_each(const __grid_constant__ GeometryView geometry, const __grid_constant__ Source source,
                 const Anchor* anchor, const __grid_constant__ Run run, const __grid_constant__ Round round,
                 Outcome* outcomes) {
  const std::uint32_t count = kFrom == From::birth      ? round.births->count
                              : kFrom == From::boundary ? *round.from.count
                                                        : *round.rest_count;
  const Waiting& to = kFrom == From::birth ? round.from : kFrom == From::boundary ? round.to : round.behind;
  if (kFrom == From::boundary && first_of_thread() == 0) *round.searched = 0;
  const Anchor at = anchor_at(anchor);
  const Launch launch{geometry, source, at, run, round, outcomes};
  const std::uint32_t turns = (count + stride() - 1) / stride();
  std::uint32_t i = first_item(count);
  // By whole warps, as they append together.
  for (std::uint32_t turn = 0; turn != turns; ++turn, i += stride()) {
    Between now;
    std::uint32_t q = i;
    if (i < count) {
      if constexpr (kFrom == From::birth) q += round.births->first;
      if constexpr (kFrom == From::rest) q = round.rest[i];
      now = advance<kFrom, SomeRay>(launch, q);
    }
    if constexpr (kFrom == From::boundary) {
      const std::uint32_t place = append(now.later, round.rest_count);
      if (now.later) round.rest[place] = q;
    }
    const std::uint32_t place = append(now.flying, to.count);
    if (now.flying) wait_at(to, place, now);
  }
}

}  // namespace

int launch_propagate(const GeometryView& geometry, const Source& source, const Anchor* anchor, const Run& run,
                     const Flights& flights, Outcome* outcomes, std::uint32_t count, void* stream) {
  if (count == 0) return cudaSuccess;
  const auto on = static_cast<cudaStream_t>(stream);
  unsigned birth_blocks = 0, search_blocks = 0, physics_blocks = 0, rest_blocks = 0;
  const bool fine = geometry.is_fine();
  const auto births = advance_each<From::birth, Ray>;
  const auto physics = fine ? advance_each<From::boundary, FineWalkRay> : advance_each<From::boundary, Ray>;
  const auto rest = fine ? advance_each<From::rest, FineWalkRay> : advance_each<From::rest, Ray>;
  FirstError error;
  SideStream side(on);
  if (error.set(side.error()) || error.set(blocks_for(births, count, birth_blocks)) ||
      error.set(blocks_for(physics, count, physics_blocks)) || error.set(blocks_for(rest, count, rest_blocks)) ||
      error.set(blocks_for_search(geometry, count, search_blocks)) ||
      error.set(cudaMemsetAsync(flights.counts, 0, sizeof *flights.counts, on)))
    return error.code;
  // As long as many photons are on their way, or not yet born.
  std::uint32_t born = 0, number = 0;
  for (std::uint32_t left = count; born != count || left > kFew;) {
    for (std::uint32_t k = 0; k != kRounds; ++k, ++number) {
      const Round round = round_of(flights, number);
      if (born != count) {
        plan_births<<<1, 1, 0, on>>>(flights.counts, number, flights.capacity, count);
        births<<<birth_blocks, kThreads, 0, on>>>(geometry, source, anchor, run, round, outcomes);
      }
      if (error.set(launch_search(geometry, round, search_blocks, on))) return error.code;
      physics<<<physics_blocks, kThreads, 0, on>>>(geometry, source, anchor, run, round, outcomes);
      // The rest of the round before is done when the next one begins, that of this round beside the next one.
      if ((number != 0 && error.set(side.join())) || error.set(side.follow())) return error.code;
      rest<<<rest_blocks, kThreads, 0, side.stream()>>>(geometry, source, anchor, run, round, outcomes);
    }
    FlightCounts counts{};
    if (error.set(cudaMemcpyAsync(&counts, flights.counts, sizeof counts, cudaMemcpyDeviceToHost, on)) ||
        error.set(cudaStreamSynchronize(on)))
      return error.code;
    left = counts.waiting[number % 3] + counts.rest[(number + 1) % 2];
    born = counts.births.first + counts.births.count;
    if (born == count && left == 0) return error.set(side.join()) ? error.code : cudaGetLastError();
  }
  const auto finish = [&](std::uint32_t list, cudaStream_t where) {
    return launch_finish(geometry, source, anchor, run, waiting_in(flights, list), outcomes, count, where);
  };
  if (error.set(finish(number + 1, side.stream())) || error.set(finish(number, on)) || error.set(side.join()))
    return error.code;
  return cudaGetLastError();
}

}  // namespace raylift::photon
