// SPDX-License-Identifier: Apache-2.0
// The passes of solids: opaque surfaces with their edges and caps, surfaces that are blended with what lies behind
// them, faint solids, and the outline of the selected one. Needs a current context.
#pragma once

#include "draw/gl/shaders.h"
#include "draw/passes/canvas.h"
#include "draw/passes/screen_passes.h"

namespace raylift::viewer {

/// Draws opaque surfaces with their edges and caps, and wireframes, into the bound target, with its depth test.
void draw_opaque(const Canvas& canvas);

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

/// The outlines of marked solids, over all others.
class MarkPass {
 public:
  /// Draws into the bound target, which is the canvas's. Throws Error: out_of_device_memory, device.
  void draw(const Canvas& canvas);
  /// Frees the mask, which has the image's size.
  void release() { mask_ = MaskTarget(); }

 private:
  void draw(const Canvas& canvas, Mark mark);

  ScreenProgram outline_{shaders::outline_fragment};
  MaskTarget mask_;  // made by the first mark
};

}  // namespace raylift::viewer
