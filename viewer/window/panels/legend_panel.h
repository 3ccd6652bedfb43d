// SPDX-License-Identifier: Apache-2.0
// The image's legend, as a panel has it. Dear ImGui.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "model/colors/color_map.h"
#include "state/control_target.h"
#include "state/frame_scheduler.h"
#include "state/viewer_state.h"

namespace raylift::viewer {

class LegendPanel {
 public:
  /// Makes the legends of the image as it is now; whether there are some.
  [[nodiscard]] bool update(const ViewerState& state, const FrameScheduler& frames);
  /// Within a panel. Opens the editor of the scale that the layout asks for, and clears that.
  void draw(ViewerState& state, WindowLayout& layout) const;

 private:
  /// The legend's input.
  struct Key {
    const Scene* scene = nullptr;
    std::uint64_t looks = 0, own_colors = 0;
    ColorBy color = ColorBy::material;
    RayMode rays = RayMode::off;
    std::optional<std::pair<double, double>> depths;
    std::uint64_t light = 0;  // which photons
    PhotonColor light_color = PhotonColor::wavelength;
    LightShown shown;
    ScaleSettings scale, light_scale;
    Ground ground;
    // What surfaces are covered by follows from these.
    std::vector<ClipPlane> planes;
    bool seen_through = false;
    std::optional<std::pair<std::uint32_t, std::pair<float, float>>> hits;
    friend bool operator==(const Key&, const Key&) = default;
  };
  Key key_;
  std::vector<Legend> legends_;
};

}  // namespace raylift::viewer
