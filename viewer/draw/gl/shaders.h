// SPDX-License-Identifier: Apache-2.0
// The GLSL of the renderer. Defines choose between its variants; see Renderer::program.
#pragma once

#include <string_view>

namespace raylift::viewer::shaders {

/// to_linear() and to_srgb(), between sRGB and linear light. It comes before the sources that have colours.
extern const std::string_view srgb_curve;
/// The uniform block of an image: camera, clipping planes and modes. It comes before the sources of the scene and of
/// photons.
extern const std::string_view frame_block;
/// The buffer of instances, for the scene's vertices and fragments.
extern const std::string_view instances_block;
/// The scene's vertices: instances out of a buffer, positions relative to the eye.
extern const std::string_view scene_vertex;
/// Vertices of caps, whose fragments are the scene's with CAPS defined.
extern const std::string_view cap_vertex;
/// The scene's fragments. FETCH: their slot is read from its buffer, by its number, instead of from vertices' outputs;
/// SMOOTH: with vertex normals; EDGES: lines over surfaces; IDS: instance + 1 and triangle; BLENDED: weighted, for
/// transparency without sorting; FAINT: hardly visible, with LINES the outline; MASK: 1. COLOR_BY, DRAWN_FLAGS: the
/// frame's values as constants, for renderers that would otherwise execute every branch.
extern const std::string_view scene_fragment;
/// A triangle that covers the image.
extern const std::string_view screen_vertex;
/// The background.
extern const std::string_view background_fragment;
/// Composites the transparent layers over the image.
extern const std::string_view composite_fragment;
/// Composites a foreign image over the background.
extern const std::string_view image_fragment;
/// Composites an image of fewer pixels over the background.
extern const std::string_view scaled_fragment;
/// The outline of the selected solid, around its mask.
extern const std::string_view outline_fragment;
/// Coloured triangles in pixel coordinates: axes, scale bar, text.
extern const std::string_view overlay_vertex;
extern const std::string_view overlay_fragment;

/// The common part of photons' shaders, after frame_block. LIGHT_BY: the number of the PhotonColor.
extern const std::string_view photon_block;
/// Photons: their steps, by lines, with WHOLE at any time, or with WIDE by triangles; HEADS: where light is on each
/// step now; POINTS: their ends. IDS: their rows.
extern const std::string_view photon_vertex;
extern const std::string_view photon_fragment;
/// The depth of light where there is some, which is where it differs from that of the scene; else the nearest one.
extern const std::string_view lit_depth_fragment;

/// The place of a pixel's samples in LightCells, before the two sources that follow. SAMPLES: how many a pixel has.
extern const std::string_view cell_block;
/// Photons, after photon_block: with LINES their steps, with THIN of one pixel and sample; with HEADS where light is on
/// each now; else their ends.
extern const std::string_view light_compute;
/// The cells' light and depth.
extern const std::string_view cells_fragment;

}  // namespace raylift::viewer::shaders
