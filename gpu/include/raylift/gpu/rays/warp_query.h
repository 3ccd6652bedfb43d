// SPDX-License-Identifier: Apache-2.0
// closest_hit for kernels that have many rays: the 32 threads of a warp share the work on a range of them. Same hits as
// closest_hit gives, bit for bit, at about twice the rate where rays are incoherent.
//
// On their own, the threads of a warp wait for each other: at each step for those that have triangles to test, and in
// the end for the longest ray. Here triangle tests are put off until enough threads have one, and threads whose ray is
// done get the next ray. After Ylitie, Karras, Laine (HPG 2017), and Aila, Laine, "Understanding the Efficiency of Ray
// Traversal on GPUs" (HPG 2009).
//
//   __global__ void kernel(raylift::GeometryView geometry, std::size_t rays, ...) {
//     const std::size_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
//     __shared__ raylift::Found found[kWarpsOfBlock][256];
//     raylift::closest_hits_of_warp(geometry, warp * 256, 256,
//                                   [=](std::size_t i) { return raylift::Ray{...}; },
//                                   [=](std::size_t i, const raylift::Hit& hit) { ... }, found[threadIdx.x / 32]);
#pragma once

#if defined(__CUDACC__)

#include <raylift/geometry/detail/standard.h>
#include <raylift/gpu/rays/query.h>

