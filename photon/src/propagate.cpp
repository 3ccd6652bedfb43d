// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/photon/propagate.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <string>

#include "source_check.h"

#ifdef RAYLIFT_WITH_CUDA
#include "device/cuda/check.h"
#include "propagate_kernel.h"
#endif

namespace raylift::photon {

namespace {

#ifdef RAYLIFT_WITH_CUDA
/// launch() gives a cudaError_t, as int.
template <class Launch>
void on_cuda(const Device& device, const std::string& what, const Launch& launch) {
  const cuda::CurrentDevice current(device.info().cuda_device);
  cuda::check(current.code(), "selecting " + device.info().id);
  cuda::check(static_cast<cudaError_t>(launch()), "launching " + what);
}
#endif

/// The solids around each given photon.
void locate_photons([[maybe_unused]] const Device& device, const GeometryView& view, const StartPhoton* photons,
                    Containment* in, std::size_t count, [[maybe_unused]] const Stream& stream) {
#ifdef RAYLIFT_WITH_CUDA
  if (!device.info().is_host) {
    on_cuda(device, "locate", [&] { return launch_locate_photons(view, photons, in, count, stream.handle()); });
    return;
  }
#endif
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 256), [&](const auto& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i) in[i] = locate(view, photons[i].position);
  });
}

/// Of a source whose photons are given, with their media.
void launch([[maybe_unused]] const Device& device, const GeometryView& view, const Source& source, const Run& run,
            Outcome* outcomes, std::size_t count, [[maybe_unused]] const Stream& stream) {
#ifdef RAYLIFT_WITH_CUDA
  if (!device.info().is_host) {
    const PooledBuffer<Containment> at_center(device, stream, 1);
    if (source.photons == nullptr)
      on_cuda(device, "locate", [&] { return launch_locate(view, source, at_center.device(), stream.handle()); });
    on_cuda(device, "propagate",
            [&] { return launch_propagate(view, source, at_center.device(), run, outcomes, count, stream.handle()); });
    return;
  }
#endif
  const Containment at_center = source.photons == nullptr ? locate(view, source.center) : Containment{};
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 256), [&](const auto& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i)
      outcomes[i] = follow(view, source, at_center, run, run.first + i);
  });
}

}  // namespace

void propagate(const GpuGeometry& geometry, const Source& source, const Run& run, Outcome* outcomes, std::size_t count,
               const Stream& stream) {
  const GeometryView& view = geometry.view();
  if (view.bvh_levels == 0)
    throw Error(ErrorKind::usage, "the geometry was uploaded without its BVH", {}, "set UploadOptions::bvh");
  if (view.optics.materials == nullptr)
    throw Error(ErrorKind::usage, "the geometry has no optics: light would end at once", {},
                "give the scene a sidecar, see docs/optics.md");
  if (count == 0) return;
  check(source);
  const Device& device = geometry.device();
  if (source.photons == nullptr || source.photons_in != nullptr)
    return launch(device, view, source, run, outcomes, count, stream);
  if (run.first < source.first_photon)
    throw Error(ErrorKind::usage, "photon " + std::to_string(run.first) + " is not among those given, from " +
                                      std::to_string(source.first_photon) + " on");
  Source located = source;
  located.photons = source.photons + (run.first - source.first_photon);
  located.first_photon = run.first;
  const PooledBuffer<Containment> in(device, stream, count);
  locate_photons(device, view, located.photons, in.device(), count, stream);
  located.photons_in = in.device();
  launch(device, view, located, run, outcomes, count, stream);
}

}  // namespace raylift::photon
