// SPDX-License-Identifier: Apache-2.0
// Draws the state in the phases of FramePhases: nothing where nothing changed, fewer pixels while the camera moves and
// drawing is slow, turns and slices where one image takes long. Owns the renderer. Needs a current OpenGL context.
#pragma once

#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "draw/photon_feed.h"
#include "draw/renderer.h"
#include "light/live_light.h"
#include "rays/ray_caster.h"
#include "state/frame_phases.h"
#include "state/viewer_state.h"

namespace raylift::viewer {

class FrameScheduler {
 public:
  static constexpr std::size_t kTimes = 120;  ///< images whose times are kept

  /// Draws what has changed. A failure becomes the state's error.
  void draw(ViewerState& state) { draw(state, false); }
  /// Whether draw() has work: a change, refining after a move, turns, or more rays.
  [[nodiscard]] bool busy(const ViewerState& state) const;
  /// The solid under the cursor.
  [[nodiscard]] std::optional<Picked> pick(const ViewerState& state, const Cursor& cursor);
  /// The solids under the cursor and around it, within Snapping::kReach.
  [[nodiscard]] PickedAround pick_around(const ViewerState& state, const Cursor& cursor);
  /// The photon under the cursor, or near it.
  [[nodiscard]] std::optional<PickedPhoton> pick_photon(const ViewerState& state, const Cursor& cursor);
  /// The light that is being simulated; null: none.
  [[nodiscard]] const LiveLight* live_light() const { return live_.get(); }
  /// The hits of solids that their colours show; nothing where colours show something else.
  [[nodiscard]] const std::optional<SolidHits>& hits() const { return photons_.hits(); }
  /// Writes the image at full resolution, without panels, to a new file in the working directory: PNG, or the outlines
  /// as .svg. A PNG has `scale` times the window's pixels in each direction.
  void save_new_image(ViewerState& state, const std::string& extension = ".png", int scale = 1);
  /// Writes it to this file. Throws Error.
  void save_image(ViewerState& state, const std::filesystem::path& file, int scale = 1);

  /// The image without panels, and without the marks of a search, which belong to its panel.
  [[nodiscard]] Image read_image(const ViewerState& state);

  [[nodiscard]] const Renderer& renderer() const { return renderer_; }
  /// The share of rays cast, from 0 to 1; nothing where none are being cast.
  [[nodiscard]] std::optional<float> ray_progress(const ViewerState& state) const;
  /// The range of the depth image, mm; nothing where no rays are cast.
  [[nodiscard]] std::optional<std::pair<double, double>> depths(const ViewerState& state) const {
    return casts(state) ? std::optional(caster_->depth_range()) : std::nullopt;
  }
  /// Whether an image is being drawn in turns: until it is complete, the one before it shows.
  [[nodiscard]] bool in_turns() const { return phases_.in_turns(); }
  /// Whether the last draw() changed the image: not where turns are left, or rays that refine it only a little.
  [[nodiscard]] bool redrawn() const { return redrawn_; }
  /// The share of the image that is drawn; nothing where all is.
  [[nodiscard]] std::optional<double> drawn_share() const;
  [[nodiscard]] double draw_seconds() const { return draw_seconds_; }  ///< of the last image
  /// Milliseconds of the last images.
  [[nodiscard]] const std::vector<float>& draw_times() const { return draw_times_; }

 private:
  /// `at_once`: a whole image, however long it takes.
  void draw(ViewerState& state, bool at_once);
  void expect_time();
  void save_thumbnail(ViewerState& state);
  void update_renderer(ViewerState& state);
  void mark_found(const ViewerState& state);
  Image read_scaled(ViewerState& state, int scale);
  void update_scene(ViewerState& state);
  void simulate_light(ViewerState& state);
  void note_time(double seconds);
  [[nodiscard]] double move_seconds() const;
  /// Sets how many triangles the next image during a move may have, after one that took so long.
  void adapt_triangles(double seconds);
  [[nodiscard]] bool casts(const ViewerState& state) const {
    return caster_ && state.settings().ray_cast != RayMode::off;
  }
  [[nodiscard]] std::array<int, 2> pixel_under(const Cursor& cursor) const;
  [[nodiscard]] Resolution coarser(const Resolution& size, bool rays) const;

  // The renderer and the ray caster refer to what lies before them.
  std::shared_ptr<const Scene> scene_;
  std::shared_ptr<const DeviceScene> device_scene_;
  std::shared_ptr<const Detail> detail_;
  Renderer renderer_;
  PhotonFeed photons_;
  std::shared_ptr<const GpuGeometry> light_geometry_;  // used by live_
  std::unique_ptr<LiveLight> live_;
  std::optional<LightRequest> light_;  // the last request to live_, which may have failed
  std::unique_ptr<RayCaster> caster_;
  std::uint64_t drawn_ = 0;                         // the state's revision
  std::uint64_t complete_ = 0;                      // the revision of the image that read() gives, coarse or not
  std::optional<std::uint64_t> looks_, opacities_;  // the versions that the renderer has
  FramePhases phases_;
  std::optional<Pace> pace_;  // of a coarse image, or of turns
  double turn_seconds_ = 0;   // of the image's turns so far
  double full_seconds_ = 0;   // of an image at full resolution
  double draw_seconds_ = 0;
  double move_triangles_ = 0;  // the most of an image during a move
  bool redrawn_ = false;
  std::chrono::steady_clock::time_point drawn_at_{};
  bool thinned_ = false;  // the last image may lack some
  std::vector<float> draw_times_;
  int saved_ = 0;
};

}  // namespace raylift::viewer
