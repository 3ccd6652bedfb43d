// SPDX-License-Identifier: Apache-2.0
// The scenes of bench_media and of the tests of boundaries: solids in solids that touch in all ways, what the oracle
// needs to know of them, and both on a device.
#pragma once

#include <raylift/geometry/scene/scene.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "media_walk.h"

namespace raylift::bench {

struct MediaScene {
  std::string name;
  Scene scene;
  std::vector<WalkSolid> solids;  ///< by solid id; depths are those of the mothers here
  Eigen::Vector3d start_min = Eigen::Vector3d::Zero(), start_max = Eigen::Vector3d::Zero();
  bool consistent = true;  ///< no solids overlap
  int alike = 1;           ///< how many scenes there are of this kind: turned, elsewhere
};

[[nodiscard]] inline Float3 to_float(const Eigen::Vector3d& v) {
  return {static_cast<float>(v.x()), static_cast<float>(v.y()), static_cast<float>(v.z())};
}

/// All scenes but the detector. The last one has solids that overlap.
[[nodiscard]] std::vector<MediaScene> media_scenes();

/// The generator's detector. Photons are born in its buffer and target.
[[nodiscard]] MediaScene detector_scene(std::uint32_t sensors);

/// Nearer to a surface than 16 units of rounding of the scene's largest coordinate, in millimetres: there the oracle
/// does not decide.
[[nodiscard]] double media_tolerance(const MediaScene& scene);

/// How a scene is uploaded.
enum class MediaLevels : std::uint8_t { two, fine, flat };
inline constexpr MediaLevels kMediaLevels[] = {MediaLevels::two, MediaLevels::fine, MediaLevels::flat};
[[nodiscard]] inline const char* name_of(MediaLevels levels) {
  return levels == MediaLevels::two ? "2 levels" : levels == MediaLevels::fine ? "fine" : "flat";
}

/// A scene and its oracle in a device's memory. The origin is that of the scene, so that large coordinates stay large.
class MediaOnDevice {
 public:
  MediaOnDevice(const MediaScene& scene, const Device& device, MediaLevels levels);

  [[nodiscard]] WalkTask task() const { return task_; }
  [[nodiscard]] const GpuGeometry& geometry() const { return geometry_; }

 private:
  GpuGeometry geometry_;
  DeviceBuffer<WalkSolid> solids_;
  DeviceBuffer<std::uint32_t> always_, cell_begin_, cell_solids_;
  DeviceBuffer<WalkMesh> meshes_;
  DeviceBuffer<Float3> vertices_;
  DeviceBuffer<UInt3> triangles_;
  WalkTask task_{};
};

}  // namespace raylift::bench
