// SPDX-License-Identifier: Apache-2.0
#include "own_importer.h"

#include <assimp/importerdesc.h>
#include <assimp/scene.h>
#include <assimp/IOStream.hpp>
#include <assimp/IOSystem.hpp>

#include <raylift/geometry/error.h>

#include <algorithm>
#include <memory>
#include <system_error>
#include <utility>

#include "archive.h"
#include "base/utf8.h"
#include "collada/collada.h"
#include "convert_mesh.h"
#include "each_mesh.h"
#include "formats/obj.h"
#include "formats/ply.h"
#include "formats/polygon_reader.h"
#include "formats/stl.h"
#include "formats/three_mf.h"
#include "gdml/gdml.h"
#include "scene/source_files.h"
#include "stage.h"
#include "step/step.h"
#include "step/step_module.h"
#include "triangulate.h"

namespace raylift {
namespace {

/// A text, in UTF-16 where it has a mark of that, in UTF-8. Throws Error(malformed) where it is no text.
std::string utf8_of(std::string bytes, const std::filesystem::path& path) {
  const std::string_view text = bytes;
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    return base::utf8_from_utf16(text.substr(2), text.front() == '\xFE');
  check_text(path, text, 0);
  if (text.starts_with("\xEF\xBB\xBF")) bytes.erase(0, 3);
  return bytes;
}

/// Fills the meshes of the document's scene from its geometries, and empties these. Throws Error: malformed, limit,
/// out_of_host_memory.
void convert_geometries(imported::Document& document, const std::string& file, const LoadOptions& options,
                        const Progress& progress) {
  Scene& scene = document.scene;
  TriangulatedPolygons polygons;
  {
    const Stage stage(progress, "import");
    polygons = triangulate(document.geometries, file, options.limits);
  }
  const Stage stage(progress, "convert", scene.meshes.size());
  for_each_mesh(scene.meshes.size(), stage, scene.report, [&](std::size_t i, LoadReport& report) {
    if (document.geometries[i].primitives.empty()) return;
    scene.meshes[i] = convert_geometry(document.geometries[i], polygons.meshes[i], std::move(scene.meshes[i].name),
                                       file, options, report);
    document.geometries[i] = {};
  });
}

}  // namespace

bool reads_itself(const std::string& extension) {
  return is_collada(extension) || extension == "obj" || extension == "stl" || extension == "ply" ||
         extension == "3mf" || extension == "gdml" || step::is_step(extension);
}

bool OwnImporter::CanRead(const std::string& name, Assimp::IOSystem*, bool) const {
  return reads_itself(extension_of(name));
}

const aiImporterDesc* OwnImporter::GetInfo() const {
  static const aiImporterDesc description{"raylift", "", "", "", 0,
                                          0,         0,  0,  0,  "dae zae dae.gz xml obj stl ply 3mf gdml step stp"};
  return &description;
}

void OwnImporter::rethrow_failure() const {
  if (failure_) std::rethrow_exception(failure_);
}

std::optional<std::string> OwnImporter::open_beside(Assimp::IOSystem& files, const std::string& name) const {
  const std::filesystem::path path = input_.path().parent_path() / name;
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (name.empty() || !std::filesystem::exists(status)) return std::nullopt;
  // A pipe would be waited for without end, by Exists() already.
  if (!std::filesystem::is_regular_file(status))
    throw Error(ErrorKind::io, "it is no regular file", {path.string(), ""});
  if (!files.Exists(path.c_str())) return std::nullopt;
  Assimp::IOStream* const stream = files.Open(path.c_str(), "rb");
  if (stream == nullptr) return std::nullopt;
  const auto close = [&files](Assimp::IOStream* one) { files.Close(one); };
  const std::unique_ptr<Assimp::IOStream, decltype(close)> owner(stream, close);
  check_memory(path, stream->FileSize(), options_.limits);
  std::string bytes(stream->FileSize(), '\0');
  bytes.resize(bytes.empty() ? 0 : stream->Read(bytes.data(), 1, bytes.size()));
  return utf8_of(std::move(bytes), path);
}

imported::Document OwnImporter::read_obj(Assimp::IOSystem& files) const {
  return imported::read_obj(utf8_of(imported::read_bytes(input_, options_.limits), input_.path()), input_, options_,
                            [&](const std::string& name) { return open_beside(files, name); });
}

imported::Document OwnImporter::read_gdml(Assimp::IOSystem& files) const {
  const auto open = [&](const std::string& name) -> std::optional<std::string> {
    std::error_code error;
    if (detail::beneath(input_.path().parent_path(), name, error).empty()) {
      if (error) return std::nullopt;
      throw Error(ErrorKind::malformed, "'" + name + "' is no file in the scene's folder or below it",
                  {input_.path().string(), ""}, "links are followed");
    }
    return open_beside(files, name);
  };
  return gdml::read_gdml_scene(input_, utf8_of(imported::read_bytes(input_, options_.limits), input_.path()), options_,
                               progress_, open);
}

imported::Document OwnImporter::read_document(Assimp::IOSystem& files) const {
  const std::string& extension = input_.extension();
  if (is_collada(extension)) {
    ZaeDocument read = [&] {
      const Stage stage(progress_, "read");
      return read_collada(input_, options_.limits);
    }();
    return collada::preflight(std::move(read.text), input_.path().string(), options_, progress_, read.entry);
  }
  if (extension == "gdml") return read_gdml(files);
  if (step::is_step(extension))
    return step::read_step_scene(input_, utf8_of(imported::read_bytes(input_, options_.limits), input_.path()),
                                 options_, progress_);
  const Stage stage(progress_, "read");
  if (extension == "obj") return read_obj(files);
  if (extension == "stl") return imported::read_stl(input_, options_);
  if (extension == "ply") return imported::read_ply(input_, options_);
  return imported::read_three_mf(input_, options_);
}

Scene OwnImporter::read(Assimp::IOSystem& files) const {
  imported::Document document = read_document(files);
  document.scene.report.faces_checked = document.all_faces;
  const bool any = std::any_of(document.geometries.begin(), document.geometries.end(),
                               [](const imported::Geometry& geometry) { return !geometry.primitives.empty(); });
  if (any) convert_geometries(document, input_.path().string(), options_, progress_);
  return std::move(document.scene);
}

void OwnImporter::InternReadFile(const std::string&, aiScene* scene, Assimp::IOSystem* files) {
  try {
    scene_ = read(*files);
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
  scene->mRootNode = new aiNode;
}

}  // namespace raylift
