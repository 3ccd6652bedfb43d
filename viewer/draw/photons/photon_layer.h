// SPDX-License-Identifier: Apache-2.0
// Draws photons over the scene: steps as lines, ends and heads of light as points. Vertices are pulled from the rows as
// the simulation writes them, so time, colours and choice change without another upload. Needs a current context.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "draw/gl/gl_objects.h"
#include "draw/photons/light_cells.h"
#include "light/photon_choice.h"
#include "light/photon_colors.h"
#include "light/readable_light.h"
#include "model/settings/photon_settings.h"

namespace raylift::viewer {

/// The part of a photon under a pixel.
struct PickedPhoton {
  bool point;         ///< an end; else a step
  std::uint32_t row;  ///< of PhotonSet::points or rows
};
/// These replace instance + 1 in images of ids.
inline constexpr std::uint32_t kStepId = 0xFFFFFFFFU, kPointId = 0xFFFFFFFEU;

class PhotonLayer {
 public:
  PhotonLayer() : empty_(make_vertex_array()) {}

  /// Copies a set's rows into buffers; none is drawn until set_colors() and choose(). `steps` is the buffer of the
  /// paths' rows where OpenGL has them already, such as a SharedBuffer's. Throws Error: limit, out_of_device_memory.
  void set_photons(const PhotonSet& set, std::optional<GLuint> steps = std::nullopt);
  /// Sets what the colours of light are, which of them it has, and the scale of those of time.
  void set_colors(PhotonColorTable table, PhotonColor color, const ValueScale& times);
  void choose(const PhotonChoice& choice, const PhotonSet& set);
  /// Sets the steps that are drawn over all else.
  void select(std::span<const DrawnRow> steps);
  /// Removes all photons.
  void clear();

  /// Sets whether clipping cuts light too, by PhotonSettings::clip, and as what; for all that is drawn from now on.
  void set_clipping(const Settings& settings);
  /// Whether draw() draws anything.
  [[nodiscard]] bool draws(const PhotonSettings& settings) const;
  /// Draws into the bound framebuffer, which is this canvas, with its depth test; SceneProgram's frame must be bound.
  /// Draws so much of the chosen light, and `share` of that, for coarse images.
  void draw(const PhotonSettings& settings, const LightCanvas& canvas, const LightShown& shown, double share = 1);
  /// As much of the chosen light as is read in an image of this size.
  [[nodiscard]] LightShown readable(const PhotonSettings& settings, const Camera& camera,
                                    const Resolution& size) const {
    return readable_.shown(settings, camera, size);
  }
  /// What draw() drew last, before the share of a coarse image.
  [[nodiscard]] const LightShown& shown() const { return shown_; }
  /// Sets from how many steps and points on opaque light is drawn by compute shaders, which is faster for much light.
  void set_computed_from(std::uint64_t count) { computed_from_ = count; }
  void draw_selected(const PhotonSettings& settings, int width, int height);
  /// Draws ids for picking of what was drawn last, with lines wide enough to click.
  void draw_ids(const PhotonSettings& settings, int width, int height);
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Steps and points that are chosen.
  [[nodiscard]] std::uint64_t steps() const { return static_cast<std::uint64_t>(steps_); }
  [[nodiscard]] std::uint64_t points() const { return static_cast<std::uint64_t>(ends_); }

 private:
  /// How many are drawn.
  struct Counts {
    GLsizei steps, ends;
  };
  void draw_pixels(const PhotonSettings& settings, const LightCanvas& canvas, const Counts& counts);
  void draw_cells(const PhotonSettings& settings, const LightCanvas& canvas, const Counts& counts);
  const Program& program(const std::string& variant, bool computes);
  void use(const Program& program, const PhotonSettings& settings, int width, int height, float line,
           float point) const;
  void use(const std::string& defines, const PhotonSettings& settings, int width, int height, float line, float point);
  void bind(GLuint rows, const Buffer& drawn) const;

  VertexArray empty_;
  LightCells cells_;
  std::uint64_t computed_from_ = std::numeric_limits<std::uint64_t>::max();
  std::map<std::string, Program> programs_;
  Buffer rows_, points_, colors_;
  std::optional<GLuint> shared_rows_;
  PhotonColorTable table_;  // without its colours
  PhotonColor color_ = PhotonColor::wavelength;
  ValueScale times_;
  Buffer drawn_steps_, drawn_points_, selected_;
  GLsizei steps_ = 0, ends_ = 0, selected_steps_ = 0;
  std::string clipping_;  // the define of shaders that cut light; empty: none is
  ReadableLight readable_;
  LightShown shown_;
  std::uint64_t bytes_ = 0;
};

}  // namespace raylift::viewer
