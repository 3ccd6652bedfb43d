// SPDX-License-Identifier: Apache-2.0
// How thick one mesh is, in one shape: see raylift/geometry/checks/thickness.h.
#pragma once

#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/vector_types.h>

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace raylift::thickness {

using Vector = Eigen::Vector3d;

/// A mesh in double, and what turns its frame into one in which lengths are measured. `linear` has a determinant of at
/// least 0: a mirror would turn normals inward.
struct Shape {
  std::vector<Vector> vertices;
  std::span<const UInt3> triangles;
  Eigen::Matrix3d linear = Eigen::Matrix3d::Identity();
};

/// What one ray found. Lengths are in the frame behind Shape::linear.
struct Sample {
  double thickness = std::numeric_limits<double>::infinity();
  /// What the faces may be off by, across them, because the file has floats; 0 if its numbers are finer.
  double file_step = 0;
  Vector place = Vector::Zero();  // where the ray started, in the mesh's frame
  std::uint64_t ray = 0;

  [[nodiscard]] bool found() const { return thickness != std::numeric_limits<double>::infinity(); }
  /// The thickness in steps of the file: infinite if it is known better.
  [[nodiscard]] double steps() const {
    return file_step > 0 ? thickness / file_step : std::numeric_limits<double>::infinity();
  }
};

struct MeshThickness {
  Sample thinnest;
  Sample coarsest;  // the fewest steps of the file; nothing is found where its numbers are finer
  std::uint64_t rays = 0;
};

/// How many rays a mesh is worth: several from each triangle.
[[nodiscard]] std::uint64_t useful_rays(std::size_t triangles);

/// Casts so many rays. The result is the same for any number of threads. Coordinates are finite, and indices in range.
[[nodiscard]] MeshThickness measure(const Shape& shape, std::uint64_t rays);

}  // namespace raylift::thickness
