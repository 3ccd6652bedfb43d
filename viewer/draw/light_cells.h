// SPDX-License-Identifier: Apache-2.0
// Light that compute shaders draw: the nearest of it in each sample of an image, found by atomic operations and then
// laid over the scene by its depth. All of a GPU computes, where few of its processors may draw. Needs a current
// context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "draw/gl_objects.h"

namespace raylift::viewer {

/// Where light is drawn to.
struct LightCanvas {
  int width, height;
  int samples;
};

class LightCells {
 public:
  /// Whether OpenGL can address the cells of an image.
  [[nodiscard]] static bool fit(const LightCanvas& canvas);
  /// Empties the cells of an image. Errors: out_of_device_memory.
  void clear(const LightCanvas& canvas);
  /// What the shaders of this canvas are compiled with.
  [[nodiscard]] std::string defines() const;
  /// Draws so many things with the current program, light_compute: their depths, and once all have theirs, the colours
  /// of those that are nearest.
  void draw(std::uint32_t count, bool painting) const;
  /// To come between the drawing of all depths and that of all colours.
  static void wait();
  /// Lays the light over the framebuffer that is bound, with the depth test that is enabled.
  void lay_over();

 private:
  LightCanvas canvas_{0, 0, 1};
  Buffer depths_, paints_;
  std::size_t bytes_ = 0;  // of depths, and of paints
  VertexArray empty_;
  Program over_;
  int over_samples_ = 0;
};

}  // namespace raylift::viewer
