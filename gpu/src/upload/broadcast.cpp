// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/gpu/upload/broadcast.h>

#include <chrono>

#include "array_on_device.h"
#include "geometry/src/stage.h"
#include "geometry_arrays.h"
#include "staging.h"

namespace raylift {

std::vector<ResidentArrays> broadcast(std::span<const ArraySource> sources, std::span<const Device> devices,
                                      const UploadOptions& options, const Progress& progress) {
  if (devices.empty()) throw Error(ErrorKind::usage, "there is no device to put the arrays on");
  for (std::size_t i = 0; i != devices.size(); ++i)
    for (std::size_t j = 0; j != i; ++j)
      if (devices[i].backend() == devices[j].backend() ||
          (!devices[i].info().is_host && devices[i].info().cuda_device == devices[j].info().cuda_device))
        throw Error(ErrorKind::usage, "the device " + devices[i].info().id + " is given twice");
  if (options.external || options.memory)
    throw Error(ErrorKind::usage, "memory of others is on one device: upload to that one instead");
  detail::check_options(options);
  std::vector<ArraySource> joined;
  const std::span<const ArraySource> all = detail::with_own_arrays(sources, options, joined);

  detail::release_from_devices(all);
  std::vector<ResidentArrays> resident;
  for (const Device& device : devices)
    resident.push_back(detail::place_arrays(all, device, nullptr, options, progress));
  std::vector<std::vector<detail::Destination>> arrays;
  for (const ResidentArrays& one : resident) arrays.push_back(detail::destinations_of(all, one, options));

  const Stage stage(progress, "upload", resident.front().report.bytes());
  const auto start = std::chrono::steady_clock::now();
  detail::fill_arrays(arrays, devices, options, stage);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  for (std::size_t i = 0; i != devices.size(); ++i) {
    resident[i].report.upload_seconds = time.count();
    resident[i].report.free_after = devices[i].memory_info().free_bytes;
  }
  return resident;
}

std::vector<GpuGeometry> broadcast(const Scene& scene, std::span<const Device> devices, const UploadOptions& options,
                                   const Progress& progress) {
  const detail::GeometryArrays arrays = detail::geometry_arrays(
      scene, options, progress, devices.empty() ? nullptr : detail::builder_of(devices[0], options));
  std::vector<ResidentArrays> resident = broadcast(arrays.arrays, devices, options, progress);
  std::vector<GpuGeometry> geometries;
  for (std::size_t i = 0; i != devices.size(); ++i)
    geometries.emplace_back(devices[i], std::move(resident[i]), arrays.origin, arrays.reach, arrays.raster);
  return geometries;
}

}  // namespace raylift
