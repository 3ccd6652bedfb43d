// SPDX-License-Identifier: Apache-2.0
// Progressive ray casting: a coarse image first, then full resolution, then more samples per pixel, in slices of time
// that the caller sets.
#pragma once

#include <raylift/gpu/memory/buffer.h>
#include <raylift/interop/shared_image.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cli/camera.h"
#include "draw/gl/render_targets.h"
#include "model/settings/settings.h"
#include "model/solids/solids.h"
#include "rays/device_scene.h"
#include "rays/ray_kernel.h"

namespace raylift::viewer {

/// Casts rays on the device of a scene's geometry. Needs a current OpenGL context.
class RayCaster {
 public:
  /// The geometry must have a BVH (UploadOptions::bvh). Scene and geometry must outlive the caster.
  RayCaster(const Scene& scene, const DeviceScene& geometry);

  /// Starts an image. `looks` has the Look of each solid; empty: all are solid. Rays pass those that are faint, but for
  /// counting crossings. `own_colors` has the colour of each solid that has one of its own; see Solids::colors().
  void start(const Camera& camera, const Settings& settings, const Resolution& resolution,
             std::span<const std::uint8_t> looks, int samples, std::span<const std::uint32_t> own_colors = {});
  /// Casts at least one chunk of rays, until the time is over. True when the image is complete.
  bool advance(double seconds);
  [[nodiscard]] bool done() const { return pass_ >= passes_.size(); }
  /// Whether each pixel has a sample: more of them only reduce the noise.
  [[nodiscard]] bool refines() const { return pass_ > kFirstPasses; }
  [[nodiscard]] double progress() const;  ///< 0 to 1
  /// The range of a depth image, mm.
  [[nodiscard]] std::pair<double, double> depth_range() const {
    return {double{frame_.nearest}, double{frame_.farthest}};
  }

  /// The texture with the rays cast so far, for Renderer::draw().
  [[nodiscard]] ForeignImage image() const { return {image_.texture()}; }
  /// Whether kernels write into the texture's memory without a copy.
  [[nodiscard]] bool shares() const { return image_.shares(); }
  /// Solid + 1 (0: none) at each pixel's centre, rows from the top. Complete once each pixel has a sample.
  [[nodiscard]] std::vector<std::uint32_t> solids() const;

 private:
  static constexpr std::size_t kFirstPasses = 4;  // of the first sample of all pixels
  template <class T>
  void fill(DeviceBuffer<T>& buffer, std::span<const T> values);
  void fill_balls();
  void fill_scale(const Settings& settings);
  void fill_own(std::span<const std::uint32_t> colors);
  /// The geometry's, in the world.
  [[nodiscard]] Eigen::Vector3d origin() const;

  const Scene* scene_;
  const DeviceScene* geometry_;
  Device device_;
  Stream stream_;
  SharedImage image_;
  DeviceBuffer<Light> sums_;
  DeviceBuffer<std::uint32_t> solids_, colors_, own_, scale_, normals_, smooth_;
  DeviceBuffer<std::uint8_t> visible_;
  DeviceBuffer<RayBall> balls_;             // made by the first caps
  std::vector<std::uint8_t> last_visible_;  // the contents of visible_
  std::vector<std::uint32_t> last_own_;     // the contents of own_
  std::vector<std::uint32_t> last_scale_;   // the contents of scale_
  Bounds visible_bounds_, shown_;
  RayFrame frame_{};
  std::vector<RayPass> passes_;
  std::size_t pass_ = 0;
  std::uint32_t next_cell_ = 0;
  std::uint32_t chunk_ = 1U << 12;  // cells per launch; adapts to a few milliseconds
};

/// Casts cells [first, first + count) of a pass: asynchronously in the stream on CUDA, before it returns on the host.
void cast_cells(const Device& device, const RayFrame& frame, const RayPass& pass, std::uint32_t first,
                std::uint32_t count, StreamRef stream);

}  // namespace raylift::viewer
