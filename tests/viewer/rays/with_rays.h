// SPDX-License-Identifier: Apache-2.0
// A scene that is drawn by OpenGL and by rays, to compare both.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rays/ray_caster.h"
#include "viewer/with_context.h"

namespace raylift::viewer {

class WithRays : public WithContext {
 protected:
  void TearDown() override {
    caster_.reset();
    WithContext::TearDown();
    geometry_.reset();
  }
  void show(Scene scene) {
    scene_ = std::make_unique<Scene>(std::move(scene));
    looks_.clear();
    UploadOptions options;
    options.bvh = true;
    geometry_ = std::make_unique<DeviceScene>(upload_for_view(*scene_, choose_device(device_), options, {}));
    renderer_->set_scene(*scene_, geometry_->buffers());
    caster_ = std::make_unique<RayCaster>(*scene_, *geometry_);
  }
  void frame_scene() { camera_.frame(scene_->bounds, static_cast<double>(kSize.width) / kSize.height); }
  void cast(int samples = 1) {
    caster_->start(camera_, settings_, kSize, looks_, samples);
    while (!caster_->advance(1)) {
    }
  }
  /// The share of pixels under which the drawn and the cast image find the same solid, or nothing.
  double agreement() {
    if (settings_.ray_cast == RayMode::off) settings_.ray_cast = RayMode::normal;
    cast();
    const std::vector<std::uint32_t> rays = caster_->solids();
    const IdImage drawn = renderer_->ids(camera_, settings_);
    std::size_t same = 0;
    for (std::size_t i = 0; i < rays.size(); ++i) same += rays[i] == drawn.ids[i][0] ? 1U : 0U;
    return static_cast<double>(same) / static_cast<double>(rays.size());
  }

  std::string device_ = "host";
  std::unique_ptr<Scene> scene_;
  std::vector<std::uint8_t> looks_;  // empty: all are solid
  std::unique_ptr<DeviceScene> geometry_;
  std::unique_ptr<RayCaster> caster_;
  Camera camera_;
  Settings settings_;
};

}  // namespace raylift::viewer
