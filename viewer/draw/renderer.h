// SPDX-License-Identifier: Apache-2.0
// Draws a scene with OpenGL into an offscreen image, which the window then shows. Needs a current 4.5 context, also for
// its destruction.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/camera.h"
#include "cli/image.h"
#include "draw/gl_objects.h"
#include "draw/overlay.h"
#include "draw/photon_layer.h"
#include "draw/render_targets.h"
#include "draw/scene_buffers.h"
#include "model/legend.h"
#include "model/settings.h"

namespace raylift::viewer {

/// Instance + 1 (0: nothing) and triangle over all meshes of each pixel, rows from the top.
struct IdImage {
  int width = 0;
  int height = 0;
  std::vector<std::array<std::uint32_t, 2>> ids;
};

/// Enables and disables the clip distances of the settings' planes. A box that is cut away needs none: shaders discard
/// what is in it.
void enable_clipping(const Settings& settings);
void disable_clipping();
/// Enables blending by alpha that is not multiplied in.
void blend_over();

class Renderer {
 public:
  Renderer();

  /// Puts a scene's geometry into GL buffers, except for arrays in `shared`. The scene must outlive its drawing.
  void set_scene(const Scene& scene, std::optional<SharedGeometryBuffers> shared = std::nullopt);
  /// The Look of each instance; empty: all are solid. Faint ones are seen, and not picked.
  void set_looks(std::span<const std::uint8_t> looks) { changed().set_looks(looks); }
  void set_opacities(std::span<const std::uint8_t> hundredths) { changed().set_opacities(hundredths); }
  /// Of the scene: draws it as quickly as that allows.
  void set_detail(const Detail& detail) { changed().set_detail(detail); }
  void set_enclosing(std::span<const std::uint32_t> enclosing) { changed().set_enclosing(enclosing); }
  /// Its outline is drawn over all others.
  void set_selected(std::optional<std::uint32_t> instance);
  /// For ColorBy::residency: the first `count` triangles lie in device memory, the others in host memory.
  void set_device_triangles(std::uint64_t count) {
    (void)changed();
    device_triangles_ = count;
  }

  /// The photons that are drawn, of this scene; see PhotonLayer.
  [[nodiscard]] PhotonLayer& photons() { return photons_; }
  /// For ColorBy::hits and first_hit: a colour for each solid, sRGB 0xAABBGGRR.
  void set_hit_colors(std::span<const std::uint32_t> colors) { changed().set_hit_colors(colors); }

  /// Drawn over the image from now on.
  void set_legends(std::vector<Legend> legends) { legends_ = std::move(legends); }

  /// Sets the size of the image, and the samples per pixel as far as the driver allows; 0: 4, or 1 where OpenGL draws
  /// on the CPU. Errors: limit, out_of_device_memory, device.
  void resize(const Resolution& resolution, int samples);
  [[nodiscard]] const Resolution& resolution() const { return resolution_; }
  [[nodiscard]] int samples() const { return samples_; }
  /// Whether OpenGL draws on the CPU.
  [[nodiscard]] bool software() const { return software_; }
  /// Whether fragments read what their solid is from a buffer, instead of from vertices. Of triangles of a few pixels a
  /// GPU spends most of its time on what vertices hand on, and llvmpipe does not: this is so by default, where the
  /// driver has ARB_shader_draw_parameters. The image is the same.
  [[nodiscard]] bool fetches() const { return fetches_; }
  void set_fetches(bool fetches) {
    fetches_ = fetches;
    programs_.clear();
    view_.reset();
  }

  /// Whether light is drawn over the scene as it is kept, where that is what draw() has drawn last: it costs little
  /// then to draw other light, or light at another time. So it is for opaque light where OpenGL draws on the CPU with
  /// one sample a pixel.
  [[nodiscard]] bool keeps_scene(const Settings& settings) const;
  /// Whether draw() would draw the same scene as the last time, light aside, and whether all of that is kept.
  [[nodiscard]] bool is_drawn(const Camera& camera, const Settings& settings) const;
  [[nodiscard]] bool is_kept(const Camera& camera, const Settings& settings) const {
    return kept_whole_ && is_drawn(camera, settings);
  }
  /// Draws the scene, or `image` in its place, with background and overlay. With `coarse`, the scene alone is drawn
  /// with so many pixels, once each, and scaled. With `pace`, a turn of it is drawn: the result is whether it was the
  /// last one, and until then the image is the one before. Of a coarse image, what is left after a turn is left out.
  /// Errors: out_of_device_memory, device.
  bool draw(const Camera& camera, const Settings& settings, std::optional<ForeignImage> image = std::nullopt,
            std::optional<Resolution> coarse = std::nullopt, Pace* pace = nullptr);
  /// The image that draw() made last.
  [[nodiscard]] Image read() const;
  /// Copies that image onto a framebuffer, scaled to this size.
  void present(GLuint framebuffer, int width, int height) const;
  /// Waits until OpenGL has finished.
  void finish() const;

