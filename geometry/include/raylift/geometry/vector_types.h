// SPDX-License-Identifier: Apache-2.0
// float3 and uint3: packed triples with the layout of CUDA's types of the same names, usable without CUDA; and the
// transform that kernels use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(__CUDACC__)
#include <vector_types.h>
#define RAYLIFT_HD __host__ __device__
#else
#define RAYLIFT_HD
#endif

namespace raylift {

/// Three floats, 12 bytes, packed. Kernels may use it as CUDA's type of that name: it converts both ways at no cost.
struct float3 {
  float x, y, z;

#if defined(__CUDACC__)
  float3() = default;
  RAYLIFT_HD constexpr float3(float x_, float y_, float z_) : x(x_), y(y_), z(z_) {}
  RAYLIFT_HD float3(::float3 v) : x(v.x), y(v.y), z(v.z) {}
  RAYLIFT_HD operator ::float3() const {
    return ::float3{x, y, z};
  }
#endif

  friend bool operator==(const float3&, const float3&) = default;
};

/// Three unsigned 32-bit integers, 12 bytes, packed: a triangle's vertex indices.
struct uint3 {
  std::uint32_t x, y, z;

#if defined(__CUDACC__)
  uint3() = default;
  RAYLIFT_HD constexpr uint3(std::uint32_t x_, std::uint32_t y_, std::uint32_t z_) : x(x_), y(y_), z(z_) {}
  RAYLIFT_HD uint3(::uint3 v) : x(v.x), y(v.y), z(v.z) {}
  RAYLIFT_HD operator ::uint3() const {
    return ::uint3{x, y, z};
  }
#endif

  friend bool operator==(const uint3&, const uint3&) = default;
};

// What Chroma and every GPU array of ours rely on.
static_assert(sizeof(float3) == 12 && alignof(float3) == 4 && std::is_trivially_copyable_v<float3>);
static_assert(sizeof(uint3) == 12 && alignof(uint3) == 4 && std::is_trivially_copyable_v<uint3>);

/// The rows of a 3x4 affine matrix, row-major.
struct Affine {
  float m[12];

  [[nodiscard]] RAYLIFT_HD float3 point(float3 p) const {
    return {m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3], m[4] * p.x + m[5] * p.y + m[6] * p.z + m[7],
            m[8] * p.x + m[9] * p.y + m[10] * p.z + m[11]};
  }
  [[nodiscard]] RAYLIFT_HD float3 direction(float3 d) const {
    return {m[0] * d.x + m[1] * d.y + m[2] * d.z, m[4] * d.x + m[5] * d.y + m[6] * d.z,
            m[8] * d.x + m[9] * d.y + m[10] * d.z};
  }
};

}  // namespace raylift
