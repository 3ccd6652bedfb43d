// SPDX-License-Identifier: Apache-2.0
// The lines of a drawing without those that are hidden, as polylines in the image. No GL.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

#include "cli/camera.h"
#include "meshes/outlines.h"
#include "model/settings/settings.h"

namespace raylift::viewer {

/// What is seen in each pixel, rows from the top.
struct DepthImage {
  int width = 0, height = 0;
  std::vector<float> depths;          ///< along the view, mm; infinity: nothing
  std::vector<std::uint32_t> solids;  ///< instance + 1; 0: nothing
};

/// A line in the image, in its pixels from the upper left.
struct Polyline {
  std::vector<Eigen::Vector2d> points;
  std::uint32_t style = 0;
};

/// Collects the seen parts of lines, and joins them.
class LineDrawing {
 public:
  /// `seen` shows the same view as an image of this size, with as many pixels or more. All must outlive the drawing.
  LineDrawing(const Camera& camera, const Settings& settings, const Bounds& scene, const Resolution& size,
              const DepthImage& seen);

  /// Adds the parts of a line that nothing hides. `reach` is the diameter of its solid, mm. Lines of different styles
  /// are not joined. Throws Error(limit) where they become too many for a drawing.
  void add(const Outline& line, double reach, std::uint32_t style);
  /// The lines: ends that meet are joined, and points on straight lines left out.
  [[nodiscard]] std::vector<Polyline> polylines() const;

 private:
  /// Whether a point of a line is seen.
  [[nodiscard]] bool seen(const Outline& line, const Eigen::Vector3d& in_image, double slack) const;
  [[nodiscard]] bool clipped(const Eigen::Vector3d& point) const;
  void add_part(const Eigen::Vector2d& from, const Eigen::Vector2d& to, std::uint32_t style);

  struct Part {
    std::array<std::int64_t, 2> from, to;  // in steps
    std::uint32_t style;
    friend auto operator<=>(const Part&, const Part&) = default;
  };
  const Camera& camera_;
  const DepthImage& seen_;
  Resolution size_;
  double aspect_, least_depth_;
  std::vector<std::pair<Eigen::Vector3d, double>> planes_;  // normal, and offset with some slack
  bool cuts_away_;
  std::vector<Part> parts_;
};

}  // namespace raylift::viewer
