// SPDX-License-Identifier: Apache-2.0
// The ray-cast picture, step by step: coarse at once, then finer, then more samples a pixel, and never for longer at a
// time than the caller can wait.
#pragma once

#include <raylift/gpu/memory/buffer.h>
#include <raylift/interop/shared_image.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cli/camera.h"
#include "device_scene.h"
#include "ray_kernel.h"
#include "render_targets.h"
#include "settings.h"
#include "solids.h"

namespace raylift::viewer {

/// Casts rays on the device that a scene's geometry is on. An OpenGL context must be current wherever one is made or
/// used.
class RayCaster {
 public:
  /// The geometry must have been uploaded with UploadOptions::bvh; both must outlive this.
  RayCaster(const Scene& scene, const DeviceScene& geometry);

  /// Begins a picture. `visible` as of Solids: a value per solid, or none; `selected`: a solid to mark.
  void start(const Camera& camera, const Settings& settings, const Resolution& resolution,
             std::span<const std::uint8_t> visible, std::optional<std::uint32_t> selected, int samples);
  /// Casts for about so many seconds, at least a little; true when the picture is complete.
  bool advance(double seconds);
  [[nodiscard]] bool done() const { return pass_ >= passes_.size(); }
  [[nodiscard]] double progress() const;  ///< 0 to 1

  /// OpenGL's texture with what has been cast so far, as Renderer shows it.
  [[nodiscard]] ForeignImage image() const { return {image_.texture()}; }
  /// Whether kernels write where OpenGL reads.
  [[nodiscard]] bool shares() const { return image_.shares(); }
  /// Solid + 1 under each pixel's centre, rows from the top; complete once every pixel has its first sample.
  [[nodiscard]] std::vector<std::uint32_t> solids() const;

 private:
  template <class T>
  void fill(DeviceBuffer<T>& buffer, std::span<const T> values);

  const Scene* scene_;
  const DeviceScene* geometry_;
  Device device_;
  Stream stream_;
  SharedImage image_;
  DeviceBuffer<Light> sums_;
  DeviceBuffer<std::uint32_t> solids_, colors_, normals_, smooth_;
  DeviceBuffer<std::uint8_t> visible_;
  std::vector<std::uint8_t> last_visible_;  // what visible_ holds
  Bounds visible_bounds_, shown_;
  RayPicture picture_{};
  std::vector<RayPass> passes_;
  std::size_t pass_ = 0;
  std::uint32_t next_cell_ = 0;
  std::uint32_t chunk_ = 1U << 12;  // cells at a time: grows to what the device does in a few milliseconds
};

/// Casts cells [first, first + count) of a pass. CUDA: in the stream's order; host device: done on return.
void cast_cells(const Device& device, const RayPicture& picture, const RayPass& pass, std::uint32_t first,
                std::uint32_t count, const Stream& stream);

}  // namespace raylift::viewer
