// SPDX-License-Identifier: Apache-2.0
// The passes of what is blended with what lies behind it: transparent surfaces, and solids that are drawn faintly.
// Needs a current context.
#pragma once

#include "draw/canvas.h"
#include "draw/screen_program.h"
#include "draw/shaders.h"

namespace raylift::viewer {

/// Transparent surfaces in any order (McGuire, Bavoil, "Weighted Blended Order-Independent Transparency", JCGT 2(2),
/// 2013): all of them, or those of glass.
class BlendedPass {
 public:
  /// Draws into the bound target, with its depth test.
  void draw(const Canvas& canvas);

 private:
  ScreenProgram composite_{shaders::composite_fragment};
};

/// Draws faint solids, which hide nothing, into the bound target, with its depth test.
void draw_faint(const Canvas& canvas);

}  // namespace raylift::viewer
