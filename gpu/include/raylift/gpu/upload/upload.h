// SPDX-License-Identifier: Apache-2.0
// Putting geometry onto a device: placement first, then only what it needs is allocated, then all arrays go through one
// pipeline in which the next chunk is converted while the last one is on the link.
#pragma once

#include <raylift/geometry/bvh/bvh.h>
#include <raylift/geometry/progress.h>
#include <raylift/geometry/scene/convert.h>
#include <raylift/geometry/scene/flatten.h>
#include <raylift/geometry/scene/scene.h>
#include <raylift/gpu/device/device.h>
#include <raylift/gpu/memory/memory.h>
#include <raylift/gpu/memory/placement.h>
#include <raylift/gpu/memory/residency.h>
#include <raylift/gpu/upload/view_arrays.h>
#include <raylift/gpu/view.h>

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

/// Who builds the hierarchies of an upload.
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
  bool bvh = false;                         ///< build the hierarchy that ray queries need, and upload it too
  BvhOptions bvh_options;
  BvhBuilder bvh_builder = BvhBuilder::host;
  std::optional<Eigen::Vector3d> origin;            ///< subtracted in double; default_origin if not given
  PinnedFlags mapped_flags;                         ///< of arrays, or parts of them, that stay in host memory
  std::size_t chunk_bytes = std::size_t{16} << 20;  ///< of the staging ring: one copy; 512 KiB times a power of two
  std::size_t chunks = 3;   ///< in the ring, which is all the pinned memory that an upload takes
  ExternalTarget external;  ///< of arrays whose memory somebody else owns, an OpenGL buffer for example
  /// Idle devices of the same host, whose links help: a part of the chunks goes to their memory, and from there to the
  /// device. Those that don't reach it are left out. Each needs a few chunks of its memory while the upload lasts.
  std::vector<Device> helpers;
};

/// Writes elements [first, first + count) of an array to `target`. Called from several threads at once, for different
/// elements. `target` may be write-combined memory: then it must not be read.
using Fill = std::function<void(std::size_t first, std::size_t count, std::byte* target, Target kind)>;

/// An array that is to be uploaded.
struct ArraySource {
  std::string name;
  ArrayRank rank = ArrayRank::attributes;
  std::size_t element_bytes = 1;
  std::size_t count = 0;
  Fill fill;
  const std::byte* pinned = nullptr;  ///< the whole array, if it lies in pinned memory: then it needs no staging
};

/// An array of a GeometryView, under its name and rank. Throws Error(usage) where its elements have another size than
/// `element_bytes`.
[[nodiscard]] ArraySource view_source(ViewArray array, std::size_t element_bytes, std::size_t count, Fill fill);
template <class T>
[[nodiscard]] ArraySource view_source(ViewArray array, std::span<const T> values);

/// The caller's rows, converted on the way. They must stay until upload returns.
[[nodiscard]] ArraySource float3_source(std::string name, ArrayRank rank, const Rows& rows);
[[nodiscard]] ArraySource uint3_source(std::string name, ArrayRank rank, const Rows& rows);
/// The caller's array as it is.
template <class T>
[[nodiscard]] ArraySource array_source(std::string name, ArrayRank rank, std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {std::move(name), rank, sizeof(T), values.size(),
          [values](std::size_t first, std::size_t count, std::byte* target, Target kind) {
            copy_bytes(values.data() + first, target, count * sizeof(T), kind);
          }};
}

template <class T>
ArraySource view_source(ViewArray array, std::span<const T> values) {
  return view_source(array, sizeof(T), values.size(), array_source("", ArrayRank::attributes, values).fill);
}

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

class GpuGeometry;
namespace detail {
struct GeometrySources;
GpuGeometry upload_geometry(const GeometrySources&, const Device&, const UploadOptions&, const Progress&);
std::vector<GpuGeometry> broadcast_geometry(const GeometrySources&, std::span<const Device>, const UploadOptions&,
                                            const Progress&);
}  // namespace detail

/// Geometry on a device: owns its arrays. Move-only. Everything that views it must be done before it goes.
class GpuGeometry {
 public:
  /// What kernels take by value. Valid as long as this lives.
  [[nodiscard]] const GeometryView& view() const { return view_; }
  [[nodiscard]] const ResidencyReport& report() const { return resident_.report; }
  [[nodiscard]] const Device& device() const { return device_; }
  [[nodiscard]] bool has(ViewArray array) const;
  /// Throws Error(usage) where the geometry has no such array.
  [[nodiscard]] const Memory& array(ViewArray array) const;

 private:
  friend GpuGeometry detail::upload_geometry(const detail::GeometrySources&, const Device&, const UploadOptions&,
                                             const Progress&);
  friend std::vector<GpuGeometry> detail::broadcast_geometry(const detail::GeometrySources&, std::span<const Device>,
                                                             const UploadOptions&, const Progress&);
  GpuGeometry(const Device& device, ResidentArrays resident) : device_(device), resident_(std::move(resident)) {}

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

}  // namespace raylift
