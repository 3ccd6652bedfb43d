// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/photon/propagate.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <string>

#include "generate_photons.h"
#include "needs.h"
#include "source_check.h"
#ifdef RAYLIFT_WITH_CUDA
#include "on_cuda.h"
#include "propagate_kernel.h"
#endif

namespace raylift::photon {

namespace {

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

/// Photons of gensteps are made and followed piece by piece, in memory that does not grow with their number.
void along_gensteps(const Device& device, const GeometryView& view, const Source& source, const Run& run,
                    Outcome* outcomes, std::size_t count, const Stream& stream) {
  const GenstepView& gensteps = source.gensteps;
  if (run.first > gensteps.photons || count > gensteps.photons - run.first)
    throw Error(ErrorKind::usage, "photons from " + std::to_string(run.first) + " to " +
                                      std::to_string(run.first + count - 1) + " are wanted, and the gensteps make " +
                                      std::to_string(gensteps.photons));
  const std::size_t most = std::size_t{1} << (device.info().is_host ? 18U : 21U);
  const PooledBuffer<StartPhoton> photons(device, stream, std::min(count, most));
  const PooledBuffer<Containment> in(device, stream, photons.size());
  for (std::size_t done = 0; done < count; done += photons.size()) {
    Run piece = run;
    piece.first += done;
    const std::size_t here = std::min(count - done, photons.size());
    generate_photons(device, view, gensteps, run.seed, piece.first, photons.device(), in.device(), here, stream);
    Source made;
    made.photons = photons.device();
    made.photons_in = in.device();
    made.first_photon = piece.first;
    launch(device, view, made, piece, outcomes + done, here, stream);
  }
}

}  // namespace

void propagate(const GpuGeometry& geometry, const Source& source, const Run& run, Outcome* outcomes, std::size_t count,
               const Stream& stream) {
  const GeometryView& view = geometry.view();
  require_optics(view);
  if (count == 0) return;
  check(source);
  const Device& device = geometry.device();
  if (source.gensteps.steps != nullptr) return along_gensteps(device, view, source, run, outcomes, count, stream);
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
