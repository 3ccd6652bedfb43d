// SPDX-License-Identifier: Apache-2.0
// The work behind the window: loads the file that the state asks for, checks it, uploads it to a device when the image
// needs that, and watches the file. Results go into the state.
#pragma once

#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/scene/scene.h>
#include <raylift/interop/shared_geometry.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "state/task.h"
#include "state/viewer_state.h"

namespace raylift::viewer {

class SceneLoader {
 public:
  /// Starts the work that the state asks for, and hands results to the state. Needs a current OpenGL context.
  void poll(ViewerState& state);
  [[nodiscard]] bool loading() const { return loading_ != nullptr; }
  /// The work that goes on, for the user: its name, its stage, and its share done from 0 to 1 (less than 0: unknown).
  /// `what` is empty where nothing runs.
  struct Activity {
    std::string what, stage;
    float share = -1;
    bool can_stop = false;
  };
  [[nodiscard]] Activity activity() const;
  /// Whether work goes on whose end the window waits for.
  [[nodiscard]] bool busy() const {
    return loading_ || checking_ || uploading_ || reading_ || lighting_ || finding_facts_ || finding_overlaps_;
  }
  /// Whether the check of the scene that the state asks for is still to come.
  [[nodiscard]] bool checks(const ViewerState& state) const { return checking_ || reads(state); }
  /// Whether the file that the state asks for is still to be read.
  [[nodiscard]] bool reads(const ViewerState& state) const { return loading_ || requests_ != state.requests(); }
  /// Whether the photons that the state asks for are still to be read.
  [[nodiscard]] bool reads_photons(const ViewerState& state) const {
    return reads(state) || reading_ || photon_requests_ != state.light().photon_requests();
  }
  /// Whether the image that the state asks for still lacks its scene, or this on a device.
  [[nodiscard]] bool owes(const ViewerState& state) const;
  /// Stops the work that activity() describes. The scene shown stays.
  void cancel();

 private:
  using Clock = std::chrono::steady_clock;
  /// After a file was not read.
  void keep_shown_file(ViewerState& state);
  void start_loading(const ViewerState& state);
  void watch(ViewerState& state);
  void show(ViewerState& state, Scene scene);
  /// The input of an upload.
  struct Upload {
    std::shared_ptr<const Scene> scene;
    Device device;
    UploadOptions options;
  };
  /// The upload of the scene shown, with its BVH, to the device that the options name.
  [[nodiscard]] Upload upload_of(const ViewerState& state);
  [[nodiscard]] static std::unique_ptr<Task<GpuGeometry>> run(Upload what);
  void read_photons(const ViewerState& state);
  void start_upload(ViewerState& state);
  void start_light(ViewerState& state);
  void find_facts(ViewerState& state);
  void make_detail(ViewerState& state);
  void find_overlaps(ViewerState& state);

  std::string loading_file_, device_name_;
  std::uint64_t requests_ = 0;  // the value of the state that loading_ is for
  std::unique_ptr<Task<Scene>> loading_;
  bool cancelled_ = false;  // loading_ was
  std::unique_ptr<Task<SceneCheck>> checking_;
  std::optional<SharedUpload> shared_upload_;
  std::unique_ptr<Task<GpuGeometry>> uploading_;
  std::unique_ptr<Task<PhotonSet>> reading_;     // photons
  std::uint64_t photon_requests_ = 0;            // the value of the state that reading_ is for
  std::unique_ptr<Task<GpuGeometry>> lighting_;  // uploads the scene, to simulate photons
  std::unique_ptr<Task<SolidFacts>> finding_facts_;
  std::unique_ptr<Task<Detail>> making_detail_;
  std::unique_ptr<Task<OverlapMarks>> finding_overlaps_;
  bool overlaps_cancelled_ = false;
  std::uint64_t facts_of_ = 0, facts_failed_ = 0;  // Selection::version()
  bool light_failed_ = false;                      // likewise
  bool detail_failed_ = false;                     // of this scene; it is not tried again
  bool upload_failed_ = false;                     // of this scene; it is not tried again
  Clock::time_point next_watch_{};
  std::filesystem::file_time_type seen_{};
  std::filesystem::file_time_type loaded_{};
};

}  // namespace raylift::viewer
