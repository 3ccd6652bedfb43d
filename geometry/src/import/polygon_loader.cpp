// SPDX-License-Identifier: Apache-2.0
#include "polygon_loader.h"

#include <assimp/importerdesc.h>
#include <assimp/scene.h>

#include <numeric>

namespace raylift {
namespace {

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

}  // namespace

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

}  // namespace raylift
