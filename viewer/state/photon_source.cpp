// SPDX-License-Identifier: Apache-2.0
#include "state/photon_source.h"

#include <fmt/format.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <raylift/photon/load_source.h>
#include <raylift/photon/propagate.h>
#include <raylift/photon/simulation.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/text.h"
#include "geometry/src/stage.h"
#include "photon/src/compare_histories.h"
#include "rays/device_scene.h"

namespace raylift::viewer {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxOfEach = 100;

/// A run's source, and the options that its photons were simulated with.
struct RunOfPhotons {
  std::string source;
  photon::Run run;
};

RunOfPhotons run_of(const fs::path& folder) {
  const std::string name = (folder / "summary.json").string();
  std::ifstream file(name, std::ios::binary);
  const auto json = base::parse_json(std::string{std::istreambuf_iterator<char>(file), {}});
  try {
    RunOfPhotons run{json.at("source").get<std::string>(), {}};
    run.run.seed = json.at("seed").get<std::uint64_t>();
    run.run.first = json.at("first").get<std::uint64_t>();
    run.run.most_steps = json.at("max_steps").get<std::uint32_t>();
    if (const auto& latest = json.at("max_time_ns"); !latest.is_null()) run.run.latest = latest.get<float>();
    return run;
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::malformed, "does not state how the photons were simulated", {name, {}},
                "compare a folder that 'raylift photons --seq' wrote");
  }
}

std::string sequences_of(const fs::path& run) {
  std::error_code ignored;
  return (fs::is_directory(run, ignored) ? run / "seq.npy" : run).string();
}

photon::Sequence sequence_at(const photon::NpyReader& file, std::uint64_t place) {
  std::array<photon::Sequence, 1> row{};
  file.read(std::as_writable_bytes(std::span(row)), place);
  return row.front();
}

/// The steps of a run's photons at these places, each of which must have the history that the run has.
PhotonSet simulated_again(const std::string& run, const ViewOptions& options, const Scene& scene,
                          const std::vector<std::uint64_t>& places, const Progress& progress) {
  PhotonSet set;
  if (places.empty()) return set;
  const RunOfPhotons from = run_of(run);
  UploadOptions upload_options = options.upload;
  upload_options.bvh = true;
  photon::refuse_unsimulated(scene);
  const GpuGeometry geometry = upload(scene, choose_device(options.device), upload_options, progress);
  const photon::LoadedSource source(from.source, geometry, from.run.seed, options.load.limits);
  const photon::NpyReader sequences(sequences_of(run));
  const Stage stage(progress, "photons", places.size());
  for (std::size_t i = 0; i != places.size(); ++i) {
    stage.advance(i);
    photon::Run one = from.run;
    one.first += places[i];
    add_paths(set, photon::record(geometry, source.source(), one, 1), photon::kSequenceEvents, run, one.first);
    const photon::Sequence said = sequence_at(sequences, places[i]);
    if (history_of(set.path(i)) != photon::History{said.events[0], said.events[1]})
      throw Error(ErrorKind::usage, fmt::format("photon {} has another history in this scene", one.first), {run, {}},
                  "open the scene of the run, with its --optics");
  }
  return set;
}

}  // namespace

PhotonSet load_photons(const LightOrigin& origin, const ViewOptions& options, const Scene& scene,
                       const Progress& progress) {
  if (std::vector<std::string> events = photon_events(origin.photons); !events.empty() || !origin.event.empty()) {
    LightOrigin one = origin;
    const std::size_t event = find_event(events, origin.event);
    const fs::path name = events[event];
    one.photons = (fs::path(origin.photons) / name).string();
    one.event.clear();
    std::error_code ignored;
    if (!origin.compare.empty() && fs::exists(fs::path(origin.compare) / name, ignored))
      one.compare = (fs::path(origin.compare) / name).string();
    PhotonSet set = load_photons(one, options, scene, progress);
    set.events = std::move(events);
    set.event = event;
    return set;
  }
  if (origin.compare.empty()) return load_photons(origin.photons, scene, options.light.limit, progress);
  const std::string sequences = sequences_of(origin.photons);
  const photon::Comparison comparison = photon::compare_histories(sequences, sequences_of(origin.compare));
  std::vector<std::uint64_t> places = photon::deviating_photons(comparison, sequences, kMaxOfEach);
  places.resize(std::min<std::size_t>(places.size(), options.light.limit));
  PhotonSet set = simulated_again(origin.photons, options, scene, places, progress);
  const auto deviating = std::count_if(comparison.histories.begin(), comparison.histories.end(),
                                       [](const photon::HistoryCount& one) { return one.deviates(); });
  set.notes.push_back(
      deviating == 0
          ? "no history deviates from " + origin.compare
          : fmt::format("{} from {}: {} of them, up to {} of each",
                        cli::counted(static_cast<std::uint64_t>(deviating), "history deviates", "histories deviate"),
                        origin.compare, cli::counted(places.size(), "photon", "photons"), kMaxOfEach));
  return set;
}

}  // namespace raylift::viewer
