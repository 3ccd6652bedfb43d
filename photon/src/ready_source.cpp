// SPDX-License-Identifier: Apache-2.0
#include "ready_source.h"

#include <raylift/geometry/error.h>
#include <raylift/photon/generate.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <string>

#ifdef RAYLIFT_WITH_CUDA
#include "generate_kernel.h"
#include "on_cuda.h"
#include "propagate_kernel.h"
#endif

namespace raylift::photon {
namespace {

/// Calls work(i) on the host's threads.
template <class Work>
void for_each(std::size_t count, const Work& work) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 256), [&](const auto& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i) work(i);
  });
}

}  // namespace

ReadySource::ReadySource(const GpuGeometry& geometry, const Source& source, const Run& run, std::size_t count,
                         const Stream& stream)
    : source_(source), at_center_(std::in_place, geometry.device(), stream, 1) {
  if (source.gensteps.steps != nullptr)
    make(geometry, run, count, stream);
  else if (source.photons != nullptr)
    give(geometry, run, count, stream);
  else
    find_center(geometry, stream);
}

void ReadySource::find_center(const GpuGeometry& geometry, [[maybe_unused]] const Stream& stream) {
#ifdef RAYLIFT_WITH_CUDA
  if (!geometry.device().info().is_host) {
    on_cuda(geometry.device(), "locate",
            [&] { return launch_locate(geometry.view(), source_, at_center_->device(), stream.handle()); });
    return;
  }
#endif
  *at_center_->device() = locate(geometry.view(), source_.center);
}

void ReadySource::give(const GpuGeometry& geometry, const Run& run, std::size_t count, const Stream& stream) {
  if (run.first < source_.first_photon)
    throw Error(ErrorKind::usage, "photon " + std::to_string(run.first) + " is not among those given, from " +
                                      std::to_string(source_.first_photon) + " on");
  if (source_.photons_in != nullptr) return;
  source_.photons += run.first - source_.first_photon;
  source_.first_photon = run.first;
  in_.emplace(geometry.device(), stream, count);
  Containment* const in = in_->device();
  source_.photons_in = in;
#ifdef RAYLIFT_WITH_CUDA
  if (!geometry.device().info().is_host) {
    on_cuda(geometry.device(), "locate",
            [&] { return launch_locate_photons(geometry.view(), source_.photons, in, count, stream.handle()); });
    return;
  }
#endif
  for_each(count, [&](std::size_t i) { in[i] = locate(geometry.view(), source_.photons[i].position); });
}

void ReadySource::make(const GpuGeometry& geometry, const Run& run, std::size_t count, const Stream& stream) {
  const GenstepView gensteps = source_.gensteps;
  if (run.first > gensteps.photons || count > gensteps.photons - run.first)
    throw Error(ErrorKind::usage, "photons from " + std::to_string(run.first) + " to " +
                                      std::to_string(run.first + count - 1) + " are wanted, and the gensteps make " +
                                      std::to_string(gensteps.photons));
  photons_.emplace(geometry.device(), stream, count);
  in_.emplace(geometry.device(), stream, count);
  StartPhoton* const photons = photons_->device();
  Containment* const in = in_->device();
  source_ = {};
  source_.photons = photons;
  source_.photons_in = in;
  source_.first_photon = run.first;
#ifdef RAYLIFT_WITH_CUDA
  if (!geometry.device().info().is_host) {
    on_cuda(geometry.device(), "generate", [&] {
      return launch_generate(geometry.view(), gensteps, run.seed, run.first, photons, in, count, stream.handle());
    });
    return;
  }
#endif
  for_each(count,
           [&](std::size_t i) { generate(geometry.view(), gensteps, run.seed, run.first + i, photons[i], in[i]); });
}

}  // namespace raylift::photon
