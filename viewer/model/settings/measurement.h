// SPDX-License-Identifier: Apache-2.0
// Distances and the angle between points that are measured. No GL.
#pragma once

#include <Eigen/Core>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/settings/fact_lines.h"

namespace raylift::viewer {

inline constexpr std::size_t kMaxMeasured = 3;

/// The distances and the angle of points in the world, mm.
struct Measurement {
  std::vector<Eigen::Vector3d> steps;  ///< from each point to the next
  std::vector<double> distances;       ///< their lengths
  std::optional<double> angle;         ///< degrees, at the second of three points that differ
};
[[nodiscard]] Measurement measure(std::span<const Eigen::Vector3d> points);

[[nodiscard]] FactLines measured_lines(std::span<const Eigen::Vector3d> points);
/// The last distance and the angle, in one line; empty of a single point.
[[nodiscard]] std::string measured_line(std::span<const Eigen::Vector3d> points);

}  // namespace raylift::viewer
