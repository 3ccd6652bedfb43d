// SPDX-License-Identifier: Apache-2.0
// Draws a scene with OpenGL into an offscreen image, which the window then shows: the sequence of the passes. Needs a
// current 4.5 context, also for its destruction.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/camera.h"
#include "cli/image.h"
#include "draw/gl/render_targets.h"
#include "draw/passes/canvas.h"
#include "draw/passes/id_pass.h"
#include "draw/passes/light_pass.h"
#include "draw/passes/screen_passes.h"
#include "draw/passes/solid_passes.h"
#include "draw/scene/scene_buffers.h"
#include "draw/scene/scene_program.h"
#include "model/colors/legend.h"
#include "model/settings/settings.h"

namespace raylift::viewer {

/// How an image is drawn quickly: with so many pixels, which are scaled, and at most so many triangles.
struct Coarse {
  Resolution size;
  std::uint64_t triangles = kAllTriangles;
};

class Renderer {
 public:
  Renderer();

  /// Puts a scene's geometry into GL buffers, except for arrays in `shared`. The scene must outlive its drawing.
  void set_scene(const Scene& scene, std::optional<SharedGeometryBuffers> shared = std::nullopt);
  /// The Look of each instance; empty: all are solid. Faint ones are drawn, but not picked.
  void set_looks(std::span<const std::uint8_t> looks) { changed().set_looks(looks); }
  void set_opacities(std::span<const std::uint8_t> hundredths) { changed().set_opacities(hundredths); }
  void set_own_colors(std::span<const std::uint32_t> colors) { changed().set_own_colors(colors); }
  /// Levels of detail, normals and enclosing solids of the scene, with which it is drawn faster.
  void set_detail(const Detail& detail) { changed().set_detail(detail); }
  void set_enclosing(std::span<const std::uint32_t> enclosing) { changed().set_enclosing(enclosing); }
  /// The solids whose outlines are drawn over all others.
  void set_marked(Mark mark, std::span<const std::uint32_t> instances) { scene_.set_marked(mark, instances); }
  void set_selected(std::optional<std::uint32_t> instance) {
    scene_.set_marked(Mark::selected, instance ? std::span(&*instance, 1) : std::span<const std::uint32_t>());
  }
  /// For ColorBy::residency: the first `count` triangles lie in device memory, the others in host memory.
  void set_device_triangles(std::uint64_t count) { changed().set_device_triangles(count); }

  /// The photons that are drawn, of this scene; see PhotonLayer.
  [[nodiscard]] PhotonLayer& photons() { return light_.photons(); }
  [[nodiscard]] const PhotonLayer& photons() const { return light_.photons(); }
  /// For ColorBy::hits and first_hit: a colour for each solid, sRGB 0xAABBGGRR.
  void set_hit_colors(std::span<const std::uint32_t> colors) { changed().set_hit_colors(colors); }

  /// The legends of all images from now on.
  void set_legends(std::vector<Legend> legends) { overlay_.set_legends(std::move(legends)); }

  /// Sets the size of the image, and the samples per pixel as far as the driver allows; 0: 4, or 1 where OpenGL draws
  /// on the CPU. Errors: limit, out_of_device_memory, device.
  void resize(const Resolution& resolution, int samples);
  [[nodiscard]] const Resolution& resolution() const { return image_.size; }
  [[nodiscard]] int samples() const { return image_.samples; }
  /// Whether OpenGL draws on the CPU.
  [[nodiscard]] bool software() const { return software_; }
  /// See SceneProgram::fetches().
  [[nodiscard]] bool fetches() const { return program_.fetches(); }
  void set_fetches(bool fetches) {
    program_.set_fetches(fetches);
    kept_.forget();
  }

  /// Whether images of these settings are light over a scene that is kept: other light, or another time, costs only
  /// the light then. So where OpenGL draws on the CPU with one sample a pixel.
  [[nodiscard]] bool keeps_scene(const Settings& settings) const;
  /// Whether draw() would draw the same scene as the last time, light aside, and whether all of that is kept.
  [[nodiscard]] bool is_drawn(const Camera& camera, const Settings& settings) const {
    return kept_.is_drawn(camera, settings);
  }
  [[nodiscard]] bool is_kept(const Camera& camera, const Settings& settings) const {
    return kept_.is_kept(camera, settings);
  }
  /// Draws the scene, or `image` in its place, with background and overlay. With `coarse`, the scene is drawn as that
  /// says, with one sample a pixel. With `pace`, the call draws a turn of the image: it returns whether it was the last
  /// one, and until then read() gives the image before. A coarse image has one turn, and lacks what that did not draw.
  /// Errors: out_of_device_memory, device.
  bool draw(const Camera& camera, const Settings& settings, std::optional<ForeignImage> image = std::nullopt,
            std::optional<Coarse> coarse = std::nullopt, Pace* pace = nullptr);
  /// The image that draw() completed last.
  [[nodiscard]] Image read() const { return read_image(image_); }
  /// Copies that image onto a framebuffer, scaled to this size.
  void present(GLuint framebuffer, int width, int height) const;
  /// Waits until OpenGL has finished.
  void finish() const;

  /// The triangle under a pixel, counted from the upper left.
  [[nodiscard]] std::optional<Picked> pick(const Camera& camera, const Settings& settings, int x, int y);
  /// The photon under a pixel, or near it.
  [[nodiscard]] std::optional<PickedPhoton> pick_photon(const Camera& camera, const Settings& settings, int x, int y);
  [[nodiscard]] IdImage ids(const Camera& camera, const Settings& settings);

  /// The outlines of the scene without those that are hidden, and the overlay, as SVG of the image's size. Without
  /// photons. Errors: those of draw(), limit.
  [[nodiscard]] std::string svg(const Camera& camera, const Settings& settings);

  /// The triangles of all visible solids, those of each instance counted, and those of them that draw() drew.
  [[nodiscard]] std::uint64_t shown_triangles() const { return scene_.shown_triangles(); }
  [[nodiscard]] std::uint64_t drawn_triangles() const { return scene_.drawn_triangles(); }
  /// The share of these that a coarse image drew, of those that it would have drawn without a limit.
  [[nodiscard]] double drawn_share() const { return scene_.drawn_share(); }
  /// Bytes of the scene and of photons in GL buffers, shared ones included.
  [[nodiscard]] std::uint64_t buffer_bytes() const { return scene_.bytes() + light_.photons().bytes(); }

 private:
  /// The scene, for a change after which its image differs.
  [[nodiscard]] SceneBuffers& changed() {
    kept_.forget();
    return scene_;
  }
  [[nodiscard]] Canvas canvas(ImageTarget& target, const Camera& camera, const Settings& settings, Pace& pace) {
    return {target, image_.size, camera, settings, scene_, program_, pace};
  }
  /// Draws a turn of the scene and light over the background, and returns whether the image is complete.
  bool draw_scene(const Canvas& canvas);
  void draw_coarse(const Camera& camera, const Settings& settings, const Coarse& coarse, Pace& pace);
  void draw_layers(const Canvas& canvas, KeptScene::Use use);

  bool software_;
  SceneBuffers scene_;
  SceneProgram program_;
  ImageTarget image_, coarse_;
  KeptScene kept_;
  ScreenPasses screen_;
  BlendedPass blended_;
  LightPass light_;
  MarkPass marks_;
  OverlayPass overlay_;
  IdPass ids_;
};

}  // namespace raylift::viewer
