// SPDX-License-Identifier: Apache-2.0
#include "draw/overlay/line_drawing.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "cli/text.h"

namespace raylift::viewer {
namespace {

constexpr double kSteps = 16;               // in a pixel, to which ends are rounded
constexpr double kStraight = 0.12;          // pixels by which a polyline may lie off
constexpr std::size_t kMaxParts = 2000000;  // some 60 MB of SVG

using Key = std::array<std::int64_t, 2>;

/// Leaves out points that lie close to the line between others (D. Douglas, T. Peucker, 1973).
void simplify(const std::vector<Eigen::Vector2d>& points, std::size_t first, std::size_t last,
              std::vector<std::uint8_t>& stays) {
  if (last < first + 2) return;
  const Eigen::Vector2d along = points[last] - points[first];
  const double length = along.norm();
  std::size_t farthest = first;
  double most = kStraight;
  for (std::size_t i = first + 1; i != last; ++i) {
    const Eigen::Vector2d to = points[i] - points[first];
    const double off = length > 0 ? std::abs(along.x() * to.y() - along.y() * to.x()) / length : to.norm();
    if (off > most) most = off, farthest = i;
  }
  if (farthest == first) return;
  stays[farthest] = 1;
  simplify(points, first, farthest, stays);
  simplify(points, farthest, last, stays);
}

}  // namespace

LineDrawing::LineDrawing(const Camera& camera, const Settings& settings, const Bounds& scene, const Resolution& size,
                         const DepthImage& seen)
    : camera_(camera),
      seen_(seen),
      size_(size),
      aspect_(static_cast<double>(size.width) / size.height),
      least_depth_(1e-3 * camera.distance),
      cuts_away_(settings.cuts_away()) {
  for (const ClipPlane& plane : settings.planes())
    planes_.emplace_back(plane.normal, plane.offset_in(scene) + 1e-6 * camera.distance);
}

bool LineDrawing::clipped(const Eigen::Vector3d& point) const {
  const auto beyond = [&](const auto& plane) { return plane.first.dot(point) > plane.second; };
  if (cuts_away_) {
    // The sections lie on the box's faces, which stay.
    const double slack = 2e-6 * camera_.distance;
    return std::all_of(planes_.begin(), planes_.end(),
                       [&](const auto& plane) { return plane.first.dot(point) < plane.second - slack; });
  }
  return std::any_of(planes_.begin(), planes_.end(), beyond);
}

bool LineDrawing::seen(const Outline& line, const Eigen::Vector3d& in_image, double slack) const {
  const auto x = static_cast<int>(std::floor(0.5 * (1 + in_image.x()) * seen_.width));
  const auto y = static_cast<int>(std::floor(0.5 * (1 - in_image.y()) * seen_.height));
  // The line is at the border of what is seen: the farthest pixel around it counts, of its own solid unless that is
  // faint, which hides nothing.
  double farthest = -std::numeric_limits<double>::infinity();  // depths of a parallel projection may be negative
  for (int j = std::max(0, y - 1); j <= std::min(seen_.height - 1, y + 1); ++j)
    for (int i = std::max(0, x - 1); i <= std::min(seen_.width - 1, x + 1); ++i) {
      const std::size_t at =
          static_cast<std::size_t>(j) * static_cast<std::size_t>(seen_.width) + static_cast<std::size_t>(i);
      if (line.faint || seen_.solids[at] == line.solid + 1)
        farthest = std::max(farthest, static_cast<double>(seen_.depths[at]));
    }
  return in_image.z() <= farthest + slack;
}

void LineDrawing::add(const Outline& line, double reach, std::uint32_t style) {
  Eigen::Vector3d from = line.from, to = line.to;
  if (!camera_.cut_before_eye(from, to, least_depth_)) return;
  const auto project = [&](const Eigen::Vector3d& p) { return camera_.project(p, aspect_); };
  const auto pixel = [&](const Eigen::Vector3d& p) {
    return Eigen::Vector2d(0.5 * (1 + p.x()) * size_.width, 0.5 * (1 - p.y()) * size_.height);
  };
  const Eigen::Vector3d a = project(from), b = project(to);
  if ((a.head<2>().array() < -1).any() && (b.head<2>().array() < -1).any() &&
      ((a.head<2>().array() < -1) && (b.head<2>().array() < -1)).any())
    return;
  if (((a.head<2>().array() > 1) && (b.head<2>().array() > 1)).any()) return;
  const double length = (pixel(b) - pixel(a)).norm() * seen_.width / size_.width;
  constexpr double kMaxSamples = 100000;
  const auto count = static_cast<int>(std::clamp(std::ceil(length), 2.0, kMaxSamples));
  const double pixel_mm = camera_.pixel_size(seen_.height, a.z());
  const double slack = 1e-5 * std::abs(a.z()) + 3 * pixel_mm + (line.silhouette ? 0.1 * reach : 0);
  // A single hidden sample among seen ones is noise.
  constexpr int kGap = 2, kShortest = 6;
  std::optional<int> first;
  int last = 0;
  const auto at = [&](int k) { return Eigen::Vector3d(from + (static_cast<double>(k) / count) * (to - from)); };
  const auto finish = [&] {
    // The end of a hidden line looks seen where it meets the border of what hides it.
    if (first && (last - *first >= kShortest || (*first == 0 && last == count)))
      add_part(pixel(project(at(*first))), pixel(project(at(last))), style);
    first.reset();
  };
  for (int k = 0; k <= count; ++k) {
    const Eigen::Vector3d p = at(k);
    if (!clipped(p) && seen(line, project(p), slack)) {
      if (first && k - last > kGap) finish();
      if (!first) first = k;
      last = k;
    }
  }
  finish();
}

void LineDrawing::add_part(const Eigen::Vector2d& from, const Eigen::Vector2d& to, std::uint32_t style) {
  const auto rounded = [](const Eigen::Vector2d& p) {
    return Key{std::llround(p.x() * kSteps), std::llround(p.y() * kSteps)};
  };
  Part part{rounded(from), rounded(to), style};
  if (part.from == part.to) return;
  if (part.to < part.from) std::swap(part.from, part.to);
  parts_.push_back(part);
  if (parts_.size() > kMaxParts)
    throw Error(ErrorKind::limit, "the drawing has more than " + cli::grouped(kMaxParts) + " lines", {},
                "hide solids, or write a PNG file");
}

std::vector<Polyline> LineDrawing::polylines() const {
  std::vector<Part> parts = parts_;
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  // The parts at each end, in order.
  std::multimap<std::pair<std::uint32_t, Key>, std::size_t> ends;
  for (std::size_t i = 0; i != parts.size(); ++i)
    for (const Key& end : {parts[i].from, parts[i].to}) ends.emplace(std::pair(parts[i].style, end), i);
  std::vector<std::uint8_t> used(parts.size(), 0);
  const auto extend = [&](std::vector<Key>& chain, std::uint32_t style) {
    for (bool grows = true; grows;) {
      grows = false;
      const auto [begin, end] = ends.equal_range({style, chain.back()});
      for (auto at = begin; at != end && !grows; ++at) {
        if (used[at->second] != 0) continue;
        const Part& part = parts[at->second];
        used[at->second] = 1;
        chain.push_back(part.from == chain.back() ? part.to : part.from);
        grows = true;
      }
    }
  };
  std::vector<Polyline> lines;
  for (std::size_t i = 0; i != parts.size(); ++i) {
    if (used[i] != 0) continue;
    used[i] = 1;
    std::vector<Key> chain{parts[i].from, parts[i].to};
    extend(chain, parts[i].style);
    std::reverse(chain.begin(), chain.end());
    extend(chain, parts[i].style);
    std::vector<Eigen::Vector2d> points;
    points.reserve(chain.size());
    for (const Key& key : chain)
      points.emplace_back(static_cast<double>(key[0]) / kSteps, static_cast<double>(key[1]) / kSteps);
    // A closed line is simplified in two halves.
    std::vector<std::uint8_t> stays(points.size(), 0);
    const std::size_t middle = points.front() == points.back() ? points.size() / 2 : points.size() - 1;
    stays.front() = stays.back() = stays[middle] = 1;
    simplify(points, 0, middle, stays);
    simplify(points, middle, points.size() - 1, stays);
    Polyline line{{}, parts[i].style};
    for (std::size_t k = 0; k != points.size(); ++k)
      if (stays[k] != 0) line.points.push_back(points[k]);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace raylift::viewer
