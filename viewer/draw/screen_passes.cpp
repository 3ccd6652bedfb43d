// SPDX-License-Identifier: Apache-2.0
#include "draw/screen_passes.h"

#include "draw/gl_state.h"

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

}  // namespace raylift::viewer
