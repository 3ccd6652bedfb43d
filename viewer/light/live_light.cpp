// SPDX-License-Identifier: Apache-2.0
#include "light/live_light.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace raylift::viewer {
namespace {

using Clock = std::chrono::steady_clock;

/// Photons, and paths of which the steps are kept, that are followed at once: as many as keep a GPU busy, and few on
/// the host, where an image must not wait long for them.
std::uint64_t slice_of(const GpuGeometry& geometry) {
  return geometry.device().info().is_host ? 512 : std::uint64_t{1} << 20;
}
std::uint64_t paths_of_slice(const GpuGeometry& geometry) {
  return geometry.device().info().is_host ? 256 : std::uint64_t{1} << 20;
}

}  // namespace

LiveLight::LiveLight(const GpuGeometry& geometry)
    : geometry_(geometry),
      stream_(geometry.device()),
      simulation_(geometry, {.batch = static_cast<std::size_t>(slice_of(geometry))}) {}

photon::Source LiveLight::source() const {
  photon::Source source = source_->source();
  source.center = {source.center.x + request_->moved.x(), source.center.y + request_->moved.y(),
                   source.center.z + request_->moved.z()};
  return source;
}

void LiveLight::start(const LightRequest& request) {
  request_.reset();
  if (!source_ || loaded_ != request.source) {
    source_.reset();
    source_.emplace(request.source, geometry_, request.seed);
    loaded_ = request.source;
  }
  const std::uint64_t count = std::min(request.photons, source_->photons().value_or(request.photons));
  const std::uint64_t paths = std::min(request.paths, count);
  const auto rows = static_cast<std::size_t>(std::max<std::uint64_t>(1, paths)) * photon::kSequenceEvents;
  if (rows_.size() != rows) rows_ = SharedBuffer<photon::PhotonRow>(geometry_.device(), rows);
  photons_.reset();
  followed_ = recorded_ = 0;
  request_ = request;
  count_ = count;
  paths_ = paths;
}

void LiveLight::record_more(PhotonSet& set, std::size_t most) {
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(most, paths_ - recorded_));
  if (count == 0) return;
  std::vector<photon::PhotonRow> rows(count * photon::kSequenceEvents);
  {
    const auto mapping = rows_.map(stream_);
    photon::PhotonRow* const target = mapping.span().data + recorded_ * photon::kSequenceEvents;
    photon::Run run;
    run.seed = request_->seed;
    run.first = recorded_;
    photon::record(geometry_, source(), run, target, count, stream_);
    // The host needs them to choose paths and to describe them: a path has 2 KiB.
    geometry_.device().backend()->copy_to_host(rows.data(), target, rows.size() * sizeof(rows[0]), stream_.handle());
    stream_.synchronize();
  }
  add_paths(set, rows, photon::kSequenceEvents, "light", recorded_, true);
  recorded_ += count;
}

void LiveLight::follow_more(PhotonSet& set, std::uint64_t most) {
  const std::uint64_t count = std::min(most, count_ - followed_);
  photon::Run run;
  run.seed = request_->seed;
  run.first = followed_;
  std::vector<photon::History> histories;
  photon::Simulation::Results results;
  const std::size_t before = set.points.size();
  results.hits = [&](std::span<const photon::PhotonRow> hits) { add_points(set, hits, "light", followed_); };
  if (request_->histories)
    results.sequences = [&](std::span<const photon::Sequence> sequences) {
      for (const photon::Sequence& one : sequences) histories.push_back({one.events[0], one.events[1]});
    };
  (void)simulation_.run(source(), run, count, results);
  if (request_->histories)
    for (std::size_t i = before; i != set.points.size(); ++i)
      set.histories.push_back(histories[static_cast<std::uint32_t>(set.points[i].number - followed_)]);
  followed_ += count;
}

bool LiveLight::advance(double seconds) {
  if (done()) return true;
  const auto start = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const std::uint64_t before = followed_;
  auto set = photons_ ? std::make_shared<PhotonSet>(*photons_) : std::make_shared<PhotonSet>();
  do {
    record_more(*set, static_cast<std::size_t>(paths_of_slice(geometry_)));
    follow_more(*set, slice_of(geometry_));
  } while (!done() && passed() < seconds);
  set->rows_buffer = rows_.id();
  rate_ = static_cast<double>(followed_ - before) / std::max(1e-9, passed());
  photons_ = std::move(set);
  return done();
}

}  // namespace raylift::viewer
