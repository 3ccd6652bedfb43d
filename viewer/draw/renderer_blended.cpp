// SPDX-License-Identifier: Apache-2.0
// What the renderer blends with what lies behind it: transparent surfaces, and solids that are drawn faintly.
#include <string>

#include "draw/renderer.h"
#include "draw/shaders.h"

namespace raylift::viewer {

void Renderer::draw_blended(const Settings& settings, bool all) {
  if (!composite_) composite_ = make_program(shaders::screen_vertex, shaders::composite_fragment);
  if (!blended_.target || blended_for_ != canvas_) {
    blended_ = BlendTarget();
    blended_ = BlendTarget(canvas_.size, canvas_.samples, canvas_.target->depth);
    blended_for_ = canvas_;
  }
  glBindFramebuffer(GL_FRAMEBUFFER, blended_.target.name());
  draw_piece(pace_, [&] { blended_.clear(); });
  glDepthMask(GL_FALSE);
  glEnable(GL_BLEND);
  glBlendFunci(0, GL_ONE, GL_ONE);
  glBlendFunci(1, GL_ZERO, GL_ONE_MINUS_SRC_COLOR);
  const std::string smooth = settings.smooth ? "#define SMOOTH\n" : "";
  if (all) {
    glUseProgram(program("#define BLENDED\n" + smooth).name());
    draw_scene();
    draw_scene(Look::edged);
    draw_piece(pace_, [&] { draw_caps("#define BLENDED\n"); });
  }
  if (scene_.draws(Look::glass)) {
    glUseProgram(program("#define BLENDED\n#define GLASS\n" + smooth).name());
    draw_scene(Look::glass);
  }
  glDepthMask(GL_TRUE);
  glDisable(GL_DEPTH_TEST);
  disable_clipping();
  draw_piece(pace_, [&] { draw_composite(); });
  bind_canvas();
  glDisable(GL_BLEND);
  enable_clipping(settings);
  if (all && (settings.edges || scene_.draws(Look::edged))) draw_edges(settings);
  glEnable(GL_DEPTH_TEST);
}

void Renderer::draw_composite() {
  blended_.resolve(canvas_.size);
  bind_canvas();
  glUseProgram(composite_.name());
  glBindTextureUnit(0, blended_.resolved_accumulated.name());
  glBindTextureUnit(1, blended_.resolved_revealage.name());
  glBindVertexArray(empty_.name());
  blend_over();
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

void Renderer::draw_faint(const Settings& settings) {
  enable_clipping(settings);
  // Hidden by what is solid, and hiding nothing.
  glDepthMask(GL_FALSE);
  blend_over();
  if (settings.fill == Fill::surface) {
    glUseProgram(program(settings.smooth ? "#define FAINT\n#define SMOOTH\n" : "#define FAINT\n").name());
    draw_scene(Look::faint);
  }
  glUseProgram(program("#define FAINT\n#define LINES\n").name());
  glBindBufferBase(GL_UNIFORM_BUFFER, 0, frame_.name());
  scene_.draw_feature_edges(Look::faint, pace_);
  glDisable(GL_BLEND);
  glDepthMask(GL_TRUE);
}

}  // namespace raylift::viewer
