// SPDX-License-Identifier: Apache-2.0
// The options that choose photons.
#include <raylift/photon/load_source.h>

#include <CLI/CLI.hpp>

#include "cli/options.h"
#include "cli/quantity.h"
#include "state/options/view_options.h"

namespace raylift::viewer {
namespace {

constexpr const char* kLight = "Light";

}  // namespace

void add_photon_options(CLI::App& app, ViewOptions& options) {
  const auto add = [&](const char* names, const char* type, const char* fallback, const char* help, auto read) {
    cli::add_parsed(app, names, type, fallback, help, read)->group(kLight);
  };
  add("--photons", "PATH", "",
      "Draw photons of a folder of 'raylift photons' (steps, final photons or hits), of one of its arrays, or of a "
      "folder with a run for each event",
      [&](const std::string& text) { options.light.origin.photons = text; });
  add("--event", "EVENT", "the first",
      "Of a folder with a run for each event, the one with this name, or with this number at its name's end",
      [&](const std::string& text) { options.light.origin.event = text; });
  add("--photon-compare", "RUN", "",
      "Draw only the photons of --photons whose histories deviate from this run's, as 'raylift compare' finds them",
      [&](const std::string& text) { options.light.origin.compare = text; });
  add("--photon-source", "SOURCE", "",
      "Simulate photons of a source on the device, such as point:0,0,0 (docs/photons.md). Ctrl+right drag moves it",
      [&](const std::string& text) {
        photon::check_source_text(text);
        options.light.origin.source = text;
      });
  add("--photon-count", "COUNT", "1M", "Number of photons of this source; their hits are drawn as points",
      [&](const std::string& text) { options.light.count = cli::parse_count(text); });
  add("--photon-record", "COUNT", "1k", "Number of these photons whose steps are drawn",
      [&](const std::string& text) { options.light.record = cli::parse_count(text); });
  add("--photon-seed", "NUMBER", "0", "Seed of their random numbers",
      [&](const std::string& text) { options.light.seed = cli::parse_count(text); });
  add("--photon-limit", "COUNT", "1M", "Maximum number of paths, and of points",
      [&](const std::string& text) { options.light.limit = cli::parse_count(text); });
  app.add_flag("--photon-play,!--no-photon-play", options.light.play,
               "Let time run: in the window from the start; with --frames through all times")
      ->group(kLight);
}

}  // namespace raylift::viewer
