// SPDX-License-Identifier: Apache-2.0
// Closed surfaces of triangles: whether they are closed, what they enclose, and whether a point lies within.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "solid.h"

namespace raylift::gdml {

/// Every edge is used as often in one direction as in the other, and no triangle uses a vertex twice.
[[nodiscard]] bool closed(const Surface& surface);

[[nodiscard]] double enclosed_volume(const Surface& surface);
[[nodiscard]] double area(const Surface& surface);

/// Parts of a closed surface that touch along an edge or in a vertex get vertices of their own, so that each edge is
/// one of two triangles.
void separate(Surface& surface);

/// Vertices nearer to each other than `distance` along an edge become one, where the surface stays closed.
void merge_close(Surface& surface, double distance);

/// Answers for many points, by lines through the surface along a fixed direction.
class SurfaceMembership {
 public:
  explicit SurfaceMembership(const Surface& surface);

  /// How often the surface goes around the point: 1 inside, 0 outside, and other numbers where it overlaps itself.
  [[nodiscard]] int winding(const Double3& point) const;
  [[nodiscard]] double distance(const Double3& point) const;

 private:
  struct Cell {
    std::vector<std::uint32_t> triangles;
  };
  [[nodiscard]] Double3 turned(const Double3& p) const;
  [[nodiscard]] std::size_t column(double value, int axis) const;

  const Surface& surface_;
  std::vector<Double3> vertices_;  // turned, so that lines are along z
  Double3 low_, step_;
  std::size_t side_ = 1;
  std::vector<Cell> cells_;
};

}  // namespace raylift::gdml
