// SPDX-License-Identifier: Apache-2.0
// The pass of axes, scale bar, measured distances and legends. Needs a current context.
#pragma once

#include <utility>
#include <vector>

#include "draw/canvas.h"
#include "draw/gl_objects.h"
#include "model/legend.h"

namespace raylift::viewer {

class OverlayPass {
 public:
  OverlayPass();
  /// The legends that draw() draws.
  void set_legends(std::vector<Legend> legends) { legends_ = std::move(legends); }
  /// Draws into the bound target, which is the canvas's.
  void draw(const Canvas& canvas);

 private:
  Program program_;
  VertexArray array_;
  Buffer vertices_;
  std::vector<Legend> legends_;
};

}  // namespace raylift::viewer
