// SPDX-License-Identifier: Apache-2.0
// A scene's geometry on a device, with the hierarchy that rays need: in buffers that OpenGL draws from where these fit,
// so that vertices and triangles exist once, else apart from them.
#pragma once

#include <raylift/geometry/progress.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <raylift/interop/shared_geometry.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "scene_buffers.h"

namespace raylift::viewer {

class DeviceScene {
 public:
  explicit DeviceScene(SharedGeometry geometry) : shared_(std::move(geometry)) {}
  explicit DeviceScene(GpuGeometry geometry) : own_(std::move(geometry)) {}

  [[nodiscard]] const ResidencyReport& report() const { return shared_ ? shared_->report() : own_->report(); }
  [[nodiscard]] const Device& device() const { return shared_ ? shared_->device() : own_->device(); }
  /// OpenGL's buffers, where it draws from these.
  [[nodiscard]] std::optional<SharedGeometryBuffers> buffers() const;
  /// "shared with OpenGL", or why OpenGL has a copy of its own.
  [[nodiscard]] std::string sharing() const;
  /// Hands out the view for work on a stream, which is mapped meanwhile.
  void with_view(const Stream& stream, const std::function<void(const GeometryView&)>& work) const;
  /// The first so many triangles lie in device memory.
  [[nodiscard]] std::uint64_t device_triangles() const;

 private:
  std::optional<SharedGeometry> shared_;
  std::optional<GpuGeometry> own_;
};

/// "auto", "host" or "cuda:N".
[[nodiscard]] Device choose_device(const std::string& name);

/// Uploads where OpenGL is current. Errors: as raylift::upload.
[[nodiscard]] DeviceScene upload_for_view(const Scene& scene, const Device& device, const UploadOptions& options,
                                          const Progress& progress);

}  // namespace raylift::viewer
