// SPDX-License-Identifier: Apache-2.0
#include "draw/screen_program.h"

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

}  // namespace raylift::viewer
