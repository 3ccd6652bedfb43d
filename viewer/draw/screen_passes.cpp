// SPDX-License-Identifier: Apache-2.0
#include "draw/screen_passes.h"

#include <cstddef>
#include <span>

#include "draw/gl_state.h"
#include "draw/legends.h"
#include "draw/overlay.h"
#include "draw/shaders.h"

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
  glVertexArrayVertexBuffer(array_.name(), 0, vertices_.name(), 0, sizeof(OverlayVertex));
}

void OverlayPass::draw(const Canvas& canvas) {
  const auto [width, height] = canvas.target.size;
  Overlay overlay = make_overlay(canvas.camera, canvas.settings, width, height);
  add_legends(legends_, width, height, overlay);
  if (overlay.empty()) return;
  refill(vertices_, std::span<const OverlayVertex>(overlay));
  glUseProgram(program_.name());
  glUniform2f(0, static_cast<float>(width), static_cast<float>(height));
  glBindVertexArray(array_.name());
  blend_over();
  glDrawArrays(GL_TRIANGLES, 0, static_cast<GLsizei>(overlay.size()));
  glDisable(GL_BLEND);
}

}  // namespace raylift::viewer
