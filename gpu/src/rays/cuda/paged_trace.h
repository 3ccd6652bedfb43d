// SPDX-License-Identifier: Apache-2.0
// What the kernels of trace() want of geometry whose BVH lies in pages.
#pragma once

#include "paged_bvh.h"
#include "trace_steps.h"

namespace raylift::cuda {

// By a PagedBvh or, for packets, a FillingBvh, or the BVH itself where no pair is missing.
template <class Geometry, class Bvh>
struct Paged {
  Geometry geometry;
  Bvh bvh;
  std::uint32_t* parted;  // warps of packets that leave some rays to be traced
};
template <class Geometry, class Bvh>
inline constexpr bool kScene<Paged<Geometry, Bvh>> = kScene<Geometry>;

template <class Geometry, class Bvh>
__host__ __device__ inline const Bvh& bvh_of(const Paged<Geometry, Bvh>& paged) {
  return paged.bvh;
}

template <class Bvh>
__device__ inline Hit finished(const BvhView&, const Bvh& bvh, const Ray& ray, bvh_detail::Site site) {
  return bvh_detail::hit_of(bvh, ray, site);
}
template <class Bvh>
__device__ inline Hit finished(const GeometryView& geometry, const Bvh& bvh, const Ray& ray, bvh_detail::Site site) {
  return bvh_detail::in_world(geometry, bvh_detail::hit_of(bvh, ray, site));
}
template <class Geometry, class Bvh>
__device__ inline Hit finished(const Paged<Geometry, Bvh>& paged, const Ray& ray, bvh_detail::Site site) {
  return finished(paged.geometry, paged.bvh, ray, site);
}

// A packet stops at a pair, in Site::triangle, whose page is not there. Then its warp copies that, and the packet
// begins anew: a call within the walk would take registers from all of it.
struct StoppingNearest : bvh_detail::Nearest<bvh_detail::Any> {
  using Nearest::Nearest;
  __device__ void stop_at(std::uint32_t pair) { cold.set({pair, bvh_detail::kNoInstance}, 0); }
};
template <class Geometry, bool kStagedNodes>
struct PacketQueryOf<Paged<Geometry, FillingBvh<kStagedNodes>>> {
  using Type = StoppingNearest;
};
template <class Geometry, bool kStagedNodes>
__device__ inline bool brings_what_stopped(const Paged<Geometry, FillingBvh<kStagedNodes>>& paged,
                                           bvh_detail::PacketEnd end, bvh_detail::Site site) {
  if (end != bvh_detail::PacketEnd::stopped) return false;
  bring_pair(&paged.bvh, site.triangle);
  return true;
}
template <class Geometry, class Bvh>
__device__ inline void count_parted(const Paged<Geometry, Bvh>& paged) {
  atomicAdd(paged.parted, 1u);
}

}  // namespace raylift::cuda
