// SPDX-License-Identifier: Apache-2.0
// The caps of cut solids in an OpenGL buffer. Needs a current context.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "draw/gl/gl_objects.h"
#include "meshes/caps.h"
#include "meshes/draw_list.h"
#include "model/settings/settings.h"

namespace raylift::viewer {

class CapLayer {
 public:
  CapLayer();

  /// Sets the scene; null: none. Scene and arrays must outlive their use.
  void set_scene(const Scene* scene, const MeshOffsets* offsets, std::span<const SolidSurfaces> surfaces);
  /// The Look of each instance; empty: all are solid.
  void set_looks(std::span<const std::uint8_t> looks);
  /// Makes the caps at these planes, unless they are made already.
  void set_planes(const std::vector<ClipPlane>& planes);

  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// Draws them with the current program.
  void draw() const;
  [[nodiscard]] std::uint64_t bytes() const { return std::uint64_t{count_} * sizeof(CapVertex); }

 private:
  const Scene* scene_ = nullptr;
  const MeshOffsets* offsets_ = nullptr;
  std::span<const SolidSurfaces> surfaces_;
  std::optional<CapMaker> maker_;  // made by the first plane
  std::vector<std::uint8_t> looks_;
  std::vector<ClipPlane> planes_;
  bool stale_ = false;
  VertexArray array_;
  Buffer vertices_;
  std::uint32_t count_ = 0;
};

}  // namespace raylift::viewer
