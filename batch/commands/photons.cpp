// SPDX-License-Identifier: Apache-2.0
// raylift photons: follows photons through a scene on a device, and writes what became of them to a folder.
#include <fmt/format.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/optics/light.h>
#include <raylift/photon/load_source.h>

#include <algorithm>
#include <memory>

#include "base/json.h"
#include "batch/actions/photon_files.h"
#include "batch/actions/run_photons.h"
#include "batch/run/photon_ranks.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/output_file.h"
#include "cli/quantity.h"
#include "cli/text.h"
#include "commands.h"
#include "device_options.h"
#include "gpu/src/cache/cache_files.h"
#include "gpu/src/cache/cache_key.h"
#if defined(RAYLIFT_WITH_ZMQ)
#include "batch/serve/remote_photons.h"
#include "batch/serve/zmq_library.h"
#endif
#include "photon_scene.h"

namespace raylift::batch {
using namespace cli;
namespace {

constexpr std::uint64_t kMaxBatch = 1'000'000'000;

struct PhotonsCommandOptions : PhotonOptions {
  std::vector<std::string> scenes;
  std::optional<std::uint64_t> count;  // of photons, where it is given
  bool timings = false;
  std::optional<std::string> server;  // its addresses
  std::string keys;                   // for them
  bool has_device = false;            // in the command line
};

void resolve(PhotonsCommandOptions& options) {
  if (options.scenes.size() != 1)
    throw Error(ErrorKind::usage,
                fmt::format("{} scenes were given, and photons go through one", options.scenes.size()));
  options.file = options.scenes.front();
  if (options.output.empty())
    throw Error(ErrorKind::usage, "a folder for the results is missing", {}, "name one by --output FOLDER");
  if (options.count.value_or(options.photons) > UINT64_MAX - options.first)
    throw Error(ErrorKind::usage, "--first and --photons exceed the numbers that photons have");
  photon::check_source_text(options.source);
  options.upload.bvh = true;
  if (!options.server) return;
  const auto refuse = [](const char* option) {
    throw Error(ErrorKind::usage, fmt::format("--server was given, and {}", option), {}, "leave out either");
  };
  if (options.has_device) refuse("--device is the server's");
}

/// The source on each device. A file of photons decides how many there are, unless --photons asks for fewer.
std::vector<photon::LoadedSource> load_sources(PhotonsCommandOptions& options,
                                               const std::vector<GpuGeometry>& geometries) {
  std::vector<photon::LoadedSource> sources;
  sources.reserve(geometries.size());
  for (const GpuGeometry& geometry : geometries)
    sources.emplace_back(options.source, geometry, options.seed, options.load.limits);
  const std::optional<std::uint64_t> there = sources.front().photons();
  if (there && options.count.value_or(0) > *there - std::min(*there, options.first))
    throw Error(ErrorKind::usage,
                fmt::format("the source has {}, and numbers {} to {} were asked for",
                            counted(*there, "photon", "photons"), options.first, options.first + *options.count - 1),
                {}, "leave out --photons");
  options.photons = options.count.value_or(there ? *there - std::min(*there, options.first) : options.photons);
  return sources;
}

/// Names the tables that don't cover the light of the source and of the scene.
void warn_of_tables(Session& session, const PhotonOptions& options, const photon::LoadedSource& source,
                    const Scene& scene) {
  constexpr std::size_t kMaxWarnings = 20;
  std::vector<Light> light = emitted_light(scene, source.emits_scintillation(), source.emits_cerenkov());
  if (const auto range = source.wavelengths())
    light.push_back({double{range->first}, double{range->second}, "the source"});
  const std::vector<std::string> uncovered = describe(uncovered_tables(scene, light));
  for (std::size_t i = 0; i != std::min(uncovered.size(), kMaxWarnings); ++i)
    session.warn(options.file + ": " + uncovered[i]);
  if (uncovered.size() > kMaxWarnings)
    session.warn(fmt::format("{}: {} of tables do not cover the light either", options.file,
                             counted(uncovered.size() - kMaxWarnings, "other range", "other ranges")));
  const Raster& raster = options.upload.raster;
  if (raster == kOwnPoints) return;
  const auto beyond = std::find_if(light.begin(), light.end(), [&raster](const Light& one) {
    // A decimal number and its float are one wavelength.
    return one.shortest_nm < 0.999999 * raster.start || one.longest_nm > 1.000001 * raster.last();
  });
  if (beyond != light.end())
    session.warn(fmt::format(
        "{}: there is light from {:g} to {:g} nm ({}), and --raster is from {:g} to {:g} nm: beyond, tables "
        "have the value at its end",
        options.file, beyond->shortest_nm, beyond->longest_nm, beyond->from, raster.start, raster.last()));
}

#if defined(RAYLIFT_WITH_ZMQ)
/// All of a run, by a server of the same geometry.
Json run_remotely(Session& session, PhotonsCommandOptions& options, const PhotonInputs& inputs,
                  const Progress& progress, PhotonSummary& summary) {
  load_zmq();
  const Scene scene = load(options.file, options.load, options.cache.with(session), progress);
  report_loaded(session, options.file, scene);
  for (const std::filesystem::path& file : photon_files_of(options.output)) refuse_input(file);
  summary.name(scene);
  Json head = photon_head(options, inputs);
  head["server"] = true;
  Json json;
  with_client_errors(*options.server, [&] {
    client::Options to = client_options(*options.server, options.keys);
    to.digest = geometry_digest(options, scene, progress);
    client::Client client(std::move(to));
    json = follow_photons_remotely(client, options, options.count, head, summary, progress);
  });
  forget_photon_checkpoint(options.output);
  return json;
}
#else
Json run_remotely(Session&, PhotonsCommandOptions&, const PhotonInputs&, const Progress&, PhotonSummary&) {
  throw Error(ErrorKind::unsupported, "this build has no service", {},
              "build raylift with libzmq3-dev and cppzmq-dev, and -DRAYLIFT_ZMQ=ON");
}
#endif

/// All of a run, or a rank's part of it. Nothing where other ranks go on with it.
std::optional<Json> run_photons(Session& session, PhotonsCommandOptions& options, Mpi* mpi, const Progress& progress,
                                PhotonSummary& summary) {
  // Before the upload: what is uploaded is what the hash is of, or the run is refused when it goes on.
  protect_scenes(options.scenes, options.load);
  protect_inputs(photon::source_files(options.source));
  if (!options.record_file.empty()) protect_inputs(std::vector<std::filesystem::path>{options.record_file});
  const auto refuse_inputs = [&] {
    for (const std::filesystem::path& file : photon_files_of(options.output)) refuse_input(file);
  };
  refuse_inputs();
  const SourceHash source = hash_source(options.file, progress);
  options.cache.options.source_hash = std::make_shared<const SourceHashAhead>(source);
  UploadOptions usual;  // those of the upload are named by themselves
  usual.bvh = true;
  const PhotonInputs inputs{source.hash.hex(), optics_hash(options.file, options.load),
                            contents_hash(photon::source_files(options.source)),
                            detail::changed_options(options.file, options.load, usual)};
  if (options.server) {
    if (mpi != nullptr)
      throw Error(ErrorKind::usage, "--server was given under mpirun", {}, "one process can keep several servers busy");
    return run_remotely(session, options, inputs, progress, summary);
  }
  if (mpi != nullptr) options.device = device_of_rank(options.device, mpi->place);
  Scene scene;
  const std::vector<GpuGeometry> geometries = upload_scene(session, options, progress, scene);
  summary.name(scene);
  refuse_inputs();  // what the scene refers to is known now
  const std::vector<photon::LoadedSource> sources = load_sources(options, geometries);
  warn_of_tables(session, options, sources.front(), scene);
  const auto follow = [&](const PhotonOptions& own) {
    follow_photons(geometries, sources, own, photon_head(own, inputs), summary, progress);
  };
  if (mpi == nullptr)
    follow(options);
  else if (!follow_on_ranks(*mpi, options, summary, follow))
    return std::nullopt;
  Json json = finish_photons(geometries.front(), sources.front().source(), options, photon_head(options, inputs),
                             summary, progress);
  if (mpi == nullptr)
    forget_photon_checkpoint(options.output);
  else
    remove_rank_folders(options, mpi->place.ranks);
  return json;
}

std::string corner_text(const Double3& corner) {
  return fmt::format("({:.6g}, {:.6g}, {:.6g})", corner.x, corner.y, corner.z);
}

/// What the user gets to see.
void show(Session& session, const PhotonsCommandOptions& options, const PhotonSummary& summary, Json json,
          const std::vector<Progress::StageTime>& times) {
  if (const std::uint64_t count = summary.tally.of(photon::StepKind::inconsistent); count != 0)
    session.warn(fmt::format("{}: {} ended where the scene contradicts itself; see 'raylift check'", options.file,
                             counted(count, "photon", "photons")));
  if (summary.halved)
    session.warn(fmt::format("memory does not suffice for --batch {}: the photons were simulated {} at a time",
                             grouped(options.batch), grouped(summary.batch)));
  const std::uint64_t all = summary.tally.photons();
  // A server's counts are not by material.
  if (const std::uint64_t count = summary.tally.in_material(summary.tally.layout.materials, photon::StepKind::escaped);
      count != 0 && !summary.by_server)
    session.warn(
        fmt::format("{}: {} of {} ({:.3g} %) began outside of every solid, and ended at once; the scene is from "
                    "{} to {} mm",
                    options.file, grouped(count), counted(all, "photon", "photons"),
                    100.0 * static_cast<double>(count) / static_cast<double>(all), corner_text(summary.bounds.min),
                    corner_text(summary.bounds.max)));
  if (session.options().json) {
    if (options.timings) json["timings"] = timings_json(times);
    session.write(base::json_text(json, 1) + '\n');
    return;
  }
  std::string text = photon_text(options, summary);
  if (options.timings) text += "\ntimings\n" + timings_text(times);
  session.write(text);
}

int photons(Session& session, PhotonsCommandOptions& options) try {
  resolve(options);
  const std::unique_ptr<Mpi> mpi = started_in_parallel() ? start_mpi() : nullptr;
  try {
    return with_raylift_errors([&] {
      std::vector<Progress::StageTime> times;
      const Progress progress = session.progress(&times);
      const auto start = std::chrono::steady_clock::now();
      PhotonSummary summary;
      if (std::optional<Json> json = run_photons(session, options, mpi.get(), progress, summary))
        show(session, options, summary, std::move(*json), with_total(std::move(times), start));
      if (mpi) mpi->finish();
      return 0;
    });
  } catch (const Error& error) {
    if (!mpi) throw;
    session.report(error);
    mpi->abort(exit_code_of(error));  // the other ranks would wait for this one
    return exit_code_of(error);
  }
} catch (const OutputError&) {
  throw;
} catch (const Error& error) {
  if (session.options().json)
    session.write(base::json_text(Json{{"file", options.file}, {"error", to_json(error)}}, 1) + '\n');
  throw;
}

/// "BINS,FROM,TO", times in ns.
void parse_times(const std::string& text, PhotonOptions& options) {
  const auto three = three_numbers(text);
  constexpr double kMaxBins = 1e6;
  if (!three || !((*three)[0] >= 1 && (*three)[0] <= kMaxBins) || !((*three)[2] > (*three)[1]))
    throw Error(ErrorKind::usage, "'" + text + "' is no BINS,FROM,TO, such as 100,0,500");
  options.time_bins = static_cast<std::uint32_t>((*three)[0]);
  options.time_from = static_cast<float>((*three)[1]);
  options.time_to = static_cast<float>((*three)[2]);
}

template <class Value>
Value count_up_to(const std::string& text, std::uint64_t most) {
  const std::uint64_t count = parse_count(text);
  if (count > most) throw Error(ErrorKind::usage, fmt::format("at most {} are possible", most));
  return static_cast<Value>(count);
}

void add_photon_options(CLI::App& app, const std::shared_ptr<PhotonsCommandOptions>& options) {
  add_parsed(
      app, "--source", "SOURCE", options->source,
      "Where photons are emitted: point:X,Y,Z, ball:X,Y,Z,RADIUS, photons:FILE, gensteps:FILE and others, with options "
      "such as :wavelength=350-500; docs/photons.md lists them",
      [options](const std::string& text) { options->source = text; });
  add_parsed(app, "--photons", "COUNT", exact_count(options->photons) + "; of files: all", "Number of photons",
             [options](const std::string& text) { options->count = parse_count(text); });
  add_parsed(app, "--first", "NUMBER", "0",
             "Number of the first photon; the seed and its number determine a photon's history",
             [options](const std::string& text) { options->first = parse_count(text); });
  add_parsed(app, "--seed", "NUMBER", "0", "Seed of the random numbers",
             [options](const std::string& text) { options->seed = parse_count(text); });
  add_parsed(
      app, "--max-steps", "COUNT", std::to_string(options->most_steps), "Steps after which a photon is truncated",
      [options](const std::string& text) { options->most_steps = count_up_to<std::uint32_t>(text, UINT32_MAX - 1); });
  add_parsed(app, "--max-time", "NS", "none", "Time in ns after which a photon is truncated, at its next step",
             [options](const std::string& text) {
               const auto value = number(text);
               if (!value || !(*value >= 0)) throw Error(ErrorKind::usage, "'" + text + "' is no time in ns");
               options->latest = static_cast<float>(*value);
             });
}

void add_result_options(CLI::App& app, const std::shared_ptr<PhotonsCommandOptions>& options) {
  add_parsed(app, "--output", "DIR", "", "Folder for the results; the results of an earlier run there are replaced",
             [options](const std::string& text) { options->output = parse_file_name(text); });
  add_choice(app, "--format", "FORMAT", "opticks",
             "Files of hits and final photons: opticks, one array (N,4,4); chroma, a folder with an array per quantity",
             words_of(kPhotonFormats),
             [options](const std::string& text) { options->format = enum_of<PhotonFormat>(text, kPhotonFormats); });
  add_flag(app, "--final", options->final, "Also write all photons as they end");
  add_flag(app, "--seq", options->sequences, "Also write the history of each photon: its first 32 interactions");
  add_parsed(app, "--record", "COUNT|FILE", "0",
             "Also write every step of the first COUNT photons, or of the photons whose numbers a .npy file lists",
             [options](const std::string& text) {
               if (text.ends_with(".npy"))
                 options->record_file = text;
               else
                 options->record = parse_count(text);
             });
  add_parsed(app, "--times", "BINS,FROM,TO", "", "Also write a histogram of arrival times in ns for each channel",
             [options](const std::string& text) { parse_times(text, *options); });
  add_parsed(app, "--batch", "COUNT", "by the device",
             "Photons that are simulated at a time; the results do not depend on it",
             [options](const std::string& text) { options->batch = count_up_to<std::size_t>(text, kMaxBatch); });
  add_parsed(app, "--checkpoint", "TIME", "10s", "Time between checkpoints, from which --resume continues",
             [options](const std::string& text) { options->checkpoint_seconds = parse_seconds(text); });
  add_flag(app, "--resume", options->resume, "Continue a run that was stopped, or start one");
  set_group(app, "Results",
            {"--output", "--format", "--final", "--seq", "--record", "--times", "--batch", "--checkpoint", "--resume"});
}

}  // namespace

void add_photons(CLI::App& program, GeneralOptions& general, CommandRun& run) {
  auto options = std::make_shared<PhotonsCommandOptions>();
  CLI::App* app =
      add_command(program, "photons", "Simulate optical photons in a scene on a device, and write their hits");
  add_words(*app, "SCENE", options->scenes, "Scene file; one alone", true);
  add_photon_options(*app, options);
  add_result_options(*app, options);
  add_upload_options(*app, options->upload, options->load);
  add_devices_option(*app, options->device,
                     "auto, host (the CPU), cuda:N, all, or a list with commas; 'raylift devices' lists them");
  add_flag_with_value(
      *app, "--server", [options](const std::string& text) { options->server = text; },
      "Let a server simulate, at these addresses or the usual one: 'raylift serve' of the same scene");
  add_parsed(*app, "--keys", "PATH", "",
             "Keys for a server over TCP: client.key of 'raylift serve --keygen', or its folder",
             [options](const std::string& text) { options->keys = parse_file_name(text); });
  add_flag(*app, "--timings", options->timings, "Print the time of each stage");
  add_flag(*app, "--strict", options->strict,
           "Refuse scenes with volumes that are thinner than can be resolved, instead of a warning");
  add_general_options(*app, general, true);
  add_load_options(*app, options->load);
  add_cache_options(*app, options->cache);
  finish_command(*app, R"(
The folder of --output gets hits.npy, channels.npy if the scene has channels, and the files of the other options. The files
are identical for any --batch and --device, and after --resume. summary.json is written last: a folder that has it is
complete.

Examples:
  raylift photons scene.dae --source point:0,0,0 --photons 1M --seed 7 --output run
  raylift photons scene.dae --source ball:0,0,0,5000 --photons 1G --output run --resume
  raylift photons scene.dae --device all --photons 10G --output run    # on every GPU, by turns
  mpirun -n 8 raylift photons scene.dae --photons 100G --output run    # a GPU and a range of photons each
  raylift photons scene.dae --server --photons 10M --output run    # by 'raylift serve scene.dae'
  raylift photons scene.dae --output run --final --seq --record 100 --times 100,0,500
  raylift photons --json scene.dae --output run | jq .ends)",
                 [options, app, &run] {
                   options->has_device = is_given(*app, "--device");
                   run = [options](Session& session) { return photons(session, *options); };
                 });
}

}  // namespace raylift::batch
