// SPDX-License-Identifier: Apache-2.0
// raylift's importer of COLLADA, which an Assimp::Importer runs.
#pragma once

#include <assimp/BaseImporter.h>
#include <raylift/geometry/import/load.h>

#include <exception>
#include <string>

#include "input_file.h"

namespace raylift {

/// Reads .dae, .zae and .dae.gz in double precision, after a preflight. The aiScene that Assimp gets has a root node
/// alone: the meshes, nodes and materials are in a Scene beside it, so that nothing is converted twice.
class ColladaImporter : public Assimp::BaseImporter {
 public:
  /// The arguments must outlive this.
  ColladaImporter(const InputFile& input, const LoadOptions& options, const Progress& progress)
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
  [[nodiscard]] Scene read() const;

  const InputFile& input_;
  const LoadOptions& options_;
  const Progress& progress_;
  Scene scene_;
  std::exception_ptr failure_;
};

}  // namespace raylift
