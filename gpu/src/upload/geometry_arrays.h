// SPDX-License-Identifier: Apache-2.0
// What lies between a scene and a GpuGeometry: the arrays by name, ready to be uploaded, or to be written to a cache
// and uploaded from there.
#pragma once

#include <raylift/geometry/bvh/scene_bvh.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <vector>

namespace raylift::detail {

struct GeometryArrays {
  std::vector<ArraySource> arrays;  ///< under the names of ViewArray
  Eigen::Vector3d origin = Eigen::Vector3d::Zero();
  float reach = 0;  ///< GeometryView::reach
  Raster raster = kDefaultRaster;
};

/// The largest coordinate of the bounds from the origin, rounded up.
[[nodiscard]] float reach_of(const Bounds& bounds, const Eigen::Vector3d& origin);

/// Builds large meshes' trees on the device, and brings them back: they are placed like every other array. Nothing
/// where options leave it to the host. Device and options must stay as long as it.
[[nodiscard]] MeshBuilder builder_on(const Device& device, const UploadOptions& options);

/// The scene must stay until the arrays have been filled. Flattened where options say so. Throws Error(limit) where
/// 32-bit indices or 16-bit materials or surfaces do not suffice, Error(usage) for a scene whose parts do not fit
/// together, or a raster that is none.
[[nodiscard]] GeometryArrays geometry_arrays(const Scene& scene, const UploadOptions& options, const Progress& progress,
                                             const MeshBuilder& large = {});
/// Likewise: scene and colours must stay.
[[nodiscard]] GeometryArrays geometry_arrays(const FlatScene& flat, std::span<const std::uint32_t> material_colors,
                                             const UploadOptions& options, const Progress& progress,
                                             const MeshBuilder& large = {});

[[nodiscard]] GpuGeometry upload_geometry(const GeometryArrays& arrays, const Device& device,
                                          const UploadOptions& options, const Progress& progress);

}  // namespace raylift::detail
