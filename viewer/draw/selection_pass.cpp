// SPDX-License-Identifier: Apache-2.0
#include "draw/selection_pass.h"

#include <algorithm>
#include <array>

#include "draw/gl_state.h"
#include "model/palette.h"

namespace raylift::viewer {
namespace {

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

void SelectionPass::draw(const Canvas& canvas) {
  if (!canvas.scene.has_selected()) return;
  const Resolution& size = canvas.target.size;
  if (!mask_.target) mask_ = MaskTarget(size);
  glBindFramebuffer(GL_FRAMEBUFFER, mask_.target.name());
  mask_.clear();
  canvas.set_frame();
  enable_clipping(canvas.settings);
  canvas.program.use("#define MASK\n");
  canvas.scene.draw_selected();
  disable_clipping();
  canvas.target.bind();
  const float width = std::max(2.0F, static_cast<float>(size.height) / 360.0F);
  // Only around the solid: each fragment reads many texels.
  const auto [left, below, columns, rows] =
      pixels_around(canvas.camera, canvas.scene.selected_bounds(), size, static_cast<double>(width) + 3);
  glEnable(GL_SCISSOR_TEST);
  glScissor(left, below, columns, rows);
  outline_.use();
  glUniform1f(0, width);
  glUniform3fv(1, 1, kSelectionColor.data());
  glBindTextureUnit(0, mask_.mask.name());
  blend_over();
  outline_.draw();
  glDisable(GL_BLEND);
  glDisable(GL_SCISSOR_TEST);
}

}  // namespace raylift::viewer
