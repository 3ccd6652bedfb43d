// SPDX-License-Identifier: Apache-2.0
// Settings that shaders and kernels use too. Compiles as device code.
#pragma once

#include <cstdint>

namespace raylift::viewer {

enum class ColorBy : std::uint8_t { material, solid, mesh, residency, normal, surface };
enum class Fill : std::uint8_t { surface, wireframe };
/// What ray casting shows; off: the image is rasterised.
enum class RayMode : std::uint8_t { off, shaded, depth, normal, solid, crossings };

}  // namespace raylift::viewer
