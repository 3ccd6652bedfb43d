// SPDX-License-Identifier: Apache-2.0
#include <raylift/gpu/rays/arrays.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "arrays_kernel.h"
#include "device/run_on.h"

namespace raylift {
namespace {

template <class One>
void for_all(std::size_t count, const One& one) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 1 << 14), [&](const auto& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i) one(i);
  });
}

}  // namespace

void pack_rays(const Device& device, const RayArrays& arrays, Ray* rays, std::size_t count, StreamRef stream) {
  detail::run_on(
      device, "pack_rays", [&] { return cuda::launch_pack_rays(arrays, rays, count, stream.handle()); },
      [&] { for_all(count, [&](std::size_t i) { rays[i] = arrays.ray(i); }); });
}

void unpack_hits(const GpuGeometry& geometry, const Hit* hits, const HitArrays& arrays, std::size_t count,
                 StreamRef stream) {
  const GeometryView& view = geometry.view();
  detail::run_on(
      geometry.device(), "unpack_hits",
      [&] { return cuda::launch_unpack_hits(view, hits, arrays, count, stream.handle()); },
      [&] { for_all(count, [&](std::size_t i) { arrays.set(view, hits[i], i); }); });
}

}  // namespace raylift
