// SPDX-License-Identifier: Apache-2.0
#include "draw/passes/canvas.h"

#include <vector>

#include "draw/gl/gl_state.h"

namespace raylift::viewer {

void Canvas::set_frame() const {
  program.set_frame(camera, settings, full, target.size.height, scene);
  scene.cut_at(settings.caps && draws_surfaces() ? settings.planes() : std::vector<ClipPlane>());
}

void Canvas::draw_points(Look look, const std::string& variant) const {
  if (!scene.has_points(look)) return;  // the variant need not be compiled
  program.use("#define POINTS\n" + variant);
  scene.draw_points(look);
}

void Canvas::draw_lines(Look look, const std::string& variant) const {
  program.use(settings.feature_edges ? "#define LINES\n" + variant : variant);
  if (settings.feature_edges) {
    scene.ensure_feature_edges(look);
    return scene.draw_feature_edges(look, pace);
  }
  glPolygonMode(GL_FRONT_AND_BACK, GL_LINE);
  draw(look);
  glPolygonMode(GL_FRONT_AND_BACK, GL_FILL);
}

void Canvas::draw_edges() const {
  blend_over();
  if (settings.edges) draw_lines(Look::solid, "#define EDGES\n");
  draw_lines(Look::edged, "#define EDGES\n");
  glDisable(GL_BLEND);
}

void Canvas::draw_caps(const std::string& variant) const {
  if (!scene.has_caps()) return;  // the variant need not be compiled
  program.use("#define CAPS\n" + variant);
  // The caps of a box that is cut away end at its edges.
  if (settings.cuts_away()) enable_clip_distances(kMaxPlanes);
  scene.draw_caps();
  if (settings.cuts_away()) disable_clipping();
}

}  // namespace raylift::viewer
