// SPDX-License-Identifier: Apache-2.0
// Draws a scene with OpenGL into a picture of its own: window and offscreen alike. Needs a current 4.5 context wherever
// one is made, used or goes.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/camera.h"
#include "cli/image.h"
#include "gl_objects.h"
#include "overlay.h"
#include "render_targets.h"
#include "scene_buffers.h"
#include "settings.h"

namespace raylift::viewer {

/// For each pixel, rows from the top: instance + 1 (0: nothing), and the triangle over all meshes.
struct IdImage {
  int width = 0;
  int height = 0;
  std::vector<std::array<std::uint32_t, 2>> ids;
};

class Renderer {
 public:
  Renderer();

  /// Puts a scene's geometry into GL buffers. The scene must stay as long as it is drawn. `shared`, where given, are
  /// buffers that hold its vertices and triangles already (triangles index all vertices), so that there is one copy.
  void set_scene(const Scene& scene, std::optional<SharedGeometryBuffers> shared = std::nullopt);
  /// A value per instance; empty: all are visible.
  void set_visible(std::span<const std::uint8_t> visible) { scene_.set_visible(visible); }
  void set_selected(std::optional<std::uint32_t> instance) { selected_ = instance; }
  /// The first so many triangles lie in device memory, the others in host memory: for ColorBy::residency.
  void set_device_triangles(std::uint64_t count) { device_triangles_ = count; }

  /// Makes the picture that draw() fills. `samples` a pixel, as far as the driver allows.
  void resize(const Resolution& resolution, int samples);
  [[nodiscard]] const Resolution& resolution() const { return resolution_; }
  [[nodiscard]] int samples() const { return samples_; }

  void draw(const Camera& camera, const Settings& settings, std::optional<ForeignImage> image = std::nullopt);
  /// The picture that was drawn last.
  [[nodiscard]] Image read() const;
  /// Copies it onto a framebuffer, scaled to its size.
  void present(GLuint framebuffer, int width, int height) const;
  /// Waits until all drawing is done.
  void finish() const;

  /// Under a pixel, counted from the upper left.
  [[nodiscard]] std::optional<Picked> pick(const Camera& camera, const Settings& settings, int x, int y);
  [[nodiscard]] IdImage ids(const Camera& camera, const Settings& settings);

  /// Triangles that draw() draws, each instance counted.
  [[nodiscard]] std::uint64_t drawn_triangles() const { return scene_.drawn_triangles(); }
  /// Bytes of the scene in GL buffers, of which `shared` only once with somebody else.
  [[nodiscard]] std::uint64_t buffer_bytes() const { return scene_.bytes(); }

 private:
  [[nodiscard]] const Program& program(const std::string& defines);
  void set_frame(const Camera& camera, const Settings& settings);
  void draw_scene() const;
  void draw_background(const Settings& settings);
  void draw_image(const ForeignImage& image);
  void draw_surfaces(const Settings& settings);
  void draw_edges();
  void draw_blended(const Settings& settings);
  void draw_overlay(const Overlay& overlay);
  void draw_ids(const Camera& camera, const Settings& settings, std::optional<std::array<int, 2>> pixel);

  SceneBuffers scene_;
  Buffer frame_;
  VertexArray empty_, overlay_array_;
  Buffer overlay_buffer_;
  std::map<std::string, Program> programs_;
  Program background_, composite_, foreign_, overlay_;

  Resolution resolution_;
  int samples_ = 1;
  ImageTarget image_;
  BlendTarget blended_;  // made when transparency first needs it
  IdTarget ids_;         // made by the first pick

  std::optional<std::uint32_t> selected_;
  std::uint64_t device_triangles_ = 0;
};

}  // namespace raylift::viewer
