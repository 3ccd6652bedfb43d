// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/photon/rays.h>

#include "device/run_on.h"
#include "for_each.h"
#include "rays_kernel.h"
#include "ready_source.h"

namespace raylift::photon {

void make_rays(const GpuGeometry& geometry, const Source& source, std::uint64_t seed, std::uint64_t first, Ray* rays,
               std::size_t count, StreamRef stream) {
  check(source);
  raylift::detail::require_arrays(count, {rays});
  if (source.photons != nullptr || source.gensteps.steps != nullptr)
    throw Error(ErrorKind::usage, "rays are made of a shape, and this source's photons are given");
  const GeometryView& view = geometry.view();
  raylift::detail::run_on(
      geometry.device(), "make_rays",
      [&] { return launch_make_rays(view, source, seed, first, rays, count, stream.handle()); },
      [&] { for_each(count, [&](std::size_t i) { rays[i] = birth_ray(view, source, seed, first + i); }); });
}

}  // namespace raylift::photon
