// SPDX-License-Identifier: Apache-2.0
// What the passes of an image share: the target, the camera, the settings, the scene, and how to draw parts of it.
// Needs a current context.
#pragma once

#include <cstdint>
#include <string>

#include "cli/camera.h"
#include "draw/gl/render_targets.h"
#include "draw/scene/pace.h"
#include "draw/scene/scene_buffers.h"
#include "draw/scene/scene_program.h"
#include "model/settings/settings.h"

namespace raylift::viewer {

struct Canvas {
  ImageTarget& target;
  Resolution full;  ///< the image's size, which a coarse target is scaled to
  const Camera& camera;
  const Settings& settings;
  SceneBuffers& scene;
  SceneProgram& program;
  Pace& pace;
  std::uint64_t most = kAllTriangles;  ///< Sight::most

  [[nodiscard]] bool draws_surfaces() const { return !settings.wireframe; }
  /// Whether all surfaces are transparent, and not just those of glass.
  [[nodiscard]] bool blends_all() const { return settings.opacity < 1 && draws_surfaces(); }
  [[nodiscard]] bool has_edges() const { return settings.edges || scene.draws(Look::edged); }

  /// Sets the program's frame and the caps, for all that follows.
  void set_frame() const;
  /// Draws the triangles of a look with the current program.
  void draw(Look look) const { scene.draw(look, pace); }
  /// Draws the points of a look by a variant of the program.
  void draw_points(Look look, const std::string& variant) const;
  /// Draws the edges of triangles, or the feature edges where the settings ask for them, by a variant of the program.
  void draw_lines(Look look, const std::string& variant = "") const;
  /// Draws the edges over surfaces.
  void draw_edges() const;
  /// Draws the caps by a variant of the program.
  void draw_caps(const std::string& variant) const;
};

}  // namespace raylift::viewer
