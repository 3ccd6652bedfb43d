// SPDX-License-Identifier: Apache-2.0
// Photons of a source from emission to end: births, physics, and the order of all launches.
#include <raylift/gpu/rays/warp_boundary.h>

#include <cuda_pipeline_primitives.h>

#include "launches.h"
#include "side_stream.h"
#include "turns.h"
#include "waiting.h"

namespace raylift::photon {
namespace {

using bvh_detail::FineWalkRay;

// Rounds before the host looks how many photons are left; and how few are.
constexpr std::uint32_t kRounds = 2, kFew = 32768;
// Blocks that a multiprocessor is to hold, which bounds a thread's registers. Those of the step were measured: see
// docs/lab_notes.md.
constexpr int kStepBlocks = 2, kPostponedBlocks = 4, kBirthBlocks = 8;

// How many photons are born now: as many as there is room for.
__global__ void plan_births(FlightCounts* counts, std::uint32_t round, std::uint32_t capacity, std::uint32_t all) {
  Births& births = counts->births;
  births.first += births.count;
  const std::uint32_t room = capacity - counts->waiting[round % 3] - counts->postponed[(round + 1) % 2];
  const std::uint32_t left = all - births.first;
  births.count = left < room ? left : room;
}

// A photon between two rays.
struct Between {
  bool flying = false;
  bool postponed = false;  // its boundary takes a search in full
  float tmax = 0;          // where its ray ends
  Resumed photon;
};
// Continues a photon behind its birth or a boundary: to its next ray, or its end.
__device__ __forceinline__ void go_on(Follower& follower, Between& now, Outcome* outcomes) {
  FineRay ray;
  now.flying = follower.ray(ray);
  if (now.flying) {
    now.tmax = ray.tmax;
    now.photon.so_far = follower.outcome();
    now.photon.pause = follower.pause();
  } else {
    bvh_detail::store_by_16_bytes(outcomes + now.photon.photon, follower.outcome());
  }
}

// Photons are born, to their first rays.
__global__ void __launch_bounds__(kThreads, kBirthBlocks)
    emit_each(const __grid_constant__ GeometryView geometry, const __grid_constant__ Source source,
              const Anchor* anchor, const __grid_constant__ Run run, const __grid_constant__ Round round,
              Outcome* outcomes) {
  const std::uint32_t count = round.births->count;
  const Anchor at = anchor_at(anchor);
  const std::uint32_t turns = (count + stride() - 1) / stride();
  std::uint32_t i = first_item(count);
  // By whole warps, as they append together.
  for (std::uint32_t turn = 0; turn != turns; ++turn, i += stride()) {
    Between now;
    if (i < count) {
      Follower follower(geometry, source, at, run);
      now.photon.photon = round.births->first + i;
      follower.start(run.first + now.photon.photon);
      go_on(follower, now, outcomes);
    }
    const std::uint32_t place = append(now.flying, round.from.count);
    if (now.flying) wait_at(round.from, place, now.photon, now.tmax);
  }
}

// Photons of a list, copied into shared memory a turn ahead, so that no register holds them and no thread waits.
struct Staged {
  WaitingStart starts[kStepThreads];
  WaitingWay ways[kStepThreads];
  WaitingLight lights[kStepThreads];
  WaitingPast pasts[kStepThreads];
  WaitingNumbers numbers[kStepThreads];
  ::uint4 found[2][kStepThreads];

  // Begins to copy what the thread needs of place q.
  __device__ void copy(const Round& round, std::uint32_t q) {
    const std::uint32_t i = threadIdx.x;
    if (q != kNoPlace) {
      copy_16_bytes(starts[i], round.from.starts[q]);
      copy_16_bytes(ways[i], round.from.ways[q]);
      copy_16_bytes(lights[i], round.from.lights[q]);
      copy_16_bytes(pasts[i], round.from.pasts[q]);
      copy_16_bytes(numbers[i], round.from.numbers[q]);
      const auto* const words = reinterpret_cast<const ::uint4*>(round.found + q);
      for (int k = 0; k != 2; ++k) copy_16_bytes(found[k][i], words[k]);
    }
    __pipeline_commit();
  }
  [[nodiscard]] __device__ WaitingParts parts() const {
    const std::uint32_t i = threadIdx.x;
    return {starts + i, ways + i, lights + i, pasts + i, numbers + i};
  }
  [[nodiscard]] __device__ bvh_detail::FoundFaces faces() const {
    static_assert(sizeof(bvh_detail::FoundFaces) == 32);
    const ::uint4 words[2] = {found[0][threadIdx.x], found[1][threadIdx.x]};
    bvh_detail::FoundFaces faces;
    memcpy(&faces, words, sizeof faces);
    return faces;
  }

