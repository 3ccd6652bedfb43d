// SPDX-License-Identifier: Apache-2.0
// The files of an import, as Assimp's importers open them: the input, which is open already, and others beside it.
#pragma once

#include <assimp/DefaultIOSystem.h>
#include <raylift/geometry/scene/scene.h>

#include <filesystem>
#include <vector>

#include "input_file.h"

namespace raylift {

class SceneFiles : public Assimp::DefaultIOSystem {
 public:
  /// Appends the files that are opened beside or beneath the input to `others`, which outlives this.
  SceneFiles(const InputFile& input, std::vector<Scene::SourceFile>& others);

  bool Exists(const char* name) const override;
  Assimp::IOStream* Open(const char* name, const char* mode) override;

 private:
  const InputFile& input_;
  std::filesystem::path scene_;  // absolute
  std::vector<Scene::SourceFile>& others_;
};

}  // namespace raylift
