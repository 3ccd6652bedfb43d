// SPDX-License-Identifier: Apache-2.0
#include "run_photons.h"

#include <raylift/photon/parse_source.h>
#include <raylift/photon/simulation.h>

#include <algorithm>
#include <chrono>

#include "photon_files.h"

namespace raylift::batch {
namespace {

using Clock = std::chrono::steady_clock;
using photon::NpyType;
using photon::NpyWriter;

/// The first stretch between two checkpoints: photons that take a second or so on most machines.
constexpr std::uint64_t kStretch = std::uint64_t{1} << 23;
constexpr std::uint64_t kHostStretch = std::uint64_t{1} << 18;
constexpr std::uint64_t kRecordedAtOnce = 1U << 14;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void write_record(const GpuGeometry& geometry, const photon::Source& source, photon::Run run,
                  const PhotonOptions& options) {
  NpyWriter file(options.output + "/record.npy", NpyType::float32, {photon::kSequenceEvents, 4, 4});
  const std::uint64_t count = std::min(options.record, options.photons);
  for (std::uint64_t first = 0; first < count; first += kRecordedAtOnce) {
    run.first = options.first + first;
    const auto here = static_cast<std::size_t>(std::min(kRecordedAtOnce, count - first));
    file.append(std::span<const photon::PhotonRow>(photon::record(geometry, source, run, here)));
  }
  file.finish();
}

}  // namespace

cli::Json run_photons(const GpuGeometry& geometry, const PhotonOptions& options, const cli::Json& head,
                      PhotonSummary& summary, const Progress& progress) {
  const photon::Source source = photon::parse_source(options.source, geometry.view().origin);
  photon::Simulation simulation(geometry, {options.batch, options.time_bins, options.time_from, options.time_to});
  PhotonFiles files(options, head, simulation.nothing());
  summary.resumed_at = files.checkpoint().done;
  summary.tally = files.checkpoint().tally;
  photon::Run run{options.seed, options.first, options.most_steps, options.latest};
  {
    const Stage stage(progress, "photons", options.photons);
    photon::Results results = files.results();
    std::uint64_t done = summary.resumed_at;
    results.done = [&](std::uint64_t more) { stage.advance(done + more); };
    const bool is_host = geometry.device().info().is_host;
    std::uint64_t stretch = options.batch != 0 ? options.batch : is_host ? kHostStretch : kStretch;
    const Clock::time_point start = Clock::now();
    while (done != options.photons) {
      const std::uint64_t here = std::min(stretch, options.photons - done);
      run.first = options.first + done;
      summary.tally.add(simulation.run(source, run, here, results));
      done += here;
      summary.seconds = since(start);
      files.save(done, summary.tally);
      const double rate = static_cast<double>(done - summary.resumed_at) / summary.seconds;
      stretch = std::max(stretch, static_cast<std::uint64_t>(rate * options.checkpoint_seconds));
    }
  }
  summary.batch = simulation.batch();
  summary.device = geometry.device().info().id;
  const Stage stage(progress, "results");
  if (options.record != 0) write_record(geometry, source, run, options);
  files.finish(summary.tally);
  summary.files = files.names();
  if (options.record != 0) summary.files.emplace_back("record.npy");
  cli::Json json = photon_json(head, summary);
  files.write_summary(json);
  return json;
}

}  // namespace raylift::batch