 private:
  template <class T>
  static __device__ void copy_16_bytes(T& to, const T& from) {
    static_assert(sizeof(T) == 16);
    __pipeline_memcpy_async(&to, &from, 16);
  }
};
constexpr std::size_t kStagedBytes = 2 * sizeof(Staged);

// The physics of a step: from the boundary that each photon waits for to its next ray, where the search alone gives it.
// kStaged: the photons' parts lie in two buffers of shared memory, one of which is filled while the other is used; see
// fits_staged().
template <class SomeRay, bool kStaged>
__global__ void __launch_bounds__(kStepThreads, kStepBlocks)
    step_each(const __grid_constant__ GeometryView geometry, const __grid_constant__ Source source,
              const Anchor* anchor, const __grid_constant__ Run run, const __grid_constant__ Round round,
              Outcome* outcomes) {
  __shared__ Queues queues;
  extern __shared__ ::uint4 memory[];
  auto* const stages = reinterpret_cast<Staged*>(memory);
  if (first_of_thread<kStepThreads>() == 0) *round.searched = 0;
  const Anchor at = anchor_at(anchor);
  Turns turns(round.found, *round.from.count, queues);
  std::uint32_t q;
  bool more = turns.take(q);
  if constexpr (kStaged) stages[0].copy(round, q);
  for (unsigned turn = 0; more; ++turn) {
    std::uint32_t next;
    more = turns.take(next);
    if constexpr (kStaged) {
      stages[(turn + 1) % 2].copy(round, next);
      __pipeline_wait_prior(1);
      asm volatile("" ::: "memory");  // the wait alone lets the compiler read the copies before it
    }
    Between now;
    if (q != kNoPlace) {
      const Staged& stage = stages[turn % 2];
      const bvh_detail::FoundFaces found = kStaged ? stage.faces() : bvh_detail::load_by_16_bytes(round.found + q);
      now.photon =
          resumed<bvh_detail::kIsFine<SomeRay>>(round.from, kStaged ? stage.parts() : parts_of(round.from, q), q);
      Follower follower(geometry, source, at, run);
      follower.resume(run.first + now.photon.photon, now.photon.so_far, now.photon.pause);
      Boundary boundary;
      // Behind a face, the end of the ray is of no consequence.
      const FineRay ray = follower.last_ray(found.best_far);
      now.postponed = !bvh_detail::plain_boundary<SomeRay>(geometry, ray, follower.in(), found, boundary);
      if (!now.postponed) {
        follower.arrive(boundary);
        go_on(follower, now, outcomes);
      }
    }
    const std::uint32_t place_of_postponed = append(now.postponed, round.postponed_count);
    if (now.postponed) round.postponed[place_of_postponed] = q;
    const std::uint32_t place = append(now.flying, round.to.count);
    if (now.flying) wait_at(round.to, place, now.photon, now.tmax);
    q = next;
  }
}

// The same for postponed photons, whose boundaries take a search in full.
template <class SomeRay>
__global__ void __launch_bounds__(kThreads, kPostponedBlocks)
    step_postponed(const __grid_constant__ GeometryView geometry, const __grid_constant__ Source source,
                   const Anchor* anchor, const __grid_constant__ Run run, const __grid_constant__ Round round,
                   Outcome* outcomes) {
  const std::uint32_t count = *round.postponed_count;
  const Anchor at = anchor_at(anchor);
  const Waiting& from = round.from;
  const std::uint32_t turns = (count + stride() - 1) / stride();
  std::uint32_t i = first_item(count);
  for (std::uint32_t turn = 0; turn != turns; ++turn, i += stride()) {
    Between now;
    if (i < count) {
      const std::uint32_t q = round.postponed[i];
      now.photon = resumed<bvh_detail::kIsFine<SomeRay>>(from, parts_of(from, q), q);
      Follower follower(geometry, source, at, run);
      follower.resume(run.first + now.photon.photon, now.photon.so_far, now.photon.pause);
      const FineRay ray = follower.last_ray(from.starts[q].tmax);
      follower.arrive(bvh_detail::finish_boundary<SomeRay>(geometry, ray, follower.in(),
                                                           bvh_detail::load_by_16_bytes(round.found + q)));
      go_on(follower, now, outcomes);
    }
    const std::uint32_t place = append(now.flying, round.behind.count);
    if (now.flying) wait_at(round.behind, place, now.photon, now.tmax);
  }
}

// Whether a multiprocessor holds kStepBlocks blocks of the kernel with their copies.
template <class Kernel>
cudaError_t fits_staged(const Kernel& kernel, bool& fits) {
  int device = 0, most = 0, resident = 0;
  FirstError error;
  if (error.set(cudaGetDevice(&device)) ||
      error.set(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device)))
    return error.code;
  fits = false;
  if (static_cast<std::size_t>(most) < kStagedBytes + sizeof(Queues)) return cudaSuccess;
  if (error.set(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kStagedBytes)) ||
      error.set(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, kStepThreads, kStagedBytes)))
    return error.code;
  fits = resident >= kStepBlocks;
  return cudaSuccess;
}

