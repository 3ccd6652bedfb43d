// SPDX-License-Identifier: Apache-2.0
// raylift convert: a scene as a file of another format.
#include <fmt/format.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/export/export_scene.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/optics/sidecar.h>
#include <raylift/geometry/optics/transfer.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "cli/options.h"
#include "cli/output_file.h"
#include "commands.h"

namespace raylift::batch {
using namespace cli;
namespace {

struct ConvertOptions {
  std::vector<std::string> files;  // the scene, and what it is written to
  LoadOptions load;
};

/// The file itself is last, so that it never refers to what isn't there.
void write_all(const std::filesystem::path& folder, const std::vector<ExportedFile>& files) {
  for (std::size_t i = files.size(); i-- != 0;)
    write_file((folder / files[i].name).string(), files[i].bytes, "the scene");
}

/// A folder of its own, which is removed with what it holds.
class OwnFolder {
 public:
  OwnFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "raylift-convert-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw Error(ErrorKind::io, std::string("a folder can't be made: ") + std::strerror(errno), {name, ""},
                  "check TMPDIR");
    path_ = name;
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  ~OwnFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The scene's optics as a sidecar of what was written: with the names that are found when it is read again.
std::string sidecar_of(const Scene& scene, const std::vector<ExportedFile>& files, const LoadOptions& options,
                       const Progress& progress) {
  const OwnFolder folder;
  write_all(folder.path(), files);
  LoadOptions again;
  again.isolate = options.isolate;
  again.limits = options.limits;
  Scene written = load(folder.path() / files.front().name, again, progress);
  written.source = files.front().name;
  transfer_optics(scene, written);
  return optics_json(written);
}

/// Whether solids of the format have a tree, by which photons know what they are in.
bool has_tree(const std::filesystem::path& target) {
  return target.extension() == ".dae" || target.extension() == ".glb" || target.extension() == ".gltf";
}

int convert_scene(Session& session, const ConvertOptions& options) {
  const std::string& file = options.files[0];
  const std::filesystem::path target = options.files[1];
  const std::filesystem::path sidecar = own_optics_file(target);
  protect_scenes(std::vector<std::string>{file}, options.load);
  refuse_input(target);
  const Scene scene = load(file, options.load, session.progress());
  report_loaded(session, file, scene);
  std::vector<ExportedFile> files = export_scene(scene, target.filename().string());
  // An older sidecar would hold for the new scene.
  const bool stale = std::filesystem::exists(sidecar);
  if (has_tree(target) && (!scene.optics.empty() || stale)) {
    refuse_input(sidecar);
    files.push_back({sidecar.filename().string(), sidecar_of(scene, files, options.load, session.progress())});
  } else if (!scene.optics.empty()) {
    session.warn(fmt::format(
        "{}: the optics are not written, as solids do not lie in each other in such a file; .dae and .glb have them",
        target.string()));
  }
  write_all(target.parent_path(), files);
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
Names, instances, materials and colours are kept where the format has them: COLLADA and glTF have all. The optics of a scene are
written beside such a file, to OUTPUT.optics.json, which is read with it: its surfaces, borders and channels hold for the same
volumes. COLLADA has the copy numbers of volumes too.

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
