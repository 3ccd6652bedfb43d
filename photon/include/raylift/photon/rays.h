// SPDX-License-Identifier: Apache-2.0
// The rays of a source's photons at birth, for programs that only trace rays.
#pragma once

#include <raylift/geometry/detail/standard.h>
#include <raylift/photon/detail/birth.h>
#if !defined(__CUDACC_RTC__)
#include <raylift/gpu/upload/gpu_geometry.h>
#endif

namespace raylift::photon {

/// The ray of a photon by its number: its birth, and its direction, of unit length. The same bits on host and device.
[[nodiscard]] RAYLIFT_HD_INLINE Ray birth_ray(const GeometryView& geometry, const Source& source, std::uint64_t seed,
                                              std::uint64_t number) {
  RandomStream random(seed, number);
  const BirthPlace place = birth_place(source, random);
  const Vector center(geometry.from_scene(source.center));
  Ray ray;
  ray.origin = LocalPoint(place.distance < Real(0) ? center : center + place.distance * place.direction);
  ray.direction = birth_direction(source, random);
  return ray;
}

#if !defined(__CUDACC_RTC__)
/// Writes the rays of photons first to first + count - 1 to an array in the device's memory. On a CUDA device,
/// stream-ordered and asynchronous with respect to the host. Errors: usage (an invalid source, or one whose photons are
/// given), device.
void make_rays(const GpuGeometry& geometry, const Source& source, std::uint64_t seed, std::uint64_t first, Ray* rays,
               std::size_t count, StreamRef stream);
#endif

}  // namespace raylift::photon
