// SPDX-License-Identifier: Apache-2.0
// The pass of what lies under pixels: solids with their triangles, and photons. Needs a current context.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "draw/overlay/line_drawing.h"
#include "draw/passes/canvas.h"
#include "draw/photons/photon_layer.h"

namespace raylift::viewer {

/// Instance + 1 (0: nothing) and triangle over all meshes of each pixel, rows from the top.
struct IdImage {
  int width = 0;
  int height = 0;
  std::vector<std::array<std::uint32_t, 2>> ids;
};

class IdPass {
 public:
  /// The ids of all pixels. Errors of all: out_of_device_memory, device.
  [[nodiscard]] IdImage read(const Canvas& canvas);
  /// The solids of all pixels, and how far they are.
  [[nodiscard]] DepthImage depths(const Canvas& canvas);
  /// The triangle under a pixel, counted from the upper left.
  [[nodiscard]] std::optional<Picked> pick(const Canvas& canvas, int x, int y);
  /// The photon under a pixel, or near it.
  [[nodiscard]] std::optional<PickedPhoton> pick_photon(const Canvas& canvas, PhotonLayer& photons, int x, int y);
  /// Frees the target, which has the image's size.
  void release() { ids_ = IdTarget(); }

 private:
  /// Draws one pixel or all, and leaves the target bound. `photons`: over the solids, or none.
  void draw(const Canvas& canvas, std::optional<std::array<int, 2>> pixel, PhotonLayer* photons = nullptr);
  /// Draws and reads one pixel; zeros outside of the image.
  [[nodiscard]] std::array<std::uint32_t, 2> id_at(const Canvas& canvas, int x, int y, PhotonLayer* photons = nullptr);

  IdTarget ids_;  // made by the first use
};

}  // namespace raylift::viewer