namespace raylift {
namespace bvh_detail {

// Threads that have a pair to test, for all to test one; and idle ones, for new rays to be fetched. Measured: see
// docs/performance.md.
inline constexpr int kPairQuorum = 8, kIdleQuorum = 6;

// Rays that come in ranges, to a warp that is done with the range before but for some of its rays.
//   std::uint32_t first()   the number of the range's first ray
//   std::uint32_t next()    goes on to the next range; the number of its rays, 0: there is none. By the warp together
// This is the only range there is.
struct OneRange {
  [[nodiscard]] __device__ static std::uint32_t first() { return 0; }
  [[nodiscard]] __device__ static std::uint32_t next() { return 0; }
};
// In WarpState::left: there may be another range.
inline constexpr std::uint32_t kMoreRanges = 0x80000000u;

// Where a warp stands: how many rays of the range are left, the first ones; the threads whose ray is on its way; this
// thread's ray, and whether that is on its way. If there is a ray that is not, its query is still to be stored.
struct WarpState {
  std::uint32_t left;
  unsigned at_work;
  std::uint32_t mine;
  bool walks;
};

// decide_pair with a thread's registers spilled to memory during the call. Few threads need it, and without this the
// compiler would keep registers free for it in all of the loop.
template <bool kScene, class World, class Query>
__device__ inline void decide_parked(const BvhView& bvh, std::uint32_t pair, std::uint32_t open, const World& world,
                                     Walk<kScene>& walk, Query& query, WarpState& state) {
  struct Parked {
    WarpState state;
    PreparedRay ray;
    NodeGroup nodes;
    PairHits hits;
    int depth, mesh_depth;
    std::uint32_t placed;
    Query query;
  } parked{state, walk.ray, walk.nodes, walk.hits, walk.depth, walk.mesh_depth, walk.placed, query};
  asm volatile("" ::"l"(&parked) : "memory");
  decide_by_call(bvh, pair, open, world, parked.placed, &parked.query);
  asm volatile("" ::"l"(&parked) : "memory");
  state = parked.state;
  walk.ray = parked.ray;
  walk.nodes = parked.nodes;
  walk.hits = parked.hits;
  walk.depth = parked.depth;
  walk.mesh_depth = parked.mesh_depth;
  walk.placed = parked.placed;
  // From the register: the compiler must see that the address of what is cold has not changed.
  if constexpr (requires { query.take(parked.query); }) {
    query.take(parked.query);
  } else if constexpr (requires { query.cold; }) {
    const auto cold = query.cold;
    query = parked.query;
    query.cold = cold;
  } else {
    query = parked.query;
  }
}

// A type without its reference: kernels that are compiled at run time have no std::decay_t.
template <class T>
__device__ T value_of(const T&);

// make(i, ray, cold) is a query (see ray_walk.h) for a ray; store(i, query) gets it when the walk is done. Rays are
// numbered from 0 to count, in 32 bits as registers are short; a thread without one has a query of ray kNoRay. Where
// fetch(i) is more than a Ray, fetch.rest(i) is what it has in addition. With `ranges`, count is kMoreRanges, and rays
// are numbered from ranges.first() on, fewer than 2^31 of them in a range.
//
// A query may have
//   bool stops_at(bvh, pair)   whether the walk is to end before it reads that pair
//   void take(changed)         after a call that got a copy: takes over what the call may have changed, and no more, so
//                              that the compiler sees what is constant
inline constexpr std::uint32_t kNoRay = 0xFFFFFFFFu;
template <bool kScene, class Bvh, class Fetch, class Make, class Store, class SomeStack, class Ranges = OneRange>
__device__ inline void trace_warp(const Bvh& bvh, const std::uint32_t count, const Fetch& fetch, const Make& make,
                                  const Store& store, SomeStack& stack, const Ranges& ranges = {}) {
  constexpr unsigned kAll = 0xFFFFFFFFu;
  using SomeRay = decltype(value_of(fetch(0u)));
  SomeRay none{};
  static_cast<Ray&>(none) = {LocalPoint(0, 0, 0), 0, {1, 1, 1}, 0};
  Walk<kScene> walk(none);
  auto query = make(kNoRay, none, stack.cold());
  constexpr bool kStops = requires {
    query.stops_at(bvh, 0u);
  };
  WarpState state{count, 0, kNoRay, false};
  constexpr bool kKeepsRay = kScene && requires {
    stack.ray();
  };
  const auto world = [&]() -> SomeRay {
    if constexpr (kKeepsRay && std::is_same_v<SomeRay, Ray>) {
      return stack.ray();
    } else if constexpr (kKeepsRay) {
      SomeRay ray{};
      static_cast<Ray&>(ray) = stack.ray();
      ray.rest = fetch.rest(state.mine);
      return ray;
    } else {
      return fetch(state.mine);
    }
  };
  while (true) {
    // Not as each ray ends, when few threads would store.
    if (state.mine != kNoRay && !state.walks) {
      store(state.mine, query);
      state.mine = kNoRay;
    }
    if constexpr (!std::is_same_v<Ranges, OneRange>) {
      if (state.left == kMoreRanges) {
        const std::uint32_t more = ranges.next();
        state.left = more != 0 ? more | kMoreRanges : 0;
      }
    }
    if (state.left != 0) {
      const std::uint32_t left = std::is_same_v<Ranges, OneRange> ? state.left : state.left & ~kMoreRanges;
      if (!state.walks) {
        const unsigned lanes_below = (1u << (threadIdx.x & 31u)) - 1u;
        const auto behind = static_cast<std::uint32_t>(__popc(~state.at_work & lanes_below));
        if (behind < left) {
          const std::uint32_t number = ranges.first() + (left - 1 - behind);
          state.mine = number;
          state.walks = true;
          const SomeRay fetched = fetch(number);
          query = make(number, fetched, stack.cold());
          walk.ray = PreparedRay(fetched, kScene ? RaySpace::world : RaySpace::mesh, around_of(query));
          walk.restart(fetched);
          if constexpr (kKeepsRay) stack.set_ray(fetched);
          if constexpr (kScene) stack.save(walk.ray);
        }
      }
      const auto taken = static_cast<std::uint32_t>(32 - __popc(state.at_work));
      state.left -= taken < left ? taken : left;
    }
    state.at_work = __ballot_sync(kAll, state.walks);
    if (state.at_work == 0) return;
    while (true) {
      const bool has_pair = walk.hits.pairs != 0;
      const unsigned with_pair = __ballot_sync(kAll, has_pair);
      if (__popc(with_pair) >= kPairQuorum || with_pair == state.at_work) {
        if (has_pair) {
          const std::uint32_t pair = next_pair(walk.hits);
          bool stops = false;
          if constexpr (kStops) stops = query.stops_at(bvh, pair);
          if (stops) {
            walk.hits.pairs = 0;
            state.walks = false;
          } else if (const std::uint32_t open = intersect_pair(bvh, pair, walk.ray, walk.placed, query); open != 0) {
            decide_parked(bvh, pair, open, fetch(state.mine), walk, query, state);
          }
        }
        if constexpr (!kStops) continue;  // no ray ends here
      } else if (state.walks && !has_pair) {
        state.walks = advance(bvh, walk, stack, world, query.tmin, query.farthest(), around_of(query));
      }
      state.at_work = __ballot_sync(kAll, state.walks);
      if (state.at_work == 0 || (state.left != 0 && __popc(state.at_work) <= 32 - kIdleQuorum)) break;
    }
  }
}

// store(i, site) for each ray, with the site that it hits.
template <bool kScene, class Bvh, class Fetch, class Store, class SomeStack>
__device__ inline void nearest_of_warp(const Bvh& bvh, std::uint32_t count, const Fetch& fetch, const Store& store,
                                       SomeStack& stack) {
  if (bvh.node_count == 0) {
    for (std::uint32_t i = threadIdx.x & 31u; i < count; i += 32) store(i, Site{kNoTriangle, kNoInstance});
    return;
  }
  const auto make = [](std::uint32_t, const Ray& ray, auto cold) {
    return Nearest<Any, decltype(cold)>(ray, cold, {});
  };
  trace_warp<kScene>(
      bvh, count, fetch, make, [&](std::uint32_t i, const auto& query) { store(i, query.site()); }, stack);
}

// found[i] becomes that site, by a stack in the threads' own memory.
template <bool kScene, class Fetch>
__device__ inline void nearest_of_warp(const BvhView& bvh, std::uint32_t count, const Fetch& fetch, Site* found) {
  Stack<kScene> stack;
  nearest_of_warp<kScene>(
      bvh, count, fetch, [=](std::uint32_t i, Site site) { found[i] = site; }, stack);
}

// finish(i, site) for each ray, by 32 threads at a time. From the last ones on: what it writes may lie over `found` as
// long as that of ray i begins no earlier than found[i]. A call, as it has the registers to itself then.
template <class Finish>
__device__ __noinline__ void finish_in_warp(std::uint32_t count, const Site* found, Finish finish) {
  __syncwarp();
  for (std::uint32_t left = count; left != 0;) {
    const std::uint32_t begin = (left - 1) / 32 * 32, i = begin + (threadIdx.x & 31u);
    Site site{kNoTriangle, kNoInstance};
    if (i < left) site = found[i];
    __syncwarp();
    if (i < left) finish(i, site);
    __syncwarp();
    left = begin;
  }
}

}  // namespace bvh_detail

/// What a walk leaves behind for each ray until all rays of the warp are done: where it was hit. Of no other use.
using Found = bvh_detail::Site;

/// Calls store(i, hit) with closest_hit(bvh, fetch(i)) for each i in [first, first + count): by all 32 threads of a
/// warp, which get the same range and must all be there. Blocks are one-dimensional. fetch may be called more than once
/// for a ray.
///
/// `found` has `count` elements, in shared or global memory, for this warp alone. It may be the memory that store
/// writes hits to, in the order of the rays.
template <class Fetch, class Store>
__device__ inline void closest_hits_of_warp(const BvhView& bvh, std::size_t first, std::uint32_t count,
                                            const Fetch& fetch, const Store& store, Found* found) {
  const auto ray = [=](std::uint32_t i) -> Ray { return fetch(first + i); };
  bvh_detail::nearest_of_warp<false>(bvh, count, ray, found);
  bvh_detail::finish_in_warp(
      count, found, [=](std::uint32_t i, Found site) { store(first + i, bvh_detail::hit_of(bvh, ray(i), site)); });
}

/// The same over a view.
template <class Fetch, class Store>
__device__ inline void closest_hits_of_warp(const GeometryView& geometry, std::size_t first, std::uint32_t count,
                                            const Fetch& fetch, const Store& store, Found* found) {
  if (geometry.bvh_levels != 2) return closest_hits_of_warp(geometry.bvh, first, count, fetch, store, found);
  const auto ray = [=](std::uint32_t i) -> Ray { return fetch(first + i); };
  bvh_detail::nearest_of_warp<true>(geometry.bvh, count, ray, found);
  const GeometryView* const view = &geometry;
  bvh_detail::finish_in_warp(count, found, [=](std::uint32_t i, Found site) {
    store(first + i, bvh_detail::scene_hit_of(*view, ray(i), site));
  });
}

}  // namespace raylift

#endif
