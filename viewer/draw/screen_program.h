// SPDX-License-Identifier: Apache-2.0
// A program whose fragments are those of one triangle over the whole image. Needs a current context.
#pragma once

#include <string_view>

#include "draw/gl_objects.h"

namespace raylift::viewer {

class ScreenProgram {
 public:
  /// `fragment`: one of the sources in shaders.h, which srgb_curve is put before.
  explicit ScreenProgram(std::string_view fragment) : fragment_(fragment) {}
  /// Makes the program current. The first call compiles it: throws Error(device).
  void use();
  /// Draws the triangle with the current program.
  void draw() const;

 private:
  std::string_view fragment_;
  Program program_;
  VertexArray empty_;
};

}  // namespace raylift::viewer
