// SPDX-License-Identifier: Apache-2.0
// Light that compute shaders draw: the nearest of it in each sample of an image, found by atomic operations and then
// laid over the scene by its depth. All of a GPU computes, where few of its processors may draw. Needs a current
// context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "draw/gl/gl_objects.h"

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
  /// The defines of this canvas's shaders.
  [[nodiscard]] std::string defines() const;
  /// Draws `count` lines or discs with the current program, light_compute: their depths, and after all depths, with
  /// `painting`, the colours of the nearest.
  void draw(std::uint32_t count, bool painting) const;
  /// Must be called between the drawing of depths and that of colours.
  static void wait();
  /// Draws the light over the bound framebuffer, with its depth test.
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
