// SPDX-License-Identifier: Apache-2.0
#include "draw/passes/screen_passes.h"

#include <cstddef>
#include <span>
#include <vector>

#include "draw/gl/gl_state.h"
#include "draw/gl/shaders.h"
#include "draw/overlay/legends.h"
#include "draw/overlay/overlay.h"
#include "draw/overlay/overlay_triangles.h"

namespace raylift::viewer {

void ScreenProgram::use() {
  if (!program_) {
    program_ = make_program(shaders::screen_vertex, fragment_, shaders::srgb_curve);
    empty_ = make_vertex_array();
  }
  glUseProgram(program_.name());
}

void ScreenProgram::draw() const {
  glBindVertexArray(empty_.name());
  glDrawArrays(GL_TRIANGLES, 0, 3);
}

void ScreenPasses::draw_background(const Background& background) {
  glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
  if (background.transparent) return;
  background_.use();
  glUniform3fv(0, 1, background.top.data());
  glUniform3fv(1, 1, background.bottom.data());
  background_.draw();
}

void ScreenPasses::draw_image(const ForeignImage& image, const Resolution& target) {
  foreign_.use();
  glUniform2f(0, static_cast<float>(target.width), static_cast<float>(target.height));
  glBindTextureUnit(0, image.texture);
  blend_over();
  foreign_.draw();
  glDisable(GL_BLEND);
}

void ScreenPasses::draw_scaled(const ImageTarget& coarse) {
  scaled_.use();
  glBindTextureUnit(0, coarse.resolved_color.name());
  glEnable(GL_BLEND);
  glBlendFunc(GL_ONE, GL_ONE_MINUS_SRC_ALPHA);
  scaled_.draw();
  glDisable(GL_BLEND);
}

OverlayPass::OverlayPass()
    : program_(make_program(shaders::overlay_vertex, shaders::overlay_fragment, shaders::srgb_curve)),
      array_(make_vertex_array()),
      vertices_(make_stream_buffer()) {
  const auto attribute = [&](GLuint place, GLint size, std::size_t offset) {
    glEnableVertexArrayAttrib(array_.name(), place);
    glVertexArrayAttribFormat(array_.name(), place, size, GL_FLOAT, GL_FALSE, static_cast<GLuint>(offset));
    glVertexArrayAttribBinding(array_.name(), place, 0);
  };
  attribute(0, 2, offsetof(OverlayVertex, position));
  attribute(1, 4, offsetof(OverlayVertex, paint));
  attribute(2, 2, offsetof(OverlayVertex, edge));
  attribute(3, 1, offsetof(OverlayVertex, letter));
  glVertexArrayVertexBuffer(array_.name(), 0, vertices_.name(), 0, sizeof(OverlayVertex));
}

void OverlayPass::draw(const Canvas& canvas) {
  const auto [width, height] = canvas.target.size;
  Overlay overlay = make_overlay(canvas.camera, canvas.settings, width, height);
  add_legends(legends_, width, height, overlay, canvas.settings.background);
  if (overlay.empty()) return;
  const std::vector<OverlayVertex> triangles = overlay_triangles(overlay, letters_);
  if (triangles.empty()) return;
  refill(vertices_, std::span<const OverlayVertex>(triangles));
  keep_letters();
  glUseProgram(program_.name());
  glUniform2f(0, static_cast<float>(width), static_cast<float>(height));
  glBindVertexArray(array_.name());
  blend_over();
  glDrawArrays(GL_TRIANGLES, 0, static_cast<GLsizei>(triangles.size()));
  glDisable(GL_BLEND);
}

void OverlayPass::keep_letters() {
  if (!texture_) {
    texture_ = make_texture(GL_TEXTURE_2D);
    glTextureStorage2D(texture_.name(), 1, GL_R8, GlyphImage::kSide, GlyphImage::kSide);
    glTextureParameteri(texture_.name(), GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTextureParameteri(texture_.name(), GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    kept_letters_ = 0;
  }
  glBindTextureUnit(0, texture_.name());
  if (letters_.pixels().empty() || kept_letters_ == letters_.version()) return;
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glTextureSubImage2D(texture_.name(), 0, 0, 0, GlyphImage::kSide, GlyphImage::kSide, GL_RED, GL_UNSIGNED_BYTE,
                      letters_.pixels().data());
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  kept_letters_ = letters_.version();
}

}  // namespace raylift::viewer
