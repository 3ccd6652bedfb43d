// SPDX-License-Identifier: Apache-2.0
// raylift-make-detector: a photon detector of any size as COLLADA, the same bytes for the same options.
#include <raylift/geometry/error.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "cli/describe.h"
#include "cli/interrupt.h"
#include "detector.h"
#include "writer.h"

namespace {

using namespace raylift;
using detector::Parameters;
using detector::Shape;

int run(int argc, char** argv) {
  Parameters parameters;
  std::string output = "-";
  std::optional<std::uint64_t> triangles;
  bool dry_run = false;

  CLI::App app{
      "Writes a photon detector as COLLADA, as Geant4's G4DAE exporter does: liquids nested in a vessel, and "
      "photosensors\n"
      "(glass, vacuum, photocathode) that face its centre. The same options give the same bytes on any machine.",
      "raylift-make-detector"};
  app.set_version_flag("--version", "raylift-make-detector " RAYLIFT_VERSION, "Print the version");
  cli::add_generate_option(app);
  app.option_defaults()->always_capture_default();
  app.add_option("--shape", parameters.shape, "sphere or cylinder")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Shape>{{"sphere", Shape::sphere}, {"cylinder", Shape::cylinder}}))
      ->default_str("sphere");
  app.add_option("--sensors,-n", parameters.sensors, "Photosensors")->check(CLI::Range(0U, 50'000'000U));
  app.add_option("--segments,-s", parameters.segments, "Segments around a sensor; vessels have four times as many")
      ->check(CLI::Range(3U, 2000U));
  app.add_option("--seed", parameters.seed, "Turns each sensor about its axis by a small random angle");
  app.add_flag("--flat", parameters.flat,
               "Every sensor as geometries of its own, in place, instead of instances of one");
  app.add_flag("--normals", parameters.normals, "Write a normal for each triangle");
  app.add_option("--triangles,-t", triangles,
                 "Choose sensors and segments so that the scene has about so many triangles")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{20'000'000'000}));
  app.add_option("--output,-o", output, "File to write; - is standard output");
  app.add_flag("--dry-run", dry_run, "Print the number of triangles, and write nothing");
  app.footer(
      "Examples:\n"
      "  raylift-make-detector --sensors 500 -o detector.dae\n"
      "  raylift-make-detector --triangles 10000000 --flat -o large.dae\n\n"
      "Exit codes: 0 success, 2 wrong option, 3 the file can't be written, 130 interrupted (128 + the signal's "
      "number).");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked = error.get_exit_code() == 0;
    (void)app.exit(error);
    return asked ? 0 : exit_code(ErrorKind::usage);
  }
  if (triangles) {
    if (app.count("--sensors") + app.count("--segments") != 0)
      throw Error(ErrorKind::usage, "--triangles chooses --sensors and --segments itself", {}, "give one or the other");
    parameters = detector::for_triangles(parameters, *triangles);
  }
  const detector::Counts counts = detector::count(parameters);
  std::fprintf(stderr,
               "raylift-make-detector: %u sensors, %u segments, %llu triangles in the file, %llu in the scene\n",
               parameters.sensors, parameters.segments, static_cast<unsigned long long>(counts.unique),
               static_cast<unsigned long long>(counts.expanded));
  if (dry_run) return 0;
  const detector::Detector made = detector::make(parameters);
  cli::catch_interrupts();
  detector::write_collada(made, parameters, output);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const Error& error) {
    std::fprintf(stderr, "raylift-make-detector: error: %s: %s\n", std::string(to_string(error.kind())).c_str(),
                 error.what());
    return error.kind() == ErrorKind::cancelled ? 128 + cli::interrupted_by() : exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    std::fputs("raylift-make-detector: error: out_of_host_memory: no memory left; make a smaller detector\n", stderr);
    return exit_code(ErrorKind::out_of_host_memory);
  }
}
