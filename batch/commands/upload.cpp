// SPDX-License-Identifier: Apache-2.0
// raylift upload: reads a scene, places it and uploads it, and reports where each array is.
#include <fmt/format.h>
#include <raylift/geometry/import/load.h>
#include <raylift/gpu/device/device.h>
#include <raylift/gpu/memory/residency.h>
#include <raylift/gpu/upload/broadcast.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <chrono>
#include <memory>

#include "base/json.h"
#include "batch/actions/cache_options.h"
#include "cli/options.h"
#include "cli/text.h"
#include "commands.h"
#include "device_options.h"
#include "geometry/src/stage.h"
#include "gpu/src/cache/cache_files.h"
#include "gpu/src/upload/verify_upload.h"

namespace raylift::batch {
using namespace cli;
namespace {

struct UploadCommandOptions {
  std::vector<std::string> files;
  LoadOptions load;
  UploadOptions upload;
  CacheSettings cache;
  std::string device = "auto";
  std::string to;       // several devices
  std::string helpers;  // of the device
  bool timings = false;
  bool verify = false;
};

int upload_files(Session& session, UploadCommandOptions& options) {
  options.cache.hash_ahead(options.files, options.load);
  const Device device = open_device(session, options.device);
  bool first = true;
  return session.for_each_file(options.files, [&](const std::string& file, Json& json) {
    std::vector<Progress::StageTime> times;
    const Progress progress = session.progress(&times);
    const auto start = std::chrono::steady_clock::now();
    const CachedUpload uploaded =
        upload(file, options.load, device, options.upload, options.cache.with(session), progress);
    const GpuGeometry& geometry = uploaded.geometry;
    const LoadReport report = uploaded.scene ? uploaded.scene->report : cache_summary(*uploaded.cache).report;
    for (const std::string& warning : report.warnings) session.warn(file + ": " + warning);
    std::uint64_t verified = 0;
    if (options.verify) {
      // What came from the cache is compared with what the file itself says.
      std::optional<Scene> loaded;
      if (!uploaded.scene) loaded = load(file, options.load, progress);
      const Stage stage(progress, "verify");
      verified = verify_upload(uploaded.scene ? *uploaded.scene : *loaded, geometry);
    }
    times = with_total(std::move(times), start);
    warn_of_steps(session, file, geometry);
    if (session.options().json) {
      json = {{"file", file},
              {"triangles", geometry.view().triangle_count},
              {"vertices", geometry.view().vertex_count},
              {"instances", geometry.view().instance_count},
              {"flattened", options.upload.flatten},
              {"verified_bytes", options.verify ? Json(verified) : Json()},
              {"cache", options.cache.json(uploaded)},
              {"residency", base::parse_json<Json>(geometry.report().json())}};
      if (options.timings) json["timings"] = timings_json(times);
    } else {
      std::string text = first ? "" : "\n";
      text += fmt::format("{}\n{}, {}, {}{}\n", printable(file),
                          counted(geometry.view().triangle_count, "triangle", "triangles"),
                          counted(geometry.view().vertex_count, "vertex", "vertices"),
                          counted(geometry.view().instance_count, "instance", "instances"),
                          options.upload.flatten ? ", flattened" : "");
      text += geometry.report().table();
      if (uploaded.hit) text += "from the cache: " + printable(uploaded.cache->path().string()) + '\n';
      if (options.verify)
        text += "verified: " + human_bytes(verified) + " read back from the device, all as in the scene\n";
      if (options.timings) text += "\ntimings\n" + timings_text(times);
      session.write(text);
    }
    first = false;
    return 0;
  });
}

/// One scene to all of the devices.
int upload_to_all(Session& session, const UploadCommandOptions& options) {
  const std::vector<Device> devices = several_devices(options.to);
  warn_of_no_gpu(session, options.to, devices);
  return session.for_each_file(options.files, [&](const std::string& file, Json& json) {
    const Progress progress = session.progress();
    const Scene scene = load(file, options.load, options.cache.with(session), progress);
    report_loaded(session, file, scene);
    const std::vector<GpuGeometry> geometries = broadcast(scene, devices, options.upload, progress);
    std::uint64_t verified = 0;
    Json reports = Json::array();
    std::string text = fmt::format("{}\n{} on {}\n", printable(file),
                                   counted(geometries.front().view().triangle_count, "triangle", "triangles"),
                                   counted(devices.size(), "device", "devices"));
    for (const GpuGeometry& geometry : geometries) {
      if (options.verify) verified += verify_upload(scene, geometry);
      reports.push_back(base::parse_json<Json>(geometry.report().json()));
      text += '\n' + geometry.report().table();
    }
    if (options.verify)
      text += "\nverified: " + human_bytes(verified) + " read back from the devices, all as in the scene\n";
    if (session.options().json)
      json = {{"file", file},
              {"triangles", geometries.front().view().triangle_count},
              {"flattened", options.upload.flatten},
              {"verified_bytes", options.verify ? Json(verified) : Json()},
              {"devices", std::move(reports)}};
    else
      session.write(text);
    return 0;
  });
}

}  // namespace

void add_upload(CLI::App& program, GeneralOptions& general, CommandRun& run) {
  auto options = std::make_shared<UploadCommandOptions>();
  UploadOptions& upload = options->upload;
  CLI::App* app = add_command(program, "upload", "Upload scenes to a device, and print where each array is stored");
  add_files(*app, options->files);
  add_device_options(*app, options->device, upload, options->load);
  upload.bvh = false;  // no query follows
  add_flag(*app, "--bvh", upload.bvh,
           "Also build and upload the BVH (bounding volume hierarchy) that ray queries need");
  add_cache_options(*app, options->cache);
  add_parsed(*app, "--to", "DEVICES", "",
             "Upload to all of these devices: each part crosses one host link and is copied on to the other devices. "
             "all, or a "
             "list with commas",
             [options](const std::string& text) { options->to = text; });
  add_parsed(*app, "--helpers", "DEVICES", "",
             "Other devices whose host links carry parts of the upload: all, or a list with commas",
             [options](const std::string& text) { options->helpers = text; });
  add_flag(*app, "--timings", options->timings, "Print the time of each stage");
  add_flag(*app, "--verify", options->verify, "Read all arrays back from the device and compare them");
  add_general_options(*app, general, true);
  add_load_options(*app, options->load);
  finish_command(*app, R"(
Examples:
  raylift upload scene.dae
  raylift upload --device cuda:1 --policy device --timings scene.dae
  raylift upload --device host --budget 64MB --reserve 0 --flatten scene.dae
  raylift upload --to all scene.dae    # on every GPU, sooner than on one alone
  raylift upload --cache scene.dae     # the second time without parsing it
  raylift upload --json *.dae | jq '.[].residency.device_bytes')",
                 [options, &run] {
                   run = [options](Session& session) {
                     if (!options->helpers.empty()) options->upload.relay_devices = several_devices(options->helpers);
                     if (options->to.empty()) return upload_files(session, *options);
                     return upload_to_all(session, *options);
                   };
                 });
}

}  // namespace raylift::batch
