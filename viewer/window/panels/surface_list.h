// SPDX-License-Identifier: Apache-2.0
// The tab with the boundaries between materials and their optical surfaces: search, colour, selection. Dear ImGui.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "model/solids/boundaries.h"
#include "state/viewer_state.h"

namespace raylift::viewer {

class SurfaceList {
 public:
  void draw(ViewerState& state);

 private:
  void draw_row(ViewerState& state, const Boundary& boundary);

  std::shared_ptr<const Scene> listed_;
  std::vector<Boundary> all_;
  std::array<char, 128> search_{};
};

}  // namespace raylift::viewer
