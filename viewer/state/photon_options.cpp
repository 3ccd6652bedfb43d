// SPDX-License-Identifier: Apache-2.0
// The options of light.
#include <raylift/geometry/error.h>
#include <raylift/photon/histories.h>
#include <raylift/photon/load_source.h>

#include <CLI/CLI.hpp>

#include "cli/options.h"
#include "cli/quantity.h"
#include "cli/text.h"
#include "state/view_options.h"

namespace raylift::viewer {
namespace {

constexpr const char* kLight = "Light";

double number_in(const std::string& text, double least, double most) {
  const auto value = cli::number(text);
  if (!value || !(*value >= least) || !(*value <= most))
    throw Error(ErrorKind::usage, "'" + cli::printable(text) + "' is not a number from " + cli::short_number(least) +
                                      " to " + cli::short_number(most));
  return *value;
}

}  // namespace

void add_photon_options(CLI::App& app, ViewOptions& options) {
  PhotonSettings& light = options.settings.photons;
  const auto add = [&](const char* names, const char* type, const char* fallback, const char* help, auto read) {
    cli::add_parsed(app, names, type, fallback, help, read)->group(kLight);
  };
  add("--photons", "PATH", "",
      "Draw photons: a folder of 'raylift photons' (steps of --record, final photons or hits), or one of its arrays",
      [&](const std::string& text) { options.photons = text; });
  add("--photon-compare", "RUN", "",
      "Of the run of --photons those whose histories deviate from this one's, as 'raylift compare' finds them",
      [&](const std::string& text) { options.photon_compare = text; });
  add("--photon-source", "SOURCE", "",
      "Follow photons of a source on the device, such as point:0,0,0; docs/photons.md has the form. The mouse moves it",
      [&](const std::string& text) {
        photon::check_source_text(text);
        options.source = text;
      });
  add("--photon-count", "COUNT", "1M", "Photons of this source, whose hits are points",
      [&](const std::string& text) { options.source_photons = cli::parse_count(text); });
  add("--photon-record", "COUNT", "1k", "So many of them have their steps drawn",
      [&](const std::string& text) { options.source_paths = cli::parse_count(text); });
  add("--photon-seed", "NUMBER", "0", "Seed of their random numbers",
      [&](const std::string& text) { options.source_seed = cli::parse_count(text); });
  add("--photon-limit", "COUNT", "1M", "At most so many paths, and so many points",
      [&](const std::string& text) { options.photon_limit = cli::parse_count(text); });
  cli::add_choice(app, "--photon-color", "BY", "wavelength", "wavelength, time, flag, number or material",
                  cli::words_of(kPhotonColorNames),
                  [&](const std::string& text) { light.color = cli::enum_of<PhotonColor>(text, kPhotonColorNames); })
      ->group(kLight);
  add("--photon-filter", "PATTERN", "",
      "Photons of these histories: 'TO * RE * SD', * for any events; a single event, such as SD or !SC: that have it",
      [&](const std::string& text) {
        const photon::HistoryPattern pattern(text);  // for its errors
        light.filter.history = text;
      });
  add("--photon-wavelength", "NM", "", "Light of these wavelengths: 420 or 350-500",
      [&](const std::string& text) { light.filter.wavelength = parse_wavelengths(text); });
  add("--photon-channel", "NUMBER", "", "Photons that these channels detected: 12 or 10-19",
      [&](const std::string& text) { light.filter.channel = parse_channels(text); });
  add("--photon-time", "NS", "all", "Light as it is at this time, with its heads",
      [&](const std::string& text) { light.time = number_in(text, -1e12, 1e12); });
  add("--photon-trail", "NS", "all", "So much of each path behind its head",
      [&](const std::string& text) { light.trail = number_in(text, 0, 1e12); });
  app.add_flag("--photon-play,!--no-photon-play", options.play,
               "Let time run: in the window from the start, with --frames through all times")
      ->group(kLight);
  add("--photon-speed", "NS", "all in 10 s", "Time that a second of play takes",
      [&](const std::string& text) { light.speed = number_in(text, 1e-9, 1e12); });
  app.add_flag("--photon-loop,!--no-photon-loop", light.loop, "Play begins again at the end")->group(kLight);
  add("--photon-size", "PIXELS", "1", "Width of lines, 1 to 64; points are larger",
      [&](const std::string& text) { light.size = static_cast<float>(number_in(text, 1, 64)); });
  add("--photon-opacity", "SHARE", "1", "Opacity of light, 0.01 to 1",
      [&](const std::string& text) { light.opacity = static_cast<float>(number_in(text, kMinOpacity, 1)); });
  app.add_flag("--photon-paths,!--no-photon-paths", light.paths, "Draw the steps")->group(kLight);
  app.add_flag("--photon-points,!--no-photon-points", light.points, "Draw final photons or hits as points")
      ->group(kLight);
}

}  // namespace raylift::viewer
