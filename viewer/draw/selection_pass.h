// SPDX-License-Identifier: Apache-2.0
// The pass of the selected solid's outline, over all others. Needs a current context.
#pragma once

#include "draw/canvas.h"
#include "draw/screen_program.h"
#include "draw/shaders.h"

namespace raylift::viewer {

class SelectionPass {
 public:
  /// Draws into the bound target, which is the canvas's. Throws Error: out_of_device_memory, device.
  void draw(const Canvas& canvas);
  /// Frees the mask, which has the image's size.
  void release() { mask_ = MaskTarget(); }

 private:
  ScreenProgram outline_{shaders::outline_fragment};
  MaskTarget mask_;  // made by the first selection
};

}  // namespace raylift::viewer
