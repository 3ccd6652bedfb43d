// SPDX-License-Identifier: Apache-2.0
// Uploading arrays to a device, in three steps. Placement decides where each array goes; only the memory that it needs
// is allocated; one ring of pinned chunks carries all arrays, so that the next chunk is converted while the last one is
// on the link. gpu_geometry.h uploads scenes.
#pragma once

#include <raylift/geometry/bvh/bvh.h>
#include <raylift/geometry/progress.h>
#include <raylift/gpu/device/device.h>
#include <raylift/gpu/memory/device_resource.h>
#include <raylift/gpu/memory/memory.h>
#include <raylift/gpu/memory/residency.h>
#include <raylift/gpu/optics_view.h>
#include <raylift/gpu/upload/array_source.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace raylift {

struct Scene;
struct SceneBvh;

struct UploadOptions {
  /// Where the BVHs of an upload are built.
  enum class BvhBuilder : std::uint8_t {
    host,    ///< build_bvh: the best trees
    device,  ///< the device, for meshes of 50,000 triangles and more: much faster, for rays at 0.98 times the rate. The
             ///< host device has the host's builder
  };
  /// How finely next_boundary() resolves places.
  enum class Positions : std::uint8_t {
    automatic,  ///< finely for scenes with optics that have thin layers, in two levels
    floats,     ///< to 2^-21 of the scene's largest coordinate
    fine,       ///< to 2^-41 of it: by each instance's transform in double, and by vertices to 48 bits
  };
  /// Device memory of the caller's for an array, in place of memory that the upload allocates.
  struct ExternalMemory {
    std::byte* device = nullptr;  ///< for kernels and copies; stays as long as what was uploaded is used
    std::string why;              ///< for the report
  };

  /// Gives an array its external memory. Called for each array that is not empty, before placement, on the uploading
  /// thread. An ExternalMemory without an address leaves the array to placement. External memory counts in the budget.
  using ExternalTarget = std::function<ExternalMemory(const std::string& name, std::size_t bytes)>;

  PlacementPolicy policy = PlacementPolicy::automatic;
  std::uint64_t reserve = kDefaultReserve;  ///< device bytes that stay free
  std::uint64_t budget = UINT64_MAX;        ///< device bytes to take at most
  bool flatten = false;                     ///< expand a scene's instances
  /// Build the BVH that ray queries need, and upload it too. Without it every ray of a kernel misses and every point is
  /// in no solid, and trace() and photons throw Error(usage); an upload takes less time and memory.
  bool bvh = true;
  Bvh::Options bvh_options;
  BvhBuilder bvh_builder = BvhBuilder::host;
  /// A prebuilt BVH of the scene, from build_bvh for the same origin (and of the flattened scene if that is uploaded):
  /// no other one is built then. It must live until the upload returns. Error(usage) if its counts, links or transforms
  /// are not those of the scene; the triangles' vertices are not compared.
  const SceneBvh* prebuilt_bvh = nullptr;
  Raster raster = kOwnPoints;  ///< wavelengths at which optical tables are sampled; else they keep their points
  Positions positions = Positions::automatic;  ///< flattened scenes have floats
  std::optional<Double3> origin;               ///< subtracted in double; default_origin if not given
  PinnedFlags mapped_flags;                    ///< of arrays, or parts of them, that stay in host memory
  /// Bytes of the staging ring's chunks: 512 KiB times a power of two, at most 1 GiB. Error(usage) otherwise, likewise
  /// for `chunks`.
  std::size_t chunk_bytes = std::size_t{16} << 20;
  std::size_t chunks = 3;   ///< in the ring, which is all the pinned memory that an upload takes; 1 to 1024
  ExternalTarget external;  ///< for arrays whose memory the caller owns, such as OpenGL buffers
  /// Allocates the arrays that are whole on the device; raylift's pool if not given. The arrays keep it alive.
  std::shared_ptr<DeviceResource> memory;
  /// Arrays of the caller's own, placed together with the scene's by one plan: GpuGeometry::array(name) has them. Each
  /// has a name that no other array has. upload() of sources appends them to its own.
  std::vector<ArraySource> arrays;
  /// Idle devices of the same host, whose links are used too: a part of the chunks goes to their memory, and from there
  /// to the device by peer copies. Devices without peer access to it are left out. Each needs memory for a few chunks
  /// during the upload.
  std::vector<Device> relay_devices;
};

[[nodiscard]] const char* to_string(UploadOptions::Positions positions) noexcept;
/// By its name. Throws Error(usage) for another one.
[[nodiscard]] UploadOptions::Positions positions_of(std::string_view name);

/// Whether an upload of the scene resolves places finely.
[[nodiscard]] bool is_fine(const Scene& scene, const UploadOptions& options);

/// Uploaded arrays, in the order of their sources and of UploadOptions::arrays, and where they went.
struct ResidentArrays {
  std::vector<Memory> arrays;
  ResidencyReport report;
};

/// Uploads arrays. Blocks until the last byte has arrived; work that is launched afterwards, on any stream, sees the
/// arrays. The copies use a stream of their own. Scratch memory, on the device and on the host, does not grow with the
/// arrays. A failure, or a cancellation between two chunks, releases everything. Throws Error:
/// out_of_device_memory, under PlacementPolicy::device; what the allocations and the fills throw; cancelled.
///
/// Memory of UploadOptions::memory is allocated and freed on CUDA's null stream.
[[nodiscard]] ResidentArrays upload(std::span<const ArraySource> sources, const Device& device,
                                    const UploadOptions& options = {}, const Progress& progress = {});

/// The same in the order of a stream of the caller's: returns when the last copy is enqueued.
///
///   - Work that is enqueued on `stream` afterwards sees the arrays. Other streams have to wait for an event that is
///     recorded on `stream` after the return: Event, or cudaEventRecord.
///   - The sources' fills run during the call. So the caller's arrays may be freed when it returns, except those in
///     pinned memory (ArraySource::pinned): the copies read these, so they must live until the copies are done.
///   - Memory of UploadOptions::memory is allocated and freed on `stream`, which must outlive the arrays. Releasing
///     other arrays waits for the device.
///   - The staging ring returns to the device's pool, which does not reuse it before the copies are done: the next
///     upload waits for that. With an array larger than the ring, the call waits for the link.
///   - Allocations block, and so does building BVHs on the device (BvhBuilder::device).
///   - A failure waits for the stream. The report's times end with the call. On the host device all is done then.
[[nodiscard]] ResidentArrays upload_async(std::span<const ArraySource> sources, const Device& device, StreamRef stream,
                                          const UploadOptions& options = {}, const Progress& progress = {});

}  // namespace raylift
