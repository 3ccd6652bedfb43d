// SPDX-License-Identifier: Apache-2.0
// A scene on a device. <raylift/geometry/scene/scene.h> and <raylift/geometry/scene/flatten.h> have the scenes; this
// header includes neither, for the sake of .cu files.
#pragma once

#include <raylift/geometry/vector_types.h>
#include <raylift/gpu/memory/device_span.h>
#include <raylift/gpu/upload/upload.h>
#include <raylift/gpu/upload/view_arrays.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace raylift {

struct FlatScene;
struct Scene;
namespace detail {
class MovingInstances;
struct Moving;
}  // namespace detail

/// Geometry on a device: owns its arrays. Move-only. All work on its view must be done before it is destroyed.
class GpuGeometry {
 public:
  /// Empty, as one that was moved from: it has no arrays, its view and its report are empty, and functions that need
  /// its device throw Error(usage), such as device(), trace() and those for photons.
  GpuGeometry() = default;
  /// From uploaded arrays; those that have the name of a ViewArray are in the view. `origin`, `reach` and `raster` are
  /// the view's.
  GpuGeometry(const Device& device, ResidentArrays resident, const Double3& origin, float reach,
              const Raster& raster = kOwnPoints);
  GpuGeometry(GpuGeometry&& other) noexcept { *this = std::move(other); }
  GpuGeometry& operator=(GpuGeometry&& other) noexcept;
  ~GpuGeometry() = default;

  /// What kernels take by value. Valid as long as this lives.
  [[nodiscard]] const GeometryView& view() const& { return view_; }
  /// The arrays of a temporary would be gone.
  const GeometryView& view() const&& = delete;
  [[nodiscard]] const ResidencyReport& report() const { return resident_.report; }
  /// Throws Error(usage) where the geometry is empty.
  [[nodiscard]] const Device& device() const;
  [[nodiscard]] bool has(ViewArray array) const { return has(info(array).name); }
  /// Throws Error(usage) where the geometry has no such array.
  [[nodiscard]] const Memory& array(ViewArray array) const { return this->array(info(array).name); }
  [[nodiscard]] Memory& array(ViewArray array) { return this->array(info(array).name); }
  /// The same by name: also of UploadOptions::arrays.
  [[nodiscard]] bool has(std::string_view array) const;
  [[nodiscard]] const Memory& array(std::string_view array) const;
  [[nodiscard]] Memory& array(std::string_view array);

  /// Moves solids of a scene in two levels: transforms[i] (mesh's frame and unit -> scene's millimetres, as in
  /// Instance::transform) becomes that of solid solids[i]. The level of the BVH over the instances is rebuilt on the
  /// device; meshes don't change. A solid whose transform has no inverse is not hit. A solid that no ray could hit when
  /// it was uploaded, because it had no triangles or no inverse, stays so. The tree of solids and the surfaces between
  /// them do not change. view() changes: `reach` may grow.
  ///
  /// Work is done in the stream's order; returns once the stream is past it. Nothing may use the geometry meanwhile.
  /// Throws Error: usage (a flat scene, one without a BVH, a solid that is not there or is given twice, another number
  /// of transforms, one that is not finite), limit (a place beyond 1e18 mm from the origin), out_of_device_memory,
  /// device. After one of the last three the BVH is of no use until another call succeeds.
  void set_transforms(std::span<const std::uint32_t> solids, std::span<const Transform> transforms, StreamRef stream);
  /// Hides solids from all ray queries, or shows them again. Everything else as for set_transforms().
  void set_visible(std::span<const std::uint32_t> solids, bool visible, StreamRef stream);
  /// New vertices of a mesh, on the device, in its own frame and unit, as many as it had. The boxes of its tree are
  /// refitted, and the level over instances is rebuilt. The tree keeps its topology: after large changes rays take
  /// longer than with a new upload. In a flattened scene, mesh 0 is the whole scene. Otherwise as set_transforms().
  /// Throws Error: usage (a mesh that is not there, another number of vertices, a vertex that is not finite or beyond
  /// 1e18, no BVH), limit, out_of_device_memory, device.
  void refit(std::uint32_t mesh, DeviceSpan<const Float3> vertices, StreamRef stream);

 private:
  detail::Moving& moving();
  detail::MovingInstances& moving_instances(StreamRef stream);
  void rebuild_instance_level(StreamRef stream);

  std::optional<Device> device_;
  ResidentArrays resident_;
  GeometryView view_{};
  std::shared_ptr<detail::Moving> moving_;  ///< from the first move on
};

/// A scene, in two levels, or flattened where options say so. Indices of the view's triangles, and of its materials and
/// solids, are those of the scene. Throws Error(limit) where 32-bit indices or 16-bit materials do not suffice.
[[nodiscard]] GpuGeometry upload(const Scene& scene, const Device& device, const UploadOptions& options = {},
                                 const Progress& progress = {});

/// A scene that is flat already; `material_colors` may be empty.
[[nodiscard]] GpuGeometry upload(const FlatScene& flat, std::span<const std::uint32_t> material_colors,
                                 const Device& device, const UploadOptions& options = {},
                                 const Progress& progress = {});

/// Both in the order of a stream of the caller's, as upload_async() of sources describes. The scene and the colours may
/// be freed on return.
[[nodiscard]] GpuGeometry upload_async(const Scene& scene, const Device& device, StreamRef stream,
                                       const UploadOptions& options = {}, const Progress& progress = {});
[[nodiscard]] GpuGeometry upload_async(const FlatScene& flat, std::span<const std::uint32_t> material_colors,
                                       const Device& device, StreamRef stream, const UploadOptions& options = {},
                                       const Progress& progress = {});

}  // namespace raylift
