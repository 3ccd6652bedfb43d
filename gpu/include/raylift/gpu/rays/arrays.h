// SPDX-License-Identifier: Apache-2.0
// Rays from arrays of origins and directions, and hits into an array for each quantity: for callers whose arrays come
// from NumPy, CuPy, PyTorch and their like. Kernels of one's own use Ray and Hit as they are.
#pragma once

#include <raylift/geometry/bvh/ray.h>
#include <raylift/geometry/detail/standard.h>
#include <raylift/gpu/view.h>
#if !defined(__CUDACC_RTC__)
#include <raylift/gpu/device/device.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#endif

namespace raylift {

/// Rays, by array.
struct RayArrays {
  /// Triples of floating-point numbers anywhere in the device's memory: number (i, k) lies `row * i + column * k` bytes
  /// after `data`. A row of 0 gives all rays the same triple.
  struct Triples {
    const void* data = nullptr;
    std::ptrdiff_t row = 12;
    std::ptrdiff_t column = 4;
    bool is_double = false;

    [[nodiscard]] RAYLIFT_HD double at(std::size_t i, int k) const {
      const auto* const place = static_cast<const char*>(data) + row * static_cast<std::ptrdiff_t>(i) + column * k;
      return is_double ? *reinterpret_cast<const double*>(place) : double{*reinterpret_cast<const float*>(place)};
    }
  };

  Triples origins;     ///< millimetres, in the scene's coordinates
  Triples directions;  ///< need no unit length: t counts in their lengths
  double shift[3]{};   ///< subtracted from the origins in double: GeometryView::origin
  float tmin = 0;      ///< of all rays
  float tmax = std::numeric_limits<float>::infinity();

  [[nodiscard]] RAYLIFT_HD Ray ray(std::size_t i) const {
    Ray ray;
    ray.origin =
        LocalPoint(static_cast<float>(origins.at(i, 0) - shift[0]), static_cast<float>(origins.at(i, 1) - shift[1]),
                   static_cast<float>(origins.at(i, 2) - shift[2]));
    ray.direction = {static_cast<float>(directions.at(i, 0)), static_cast<float>(directions.at(i, 1)),
                     static_cast<float>(directions.at(i, 2))};
    ray.tmin = tmin;
    ray.tmax = tmax;
    return ray;
  }
};

/// What is to be known of hits, by array of as many elements as there are hits; null: not wanted.
struct HitArrays {
  std::uint8_t* valid = nullptr;        ///< 1: something was hit
  std::uint8_t* from_inside = nullptr;  ///< 1: the ray leaves the solid
  std::uint32_t* instances = nullptr;   ///< kNone where nothing was hit
  std::uint32_t* solids = nullptr;      ///< indices in Scene::instances; likewise
  std::uint16_t* inside = nullptr;      ///< material inside of the triangle; MaterialCode::none likewise
  std::uint16_t* outside = nullptr;     ///< material outside

  RAYLIFT_HD void set(const GeometryView& geometry, const Hit& hit, std::size_t i) const {
    const bool is_hit = hit.valid();
    const std::uint32_t instance = hit.instance;
    if (valid != nullptr) valid[i] = is_hit ? 1 : 0;
    if (from_inside != nullptr) from_inside[i] = is_hit && hit.from_inside != 0 ? 1 : 0;
    if (instances != nullptr) instances[i] = is_hit ? instance : 0xFFFFFFFFU;
    if (solids != nullptr) solids[i] = is_hit ? geometry.solid_id(instance, hit.triangle) : 0xFFFFFFFFU;
    if (inside == nullptr && outside == nullptr) return;
    const std::uint16_t none = MaterialCode::none;
    const MaterialCode code = is_hit ? geometry.material_code(instance, hit.triangle) : MaterialCode{none, none};
    if (inside != nullptr) inside[i] = code.inside;
    if (outside != nullptr) outside[i] = code.outside;
  }
};

#if !defined(__CUDACC_RTC__)
/// Sets rays[i] to arrays.ray(i) for i < count. All addresses are the device's. On CUDA, the call returns at once and
/// the work runs in the stream's order; the host device has done it on return. Throws Error: usage where an array is a
/// null pointer, device.
void pack_rays(const Device& device, const RayArrays& arrays, Ray* rays, std::size_t count, StreamRef stream);

/// Calls arrays.set() for each of `count` hits of trace() on the same geometry. Likewise.
void unpack_hits(const GpuGeometry& geometry, const Hit* hits, const HitArrays& arrays, std::size_t count,
                 StreamRef stream);
#endif

}  // namespace raylift
