// SPDX-License-Identifier: Apache-2.0
// What covers the whole image: programs over one triangle, the background, images in place of the scene, and over it
// axes, scale bar, measured distances and legends. Needs a current context.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "draw/gl/gl_objects.h"
#include "draw/gl/render_targets.h"
#include "draw/gl/shaders.h"
#include "draw/overlay/overlay_triangles.h"
#include "draw/passes/canvas.h"
#include "model/colors/legend.h"
#include "model/settings/settings.h"

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

/// The background, and images in place of the scene.
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

/// Axes, scale bar, measured distances and legends.
class OverlayPass {
 public:
  OverlayPass();
  /// The legends that draw() draws.
  void set_legends(std::vector<Legend> legends) { legends_ = std::move(legends); }
  [[nodiscard]] const std::vector<Legend>& legends() const { return legends_; }
  /// Draws into the bound target, which is the canvas's.
  void draw(const Canvas& canvas);

 private:
  /// Puts new letters into the texture, and binds it.
  void keep_letters();

  Program program_;
  VertexArray array_;
  Buffer vertices_;
  GlyphImage letters_;
  Texture texture_;                 // the letters
  std::uint64_t kept_letters_ = 0;  // their version in the texture
  std::vector<Legend> legends_;
};

}  // namespace raylift::viewer
