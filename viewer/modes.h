// SPDX-License-Identifier: Apache-2.0
// The choices that shaders and kernels know too; for device code as well.
#pragma once

#include <cstdint>

namespace raylift::viewer {

enum class ColorBy : std::uint8_t { material, solid, mesh, residency, normal };
enum class Fill : std::uint8_t { surface, wireframe };
/// What the ray-cast picture shows; off: the picture is rasterised.
enum class RayMode : std::uint8_t { off, shaded, depth, normal, solid, crossings };

}  // namespace raylift::viewer
