// SPDX-License-Identifier: Apache-2.0
// Putting arrays onto a device: placement first, then only what it needs is allocated, then all arrays go through one
// ring of staging memory, in which the next chunk is converted while the last one is on the link. gpu_geometry.h
// uploads scenes.
#pragma once

#include <raylift/geometry/bvh/bvh.h>
#include <raylift/geometry/progress.h>
#include <raylift/gpu/device/device.h>
#include <raylift/gpu/memory/memory.h>
#include <raylift/gpu/memory/residency.h>
#include <raylift/gpu/upload/array_source.h>

#include <Eigen/Core>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace raylift {

/// Device memory that an array goes to instead of memory that the upload allocates.
struct ExternalMemory {
  std::byte* device = nullptr;  ///< for kernels and copies; stays as long as what was uploaded is used
  std::string why;              ///< for the report
};

/// Called for each array that is not empty, before placement, on the thread that uploads. An ExternalMemory without an
/// address leaves the array to the placement. What it gives counts in the budget.
using ExternalTarget = std::function<ExternalMemory(const std::string& name, std::size_t bytes)>;

/// Who builds the BVHs of an upload.
enum class BvhBuilder : std::uint8_t {
  host,    ///< build_bvh: the best trees
  device,  ///< the device, for meshes of 50,000 triangles and more: much sooner done; see bvh_build.h. On the host
           ///< device the same as host
};

struct UploadOptions {
  PlacementPolicy policy = PlacementPolicy::automatic;
  std::uint64_t reserve = kDefaultReserve;  ///< device bytes that stay free
  std::uint64_t budget = UINT64_MAX;        ///< device bytes to take at most
  bool flatten = false;                     ///< expand a scene's instances
  bool bvh = false;                         ///< build the BVH that ray queries need, and upload it too
  BvhOptions bvh_options;
  BvhBuilder bvh_builder = BvhBuilder::host;
  std::optional<Eigen::Vector3d> origin;            ///< subtracted in double; default_origin if not given
  PinnedFlags mapped_flags;                         ///< of arrays, or parts of them, that stay in host memory
  std::size_t chunk_bytes = std::size_t{16} << 20;  ///< of the staging ring: one copy; 512 KiB times a power of two
  std::size_t chunks = 3;   ///< in the ring, which is all the pinned memory that an upload takes
  ExternalTarget external;  ///< of arrays whose memory somebody else owns, an OpenGL buffer for example
  /// Relay devices: idle ones of the same host, whose links are used too. A part of the chunks goes to their memory,
  /// and from there to the device. Those that don't reach it are left out. Each needs a few chunks of its memory while
  /// the upload lasts.
  std::vector<Device> relay_devices;
};

/// Uploaded arrays, in the order of their sources, and where they went.
struct ResidentArrays {
  std::vector<Memory> arrays;
  ResidencyReport report;
};

/// Uploads arrays. Blocks until all of them are in place. Work goes on a stream of its own; what a caller launches
/// afterwards, on any stream, sees the arrays. Device memory beyond the arrays and host memory beyond the ring do not
/// grow with their size. When it fails, or is cancelled between two chunks, everything is given back. Throws Error:
/// what plan_placement, the allocations and the fills throw; cancelled.
[[nodiscard]] ResidentArrays upload(std::span<const ArraySource> sources, const Device& device,
                                    const UploadOptions& options = {}, const Progress& progress = {});

}  // namespace raylift
