// SPDX-License-Identifier: Apache-2.0
#include "run_photons.h"

#include <raylift/geometry/error.h>
#include <raylift/photon/simulation.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <thread>
#include <utility>

#include "geometry/src/stage.h"
#include "photon_files.h"
#include "turns.h"

namespace raylift::batch {
namespace {

using Clock = std::chrono::steady_clock;
using photon::NpyType;
using photon::NpyWriter;

/// Photons of the first stretch of a run, and of the shortest: those of a batch, or that take a second or so.
constexpr std::uint64_t kStretch = std::uint64_t{1} << 24;
constexpr std::uint64_t kHostStretch = std::uint64_t{1} << 18;
constexpr std::uint64_t kRecordedAtOnce = 1U << 14;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Numbers that a file has, or the first photons, as ranges: where each begins, and how many photons it has.
std::vector<std::pair<std::uint64_t, std::uint64_t>> recorded(const PhotonOptions& options) {
  if (options.record_file.empty()) return {{options.first, std::min(options.record, options.photons)}};
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const std::uint64_t number : photon::read_npy<std::uint64_t>(options.record_file, NpyType::uint64, {}))
    if (!ranges.empty() && ranges.back().first + ranges.back().second == number)
      ++ranges.back().second;
    else
      ranges.emplace_back(number, 1);
  return ranges;
}

/// A device's part of a run.
struct Lane {
  Lane(const GpuGeometry& geometry, const photon::Source& source_, const PhotonOptions& options, std::size_t batch)
      : source(source_), simulation(geometry, {batch, options.time_bins, options.time_from, options.time_to}) {}
  photon::Source source;
  photon::Simulation simulation;
};

/// Photons on all lanes, the first one in this thread: it alone reports progress.
photon::Tally run_together(std::deque<Lane>& lanes, const photon::Run& run, std::uint64_t count,
                           const photon::Simulation::Results& results) {
  Turns turns;
  std::vector<photon::Tally> parts(lanes.size(), lanes.front().simulation.nothing());
  const auto work = [&](std::size_t i) {
    try {
      photon::Simulation::Results own = results;
      own.begin = [&](std::uint64_t first) { turns.wait(first); };
      if (i != 0) own.during = [&](std::uint64_t) { turns.stop_if_failed(); };
      own.done = [&, i](std::uint64_t done) {
        turns.pass(done);
        if (i == 0 && results.done) results.done(done);
      };
      parts[i] = lanes[i].simulation.run(lanes[i].source, run, count, own,
                                         {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(lanes.size())});
    } catch (...) {
      turns.fail(std::current_exception());
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i != lanes.size(); ++i) others.emplace_back(work, i);
    work(0);
  }
  turns.rethrow();
  for (std::size_t i = 1; i != parts.size(); ++i) parts.front().add(parts[i]);
  return std::move(parts.front());
}

/// Where one device may halve its batch, several need the same one: for which they have memory, and of which each gets
/// two.
std::size_t batch_of(std::span<const GpuGeometry> geometries, const PhotonOptions& options) {
  if (options.batch != 0 || geometries.size() == 1) return options.batch;
  constexpr std::size_t kMost = std::size_t{1} << 23;
  std::size_t least = kMost;
  for (const GpuGeometry& geometry : geometries) least = std::min(least, photon::usual_batch(geometry.device()));
  const std::uint64_t share = options.photons / (2 * geometries.size()) + 1;
  return static_cast<std::size_t>(std::min<std::uint64_t>(least, share));
}

}  // namespace

