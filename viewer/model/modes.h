// SPDX-License-Identifier: Apache-2.0
// Settings that shaders and kernels use too. Compiles as device code.
#pragma once

#include <cstdint>

namespace raylift::viewer {

enum class ColorBy : std::uint8_t { material, solid, mesh, residency, normal, surface, hits, first_hit };
/// Of surfaces and of light.
inline constexpr double kMinOpacity = 0.01;
/// How a solid is drawn. Its values are what Renderer::set_looks() takes.
enum class Look : std::uint8_t {
  hidden,
  solid,
  faint,
  open,   ///< as solid, but nothing closes it where a clipping plane cuts it
  lines,  ///< its triangles' edges alone
  edged,  ///< as solid, with its triangles' edges
  glass,  ///< transparent
};
/// How somebody wants a solid to be drawn: as all are, or faintly, transparent, as lines, with its edges.
enum class Style : std::uint8_t { plain, ghost, glass, wireframe, edges };
/// How solids are drawn that enclose nearly all others.
enum class Shells : std::uint8_t { faint, solid, hidden };
enum class Fill : std::uint8_t { surface, wireframe };
/// What ray casting shows; off: the image is rasterised.
enum class RayMode : std::uint8_t { off, shaded, depth, normal, solid, crossings };

}  // namespace raylift::viewer
