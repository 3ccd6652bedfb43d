// SPDX-License-Identifier: Apache-2.0
// raylift convert: a scene as a file of another format.
#include <fmt/format.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/export/export_scene.h>
#include <raylift/geometry/import/load.h>

#include <filesystem>
#include <memory>

#include "cli/options.h"
#include "cli/output_file.h"
#include "cli/text.h"
#include "commands.h"

namespace raylift::batch {
using namespace cli;
namespace {

struct ConvertOptions {
  std::vector<std::string> files;  // the scene, and what it is written to
  LoadOptions load;
};

/// The file itself is last, so that it never refers to what isn't there.
void write_all(const std::filesystem::path& target, const std::vector<ExportedFile>& files) {
  for (std::size_t i = files.size(); i-- != 0;)
    write_file((target.parent_path() / files[i].name).string(), files[i].bytes, "the scene");
}

int convert_scene(Session& session, const ConvertOptions& options) {
  const std::string &file = options.files[0], &target = options.files[1];
  const std::string name = std::filesystem::path(target).filename().string();
  protect_scenes(std::vector<std::string>{file}, options.load);
  refuse_input(target);
  const Scene scene = load(file, options.load, session.progress());
  report_loaded(session, file, scene);
  if (!scene.optics.empty())
    session.warn(fmt::format("{}: the scene's optics are not written; 'raylift optics export' has them", file));
  const std::vector<ExportedFile> files = export_scene(scene, name);
  write_all(target, files);
  std::string written;
  for (const ExportedFile& one : files) written += (written.empty() ? "" : ", ") + one.name;
  session.write(fmt::format("{}: {} solids of {} meshes written to {}\n", file, scene.instances.size(),
                            scene.meshes.size(), written));
  return 0;
}

}  // namespace

void add_convert(CLI::App& program, GeneralOptions& general, CommandRun& run) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* app = add_command(program, "convert", "Write a scene as COLLADA, glTF, OBJ, STL or PLY");
  add_words(*app, "FILE", options->files, "Scene file, and the file to write: .dae, .glb, .gltf, .obj, .stl or .ply",
            true);
  add_general_options(*app, general, false);
  add_load_options(*app, options->load);
  finish_command(*app, R"(
Names, instances, materials and colours are kept where the format has them: COLLADA and glTF have all. Optics are not written.

Examples:
  raylift convert detector.gdml detector.dae
  raylift convert detector.gdml detector.glb     # for Blender and Phoenix)",
                 [options, &run] {
                   if (options->files.size() != 2)
                     throw Error(ErrorKind::usage, "convert takes two files: the scene and the output");
                   run = [options](Session& session) { return convert_scene(session, *options); };
                 });
}

}  // namespace raylift::batch