void follow_photons(std::span<const GpuGeometry> geometries, std::span<const photon::LoadedSource> sources,
                    const PhotonOptions& options, const cli::Json& head, PhotonSummary& summary,
                    const Progress& progress) {
  const std::size_t batch = batch_of(geometries, options);
  std::deque<Lane> lanes;
  for (std::size_t i = 0; i != geometries.size(); ++i)
    lanes.emplace_back(geometries[i], sources[i].source(), options, batch);
  PhotonFiles files(options, head, lanes.front().simulation.nothing());
  summary.resumed_at = files.checkpoint().done;
  summary.tally = files.checkpoint().tally;
  photon::Run run{options.seed, options.first, options.most_steps, options.latest};
  {
    const Stage stage(progress, "photons", options.photons);
    photon::Simulation::Results results = files.results();
    std::uint64_t done = summary.resumed_at;
    std::uint64_t farthest = done;
    results.done = results.during = [&](std::uint64_t more) {
      farthest = std::max(farthest, done + more);
      stage.advance(farthest);
    };
    const bool is_host = geometries.front().device().info().is_host;
    const std::uint64_t shortest = (options.batch != 0 ? options.batch
                                    : is_host          ? kHostStretch
                                                       : kStretch) *
                                   lanes.size();
    const Clock::time_point start = Clock::now();
    Clock::time_point saved = start;
    for (std::uint64_t stretch = shortest; done != options.photons;) {
      const Clock::time_point began = Clock::now();
      const std::uint64_t here = std::min(stretch, options.photons - done);
      run.first = options.first + done;
      summary.tally.add(lanes.size() == 1 ? lanes.front().simulation.run(lanes.front().source, run, here, results)
                                          : run_together(lanes, run, here, results));
      done += here;
      summary.seconds = since(start);
      // Hits reach the disk before a checkpoint counts them, which may take longer than the photons.
      if (done == options.photons || since(saved) >= 0.9 * options.checkpoint_seconds) {
        files.save(done, summary.tally);
        saved = Clock::now();
      }
      // Up to the next checkpoint, at this stretch's rate.
      const double rate = static_cast<double>(here) / since(began);
      const double left = std::max(0.0, options.checkpoint_seconds - since(saved));
      stretch = std::max(shortest, static_cast<std::uint64_t>(rate * left));
    }
  }
  summary.batch = lanes.front().simulation.batch();
  summary.halved = summary.batch < std::min<std::uint64_t>(options.batch, options.photons - summary.resumed_at);
  for (const GpuGeometry& geometry : geometries)
    summary.device += (summary.device.empty() ? "" : ",") + geometry.device().info().id;
  files.finish();
  summary.files = files.names();
}

bool wants_record(const PhotonOptions& options) {
  return options.record != 0 || !options.record_file.empty();
}

void write_record(const PhotonOptions& options, const Progress& progress, const RecordSteps& record) {
  NpyWriter file(options.output + "/record.npy", NpyType::float32, {photon::kSequenceEvents, 4, 4});
  const Stage stage(progress, "record");
  for (const auto& [begin, count] : recorded(options))
    for (std::uint64_t done = 0; done < count; done += kRecordedAtOnce) {
      const auto here = static_cast<std::size_t>(std::min(kRecordedAtOnce, count - done));
      const auto advance = [&, rows = file.rows()](std::size_t photons) { stage.advance(rows + photons); };
      file.append(std::span<const photon::PhotonRow>(record(begin + done, here, advance)));
      stage.advance(file.rows());
    }
  file.finish();
}

cli::Json finish_photons(const GpuGeometry& geometry, const photon::Source& source, const PhotonOptions& options,
                         const cli::Json& head, PhotonSummary& summary, const Progress& progress) {
  write_photon_counts(options.output, summary.tally, summary.files);
  if (wants_record(options)) {
    photon::Run run{options.seed, options.first, options.most_steps, options.latest};
    write_record(options, progress, [&](std::uint64_t first, std::size_t photons, const auto& advance) {
      run.first = first;
      return photon::record(geometry, source, run, photons, advance);
    });
    summary.files.emplace_back("record.npy");
  }
  cli::Json json = photon_json(head, summary);
  write_photon_summary(options.output, json);
  return json;
}

}  // namespace raylift::batch
