// SPDX-License-Identifier: Apache-2.0
// What covers the whole image: programs over one triangle, the background, and images in place of the scene. Needs a
// current context.
#pragma once

#include <string_view>

#include "draw/gl_objects.h"
#include "draw/render_targets.h"
#include "draw/shaders.h"
#include "model/settings.h"

namespace raylift::viewer {

/// A program whose fragments are those of one triangle over the whole image.
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

class ScreenPasses {
 public:
  /// Clears the bound target, and draws the background.
  void draw_background(const Background& background);
  /// Blends an image over the target.
  void draw_image(const ForeignImage& image, const Resolution& target);
  /// Blends a resolved image of fewer pixels over the target.
  void draw_scaled(const ImageTarget& coarse);

 private:
  ScreenProgram background_{shaders::background_fragment}, foreign_{shaders::image_fragment},
      scaled_{shaders::scaled_fragment};
};

}  // namespace raylift::viewer
