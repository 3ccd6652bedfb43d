// SPDX-License-Identifier: Apache-2.0
// One scene on several devices of a host. Each chunk crosses the link of one device, the next chunk that of the next,
// and from each it goes on to the other devices: so the links add up, and all devices have the scene sooner than one of
// them would have it alone. Between devices that don't reach each other, each takes all of it over its own link.
#pragma once

#include <raylift/gpu/upload/gpu_geometry.h>

#include <span>
#include <vector>

namespace raylift {

/// Uploads the same arrays to every device, in their order. Each device has a placement of its own; what of an array
/// lies in host memory is there once for each device. Otherwise as upload(), whose errors it throws; Error(usage) for
/// no device, one that is given twice, and memory of others (UploadOptions::external).
[[nodiscard]] std::vector<ResidentArrays> broadcast(std::span<const ArraySource> sources,
                                                    std::span<const Device> devices, const UploadOptions& options = {},
                                                    const Progress& progress = {});

/// The same for a scene. What is computed before an upload, BVHs for instance, is computed once.
[[nodiscard]] std::vector<GpuGeometry> broadcast(const Scene& scene, std::span<const Device> devices,
                                                 const UploadOptions& options = {}, const Progress& progress = {});

}  // namespace raylift
