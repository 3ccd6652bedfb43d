// SPDX-License-Identifier: Apache-2.0
// Settings that shaders and kernels also use. Compiles as device code.
#pragma once

#include <cstdint>

namespace raylift::viewer {

enum class ColorBy : std::uint8_t { material, solid, mesh, residency, normal, surface, hits, first_hit };
/// The minimum opacity of surfaces and of light.
inline constexpr double kMinOpacity = 0.01;
/// How a solid is drawn: the values of Renderer::set_looks().
enum class Look : std::uint8_t {
  hidden,
  solid,
  faint,
  open,   ///< as solid, without caps where a clipping plane cuts it
  lines,  ///< its triangles' edges alone
  edged,  ///< as solid, with its triangles' edges
  glass,  ///< transparent
};
/// The style that the user gives a solid: none, faint, transparent, lines, with edges.
enum class Style : std::uint8_t { plain, ghost, glass, wireframe, edges };
/// How solids that enclose nearly all others are drawn.
enum class Shells : std::uint8_t { faint, solid, hidden };
/// The quantity that ray casting shows; off: the image is rasterised.
enum class RayMode : std::uint8_t { off, shaded, depth, normal, solid, crossings };

}  // namespace raylift::viewer
