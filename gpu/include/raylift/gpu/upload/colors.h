// SPDX-License-Identifier: Apache-2.0
// Recolouring a scene on its device, as Chroma's GPUGeometry does. Colours are 0xAARRGGBB, the alpha inverted (00 is
// opaque). A flat scene has a colour for each triangle (GeometryView::colors), one in two levels for each solid
// (solid_colors); GeometryView::color reads either.
//
// Work is done in the stream's order. All three return once the stream is past it.
#pragma once

#include <raylift/gpu/upload/gpu_geometry.h>

#include <cstdint>
#include <span>

namespace raylift {

/// Sets all colours: of a flat scene's triangles, or of a two-level scene's solids, of which those with kMaterialColor
/// get their materials' colours. Throws Error(usage) for another number of colours.
void set_colors(GpuGeometry& geometry, std::span<const std::uint32_t> colors, StreamRef stream);

/// Gives some solids, by their ids, one colour. Throws Error(usage) for a solid that the geometry does not have.
void color_solids(GpuGeometry& geometry, std::span<const std::uint32_t> solids, std::uint32_t color, StreamRef stream);

/// Gives all their materials' colours, as after the upload of a scene. Throws Error(usage) for a flat scene without
/// material colours.
void reset_colors(GpuGeometry& geometry, StreamRef stream);

}  // namespace raylift
