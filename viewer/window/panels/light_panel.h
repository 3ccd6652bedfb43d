// SPDX-License-Identifier: Apache-2.0
// The panels of light: how photons are drawn and at what time, and the history of the selected one. Dear ImGui.
#pragma once

#include <array>
#include <string>

#include "state/control_target.h"
#include "state/frame_scheduler.h"
#include "state/viewer_state.h"

namespace raylift::viewer {

class LightPanel {
 public:
  /// Within a tab.
  void draw(ViewerState& state, const FrameScheduler& frames, WindowLayout& layout);

 private:
  void draw_time(ViewerState& state, PhotonSettings& light);
  void edit_filter(PhotonFilter& filter);
  void edit_source(ViewerState& state, const FrameScheduler& frames);

  PhotonFilter shown_;  // by the fields below
  std::array<char, 128> history_{}, wavelength_{}, channel_{}, source_{}, play_range_{};
  std::optional<Between<double>> played_;  // by its field
  std::string shown_source_;
  std::string problem_;  // of the fields' texts
};

/// The content of the panel of a selected photon.
void draw_photon(const ViewerState& state);

}  // namespace raylift::viewer
