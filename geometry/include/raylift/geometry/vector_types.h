// SPDX-License-Identifier: Apache-2.0
// Float3 and UInt3: packed triples with the layout of CUDA's float3 and uint3, usable without CUDA; Double3 for host
// code; and affine transforms: Affine, which kernels use, and Transform, in double. <raylift/geometry/vectors.h> has
// the arithmetic, and <raylift/geometry/scene/eigen.h> converts to Eigen.
#pragma once

#include <raylift/geometry/compiler.h>
#include <raylift/geometry/detail/standard.h>

#if defined(__CUDACC__)
#if !defined(__CUDACC_RTC__)  // which has CUDA's types built in
#include <vector_types.h>
#endif
#define RAYLIFT_HD __host__ __device__
// A function of a kernel's hot path: left to itself nvcc makes calls of long ones, and what a call takes by reference
// lies in memory instead of registers.
#define RAYLIFT_HD_INLINE __forceinline__ __host__ __device__
// What few threads need: a call, so that it takes no registers from the others.
#define RAYLIFT_SLOW_PATH __noinline__ __host__ __device__
#else
#define RAYLIFT_HD
#define RAYLIFT_HD_INLINE inline
#define RAYLIFT_SLOW_PATH
#endif

namespace raylift {

// Separate types, not aliases of CUDA's, though a kernel may use them as such. So functions with such parameters have
// the same symbols in .cu files and in C++ sources compiled without CUDA's headers, and `using namespace raylift`
// leaves the name float3 to CUDA.

/// Three floats, 12 bytes, packed. In CUDA code it converts both ways to CUDA's float3, at no cost.
struct Float3 {
  float x, y, z;

#if defined(__CUDACC__)
  Float3() = default;
  RAYLIFT_HD constexpr Float3(float x_, float y_, float z_) : x(x_), y(y_), z(z_) {}
  RAYLIFT_HD constexpr Float3(::float3 v) : x(v.x), y(v.y), z(v.z) {}
  RAYLIFT_HD constexpr operator ::float3() const {
    return ::float3{x, y, z};
  }
#endif

  RAYLIFT_HD friend bool operator==(const Float3&, const Float3&) = default;
};

/// Three unsigned 32-bit integers, 12 bytes, packed: a triangle's vertex indices. Likewise CUDA's uint3.
struct UInt3 {
  std::uint32_t x, y, z;

#if defined(__CUDACC__)
  UInt3() = default;
  RAYLIFT_HD constexpr UInt3(std::uint32_t x_, std::uint32_t y_, std::uint32_t z_) : x(x_), y(y_), z(z_) {}
  RAYLIFT_HD constexpr UInt3(::uint3 v) : x(v.x), y(v.y), z(v.z) {}
  RAYLIFT_HD constexpr operator ::uint3() const {
    return ::uint3{x, y, z};
  }
#endif

  RAYLIFT_HD friend bool operator==(const UInt3&, const UInt3&) = default;
};

/// A point in the frame of what rays are traced in: relative to GeometryView::origin, or in the mesh's frame for the
/// BVH of one mesh. A point of the scene does not become one by itself: GeometryView::from_scene() converts it, and
/// to_scene() converts back. In millimetres, or in the mesh's own unit. 12 bytes, the layout of Float3.
struct LocalPoint : Float3 {
  LocalPoint() = default;
  RAYLIFT_HD constexpr explicit LocalPoint(Float3 p) : Float3(p) {}
  RAYLIFT_HD constexpr explicit LocalPoint(float x_, float y_, float z_) : Float3{x_, y_, z_} {}
};

/// A LocalPoint to 48 bits: the sum of `point` and `rest`, which is at most half a float step of `point` on each axis.
/// A LocalPoint becomes one whose rest is zero.
struct FinePoint {
  LocalPoint point;
  Float3 rest;

  FinePoint() = default;
  RAYLIFT_HD constexpr FinePoint(LocalPoint p) : point(p), rest{0, 0, 0} {}
  RAYLIFT_HD constexpr FinePoint(LocalPoint p, Float3 r) : point(p), rest(r) {}

  RAYLIFT_HD friend bool operator==(const FinePoint&, const FinePoint&) = default;
};

/// A point in double. In host code a vector of Eigen's, or of anything else with x(), y() and z(), converts to it: so
/// headers that take one need no library of vectors.
struct Double3 {
  double x = 0, y = 0, z = 0;

