// SPDX-License-Identifier: Apache-2.0
// OpenGL state that several passes set. Needs a current context.
#pragma once

#include <GL/glew.h>

#include <cstddef>

#include "model/settings/settings.h"

namespace raylift::viewer {

/// Enables `count` clip distances, and disables the others.
inline void enable_clip_distances(std::size_t count) {
  for (std::size_t i = 0; i != kMaxPlanes; ++i)
    (i < count ? glEnable : glDisable)(GL_CLIP_DISTANCE0 + static_cast<GLenum>(i));
}
/// Enables the clip distances of the settings' planes. A box that is cut away needs none: shaders discard what is in
/// it.
inline void enable_clipping(const Settings& settings) {
  enable_clip_distances(settings.cuts_away() ? 0 : settings.planes().size());
}
inline void disable_clipping() {
  enable_clip_distances(0);
}
/// Enables blending by alpha that is not multiplied in.
inline void blend_over() {
  glEnable(GL_BLEND);
  glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
}

}  // namespace raylift::viewer
