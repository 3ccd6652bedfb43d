// SPDX-License-Identifier: Apache-2.0
#include <raylift/gpu/rays/arrays.h>

#include "arrays_kernel.h"
#include "base/for_all.h"
#include "device/run_on.h"

namespace raylift {
namespace {

constexpr std::size_t kFew = 1 << 14;

}  // namespace

void pack_rays(const Device& device, const RayArrays& arrays, Ray* rays, std::size_t count, StreamRef stream) {
  detail::require_arrays(count, {arrays.origins.data, arrays.directions.data, rays});
  detail::run_on(
      device, "pack_rays", [&] { return cuda::launch_pack_rays(arrays, rays, count, stream.handle()); },
      [&] { base::for_all(count, kFew, [&](std::size_t i) { rays[i] = arrays.ray(i); }); });
}

void unpack_hits(const GpuGeometry& geometry, const Hit* hits, const HitArrays& arrays, std::size_t count,
                 StreamRef stream) {
  detail::require_arrays(count, {hits});
  const GeometryView& view = geometry.view();
  detail::run_on(
      geometry.device(), "unpack_hits",
      [&] { return cuda::launch_unpack_hits(view, hits, arrays, count, stream.handle()); },
      [&] { base::for_all(count, kFew, [&](std::size_t i) { arrays.set(view, hits[i], i); }); });
}

}  // namespace raylift
