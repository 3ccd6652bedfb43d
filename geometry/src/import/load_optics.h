// SPDX-License-Identifier: Apache-2.0
// The steps of load(): what one process imports, and the optics of other files that are laid over it.
#pragma once

#include <raylift/geometry/import/load.h>

#include <filesystem>
#include <optional>

#include "input_file.h"

namespace raylift {

/// What a scene is made of: its own file and, unless null, the sidecar or GDML file that is laid over its optics.
struct SceneInputs {
  const InputFile& scene;
  const InputFile* optics = nullptr;
};

/// Opens optics_file(), where there is one. Throws Error as load() does.
[[nodiscard]] std::optional<InputFile> open_optics(const std::filesystem::path& path, const LoadOptions& options);
/// Whether the file refers to others in its folder, as sidecars do.
[[nodiscard]] bool has_files_below(const InputFile& optics);

/// load() in this process, with the files open.
[[nodiscard]] Scene import_scene(const SceneInputs& inputs, const LoadOptions& options, const Progress& progress);

/// Lays `optics`, unless null, over the scene's own optics, checks the whole, and resolves it. Throws Error as load()
/// does.
void finish_optics(Scene& scene, const InputFile* optics, const LoadOptions& options);

}  // namespace raylift
