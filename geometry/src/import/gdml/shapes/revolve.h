// SPDX-License-Identifier: Apache-2.0
// Surfaces of revolution about z. Steps of the turn lie at fixed absolute angles, so that a solid as large as the hole
// it lies in has the very same vertices.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "polygon.h"
#include "solid.h"

namespace raylift::gdml {

/// Facets of a full turn on a surface of that radius: those that `fineness` states, or as many as keep its chord.
[[nodiscard]] std::uint32_t steps_of_turn(const Fineness& fineness, double radius);

/// The chord that `fineness` allows on a solid of that size.
[[nodiscard]] double chord_of(const Fineness& fineness, double size);

/// Surfaces that are curved both ways are off by both sagittas. So either has half of a chord that is stated.
[[nodiscard]] Fineness for_two_curvatures(Fineness fineness);

/// How far outward the corners of a regular polygon with that angle per side lie: as a factor of the circle's radius.
[[nodiscard]] double radius_factor(double step, Fineness::Fit fit);

/// The angles of a segment: its ends, and the multiples of `step` between them.
struct GridAngle {
  double angle = 0;
  bool on_grid = false;
};
[[nodiscard]] std::vector<GridAngle> grid_angles(double start, double delta, double step);

/// Directions about z, each times the factor of its radii.
struct Columns {
  std::vector<Point2> at;
  bool closed = false;        ///< the last one is followed by the first
  Mesh::Deviation deviation;  ///< of the facets from a circle of radius 1
};
/// How far the sides between points that follow each other lie from the circle about the origin.
[[nodiscard]] Mesh::Deviation deviation_from_circle(const Polygon& points, bool closed, double radius);
[[nodiscard]] Mesh::Deviation operator+(const Mesh::Deviation& a, const Mesh::Deviation& b);
/// The most of both. Where the solid lies outside of `inner`, its facets deviate the other way.
[[nodiscard]] Mesh::Deviation between_walls(const Mesh::Deviation& outer, const Mesh::Deviation& inner);

/// The columns of circles, by steps of a full turn.
[[nodiscard]] Columns circle_columns(const Turn& turn, std::uint32_t steps, Fineness::Fit fit);
/// The columns of a polyhedron's sides. `factor` is that of the corners' radii.
[[nodiscard]] Columns side_columns(const Turn& turn, std::uint32_t sides, double factor);
[[nodiscard]] bool is_full(const Turn& turn);

/// A surface of revolution that grows by closed profiles.
class Revolution {
 public:
  explicit Revolution(Columns columns) : columns_(std::move(columns)) {}

  /// Adds what the profile sweeps, in x = r and y = z, with the solid on its left. Returns the number of its first
  /// point among those of all profiles. Points on the axis become one vertex.
  std::uint32_t add_sides(const Polygon& profile);
  /// Adds triangles of points of the profiles, counterclockwise, at both ends of a segment.
  void add_ends(const std::vector<UInt3>& triangles);

  [[nodiscard]] Surface take() { return std::move(surface_); }

 private:
  struct Row {
    std::uint32_t first = 0;
    bool on_axis = false;
  };
  [[nodiscard]] static std::uint32_t vertex(const Row& row, std::size_t column) {
    return row.on_axis ? row.first : row.first + static_cast<std::uint32_t>(column);
  }
  void add_strip(const Row& p, const Row& q);

  Columns columns_;
  std::vector<Row> rows_;
  Surface surface_;
};

/// The loops that a polygon consists of where it touches itself in points, without flat corners. Those of a
/// counterclockwise one that doesn't cross itself are counterclockwise. Parts of no area are left out.
[[nodiscard]] std::vector<Polygon> loops_of(const Polygon& polygon);

/// The surface of a profile in x = r and y = z, which turns either way. It may touch itself in points, and have sides
/// of length zero. Parts of no area are left out.
[[nodiscard]] Surface revolve(const Polygon& profile, Columns columns);

}  // namespace raylift::gdml
