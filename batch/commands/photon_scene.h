// SPDX-License-Identifier: Apache-2.0
// A scene with optics on one device or several, ready for photons: for the commands that simulate light.
#pragma once

#include <raylift/geometry/progress.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <array>
#include <cstdint>
#include <vector>

#include "batch/actions/photon_options.h"
#include "cli/session.h"

namespace raylift::batch {

/// On one device, or the same arrays on several; with the scene's names and warnings. `scene` becomes its outline.
/// Throws Error: what loading and uploading do; malformed without optics, unsupported.
[[nodiscard]] std::vector<GpuGeometry> upload_scene(cli::Session& session, const PhotonSceneOptions& options,
                                                    const Progress& progress, Scene& scene);

/// All that the arrays on the device depend on: the contents of the scene's files, and the options. Two programs with
/// the same digest simulate the same photons. `scene` is the loaded one, or its outline.
[[nodiscard]] std::array<std::uint8_t, 32> geometry_digest(const PhotonSceneOptions& options, const Scene& scene,
                                                           const Progress& progress);

}  // namespace raylift::batch
