// SPDX-License-Identifier: Apache-2.0
// What lies between a scene and a GpuGeometry: the arrays by name, ready to be uploaded, or to be written to a cache
// and uploaded from there.
#pragma once

#include <raylift/geometry/bvh/scene_bvh.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <optional>
#include <vector>

namespace raylift::detail {

struct GeometryArrays {
  std::vector<ArraySource> arrays;  ///< under the names of ViewArray
  Double3 origin;
  float reach = 0;  ///< GeometryView::reach
  Raster raster = kOwnPoints;
};

/// The largest coordinate of the bounds from the origin, rounded up.
[[nodiscard]] float reach_of(const Bounds& bounds, const Double3& origin);

/// The device if it is to build the BVHs of large meshes, or null.
[[nodiscard]] const Device* builder_of(const Device& device, const UploadOptions& options);

/// The scene must stay until the arrays have been filled. `builder` builds the BVHs of large meshes. That of a
/// flattened scene stays there until it is placed, and so does the mesh; those of meshes with instances come to the
/// host, as they are joined. Flattened where options say so. Throws Error(limit) where 32-bit indices or 16-bit
/// materials or surfaces do not suffice, Error(usage) for a scene whose parts do not fit together, or a raster that is
/// none.
[[nodiscard]] GeometryArrays geometry_arrays(const Scene& scene, const UploadOptions& options, const Progress& progress,
                                             const Device* builder = nullptr);
/// Likewise: scene and colours must stay.
[[nodiscard]] GeometryArrays geometry_arrays(const FlatScene& flat, std::span<const std::uint32_t> material_colors,
                                             const UploadOptions& options, const Progress& progress,
                                             const Device* builder = nullptr);

/// Without a stream: blocks.
[[nodiscard]] GpuGeometry upload_geometry(const GeometryArrays& arrays, std::optional<StreamRef> stream,
                                          const Device& device, const UploadOptions& options, const Progress& progress);

}  // namespace raylift::detail
