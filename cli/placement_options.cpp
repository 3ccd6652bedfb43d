// SPDX-License-Identifier: Apache-2.0
#include "placement_options.h"

#include <CLI/CLI.hpp>

#include "options.h"
#include "quantity.h"

namespace raylift::cli {
namespace {

void set_group(CLI::Option* option, const std::string& group) {
  if (!group.empty()) option->group(group);
}

}  // namespace

void add_device_option(CLI::App& app, std::string& device, const std::string& help, const std::string& group) {
  CLI::Option* option = add_parsed(app, "--device", "DEVICE", "auto", help, [&device](const std::string& text) {
    if (text.rfind("cuda:", 0) != 0) one_of(text, {"auto", "host", "cuda:0"});
    device = text;
  });
  offer(option, {"auto", "host", "cuda:0"});
  set_group(option, group);
}

void add_placement_options(CLI::App& app, UploadOptions& upload, LoadOptions& load, const std::string& group) {
  const auto add = [&](const std::string& name, const std::string& type, const std::string& fallback,
                       const std::string& help, std::function<void(const std::string&)> read) {
    set_group(add_parsed(app, name, type, fallback, help, std::move(read)), group);
  };
  add("--budget", "BYTES", "what is free", "Device memory to use at most",
      [&upload](const std::string& text) { upload.budget = parse_bytes(text); });
  add("--reserve", "BYTES", exact_bytes(kDefaultReserve), "Device memory to leave free",
      [&upload](const std::string& text) { upload.reserve = parse_bytes(text); });
  set_group(add_choice(app, "--policy", "POLICY", "auto",
                       "Where arrays are stored: auto: the most used ones on the device, the rest in host memory; "
                       "chroma: as Chroma places "
                       "them; mapped: all in host memory; device: all on the device, else an error",
                       {"auto", "chroma", "mapped", "device"},
                       [&upload](const std::string& text) { upload.policy = placement_policy(text); }),
            group);
  add_precision_options(app, upload, load, group);
}

void add_precision_options(CLI::App& app, UploadOptions& upload, LoadOptions& load, const std::string& group) {
  set_group(add_parsed(app, "--raster", "FROM:BELOW:STEP", "the tables' own points",
                       "Wavelengths in nm to sample optical tables at, for comparison; Chroma's are 60:1000:5",
                       [&upload](const std::string& text) { upload.raster = parse_raster(text); }),
            group);
  set_group(add_choice(app, "--positions", "HOW", "automatic",
                       "How finely photons' places are known: automatic: finely in scenes with thin layers; floats: to "
                       "2^-21 of the scene's size; fine: to 2^-41 of it",
                       {"automatic", "floats", "fine"},
                       [&upload, &load](const std::string& text) {
                         upload.positions = positions_of(text);
                         load.rests = upload.positions == UploadOptions::Positions::fine;
                       }),
            group);
}

Json raster_json(const Raster& raster) {
  return raster == kOwnPoints ? Json() : Json{raster.start, raster.step, raster.count};
}

}  // namespace raylift::cli