// The kernels of a round in a geometry, and their blocks for so many photons.
struct Kernels {
  decltype(&emit_each) births;
  decltype(&step_each<Ray, true>) physics;
  decltype(&step_postponed<Ray>) postponed;
  std::size_t staged;  // bytes of dynamic shared memory of the physics
  unsigned birth_blocks, search_blocks, physics_blocks, postponed_blocks;
};
cudaError_t find_kernels(const GeometryView& geometry, std::uint32_t count, Kernels& kernels) {
  const bool fine = geometry.is_fine();
  kernels = {emit_each,
             fine ? step_each<FineWalkRay, true> : step_each<Ray, true>,
             fine ? step_postponed<FineWalkRay> : step_postponed<Ray>,
             kStagedBytes,
             0,
             0,
             0,
             0};
  FirstError error;
  bool fits = false;
  if (error.set(blocks_for(kernels.births, count, kernels.birth_blocks)) ||
      error.set(blocks_for(kernels.postponed, count, kernels.postponed_blocks)) ||
      error.set(blocks_for_search(geometry, count, kernels.search_blocks)) ||
      error.set(fits_staged(kernels.physics, fits)))
    return error.code;
  if (!fits) {
    kernels.physics = fine ? step_each<FineWalkRay, false> : step_each<Ray, false>;
    kernels.staged = 0;
  }
  return blocks_for(kernels.physics, count, kernels.physics_blocks, kStepThreads, kernels.staged);
}

}  // namespace

int launch_propagate_ahead(const GeometryView& geometry, const Source& source, const Anchor* anchor, const Run& run,
                           const Flights& flights, Outcome* outcomes, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  Kernels kernels;
  FirstError error;
  if (error.set(find_kernels(geometry, 1, kernels)) ||
      error.set(cudaMemsetAsync(flights.counts, 0, sizeof *flights.counts, on)))
    return error.code;
  const Round round = round_of(flights, 0);
  kernels.births<<<1, kThreads, 0, on>>>(geometry, source, anchor, run, round, outcomes);
  if (error.set(launch_search(geometry, round, 1, on))) return error.code;
  kernels.physics<<<1, kStepThreads, kernels.staged, on>>>(geometry, source, anchor, run, round, outcomes);
  kernels.postponed<<<1, kThreads, 0, on>>>(geometry, source, anchor, run, round, outcomes);
  if (error.set(cudaGetLastError()) ||
      error.set(launch_finish(geometry, source, anchor, run, waiting_in(flights, 0), outcomes, 1, on)))
    return error.code;
  return cudaStreamSynchronize(on);
}

int launch_propagate(const GeometryView& geometry, const Source& source, const Anchor* anchor, const Run& run,
                     const Flights& flights, Outcome* outcomes, std::uint32_t count, void* stream) {
  if (count == 0) return cudaSuccess;
  const auto on = static_cast<cudaStream_t>(stream);
  Kernels kernels;
  FirstError error;
  SideStream side(on);
  if (error.set(side.error()) || error.set(find_kernels(geometry, count, kernels)) ||
      error.set(cudaMemsetAsync(flights.counts, 0, sizeof *flights.counts, on)))
    return error.code;
  // As long as many photons are on their way, or not yet born.
  std::uint32_t born = 0, number = 0;
  for (std::uint32_t left = count; born != count || left > kFew;) {
    for (std::uint32_t k = 0; k != kRounds; ++k, ++number) {
      const Round round = round_of(flights, number);
      if (born != count) {
        plan_births<<<1, 1, 0, on>>>(flights.counts, number, flights.capacity, count);
        kernels.births<<<kernels.birth_blocks, kThreads, 0, on>>>(geometry, source, anchor, run, round, outcomes);
      }
      if (error.set(launch_search(geometry, round, kernels.search_blocks, on))) return error.code;
      kernels.physics<<<kernels.physics_blocks, kStepThreads, kernels.staged, on>>>(geometry, source, anchor, run,
                                                                                    round, outcomes);
      // What the round before postponed is done when the next one begins, what this one postpones beside the next one.
      if ((number != 0 && error.set(side.join())) || error.set(side.follow())) return error.code;
      kernels.postponed<<<kernels.postponed_blocks, kThreads, 0, side.stream()>>>(geometry, source, anchor, run, round,
                                                                                  outcomes);
    }
    FlightCounts counts{};
    if (error.set(cudaMemcpyAsync(&counts, flights.counts, sizeof counts, cudaMemcpyDeviceToHost, on)) ||
        error.set(cudaStreamSynchronize(on)))
      return error.code;
    left = counts.waiting[number % 3] + counts.postponed[(number + 1) % 2];
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
