// SPDX-License-Identifier: Apache-2.0
// The passes that cover the whole image: the background, and images in place of the scene. Needs a current context.
#pragma once

#include "draw/render_targets.h"
#include "draw/screen_program.h"
#include "draw/shaders.h"
#include "model/settings.h"

namespace raylift::viewer {

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
