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

void write_record(const GpuGeometry& geometry, const photon::Source& source, photon::Run run,
                  const PhotonOptions& options, const Progress& progress) {
  NpyWriter file(options.output + "/record.npy", NpyType::float32, {photon::kSequenceEvents, 4, 4});
  const Stage stage(progress, "record");
  for (const auto& [begin, count] : recorded(options))
    for (std::uint64_t done = 0; done < count; done += kRecordedAtOnce) {
      run.first = begin + done;
      const auto here = static_cast<std::size_t>(std::min(kRecordedAtOnce, count - done));
      file.append(std::span<const photon::PhotonRow>(photon::record(geometry, source, run, here)));
      stage.advance(file.rows());
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
  const bool record = options.record != 0 || !options.record_file.empty();
  if (record) write_record(geometry, source, run, options, progress);
  files.finish(summary.tally);
  summary.files = files.names();
  if (record) summary.files.emplace_back("record.npy");
  cli::Json json = photon_json(head, summary);
  files.write_summary(json);
  return json;
}

}  // namespace raylift::batch
