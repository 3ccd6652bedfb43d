// SPDX-License-Identifier: Apache-2.0
// One scene on several devices of a host. The devices' links carry the chunks in round-robin order, and peer copies
// pass each chunk on to the other devices. So the links' rates add up: all devices have the scene sooner than a single
// one would. A device without peer access takes everything over its own link.
#pragma once

#include <raylift/gpu/upload/gpu_geometry.h>

#include <span>
#include <vector>

namespace raylift {

/// Uploads the same arrays to every device; the results are in the order of the devices. Each device has a placement of
/// its own, and parts in host memory exist once per device. Otherwise as upload(), whose errors it throws. Throws
/// Error(usage) for no device, a device that is given twice, and external memory (UploadOptions::external, memory).
[[nodiscard]] std::vector<ResidentArrays> broadcast(std::span<const ArraySource> sources,
                                                    std::span<const Device> devices, const UploadOptions& options = {},
                                                    const Progress& progress = {});

/// The same for a scene. Work before the upload, such as building BVHs, is done once.
[[nodiscard]] std::vector<GpuGeometry> broadcast(const Scene& scene, std::span<const Device> devices,
                                                 const UploadOptions& options = {}, const Progress& progress = {});

}  // namespace raylift
