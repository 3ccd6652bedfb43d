// SPDX-License-Identifier: Apache-2.0
// A scene on a device. <raylift/geometry/scene/scene.h> and <raylift/geometry/scene/flatten.h> have the scenes; this
// page does without them, and so without Eigen, for the sake of .cu files.
#pragma once

#include <raylift/geometry/vector_types.h>
#include <raylift/gpu/upload/upload.h>
#include <raylift/gpu/upload/view_arrays.h>

#include <cstdint>
#include <span>

namespace raylift::inline v0_1 {

struct FlatScene;
struct Scene;

/// Geometry on a device: owns its arrays. Move-only. Everything that views it must be done before it goes.
class GpuGeometry {
 public:
  /// From uploaded arrays, of which those that have the name of a ViewArray come into the view. `origin`, `reach`
  /// and `raster` are the view's.
  GpuGeometry(const Device& device, ResidentArrays resident, const Double3& origin, float reach,
              const Raster& raster = kDefaultRaster);

  /// What kernels take by value. Valid as long as this lives.
  [[nodiscard]] const GeometryView& view() const { return view_; }
  [[nodiscard]] const ResidencyReport& report() const { return resident_.report; }
  [[nodiscard]] const Device& device() const { return device_; }
  [[nodiscard]] bool has(ViewArray array) const;
  /// Throws Error(usage) where the geometry has no such array.
  [[nodiscard]] const Memory& array(ViewArray array) const;
  [[nodiscard]] Memory& array(ViewArray array);

 private:
  Device device_;
  ResidentArrays resident_;
  GeometryView view_{};
};

/// A scene, in two levels, or flattened where options say so. Indices of the view's triangles, and of its materials and
/// solids, are those of the scene. Throws Error(limit) where 32-bit indices or 16-bit materials do not suffice.
[[nodiscard]] GpuGeometry upload(const Scene& scene, const Device& device, const UploadOptions& options = {},
                                 const Progress& progress = {});

/// A scene that is flat already; `material_colors` may be empty.
[[nodiscard]] GpuGeometry upload(const FlatScene& flat, std::span<const std::uint32_t> material_colors,
                                 const Device& device, const UploadOptions& options = {},
                                 const Progress& progress = {});

}  // namespace raylift::inline v0_1
