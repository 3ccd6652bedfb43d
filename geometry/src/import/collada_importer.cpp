// SPDX-License-Identifier: Apache-2.0
#include "collada_importer.h"

#include <assimp/importerdesc.h>
#include <assimp/scene.h>

#include <algorithm>
#include <utility>

#include "archive.h"
#include "collada.h"
#include "convert_mesh.h"
#include "each_mesh.h"
#include "triangulate.h"

namespace raylift {
namespace {

/// The document, unpacked, and its path in an archive.
ZaeDocument read_document(const InputFile& input, const LoadLimits& limits, const Progress& progress) {
  const Stage stage(progress, "read");
  if (input.extension() == "zae") return read_zae(input, limits);
  return {input.extension() == "dae.gz" ? read_gzip(input, limits) : input.text(), {}};
}

/// Fills the meshes of the document's scene from its geometries, and empties these. Throws Error: malformed, limit,
/// out_of_host_memory.
void convert_geometries(collada::Document& document, const std::string& file, const LoadOptions& options,
                        const Progress& progress) {
  Scene& scene = document.scene;
  TriangulatedPolygons polygons;
  {
    const Stage stage(progress, "import");
    polygons = triangulate(document.geometries, file);
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

bool ColladaImporter::CanRead(const std::string& name, Assimp::IOSystem*, bool) const {
  return is_collada(extension_of(name));
}

const aiImporterDesc* ColladaImporter::GetInfo() const {
  static const aiImporterDesc description{"raylift: COLLADA", "", "", "", 0, 0, 0, 0, 0, "dae zae dae.gz xml"};
  return &description;
}

void ColladaImporter::rethrow_failure() const {
  if (failure_) std::rethrow_exception(failure_);
}

Scene ColladaImporter::read() const {
  const std::string file = input_.path().string();
  ZaeDocument read = read_document(input_, options_.limits, progress_);
  collada::Document document = collada::preflight(std::move(read.text), file, options_, progress_, read.entry);
  const bool any = std::any_of(document.geometries.begin(), document.geometries.end(),
                               [](const collada::Geometry& geometry) { return !geometry.primitives.empty(); });
  if (any) convert_geometries(document, file, options_, progress_);
  return std::move(document.scene);
}

void ColladaImporter::InternReadFile(const std::string&, aiScene* scene, Assimp::IOSystem*) {
  try {
    scene_ = read();
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
  scene->mRootNode = new aiNode;
}

}  // namespace raylift
