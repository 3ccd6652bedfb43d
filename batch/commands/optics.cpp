// SPDX-License-Identifier: Apache-2.0
// raylift optics: a scene's optics as a file that people edit.
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/optics/sidecar.h>

#include <memory>

#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/quantity.h"
#include "commands.h"

namespace raylift::batch {
using namespace cli;
namespace {

struct OpticsOptions {
  std::vector<std::string> files;
  std::string output;
  LoadOptions load;
};

int export_optics(Session& session, const OpticsOptions& options) {
  const std::string& file = options.files.front();
  if (!options.output.empty()) {
    protect_scenes(options.files, options.load);
    refuse_input(options.output);
  }
  const Scene scene = load(file, options.load, session.progress());
  report_loaded(session, file, scene);
  if (scene.optics.empty()) session.warn(file + ": the scene has no optics, and so the sidecar holds none");
  const std::string text = optics_json(scene);
  if (options.output.empty())
    session.write(text);
  else
    write_file(options.output, text, "the sidecar");
  return 0;
}

}  // namespace

void add_optics(CLI::App& program, GeneralOptions& general, CommandRun& run) {
  auto options = std::make_shared<OpticsOptions>();
  CLI::App* app = add_command(program, "optics", "Write the optics of a scene as a sidecar: a JSON file to edit");
  CLI::App* command = add_command(*app, "export", "Write materials, surfaces, assignments and channels as JSON");
  add_words(*command, "SCENE", options->files, "Scene file", true);
  add_parsed(*command, "-o,--output", "FILE", "standard output", "File to write; after an error it is as before",
             [options](const std::string& text) { options->output = parse_file_name(text); });
  add_general_options(*command, general, false);
  add_load_options(*command, options->load);
  finish_command(*command, R"(
Commands that read a scene lay SCENE.optics.json, if it exists beside the scene, over the scene's own optics; --optics names
another file.

Examples:
  raylift optics export detector.dae -o detector.optics.json
  raylift optics export --optics off detector.dae | jq '.materials | keys'
  raylift optics export --optics detector.gdml detector.dae -o detector.optics.json)",
                 [options, &run] {
                   if (options->files.size() > 1)
                     throw Error(ErrorKind::usage, "one scene is exported at a time", {options->files[1], ""});
                   run = [options](Session& session) { return export_optics(session, *options); };
                 });
  finish_command(*app, "", [app] {
    if (!has_command(*app))
      throw Error(ErrorKind::usage, "a command is missing: export", {}, "see 'raylift optics --help'");
  });
}

}  // namespace raylift::batch
