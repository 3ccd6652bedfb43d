// SPDX-License-Identifier: Apache-2.0
// A scene's geometry on a device, with its BVH. Where they fit, vertices and triangles lie in buffers that OpenGL draws
// from, so that they exist once.
#pragma once

#include <raylift/geometry/progress.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <raylift/interop/shared_geometry.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "draw/scene/scene_buffers.h"

namespace raylift::viewer {

class DeviceScene {
 public:
  explicit DeviceScene(SharedGeometry geometry) : shared_(std::move(geometry)) {}
  explicit DeviceScene(GpuGeometry geometry) : own_(std::move(geometry)) {}

  [[nodiscard]] const ResidencyReport& report() const { return shared_ ? shared_->report() : own_->report(); }
  [[nodiscard]] const Device& device() const { return shared_ ? shared_->device() : own_->device(); }
  /// The buffers that OpenGL shares; nothing where it has a copy.
  [[nodiscard]] std::optional<SharedGeometryBuffers> buffers() const;
  /// The text that OpenGL shares the arrays, or why it has a copy.
  [[nodiscard]] std::string sharing() const;
  /// Maps the geometry on a stream while `work` enqueues kernels that read the view.
  void with_view(StreamRef stream, const std::function<void(const GeometryView&)>& work) const;
  /// How many of the first triangles lie in device memory.
  [[nodiscard]] std::uint64_t device_triangles() const;

 private:
  std::optional<SharedGeometry> shared_;
  std::optional<GpuGeometry> own_;
};

/// "auto", "host" or "cuda:N".
[[nodiscard]] Device choose_device(const std::string& name);

/// Uploads into shared buffers, or into ordinary ones where that fails. Needs a current OpenGL context. Errors: those
/// of raylift::upload.
[[nodiscard]] DeviceScene upload_for_view(const Scene& scene, const Device& device, const UploadOptions& options,
                                          const Progress& progress);

}  // namespace raylift::viewer
