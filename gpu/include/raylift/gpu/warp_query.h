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
//     raylift::closest_hits_of_warp(geometry, warp * 256, min(rays, (warp + 1) * 256),
//                                   [=](std::size_t i) { return raylift::Ray{...}; },
//                                   [=](std::size_t i, const raylift::Hit& hit) { ... });
#pragma once

#if defined(__CUDACC__)

#include <raylift/gpu/query.h>

#include <cstddef>

namespace raylift {
namespace bvh_detail {

// Threads that have a pair to test, for all to test one; and idle ones, for new rays to be fetched. Measured: see
// docs/performance.md.
inline constexpr int kPairQuorum = 8;
inline constexpr int kIdleQuorum = 8;

template <bool kScene, class Fetch, class Store>
__device__ inline void trace_warp(const BvhView& bvh, std::size_t next, const std::size_t end, const Fetch& fetch,
                                  const Store& store) {
  constexpr unsigned kAll = 0xFFFFFFFFu;
  const unsigned lanes_below = (1u << (threadIdx.x & 31u)) - 1u;
  Group stack[kScene ? 2 * kBvhMaxDepth : kBvhMaxDepth];
  std::size_t index = 0;
  bool busy = false;
  PreparedRay ray(Ray{{0, 0, 0}, 0, {1, 1, 1}, 0});
  float tmin = 0;
  Candidate best = no_candidate(0);
  Group nodes{0, 0};
  NodeHits hits{{0, 0}, 0, 0, 0};
  int depth = 0;
  [[maybe_unused]] int mesh_depth = -1;  // as in traverse
  std::uint32_t instance = 0;
  unsigned at_work = 0;
  while (true) {
    if (next < end) {
      if (!busy) {
        const std::size_t mine = next + static_cast<std::size_t>(__popc(~at_work & lanes_below));
        if (mine < end) {
          index = mine;
          const Ray fetched = fetch(mine);
          ray = PreparedRay(fetched);
          tmin = fetched.tmin;
          best = no_candidate(fetched.tmax);
          nodes = only_child(0);
          depth = 0;
          mesh_depth = -1;
          busy = true;
        }
      }
      next += static_cast<std::size_t>(32 - __popc(at_work));
    }
    at_work = __ballot_sync(kAll, busy);
    if (at_work == 0) return;
    do {
      const bool has_pair = hits.pairs != 0;
      const unsigned with_pair = __ballot_sync(kAll, has_pair);
      if (__popc(with_pair) >= kPairQuorum || with_pair == at_work) {
        if (has_pair) intersect_pair(bvh, next_pair(hits), ray, tmin, kNoTriangle, instance, best);
      } else if (busy && !has_pair) {
        if (!any_child(nodes)) {
          if (depth == 0) {
            store(index, best);
            busy = false;
          } else {
            if constexpr (kScene) {
              if (depth == mesh_depth) {
                mesh_depth = -1;
                ray = PreparedRay(fetch(index));
              }
            }
            nodes = stack[--depth];
          }
        }
        if (busy) {
          const std::uint32_t child = next_child(nodes, ray.order);
          if (any_child(nodes)) stack[depth++] = nodes;
          NodeWords node = load_node(bvh.nodes + child);
          if constexpr (kScene) {
            if (mesh_depth < 0 && !node.is_node()) {
              const InstanceNode placed = node.instance();
              instance = placed.instance;
              ray = PreparedRay(in_mesh(placed, fetch(index)));
              node = load_node(bvh.nodes + placed.root);
              mesh_depth = depth;
            }
          }
          hits = intersect_node(node, ray, tmin, best.t);
          nodes = hits.children;
        }
      }
      at_work = __ballot_sync(kAll, busy);
    } while (at_work != 0 && (next >= end || 32 - __popc(at_work) < kIdleQuorum));
  }
}

}  // namespace bvh_detail

/// Calls store(i, hit) with closest_hit(bvh, fetch(i)) for each i in [first, end): by all 32 threads of a warp, which
/// get the same range and must all be there. Blocks are one-dimensional. fetch may be called more than once for a ray.
template <class Fetch, class Store>
__device__ inline void closest_hits_of_warp(const BvhView& bvh, std::size_t first, std::size_t end, const Fetch& fetch,
                                            const Store& store) {
  if (bvh.node_count == 0) {
    for (std::size_t i = first + (threadIdx.x & 31u); i < end; i += 32)
      store(i, bvh_detail::hit_of(bvh, bvh_detail::no_candidate(fetch(i).tmax)));
    return;
  }
  bvh_detail::trace_warp<false>(bvh, first, end, fetch, [&](std::size_t i, const bvh_detail::Candidate& best) {
    store(i, bvh_detail::hit_of(bvh, best));
  });
}

/// The same over a view.
template <class Fetch, class Store>
__device__ inline void closest_hits_of_warp(const GeometryView& geometry, std::size_t first, std::size_t end,
                                            const Fetch& fetch, const Store& store) {
  if (geometry.bvh_levels != 2) return closest_hits_of_warp(geometry.bvh, first, end, fetch, store);
  bvh_detail::trace_warp<true>(geometry.bvh, first, end, fetch, [&](std::size_t i, const bvh_detail::Candidate& best) {
    store(i, bvh_detail::scene_hit_of(geometry, best));
  });
}

}  // namespace raylift

#endif