  RAYLIFT_HD constexpr Double3() {}
  RAYLIFT_HD constexpr Double3(double x_, double y_, double z_) : x(x_), y(y_), z(z_) {}
  RAYLIFT_HD constexpr Double3(const Float3& v)
      : x(static_cast<double>(v.x)), y(static_cast<double>(v.y)), z(static_cast<double>(v.z)) {}
  /// GeometryView::to_scene() gives the scene's coordinates.
  Double3(const LocalPoint&) = delete;
#if !defined(__CUDACC_RTC__)
  template <class V>
  requires requires(const V& v) {
    { v.x() } -> std::convertible_to<double>;
    { v.y() } -> std::convertible_to<double>;
    { v.z() } -> std::convertible_to<double>;
  }
  Double3(const V& v) : x(v.x()), y(v.y()), z(v.z()) {}
#endif

  /// x, y or z for the axes 0, 1, 2.
  [[nodiscard]] RAYLIFT_HD constexpr double& operator[](int axis) {
    return axis == 0 ? x : axis == 1 ? y : z;
  }
  [[nodiscard]] RAYLIFT_HD constexpr double operator[](int axis) const {
    return axis == 0 ? x : axis == 1 ? y : z;
  }

  RAYLIFT_HD friend bool operator==(const Double3&, const Double3&) = default;
};

// What Chroma and every GPU array of ours rely on.
static_assert(sizeof(Float3) == 12 && alignof(Float3) == 4 && std::is_trivially_copyable_v<Float3>);
static_assert(sizeof(LocalPoint) == 12 && alignof(LocalPoint) == 4 && std::is_trivially_copyable_v<LocalPoint>);
static_assert(sizeof(FinePoint) == 24 && alignof(FinePoint) == 4 && std::is_trivially_copyable_v<FinePoint>);
static_assert(sizeof(UInt3) == 12 && alignof(UInt3) == 4 && std::is_trivially_copyable_v<UInt3>);

/// The rows of a 3x4 affine matrix, row-major.
struct Affine {
  float m[12];

  [[nodiscard]] RAYLIFT_HD Float3 point(Float3 p) const {
    return {m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3], m[4] * p.x + m[5] * p.y + m[6] * p.z + m[7],
            m[8] * p.x + m[9] * p.y + m[10] * p.z + m[11]};
  }
  [[nodiscard]] RAYLIFT_HD Float3 direction(Float3 d) const {
    return {m[0] * d.x + m[1] * d.y + m[2] * d.z, m[4] * d.x + m[5] * d.y + m[6] * d.z,
            m[8] * d.x + m[9] * d.y + m[10] * d.z};
  }
};

/// An affine map from one frame to another: the rows of a 3x4 matrix in double, row-major. The identity by default. An
/// affine transform of Eigen's, or anything else with t(row, column), converts to it.
struct Transform {
  double m[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

  Transform() = default;
  RAYLIFT_HD explicit Transform(const Affine& affine) {
    for (int i = 0; i < 12; ++i) m[i] = static_cast<double>(affine.m[i]);
  }
#if !defined(__CUDACC_RTC__)
  template <class T>
  requires requires(const T& t) {
    { t(0, 0) } -> std::convertible_to<double>;
  }
  Transform(const T& t) {
    for (int i = 0; i < 12; ++i) m[i] = t(i / 4, i % 4);
  }
#endif

  [[nodiscard]] RAYLIFT_HD static Transform Identity() {
    return {};
  }
  /// The map that adds `by` to each point.
  [[nodiscard]] RAYLIFT_HD static Transform Translation(const Double3& by) {
    Transform t;
    for (int row = 0; row < 3; ++row) t(row, 3) = by[row];
    return t;
  }

  /// An element of the 3x4 matrix; column 3 is the translation.
  [[nodiscard]] RAYLIFT_HD double& operator()(int row, int column) {
    return m[4 * row + column];
  }
  [[nodiscard]] RAYLIFT_HD double operator()(int row, int column) const {
    return m[4 * row + column];
  }

  [[nodiscard]] RAYLIFT_HD Double3 point(const Double3& p) const {
    return {m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3], m[4] * p.x + m[5] * p.y + m[6] * p.z + m[7],
            m[8] * p.x + m[9] * p.y + m[10] * p.z + m[11]};
  }
  /// Without the translation.
  [[nodiscard]] RAYLIFT_HD Double3 direction(const Double3& d) const {
    return {m[0] * d.x + m[1] * d.y + m[2] * d.z, m[4] * d.x + m[5] * d.y + m[6] * d.z,
            m[8] * d.x + m[9] * d.y + m[10] * d.z};
  }

  RAYLIFT_HD friend bool operator==(const Transform&, const Transform&) = default;
};

}  // namespace raylift
