// SPDX-License-Identifier: Apache-2.0
#include "draw/passes/solid_passes.h"

#include <algorithm>
#include <array>
#include <string>

#include "draw/gl/gl_state.h"
#include "model/colors/palette.h"

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
  for (const Look look : {Look::solid, Look::edged}) canvas.draw_points(look, "");
  canvas.pace.piece([&] { canvas.draw_caps(""); });
  if (!canvas.has_edges()) return;
  glDepthFunc(GL_GEQUAL);
  canvas.draw_edges();
  glDepthFunc(GL_GREATER);
}

/// The rectangle of pixels that shows a box, and so many around it: left, lowest row, columns, rows.
std::array<int, 4> pixels_around(const Camera& camera, const Bounds& box, const Resolution& size, double margin) {
  const double aspect = static_cast<double>(size.width) / size.height;
  Eigen::Array2d low(1, 1), high(-1, -1);
  for (const Eigen::Vector3d& corner : box_corners(box)) {
    const Eigen::Vector3d p = camera.project(corner, aspect);
    if (!camera.orthographic && p.z() <= 0) return {0, 0, size.width, size.height};  // it reaches behind the eye
    low = low.min(p.head<2>().array());
    high = high.max(p.head<2>().array());
  }
  const auto pixel = [](double place, int pixels, double more) {
    return static_cast<int>(std::clamp((0.5 + 0.5 * place) * pixels + more, 0.0, 1.0 * pixels));
  };
  const int left = pixel(low.x(), size.width, -margin), right = pixel(high.x(), size.width, margin);
  const int below = pixel(low.y(), size.height, -margin), above = pixel(high.y(), size.height, margin);
  return {left, below, std::max(0, right - left), std::max(0, above - below)};
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
    for (const Look look : {Look::solid, Look::edged}) canvas.draw_points(look, "#define BLENDED\n");
    canvas.pace.piece([&] { canvas.draw_caps("#define BLENDED\n"); });
  }
  if (glass) {
    canvas.program.use("#define BLENDED\n#define GLASS\n" + smooth);
    canvas.draw(Look::glass);
    canvas.draw_points(Look::glass, "#define BLENDED\n#define GLASS\n");
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

void MarkPass::draw(const Canvas& canvas) {
  draw(canvas, Mark::found);
  draw(canvas, Mark::selected);
}

void MarkPass::draw(const Canvas& canvas, Mark mark) {
  if (!canvas.scene.has_marked(mark)) return;
  const Resolution& size = canvas.target.size;
  if (!mask_.target) mask_ = MaskTarget(size);
  glBindFramebuffer(GL_FRAMEBUFFER, mask_.target.name());
  mask_.clear();
  canvas.set_frame();
  enable_clipping(canvas.settings);
  canvas.program.use("#define MASK\n");
  canvas.scene.draw_marked(mark);
  disable_clipping();
  canvas.target.bind();
  const float width = std::max(2.0F, static_cast<float>(size.height) / 360.0F);
  // Only around the solids: each fragment reads many texels.
  const auto [left, below, columns, rows] =
      pixels_around(canvas.camera, canvas.scene.marked_bounds(mark), size, static_cast<double>(width) + 3);
  glEnable(GL_SCISSOR_TEST);
  glScissor(left, below, columns, rows);
  outline_.use();
  glUniform1f(0, width);
  glUniform3fv(1, 1, (mark == Mark::selected ? kSelectionColor : kFoundColor).data());
  glBindTextureUnit(0, mask_.mask.name());
  blend_over();
  outline_.draw();
  glDisable(GL_BLEND);
  glDisable(GL_SCISSOR_TEST);
}

}  // namespace raylift::viewer
