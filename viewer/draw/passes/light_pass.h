// SPDX-License-Identifier: Apache-2.0
// The pass of light: with the scene, or over the scene as it was kept. Needs a current context.
#pragma once

#include <optional>

#include "draw/gl/shaders.h"
#include "draw/passes/canvas.h"
#include "draw/passes/screen_passes.h"
#include "draw/photons/photon_layer.h"

namespace raylift::viewer {

// The scene without light as it was drawn last, kept so that images of other light, or of another time, cost only the
// light.
//
//     unknown --begin()--> drawn --keep_whole()--> whole      begin() with another camera or other settings: drawn
//        ^------------------ forget() ---------------|
//
// Faint solids lie over light, and hide none of it. So two images are kept: the solids with their depth, which light is
// drawn over, and the whole, which is seen where there is no light.
class KeptScene {
 public:
  /// How an image of the scene and of light is drawn.
  enum class Use {
    none,    ///< scene and light together
    record,  ///< the scene, which is kept, then light over it
    reuse,   ///< light over the scene that was kept
  };

  /// The scene has changed: neither of the two that follow holds.
  void forget() { view_.reset(); }
  /// Whether the last image of the scene was of this camera and these settings, light aside.
  [[nodiscard]] bool is_drawn(const Camera& camera, const Settings& settings) const;
  /// Whether all of that image is kept as well.
  [[nodiscard]] bool is_kept(const Camera& camera, const Settings& settings) const {
    return is_whole() && is_drawn(camera, settings);
  }
  [[nodiscard]] bool is_whole() const { return view_ && view_->whole; }

  /// Begins an image, or a turn of it. `worth_keeping`: light is drawn much faster than the scene, and can be drawn
  /// over it. Throws Error: out_of_device_memory, device.
  [[nodiscard]] Use begin(const Canvas& canvas, bool worth_keeping);
  /// Keep what the target shows: the solids with their depth, and the whole.
  void keep_solids(const ImageTarget& from) const;
  void keep_whole(const ImageTarget& from);
  /// Copies the whole to the image, and the solids' depth to targets().light.
  void restore(const ImageTarget& to) const;
  [[nodiscard]] const KeptTarget& targets() const { return targets_; }

 private:
  struct View {
    Camera camera;
    Settings settings;
    bool whole = false;  // all of it is kept
  };
  std::optional<View> view_;
  KeptTarget targets_;  // made when they are first needed
};

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
