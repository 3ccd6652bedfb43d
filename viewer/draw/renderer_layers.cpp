// SPDX-License-Identifier: Apache-2.0
// The layers that the renderer lays over the background or the scene: images of other makers, the outline of the
// selection, axes and scale bar.
#include <algorithm>
#include <array>

#include "draw/renderer.h"
#include "draw/shaders.h"
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

void enable_clipping(const Settings& settings) {
  const std::size_t count = settings.cuts_away() ? 0 : settings.planes().size();
  for (std::size_t i = 0; i != count; ++i) glEnable(GL_CLIP_DISTANCE0 + static_cast<GLenum>(i));
}

void disable_clipping() {
  for (std::size_t i = 0; i != kMaxPlanes; ++i) glDisable(GL_CLIP_DISTANCE0 + static_cast<GLenum>(i));
}

void blend_over() {
  glEnable(GL_BLEND);
  glBlendFuncSeparate(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA, GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
}

void Renderer::draw_image(const ForeignImage& image) {
  if (!foreign_) foreign_ = make_program(shaders::screen_vertex, shaders::image_fragment, shaders::srgb_curve);
  glUseProgram(foreign_.name());
  glUniform2f(0, static_cast<float>(resolution_.width), static_cast<float>(resolution_.height));
  glBindTextureUnit(0, image.texture);
  glBindVertexArray(empty_.name());
  blend_over();
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glDisable(GL_BLEND);
}

void Renderer::draw_scaled() {
  if (!scaled_) scaled_ = make_program(shaders::screen_vertex, shaders::scaled_fragment);
  glUseProgram(scaled_.name());
  glBindTextureUnit(0, coarse_.resolved_color.name());
  glBindVertexArray(empty_.name());
  glEnable(GL_BLEND);
  glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glDisable(GL_BLEND);
}

void Renderer::draw_selection(const Camera& camera, const Settings& settings) {
  if (!outline_) outline_ = make_program(shaders::screen_vertex, shaders::outline_fragment, shaders::srgb_curve);
  if (!mask_.target) mask_ = MaskTarget(resolution_);
  glBindFramebuffer(GL_FRAMEBUFFER, mask_.target.name());
  mask_.clear();
  set_frame(camera, settings);
  enable_clipping(settings);
  glUseProgram(program("#define MASK\n").name());
  glBindBufferBase(GL_UNIFORM_BUFFER, 0, frame_.name());
  scene_.draw_selected();
  disable_clipping();
  bind_canvas();
  const float width = std::max(2.0F, static_cast<float>(resolution_.height) / 360.0F);
  // Only around the solid: each pixel there looks at its surroundings.
  const auto [left, below, columns, rows] =
      pixels_around(camera, scene_.selected_bounds(), resolution_, static_cast<double>(width) + 3);
  glEnable(GL_SCISSOR_TEST);
  glScissor(left, below, columns, rows);
  glUseProgram(outline_.name());
  glUniform1f(0, width);
  glUniform3fv(1, 1, kSelectionColor.data());
  glBindTextureUnit(0, mask_.mask.name());
  glBindVertexArray(empty_.name());
  blend_over();
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glDisable(GL_BLEND);
  glDisable(GL_SCISSOR_TEST);
}

void Renderer::draw_overlay(const Overlay& overlay) {
  if (overlay.empty()) return;
  overlay_buffer_ = make_buffer(std::span<const OverlayVertex>(overlay));
  glVertexArrayVertexBuffer(overlay_array_.name(), 0, overlay_buffer_.name(), 0, sizeof(OverlayVertex));
  glUseProgram(overlay_.name());
  glUniform2f(0, static_cast<float>(resolution_.width), static_cast<float>(resolution_.height));
  glBindVertexArray(overlay_array_.name());
  blend_over();
  glDrawArrays(GL_TRIANGLES, 0, static_cast<GLsizei>(overlay.size()));
  glDisable(GL_BLEND);
}

}  // namespace raylift::viewer
