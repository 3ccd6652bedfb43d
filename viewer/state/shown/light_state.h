// SPDX-License-Identifier: Apache-2.0
// The light in the scene: photons of a file or of a source, and the time that is shown of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "light/live_light.h"
#include "state/options/view_options.h"
#include "state/shown/shown_scene.h"

namespace raylift::viewer {

class LightState {
 public:
  /// `options` name the light, and change with it.
  LightState(ShownScene& shown, ViewOptions& options) : shown_(shown), options_(options) { mark_source(); }

  /// Where light comes from.
  [[nodiscard]] LightOrigin origin() const;
  /// Shows the light of an origin. Photons of a file that are shown already are not read again.
  void go_to(const LightOrigin& origin);

  /// Raised by each open_photons(): SceneLoader reads the options' photons whenever it changes.
  [[nodiscard]] std::uint64_t photon_requests() const { return photon_requests_; }
  /// Asks for photons of a file, in place of all light; `compare`: as --photon-compare.
  void open_photons(const std::string& path, const std::string& compare = {});
  void set_photons(std::shared_ptr<const PhotonSet> set);
  /// Asks for another event's photons, by name or number; those of the present one are shown until then.
  void set_event(const std::string& event);
  /// The same of an event so many places on. A message says where there is none.
  void step_event(int places);

  /// The source whose photons are to be simulated; nothing where there is no source, or no scene.
  [[nodiscard]] std::optional<LightRequest> request() const;
  /// The scene on the device that simulates them; null: not there yet.
  [[nodiscard]] const std::shared_ptr<const GpuGeometry>& geometry() const { return geometry_; }
  void set_geometry(std::shared_ptr<const GpuGeometry> geometry);
  /// Sets a source in place of photons of a file; empty: none. Throws Error(usage) for a text that is no source.
  void set_source(const std::string& text);
  /// Where the source is, mm; none without one, or where photons come from a file.
  [[nodiscard]] std::optional<Eigen::Vector3d> source_position() const;
  /// The source where it is now, in the form of --source; empty without one.
  [[nodiscard]] std::string source_text() const;
  /// Moves the source by so many pixels of the image, in the plane through it that faces the camera.
  void move_source(double right, double up, const Resolution& window);

  /// Whether the photons' time runs.
  [[nodiscard]] bool playing() const { return playing_; }
  /// Plays from the time that is set, or from the start.
  void play(bool playing);
  /// Advances the time by so many seconds of play.
  void advance(double seconds);
  /// Moves the time by a share of the slider, later or earlier.
  void step_time(double share);

 private:
  void set_time(double time);
  void mark_source() { shown_.settings.source = source_position(); }

  ShownScene& shown_;
  ViewOptions& options_;
  std::uint64_t photon_requests_ = 0;
  std::shared_ptr<const GpuGeometry> geometry_;
  Eigen::Vector3d source_moved_{0, 0, 0};
  bool playing_ = false;
};

}  // namespace raylift::viewer
