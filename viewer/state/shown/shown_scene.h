// SPDX-License-Identifier: Apache-2.0
// The scene that is shown, and how: the data that the parts of the viewer's state share. Each change of the image
// raises `revision`.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <Eigen/Core>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cli/camera.h"
#include "draw/scene/scene_buffers.h"
#include "light/photons.h"
#include "meshes/draw_list.h"
#include "model/settings/settings.h"
#include "model/solids/clip_box.h"
#include "model/solids/solid_facts.h"
#include "model/solids/solids.h"
#include "state/shown/messages.h"

namespace raylift::viewer {

/// What lies under the cursor, and a few pixels around it.
struct PickedAround {
  std::vector<Picked> all;
  bool at_cursor = false;  ///< the first of them is under the cursor
};

struct ShownScene {
  /// The image without a scene. The framebuffer must not be empty.
  ShownScene(const Settings& its_settings, const Resolution& its_framebuffer)
      : settings(its_settings), framebuffer(its_framebuffer) {}

  std::shared_ptr<const Scene> scene;  ///< null: none yet
  std::unique_ptr<Solids> solids;      ///< of the scene, as the two that follow
  std::shared_ptr<SolidMeasurer> measurer;
  MeshOffsets offsets;
  Photons photons;
  Settings settings;
  Camera camera;
  Resolution framebuffer;
  Messages messages;
  std::uint64_t revision = 1;
  std::chrono::steady_clock::time_point last_move{};

  /// Replaces the scene, without photons.
  void set_scene(std::shared_ptr<const Scene> fresh);
  /// Notes that the image moves: slow images are drawn with fewer pixels meanwhile.
  void moved() {
    last_move = std::chrono::steady_clock::now();
    ++revision;
  }
  [[nodiscard]] double aspect() const { return static_cast<double>(framebuffer.width) / framebuffer.height; }
  /// The picked triangle in its mesh; kNone: of a cap.
  [[nodiscard]] std::uint32_t triangle_of(const Picked& picked) const;
  /// The picked point under the cursor, mm; nothing where the triangle is seen from its edge.
  [[nodiscard]] std::optional<Eigen::Vector3d> point_of(const Picked& picked, const Cursor& cursor) const;
};

}  // namespace raylift::viewer
