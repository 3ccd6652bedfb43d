// SPDX-License-Identifier: Apache-2.0
#include "triangulate.h"

#include <assimp/BaseImporter.h>
#include <assimp/importerdesc.h>
#include <assimp/postprocess.h>
#include <raylift/geometry/error.h>

#include <assimp/Importer.hpp>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>

#include "for_each_mesh.h"
#include "run_importer.h"

namespace raylift {
namespace {

/// Primitives with polygons, and the positions of their corners.
struct Polygons {
  const imported::Positions* positions;
  const imported::Primitive* primitive;
};

/// An importer that reads no file. In its scene, mesh i has a vertex for each corner of polygons[i], and a face for
/// each of its polygons.
class PolygonLoader : public Assimp::BaseImporter {
 public:
  static constexpr const char* kExtension = "raylift-polygons";

  explicit PolygonLoader(std::span<const Polygons> polygons) : polygons_(polygons) {}

  bool CanRead(const std::string& name, Assimp::IOSystem* files, bool check_signature) const override;
  [[nodiscard]] const aiImporterDesc* GetInfo() const override;

 protected:
  void InternReadFile(const std::string& name, aiScene* scene, Assimp::IOSystem* files) override;

 private:
  std::span<const Polygons> polygons_;
};

/// Corners are kept apart, as in Assimp's own loaders: its cutting looks at equal indices of neighbouring polygons.
void fill_mesh(aiMesh& mesh, const Polygons& polygons) {
  const auto& [corners, sizes] = *polygons.primitive;
  mesh.mVertices = new aiVector3D[corners.size()];
  mesh.mNumVertices = static_cast<unsigned>(corners.size());
  for (std::size_t i = 0; i != corners.size(); ++i) {
    const Float3 position = (*polygons.positions)[corners[i]];
    mesh.mVertices[i] = {position.x, position.y, position.z};
  }
  mesh.mFaces = new aiFace[sizes.size()];
  mesh.mNumFaces = static_cast<unsigned>(sizes.size());
  unsigned next = 0;
  for (std::size_t i = 0; i != sizes.size(); ++i) {
    aiFace& face = mesh.mFaces[i];
    face.mIndices = new unsigned[sizes[i]];
    face.mNumIndices = sizes[i];
    std::iota(face.mIndices, face.mIndices + sizes[i], next);
    next += sizes[i];
  }
}

bool PolygonLoader::CanRead(const std::string& name, Assimp::IOSystem*, bool) const {
  return name.ends_with(std::string(".") + kExtension);
}

const aiImporterDesc* PolygonLoader::GetInfo() const {
  static const aiImporterDesc description{"raylift: polygons", "", "", "", 0, 0, 0, 0, 0, kExtension};
  return &description;
}

void PolygonLoader::InternReadFile(const std::string&, aiScene* scene, Assimp::IOSystem*) {
  const std::size_t count = polygons_.size();
  scene->mMeshes = new aiMesh*[count]();
  scene->mNumMeshes = static_cast<unsigned>(count);
  scene->mRootNode = new aiNode;
  scene->mRootNode->mMeshes = new unsigned[count];
  scene->mRootNode->mNumMeshes = scene->mNumMeshes;
  std::iota(scene->mRootNode->mMeshes, scene->mRootNode->mMeshes + count, 0U);
  for (std::size_t i = 0; i != count; ++i) fill_mesh(*(scene->mMeshes[i] = new aiMesh), polygons_[i]);
}

/// Assimp's triangulation of a polygon takes quadratic time: 0.7 s for 10,000 corners.
void check_time(const std::vector<imported::Geometry>& geometries, const std::string& file, const LoadLimits& limits) {
  constexpr double kLarge = 100, kPolygons = 10;
  double time = 0;
  for (const imported::Geometry& geometry : geometries)
    for (const imported::Primitive& primitive : geometry.primitives)
      for (const double size : primitive.sizes) time += size > kLarge ? size * size : 0;
  if (time > kPolygons * limits.polygon_vertices * limits.polygon_vertices)
    throw Error(ErrorKind::limit,
                "the triangulation of all large polygons would take too long: as that of " +
                    std::to_string(std::llround(time / limits.polygon_vertices / limits.polygon_vertices)) +
                    " polygons of " + std::to_string(limits.polygon_vertices) + " vertices",
                {file, ""}, "triangulate them before exporting, or raise the limit with LoadLimits::polygon_vertices");
}

}  // namespace

TriangulatedPolygons triangulate(const std::vector<imported::Geometry>& geometries, const std::string& file,
                                 const LoadLimits& limits) {
  check_time(geometries, file, limits);
  // Each importer triangulates enough primitives to be worth its start.
  constexpr std::size_t kCorners = 1U << 18;
  std::vector<std::vector<Polygons>> groups;
  std::vector<std::vector<aiMesh**>> places;
  TriangulatedPolygons result;
  result.meshes.resize(geometries.size());
  std::size_t corners = kCorners;
  for (std::size_t i = 0; i != geometries.size(); ++i) {
    result.meshes[i].resize(geometries[i].primitives.size());
    for (std::size_t part = 0; part != geometries[i].primitives.size(); ++part) {
      const imported::Primitive& primitive = geometries[i].primitives[part];
      if (primitive.sizes.empty()) continue;
      if (corners >= kCorners) {
        groups.emplace_back();
        places.emplace_back();
        corners = 0;
      }
      groups.back().push_back({&geometries[i].positions, &primitive});
      places.back().push_back(&result.meshes[i][part]);
      corners += primitive.corners.size();
    }
  }
  result.scenes.resize(groups.size());
  detail::for_each_mesh(0, groups.size(), [&](std::size_t i) {
    Assimp::Importer importer;
    importer.RegisterLoader(new PolygonLoader(groups[i]));
    constexpr char kNothing = 0;
    result.scenes[i] = run_importer(importer, file, [&] {
      return importer.ReadFileFromMemory(&kNothing, 1, aiProcess_Triangulate, PolygonLoader::kExtension);
    });
    for (std::size_t k = 0; k != places[i].size(); ++k) *places[i][k] = result.scenes[i]->mMeshes[k];
  });
  return result;
}

}  // namespace raylift
