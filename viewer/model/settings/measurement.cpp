// SPDX-License-Identifier: Apache-2.0
#include "model/settings/measurement.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

namespace raylift::viewer {
namespace {

std::string in_mm(double value) {
  return fmt::format("{:.9g} mm", value);
}

std::string components(const Eigen::Vector3d& v) {
  return fmt::format("{:.9g}  {:.9g}  {:.9g} mm", v.x(), v.y(), v.z());
}

}  // namespace

Measurement measure(std::span<const Eigen::Vector3d> points) {
  Measurement result;
  for (std::size_t i = 1; i < points.size(); ++i) {
    result.steps.emplace_back(points[i] - points[i - 1]);
    result.distances.push_back(result.steps.back().stableNorm());
  }
  if (points.size() != 3 || !(result.distances[0] > 0) || !(result.distances[1] > 0)) return result;
  // By the arc tangent: an arc cosine loses small angles.
  const Eigen::Vector3d a = -result.steps[0] / result.distances[0], b = result.steps[1] / result.distances[1];
  result.angle = std::atan2(a.cross(b).norm(), a.dot(b)) * 180 / std::numbers::pi;
  return result;
}

FactLines measured_lines(std::span<const Eigen::Vector3d> points) {
  FactLines lines;
  const Measurement measured = measure(points);
  for (std::size_t i = 0; i != points.size(); ++i)
    lines.emplace_back(fmt::format("point {}", i + 1), components(points[i]));
  for (std::size_t i = 0; i != measured.steps.size(); ++i) {
    lines.emplace_back(fmt::format("distance {} to {}", i + 1, i + 2), in_mm(measured.distances[i]));
    lines.emplace_back(fmt::format("along x, y, z {} to {}", i + 1, i + 2), components(measured.steps[i]));
  }
  if (measured.angle) lines.emplace_back("angle at 2", fmt::format("{:.7g} degrees", *measured.angle));
  return lines;
}

std::string measured_line(std::span<const Eigen::Vector3d> points) {
  const Measurement measured = measure(points);
  if (measured.steps.empty()) return "";
  std::string line = in_mm(measured.distances.back()) + " (" + components(measured.steps.back()) + ')';
  if (measured.angle) line += fmt::format(", {:.7g} degrees", *measured.angle);
  return line;
}

}  // namespace raylift::viewer
