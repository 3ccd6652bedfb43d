// SPDX-License-Identifier: Apache-2.0
#include "draw/opaque_pass.h"

#include "draw/gl_state.h"

namespace raylift::viewer {
namespace {

void draw_surfaces(const Canvas& canvas) {
  canvas.program.use(canvas.settings.smooth ? "#define SMOOTH\n" : "");
  if (canvas.has_edges()) {
    // Offsets surfaces backward, so that their edges pass the depth test.
    glEnable(GL_POLYGON_OFFSET_FILL);
    glPolygonOffset(-1, -4);
  }
  canvas.draw(Look::solid);
  canvas.draw(Look::edged);
  glDisable(GL_POLYGON_OFFSET_FILL);
  canvas.pace.piece([&] { canvas.draw_caps(""); });
  if (!canvas.has_edges()) return;
  glDepthFunc(GL_GEQUAL);
  canvas.draw_edges();
  glDepthFunc(GL_GREATER);
}

}  // namespace

void draw_opaque(const Canvas& canvas) {
  enable_clipping(canvas.settings);
  if (canvas.scene.draws(Look::lines)) canvas.draw_lines(Look::lines);
  if (!canvas.draws_surfaces())
    for (const Look look : {Look::solid, Look::edged, Look::glass}) canvas.draw_lines(look);
  else if (!canvas.blends_all())
    draw_surfaces(canvas);
  disable_clipping();
}

}  // namespace raylift::viewer
