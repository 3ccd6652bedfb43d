// SPDX-License-Identifier: Apache-2.0
// Polygons of COLLADA for Assimp, which cuts them into triangles: a loader of its Importer that reads no file.
#pragma once

#include <assimp/BaseImporter.h>

#include <span>
#include <string>

#include "collada.h"

namespace raylift {

/// Primitives with polygons, and the positions of their corners.
struct Polygons {
  const collada::Positions* positions;
  const collada::Primitive* primitive;
};

/// Makes a scene of them: mesh i has a vertex for each corner of number i, and a face for each of its polygons.
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

}  // namespace raylift