  /// The triangle under a pixel, counted from the upper left.
  [[nodiscard]] std::optional<Picked> pick(const Camera& camera, const Settings& settings, int x, int y);
  /// The photon under a pixel, or near it.
  [[nodiscard]] std::optional<PickedPhoton> pick_photon(const Camera& camera, const Settings& settings, int x, int y);
  [[nodiscard]] IdImage ids(const Camera& camera, const Settings& settings);

  /// Triangles of all that is not hidden, those of each instance counted, and those that draw() drew of them.
  [[nodiscard]] std::uint64_t shown_triangles() const { return scene_.shown_triangles(); }
  [[nodiscard]] std::uint64_t drawn_triangles() const { return scene_.drawn_triangles(); }
  /// Bytes of the scene and of photons in GL buffers, shared ones included.
  [[nodiscard]] std::uint64_t buffer_bytes() const { return scene_.bytes() + photons_.bytes(); }

 private:
  /// The scene, for a change after which it looks otherwise.
  [[nodiscard]] SceneBuffers& changed() {
    view_.reset();
    return scene_;
  }
  [[nodiscard]] const Program& program(const std::string& variant);
  void set_frame(const Camera& camera, const Settings& settings);
  void draw_scene(Look look = Look::solid) const;
  void draw_caps(const std::string& defines);
  void draw_pixels(const Camera& camera, const Settings& settings);
  void draw_solids(const Settings& settings);
  void draw_photons(const PhotonSettings& settings);
  void draw_quick_photons(const PhotonSettings& settings);
  void draw_over_kept(const Settings& settings);
  void note_view(const Camera& camera, const Settings& settings);
  void keep_solids();
  void keep_whole();
  void draw_coarse(const Camera& camera, const Settings& settings, const Resolution& size);
  void bind_canvas() const;
  void draw_background(const Settings& settings);
  void draw_image(const ForeignImage& image);
  void draw_scaled();
  void draw_surfaces(const Settings& settings);
  /// The edges of triangles, or those that settings.feature_edges leaves, by a variant of the program.
  void draw_lines(const Settings& settings, Look look, const std::string& variant = "");
  void draw_edges(const Settings& settings);
  /// What is of glass, or all surfaces.
  void draw_blended(const Settings& settings, bool all);
  void draw_faint(const Settings& settings);
  void draw_selection(const Camera& camera, const Settings& settings);
  void draw_composite();
  void draw_overlay(const Overlay& overlay);
  void draw_ids(const Camera& camera, const Settings& settings, std::optional<std::array<int, 2>> pixel,
                bool photons = false);
  [[nodiscard]] std::array<std::uint32_t, 2> id_at(int x, int y, const char* what) const;

  bool software_, fetches_;
  SceneBuffers scene_;
  PhotonLayer photons_;
  Buffer frame_;
  VertexArray empty_, overlay_array_;
  Buffer overlay_buffer_;
  std::map<std::string, Program> programs_;
  bool cuts_away_ = false;                        // the frame
  std::uint32_t color_by_ = 0, drawn_flags_ = 0;  // of the frame
  Program background_, composite_, foreign_, scaled_, outline_, overlay_;

  Resolution resolution_;
  int samples_ = 1;
  ImageTarget image_;
  ImageTarget coarse_;  // of a move
  Resolution coarse_size_;
  /// What the scene is drawn into: image_, or coarse_.
  struct Canvas {
    const ImageTarget* target = nullptr;
    Resolution size;
    int samples = 1;
    friend bool operator==(const Canvas& a, const Canvas& b) {
      return a.target == b.target && a.size == b.size && a.samples == b.samples;
    }
  };
  Canvas canvas_;
  BlendTarget blended_;  // of the canvas; made when transparency first needs it
  Canvas blended_for_;
  IdTarget ids_;     // made by the first pick
  MaskTarget mask_;  // made by the first selection

  /// What the image was drawn of last, light aside; nothing where the scene has changed since.
  struct View {
    Camera camera;
    Settings settings;
  };
  std::optional<View> view_;
  bool keeping_ = false;     // in this image, light is drawn over the kept scene
  bool kept_whole_ = false;  // of view_
  KeptTarget kept_;          // made when it is first needed
  Program lit_depth_;

  Pace* pace_ = nullptr;  // of the image that is being drawn
  std::optional<std::uint32_t> selected_;
  std::vector<Legend> legends_;
  std::uint64_t device_triangles_ = 0;
  bool clipped_ = false;  // there are clipping planes
};

}  // namespace raylift::viewer
