// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/photon/propagate.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#ifdef RAYLIFT_WITH_CUDA
#include "device/cuda/check.h"
#include "propagate_kernel.h"
#endif

namespace raylift::photon {

void propagate(const GpuGeometry& geometry, const Source& source, const Run& run, Outcome* outcomes, std::size_t count,
               [[maybe_unused]] const Stream& stream) {
  const GeometryView& view = geometry.view();
  if (view.bvh_levels == 0)
    throw Error(ErrorKind::usage, "the geometry was uploaded without its BVH", {}, "set UploadOptions::bvh");
  if (view.optics.materials == nullptr)
    throw Error(ErrorKind::usage, "the geometry has no optics: light would end at once", {},
                "give the scene a sidecar, see docs/optics.md");
#ifdef RAYLIFT_WITH_CUDA
  const Device& device = geometry.device();
  if (!device.info().is_host) {
    const cuda::CurrentDevice current(device.info().cuda_device);
    cuda::check(current.code(), "selecting " + device.info().id);
    const PooledBuffer<Containment> at_center(device, stream, 1);
    cuda::check(static_cast<cudaError_t>(launch_locate(view, source, at_center.device(), stream.handle())),
                "launching locate");
    cuda::check(static_cast<cudaError_t>(
                    launch_propagate(view, source, at_center.device(), run, outcomes, count, stream.handle())),
                "launching propagate");
    return;
  }
#endif
  const Containment at_center = locate(view, source.center);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 256), [&](const auto& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i)
      outcomes[i] = follow(view, source, at_center, run, run.first + i);
  });
}

}  // namespace raylift::photon
