// SPDX-License-Identifier: Apache-2.0
#include <raylift/gpu/rays/arrays.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#ifdef RAYLIFT_WITH_CUDA
#include "device/cuda/check.h"
#include "rays/arrays_kernel.h"
#endif

namespace raylift::inline v0_1 {
namespace {

/// Calls `launch` on a CUDA device, and `one(i)` for i < count on the host device.
template <class Launch, class One>
void for_all(const Device& device, [[maybe_unused]] const char* what, std::size_t count,
             [[maybe_unused]] const Launch& launch, const One& one) {
#ifdef RAYLIFT_WITH_CUDA
  if (!device.info().is_host) {
    const cuda::CurrentDevice current(device.info().cuda_device);
    cuda::check(current.code(), "selecting " + device.info().id);
    cuda::check(static_cast<cudaError_t>(launch()), what);
    return;
  }
#else
  (void)device;
#endif
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 1 << 14), [&](const auto& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i) one(i);
  });
}

}  // namespace

void pack_rays(const Device& device, const RayArrays& arrays, Ray* rays, std::size_t count,
               [[maybe_unused]] StreamRef stream) {
  for_all(
      device, "launching pack_rays", count,
      [&] {
#ifdef RAYLIFT_WITH_CUDA
        return cuda::launch_pack_rays(arrays, rays, count, stream.handle());
#endif
      },
      [&](std::size_t i) { rays[i] = arrays.ray(i); });
}

void unpack_hits(const GpuGeometry& geometry, const Hit* hits, const HitArrays& arrays, std::size_t count,
                 [[maybe_unused]] StreamRef stream) {
  const GeometryView& view = geometry.view();
  for_all(
      geometry.device(), "launching unpack_hits", count,
      [&] {
#ifdef RAYLIFT_WITH_CUDA
        return cuda::launch_unpack_hits(view, hits, arrays, count, stream.handle());
#endif
      },
      [&](std::size_t i) { arrays.set(view, hits[i], i); });
}

}  // namespace raylift::inline v0_1
