// SPDX-License-Identifier: Apache-2.0
// A scene that is drawn without a window: read, uploaded where rays or light need it, and seen as the options say.
#pragma once

#include <raylift/geometry/progress.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/session.h"
#include "draw/photon_feed.h"
#include "draw/renderer.h"
#include "light/live_light.h"
#include "light/photons.h"
#include "model/solids/solids.h"
#include "rays/device_scene.h"
#include "rays/ray_caster.h"
#include "state/options/camera_path.h"
#include "state/options/view_options.h"

namespace raylift::viewer {

/// A scene on the renderer, with its visibility, camera, rays and light. The options and the renderer must outlive it.
class OffscreenScene {
 public:
  /// Throws Error: usage for what the options ask of the scene; those of uploads and of photons.
  OffscreenScene(const ViewOptions& options, const std::string& file, const Scene& scene, Renderer& renderer,
                 const Progress& progress);

  [[nodiscard]] const Notes& notes() const { return notes_; }
  [[nodiscard]] Camera& camera() { return view_.camera; }
  [[nodiscard]] const DeviceScene* geometry() const { return geometry_ ? &*geometry_ : nullptr; }
  [[nodiscard]] bool casts_rays() const { return caster_.has_value(); }
  /// Whether the time of light runs from frame to frame.
  [[nodiscard]] bool plays() const { return options_.light.play; }
  /// A share of the photons' times, from 0 to 1.
  void set_time(double share);
  /// Moves the camera to a share of the path of --path, from 0 to 1. Throws Error(usage) for names of no bookmarks.
  void go_along_path(double share);
  /// `ray_samples` per pixel, where rays are cast.
  void draw(cli::Session& session, int ray_samples);
  /// The outlines of what draw() drew, as SVG.
  [[nodiscard]] std::string svg() const { return renderer_.svg(view_.camera, view_.settings); }

 private:
  void draw_legends(std::optional<std::pair<double, double>> depths);
  [[nodiscard]] std::vector<Legend> legends(std::optional<std::pair<double, double>> depths) const;
  void make_room();
  void go_to_bookmark(const Scene& scene);
  void show_solids();
  void read_light(const Scene& scene, const Progress& progress);
  std::shared_ptr<const PhotonSet> follow_light(const Scene& scene, const Progress& progress);

  const ViewOptions& options_;
  LightOrigin light_;  // of the options, or of the bookmark
  std::string scene_file_;
  Solids solids_;
  Renderer& renderer_;
  Opening view_;
  Notes notes_;
  std::vector<std::uint8_t> looks_;
  std::optional<CameraPath> path_;
  std::optional<std::size_t> passed_;  // bookmark of the path
  std::optional<DeviceScene> geometry_;
  std::optional<RayCaster> caster_;
  std::optional<GpuGeometry> light_geometry_;
  std::optional<LiveLight> live_;
  Photons photons_;
  PhotonFeed feed_;
};

/// The scenes that the options name. The options must outlive it.
class OffscreenScenes {
 public:
  /// From now on, no image replaces one of their files.
  explicit OffscreenScenes(const ViewOptions& options);

  [[nodiscard]] const std::vector<std::string>& files() const { return options_.files; }
  /// Reads a file on another thread. This must outlive the result, which throws what load() throws.
  [[nodiscard]] std::future<Scene> read(const std::string& file, const Progress& progress) const;
  [[nodiscard]] OffscreenScene open(const std::string& file, const Scene& scene, Renderer& renderer,
                                    const Progress& progress) const;

 private:
  const ViewOptions& options_;
};

}  // namespace raylift::viewer
