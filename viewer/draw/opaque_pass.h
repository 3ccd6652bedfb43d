// SPDX-License-Identifier: Apache-2.0
// The pass of opaque surfaces with their edges and caps, and of wireframes. Needs a current context.
#pragma once

#include "draw/canvas.h"

namespace raylift::viewer {

/// Draws into the bound target, with its depth test.
void draw_opaque(const Canvas& canvas);

}  // namespace raylift::viewer
