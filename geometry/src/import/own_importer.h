// SPDX-License-Identifier: Apache-2.0
// raylift's importer, which an Assimp::Importer runs.
#pragma once

#include <assimp/BaseImporter.h>
#include <raylift/geometry/import/load.h>

#include <exception>
#include <optional>
#include <string>

#include "document.h"
#include "input_file.h"

namespace raylift {

/// Whether raylift's importer reads files that end like this: COLLADA, GDML, STEP, OBJ, STL, PLY and
/// 3MF.
[[nodiscard]] bool reads_itself(const std::string& extension);

/// Reads the formats of reads_itself(). Assimp triangulates their polygons. The aiScene that Assimp gets has a root
/// node alone: the meshes, nodes and materials are in a Scene beside it, so that nothing is converted twice.
class OwnImporter : public Assimp::BaseImporter {
 public:
  /// The arguments must outlive this.
  OwnImporter(const InputFile& input, const LoadOptions& options, const Progress& progress)
      : input_(input), options_(options), progress_(progress) {}

  bool CanRead(const std::string& name, Assimp::IOSystem* files, bool check_signature) const override;
  [[nodiscard]] const aiImporterDesc* GetInfo() const override;

  /// The scene that was read.
  [[nodiscard]] Scene take_scene() { return std::move(scene_); }
  /// Throws what has ended the import, where it has failed: Assimp keeps its text alone.
  void rethrow_failure() const;

 protected:
  void InternReadFile(const std::string& name, aiScene* scene, Assimp::IOSystem* files) override;

 private:
  [[nodiscard]] Scene read(Assimp::IOSystem& files) const;
  [[nodiscard]] imported::Document read_document(Assimp::IOSystem& files) const;
  /// `files` opens the materials.
  [[nodiscard]] imported::Document read_obj(Assimp::IOSystem& files) const;
  /// `files` opens entities and modules.
  [[nodiscard]] imported::Document read_gdml(Assimp::IOSystem& files) const;
  /// A text by its path relative to the scene's folder; nothing where there is no such file.
  [[nodiscard]] std::optional<std::string> open_beside(Assimp::IOSystem& files, const std::string& name) const;

  const InputFile& input_;
  const LoadOptions& options_;
  const Progress& progress_;
  Scene scene_;
  std::exception_ptr failure_;
};

}  // namespace raylift
