// SPDX-License-Identifier: Apache-2.0
#include "draw/blended_pass.h"

#include <string>

#include "draw/gl_state.h"

namespace raylift::viewer {

void BlendedPass::draw(const Canvas& canvas) {
  const bool all = canvas.blends_all(), glass = canvas.scene.draws(Look::glass);
  if (!all && !(glass && canvas.draws_surfaces())) return;
  const BlendTarget& sums = canvas.target.blend_target();
  glBindFramebuffer(GL_FRAMEBUFFER, sums.target.name());
  canvas.pace.piece([&] { sums.clear(); });
  enable_clipping(canvas.settings);
  glDepthMask(GL_FALSE);
  glEnable(GL_BLEND);
  glBlendFunci(0, GL_ONE, GL_ONE);
  glBlendFunci(1, GL_ZERO, GL_ONE_MINUS_SRC_COLOR);
  const std::string smooth = canvas.settings.smooth ? "#define SMOOTH\n" : "";
  if (all) {
    canvas.program.use("#define BLENDED\n" + smooth);
    canvas.draw(Look::solid);
    canvas.draw(Look::edged);
    canvas.pace.piece([&] { canvas.draw_caps("#define BLENDED\n"); });
  }
  if (glass) {
    canvas.program.use("#define BLENDED\n#define GLASS\n" + smooth);
    canvas.draw(Look::glass);
  }
  glDepthMask(GL_TRUE);
  glDisable(GL_DEPTH_TEST);
  disable_clipping();
  canvas.pace.piece([&] {
    sums.resolve(canvas.target.size);
    canvas.target.bind();
    composite_.use();
    glBindTextureUnit(0, sums.resolved_accumulated.name());
    glBindTextureUnit(1, sums.resolved_revealage.name());
    blend_over();
    composite_.draw();
  });
  canvas.target.bind();
  glDisable(GL_BLEND);
  if (all && canvas.has_edges()) {
    enable_clipping(canvas.settings);
    canvas.draw_edges();
    disable_clipping();
  }
  glEnable(GL_DEPTH_TEST);
}

void draw_faint(const Canvas& canvas) {
  if (!canvas.scene.draws(Look::faint)) return;
  enable_clipping(canvas.settings);
  glDepthMask(GL_FALSE);
  blend_over();
  if (canvas.draws_surfaces()) {
    canvas.program.use(canvas.settings.smooth ? "#define FAINT\n#define SMOOTH\n" : "#define FAINT\n");
    canvas.draw(Look::faint);
  }
  canvas.program.use("#define FAINT\n#define LINES\n");
  canvas.scene.draw_feature_edges(Look::faint, canvas.pace);
  glDisable(GL_BLEND);
  glDepthMask(GL_TRUE);
  disable_clipping();
}

}  // namespace raylift::viewer
