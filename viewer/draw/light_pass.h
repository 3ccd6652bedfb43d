// SPDX-License-Identifier: Apache-2.0
// The pass of light: with the scene, or over the scene as it was kept. Needs a current context.
#pragma once

#include "draw/canvas.h"
#include "draw/kept_scene.h"
#include "draw/photon_layer.h"
#include "draw/screen_passes.h"
#include "draw/shaders.h"

namespace raylift::viewer {

class LightPass {
 public:
  [[nodiscard]] PhotonLayer& photons() { return photons_; }
  [[nodiscard]] const PhotonLayer& photons() const { return photons_; }

  /// Draws into the bound target, with its depth test.
  void draw(const Canvas& canvas);
  /// The same, where there is so little light that it takes no time.
  void draw_little(const Canvas& canvas);
  /// Draws the kept scene, light over it, and faint solids again where there is light.
  void draw_over(const KeptScene& kept, const Canvas& canvas);
  /// Draws the selected photon over all else.
  void draw_selected(const Canvas& canvas);

 private:
  PhotonLayer photons_;
  ScreenProgram lit_depth_{shaders::lit_depth_fragment};
};

}  // namespace raylift::viewer
