// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/photon/rays.h>

#include "device/run_on.h"
#include "for_each.h"
#include "ready_source.h"
#ifdef RAYLIFT_WITH_CUDA
#include "device/cuda/on_cuda.h"
#include "rays_kernel.h"
#endif

namespace raylift::photon {

void make_rays(const GpuGeometry& geometry, const Source& source, std::uint64_t seed, std::uint64_t first, Ray* rays,
               std::size_t count, [[maybe_unused]] StreamRef stream) {
  check(source);
  raylift::detail::require_arrays(count, {rays});
  if (source.photons != nullptr || source.gensteps.steps != nullptr)
    throw Error(ErrorKind::usage, "rays are made of a shape, and this source's photons are given");
#ifdef RAYLIFT_WITH_CUDA
  if (!geometry.device().info().is_host) {
    cuda::on_cuda(geometry.device(), "make_rays",
                  [&] { return launch_make_rays(geometry.view(), source, seed, first, rays, count, stream.handle()); });
    return;
  }
#endif
  for_each(count, [&](std::size_t i) { rays[i] = birth_ray(geometry.view(), source, seed, first + i); });
}

}  // namespace raylift::photon
