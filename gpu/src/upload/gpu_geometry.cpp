// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/gpu/upload/gpu_geometry.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "geometry_arrays.h"

namespace raylift {
namespace {

/// Arrays that were not uploaded are null in the view.
GeometryView make_view(const ResidentArrays& resident, const Double3& origin, float reach, const Raster& raster) {
  GeometryView view{};
  for (std::size_t i = 0; i != resident.arrays.size(); ++i) {
    const ResidencyReport::Array& row = resident.report.arrays[i];
    if (const ViewArrayInfo* known = find_view_array(row.name))
      known->set(view, resident.arrays[i].device(), static_cast<std::uint32_t>(row.bytes / known->element_bytes),
                 static_cast<std::uint32_t>((row.host_bytes + known->element_bytes - 1) / known->element_bytes));
  }
  view.bvh_levels = view.bvh.node_count == 0 ? 0 : view.solid_ids != nullptr ? 1 : 2;
  view.origin[0] = origin.x;
  view.origin[1] = origin.y;
  view.origin[2] = origin.z;
  view.reach = reach;
  view.optics.raster = raster;
  return view;
}

}  // namespace

GpuGeometry::GpuGeometry(const Device& device, ResidentArrays resident, const Double3& origin, float reach,
                         const Raster& raster)
    : device_(device), resident_(std::move(resident)), view_(make_view(resident_, origin, reach, raster)) {}

GpuGeometry& GpuGeometry::operator=(GpuGeometry&& other) noexcept {
  if (this == &other) return *this;
  // The arrays first: they go before the device that they are on.
  resident_ = std::exchange(other.resident_, {});
  view_ = std::exchange(other.view_, {});
  device_ = std::exchange(other.device_, std::nullopt);
  moving_ = std::exchange(other.moving_, nullptr);
  return *this;
}

const Device& GpuGeometry::device() const {
  if (!device_)
    throw Error(ErrorKind::usage, "the geometry is empty: nothing was uploaded to it, or it was moved from");
  return *device_;
}

bool GpuGeometry::has(std::string_view array) const {
  return std::any_of(resident_.report.arrays.begin(), resident_.report.arrays.end(),
                     [array](const ResidencyReport::Array& row) { return row.name == array; });
}

const Memory& GpuGeometry::array(std::string_view array) const {
  for (std::size_t i = 0; i != resident_.arrays.size(); ++i)
    if (resident_.report.arrays[i].name == array) return resident_.arrays[i];
  throw Error(ErrorKind::usage, "the geometry has no array '" + std::string(array) + "'");
}

Memory& GpuGeometry::array(std::string_view array) {
  return const_cast<Memory&>(std::as_const(*this).array(array));
}

GpuGeometry upload(const Scene& scene, const Device& device, const UploadOptions& options, const Progress& progress) {
  return detail::upload_geometry(detail::geometry_arrays(scene, options, progress, detail::builder_of(device, options)),
                                 std::nullopt, device, options, progress);
}

GpuGeometry upload(const FlatScene& flat, std::span<const std::uint32_t> material_colors, const Device& device,
                   const UploadOptions& options, const Progress& progress) {
  return detail::upload_geometry(
      detail::geometry_arrays(flat, material_colors, options, progress, detail::builder_of(device, options)),
      std::nullopt, device, options, progress);
}

GpuGeometry upload_async(const Scene& scene, const Device& device, StreamRef stream, const UploadOptions& options,
                         const Progress& progress) {
  return detail::upload_geometry(detail::geometry_arrays(scene, options, progress, detail::builder_of(device, options)),
                                 stream, device, options, progress);
}

GpuGeometry upload_async(const FlatScene& flat, std::span<const std::uint32_t> material_colors, const Device& device,
                         StreamRef stream, const UploadOptions& options, const Progress& progress) {
  return detail::upload_geometry(
      detail::geometry_arrays(flat, material_colors, options, progress, detail::builder_of(device, options)), stream,
      device, options, progress);
}

}  // namespace raylift
