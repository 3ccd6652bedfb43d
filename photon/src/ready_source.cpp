// SPDX-License-Identifier: Apache-2.0
#include "ready_source.h"

#include <raylift/geometry/error.h>

#include <string>

#include "device/run_on.h"
#include "for_each.h"
#include "generate_kernel.h"
#include "propagate_kernel.h"

namespace raylift::photon {
namespace {

/// Throws Error(usage) where a run is not of photons first to first + all - 1.
void require_photons(const Run& run, std::uint64_t count, std::uint64_t first, std::uint64_t all, const char* what) {
  if (run.first >= first && run.first - first <= all && count <= all - (run.first - first)) return;
  throw Error(ErrorKind::usage, std::to_string(count) + " photons from number " + std::to_string(run.first) +
                                    " on are wanted, and " + std::to_string(all) + " from number " +
                                    std::to_string(first) + " on " + what);
}

}  // namespace

ReadySource::ReadySource(const GpuGeometry& geometry, const Source& source, const Run& run, std::size_t count,
                         StreamRef stream, const Anchor* anchor)
    : source_(source), anchor_(anchor) {
  if (source.gensteps.steps != nullptr) {
    make(geometry, run, count, stream);
  } else if (source.photons != nullptr) {
    give(geometry, run, count, stream);
  } else if (anchor == nullptr && source.events == nullptr) {
    own_anchor_.emplace(geometry.device(), stream, 1);
    anchor_ = find_anchor(geometry, source, own_anchor_->device(), stream);
  }
}

const Anchor* find_anchor(const GpuGeometry& geometry, const Source& source, Anchor* anchor, StreamRef stream) {
  if (source.gensteps.steps != nullptr || source.photons != nullptr || source.events != nullptr) return nullptr;
  raylift::detail::run_on(
      geometry.device(), "locate", [&] { return launch_anchor(geometry.view(), source, anchor, stream.handle()); },
      [&] { *anchor = anchor_of(geometry.view(), source); });
  return anchor;
}

void ReadySource::give(const GpuGeometry& geometry, const Run& run, std::size_t count, StreamRef stream) {
  require_photons(run, count, source_.first_photon, source_.photon_count, "are given");
  if (source_.photons_in != nullptr) return;
  source_.photons += run.first - source_.first_photon;
  source_.first_photon = run.first;
  source_.photon_count = count;
  in_.emplace(geometry.device(), stream, count);
  Containment* const in = in_->device();
  source_.photons_in = in;
  raylift::detail::run_on(
      geometry.device(), "locate",
      [&] { return launch_locate_photons(geometry.view(), source_, in, count, stream.handle()); },
      [&] { for_each(count, [&](std::size_t i) { in[i] = start_in(geometry.view(), source_, source_.photons[i]); }); });
}

void ReadySource::make(const GpuGeometry& geometry, const Run& run, std::size_t count, StreamRef stream) {
  const GenstepView gensteps = source_.gensteps;
  require_photons(run, count, 0, gensteps.photons, "come from the gensteps");
  photons_.emplace(geometry.device(), stream, count);
  in_.emplace(geometry.device(), stream, count);
  StartPhoton* const photons = photons_->device();
  Containment* const in = in_->device();
  source_ = {};
  source_.photons = photons;
  source_.photon_rests = true;
  source_.photons_in = in;
  source_.first_photon = run.first;
  const double* const origin = geometry.view().origin;
  source_.photons_origin = {origin[0], origin[1], origin[2]};
  const GeometryView& view = geometry.view();
  raylift::detail::run_on(
      geometry.device(), "generate",
      [&] {
        return launch_generate(view, gensteps, run.events, run.seed, run.first, photons, in, count, stream.handle());
      },
      [&] {
        for_each(count, [&](std::size_t i) {
          generate(view, gensteps, run.events, run.seed, run.first + i, photons[i], in[i]);
        });
      });
}

}  // namespace raylift::photon
