// SPDX-License-Identifier: Apache-2.0
// raylift-make-detector: a photon detector of any size as COLLADA or GDML, the same bytes for the same options.
#include <raylift/geometry/error.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <optional>
#include <string>

#include "cli/describe.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/quantity.h"
#include "cli/session.h"
#include "cli/text.h"
#include "detector.h"
#include "optics.h"
#include "scenes.h"
#include "writer.h"

namespace raylift::detector {
namespace {

constexpr const char* kProgram = "raylift-make-detector";
constexpr std::array<std::string_view, 2> kShapes{"sphere", "cylinder"};

enum class Kind { detector, argon_box, touching_argon_box, water_sphere, integrating_sphere };
constexpr std::array<std::string_view, 5> kKinds{"detector", "argon-box", "touching-argon-box", "water-sphere",
                                                 "integrating-sphere"};

constexpr const char* kFooter = R"(
Examples:
  raylift-make-detector --sensors 500 -o detector.dae
  raylift-make-detector --sensors 500 -o detector.gdml
  raylift-make-detector --triangles 10M --flat -o large.dae

Exit codes: 0 success, 2 wrong option, 3 the file can't be written, 130 interrupted (128 + the signal's number).)";

struct Options {
  Kind kind = Kind::detector;
  Parameters parameters;
  std::string output = "-";
  std::optional<std::uint64_t> triangles;
  bool dry_run = false;
};

/// An option that takes a count from `least` to `most`.
template <class Set>
void add_count(CLI::App& app, const char* names, const std::string& fallback, const char* help, std::uint64_t least,
               std::uint64_t most, Set set) {
  cli::add_parsed(app, names, "COUNT", fallback, help, [=](const std::string& text) {
    const std::uint64_t count = cli::parse_count(text);
    if (count < least || count > most)
      throw Error(ErrorKind::usage,
                  "from " + std::to_string(least) + " to " + cli::exact_count(most) + " are possible");
    set(count);
  });
}

void add_options(CLI::App& app, Options& options) {
  Parameters& parameters = options.parameters;
  app.set_version_flag("--version", "raylift-make-detector " RAYLIFT_VERSION, "Print the version");
  cli::add_generate_option(app);
  cli::add_choice(
      app, "--scene", "SCENE", "detector",
      "detector, or a small scene for tests of photon simulations: argon-box, touching-argon-box, water-sphere, "
      "integrating-sphere",
      cli::words_of(kKinds), [&](const std::string& text) { options.kind = cli::enum_of<Kind>(text, kKinds); });
  cli::add_choice(app, "--shape", "SHAPE", "sphere", "Shape of the vessel: sphere or cylinder", cli::words_of(kShapes),
                  [&](const std::string& text) { parameters.shape = cli::enum_of<Shape>(text, kShapes); });
  const auto set = [](std::uint32_t& value) {
    return [&value](std::uint64_t count) { value = static_cast<std::uint32_t>(count); };
  };
  add_count(app, "--sensors,-n", std::to_string(parameters.sensors), "Number of photosensors", 0, 50'000'000,
            set(parameters.sensors));
  add_count(app, "--segments,-s", std::to_string(parameters.segments),
            "Segments around a sensor's axis; vessels have four times as many", 3, 2000, set(parameters.segments));
  cli::add_parsed(app, "--seed", "NUMBER", std::to_string(parameters.seed),
                  "Seed of the small random angle by which each sensor is turned about its axis",
                  [&](const std::string& text) { parameters.seed = cli::parse_count(text); });
  app.add_flag("--flat", parameters.flat, "Write a mesh for each sensor, instead of instances of one mesh");
  app.add_flag("--normals", parameters.normals, "Write a normal for each triangle");
  add_count(app, "--triangles,-t", "", "Choose --sensors and --segments for about this many triangles in the scene", 1,
            20'000'000'000, [&](std::uint64_t count) { options.triangles = count; });
  cli::add_parsed(app, "--output,-o", "FILE", "-",
                  "File to write: COLLADA (.dae) or GDML (.gdml); - is standard output, COLLADA",
                  [&](const std::string& text) {
                    options.output = text == "-" ? text : cli::parse_file_name(text, {".dae", ".gdml"});
                  });
  app.add_flag("--dry-run", options.dry_run, "Print the number of triangles without writing a file");
  app.footer(kFooter);
}

bool is_gdml(const std::string& output) {
  return cli::lower(output).ends_with(".gdml");
}

void write_file(const Detector& made, const Optics& optics, const Parameters& parameters, const std::string& output) {
  if (is_gdml(output))
    write_gdml(made, optics, output);
  else
    write_collada(made, optics, parameters, output);
}

void write_small(const Options& options) {
  const std::uint32_t segments = options.parameters.segments;
  const auto write = [&](const Detector& made, const Optics& optics) {
    write_file(made, optics, options.parameters, options.output);
  };
  switch (options.kind) {
    case Kind::argon_box:
    case Kind::touching_argon_box:
      return write(argon_box(options.kind == Kind::touching_argon_box), argon_box_optics());
    case Kind::water_sphere:
      return write(water_sphere(segments), water_sphere_optics());
    default:
      return write(integrating_sphere(segments), integrating_sphere_optics());
  }
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app{
      "Writes a photon detector as a COLLADA file, in the form of Geant4's G4DAE exporter, or as GDML: nested vessels "
      "with liquids,\n"
      "and photosensors (glass, vacuum, photocathode) that face the centre. The same options give the same bytes on "
      "any machine.",
      kProgram};
  add_options(app, options);
  const std::string text = cli::parse_command_line(app, argc, argv);
  if (!text.empty()) {
    cli::write_output(text);
    return 0;
  }
  Parameters& parameters = options.parameters;
  if (is_gdml(options.output) && (parameters.flat || parameters.normals))
    throw Error(ErrorKind::usage, "GDML has solids, and no meshes or normals", {}, "leave out --flat and --normals");
  if (options.triangles) {
    if (app.count("--sensors") + app.count("--segments") != 0)
      throw Error(ErrorKind::usage, "--triangles chooses --sensors and --segments itself", {}, "give one or the other");
    parameters = for_triangles(parameters, *options.triangles);
  }
  if (options.kind != Kind::detector) {
    for (const char* other : {"--shape", "--sensors", "--seed", "--flat", "--triangles", "--dry-run"})
      if (app.count(other) != 0)
        throw Error(ErrorKind::usage, std::string(other) + " is for the detector alone", {}, "leave out one of them");
    write_small(options);
    return 0;
  }
  const Counts counts = count(parameters);
  std::fprintf(stderr, "%s: %u sensors, %u segments, %llu triangles in the file, %llu in the scene\n", kProgram,
               parameters.sensors, parameters.segments, static_cast<unsigned long long>(counts.unique),
               static_cast<unsigned long long>(counts.expanded));
  if (options.dry_run) return 0;
  write_file(make(parameters), detector_optics(), parameters, options.output);
  return 0;
}

}  // namespace
}  // namespace raylift::detector

int main(int argc, char** argv) {
  return raylift::cli::run_program("raylift-make-detector", [&] { return raylift::detector::run(argc, argv); });
}
