// SPDX-License-Identifier: Apache-2.0
#include "revolve.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace raylift::gdml {
namespace {

using std::numbers::pi;
constexpr double kDefaultChord = 1e-3;  // of the radius
constexpr double kMinSteps = 24, kStepsBy = 8;
/// More would take memory for nothing: a facet is off by 1e-6 of the radius already.
constexpr std::uint32_t kMaxSteps = 2048;
constexpr double kAngleNoise = 1e-9;
/// A facet at the end of a segment that would be narrower than this part of a step is one with its neighbour.
constexpr double kNarrow = 0.1;

/// The cosine and sine of `angle` times `factor`; zero where only rounding keeps them from it.
Point2 direction_at(double angle, double factor) {
  const auto exact = [](double value) { return std::abs(value) < 1e-15 ? 0. : value; };
  return {factor * exact(std::cos(angle)), factor * exact(std::sin(angle))};
}

/// The direction of a step of a full turn: the same numbers however often the angle has gone round.
Point2 grid_direction(std::int64_t index, std::uint32_t steps, double factor) {
  const std::int64_t n = steps, k = ((index % n) + n) % n;
  return direction_at(2 * pi * static_cast<double>(k) / static_cast<double>(n), factor);
}

}  // namespace

std::uint32_t steps_of_turn(const Fineness& fineness, double radius) {
  if (fineness.steps != 0) return std::clamp(fineness.steps, 3U, kMaxSteps);
  // A facet that is one with a narrow one keeps the chord too.
  constexpr double kWidest = 1 + kNarrow;
  const double stated = std::min(fineness.chord / (radius * kWidest * kWidest), 1.);
  const double relative = fineness.chord > 0 ? stated : kDefaultChord;
  const double needed = std::min(pi / std::acos(1 - relative), 1. * kMaxSteps);
  return static_cast<std::uint32_t>(std::max(std::ceil(needed / kStepsBy) * kStepsBy, kMinSteps));
}

double chord_of(const Fineness& fineness, double size) {
  if (fineness.steps != 0) return size * (1 - std::cos(pi / std::max(fineness.steps, 3U)));
  return fineness.chord > 0 ? fineness.chord : kDefaultChord * size;
}

Fineness for_two_curvatures(Fineness fineness) {
  fineness.chord /= 2;
  return fineness;
}

double radius_factor(double step, Fineness::Fit fit) {
  if (fit == Fineness::Fit::volume) return std::sqrt(step / std::sin(step));
  if (fit == Fineness::Fit::area) return step / 2 / std::sin(step / 2);
  return 1;
}

Mesh::Deviation deviation_from_circle(const Polygon& points, bool closed, double radius) {
  double farthest = radius, nearest = radius;
  for (std::size_t i = 0; i != points.size(); ++i) {
    const Point2& p = points[i];
    farthest = std::max(farthest, std::hypot(p.x, p.y));
    if (i + 1 == points.size() && !closed) break;
    const Point2& q = points[(i + 1) % points.size()];
    const Point2 side{q.x - p.x, q.y - p.y};
    const double squared = side.x * side.x + side.y * side.y;
    const double at = squared > 0 ? std::clamp(-(p.x * side.x + p.y * side.y) / squared, 0., 1.) : 0;
    nearest = std::min(nearest, std::hypot(p.x + at * side.x, p.y + at * side.y));
  }
  return {farthest - radius, radius - nearest};
}

Mesh::Deviation operator+(const Mesh::Deviation& a, const Mesh::Deviation& b) {
  return {a.outward + b.outward, a.inward + b.inward};
}

Mesh::Deviation between_walls(const Mesh::Deviation& outer, const Mesh::Deviation& inner) {
  return {std::max(outer.outward, inner.inward), std::max(outer.inward, inner.outward)};
}

bool is_full(const Turn& turn) {
  return turn.delta >= 2 * pi - kAngleNoise;
}

std::vector<GridAngle> grid_angles(double start, double delta, double step) {
  const double end = start + delta;
  const auto on_grid = [step](double angle) { return std::abs(angle - std::round(angle / step) * step) < kAngleNoise; };
  const auto snapped = [&](double angle) {
    return on_grid(angle) ? GridAngle{std::round(angle / step) * step, true} : GridAngle{angle, false};
  };
  std::vector<GridAngle> angles{snapped(start)};
  for (double k = std::ceil((start + kNarrow * step) / step); k * step <= end - kNarrow * step; ++k)
    angles.push_back({k * step, true});
  angles.push_back(snapped(end));
  return angles;
}

Columns circle_columns(const Turn& turn, std::uint32_t steps, Fineness::Fit fit) {
  const double step = 2 * pi / steps, factor = radius_factor(step, fit);
  Columns columns;
  columns.closed = is_full(turn);
  if (columns.closed) {
    for (std::uint32_t i = 0; i != steps; ++i) columns.at.push_back(grid_direction(i, steps, factor));
    columns.deviation = deviation_from_circle(columns.at, true, 1);
    return columns;
  }
  const std::vector<GridAngle> angles = grid_angles(std::fmod(turn.start, 2 * pi), turn.delta, step);
  // The ends of a segment lie on the true radius, as its neighbour's do. A segment of one facet has no others to make
  // up for that.
  const double end_factor = angles.size() == 2 ? radius_factor(turn.delta, fit) : 1;
  for (const GridAngle& one : angles)
    columns.at.push_back(one.on_grid ? grid_direction(std::llround(one.angle / step), steps, factor)
                                     : direction_at(one.angle, end_factor));
  columns.deviation = deviation_from_circle(columns.at, false, 1);
  return columns;
}

Columns side_columns(const Turn& turn, std::uint32_t sides, double factor) {
  Columns columns;
  columns.closed = is_full(turn);
  const double step = (columns.closed ? 2 * pi : turn.delta) / sides;
  for (std::uint32_t i = 0; i != sides + (columns.closed ? 0 : 1); ++i)
    columns.at.push_back(direction_at(turn.start + i * step, factor));
  return columns;
}

std::uint32_t Revolution::add_sides(const Polygon& profile) {
  const std::size_t begin = rows_.size();
  for (const Point2& point : profile) {
    rows_.push_back({static_cast<std::uint32_t>(surface_.vertices.size()), point.x == 0});
    if (rows_.back().on_axis)
      surface_.vertices.emplace_back(0, 0, point.y);
    else
      for (const Point2& column : columns_.at)
        surface_.vertices.emplace_back(point.x * column.x, point.x * column.y, point.y);
  }
  for (std::size_t i = begin; i != rows_.size(); ++i) add_strip(rows_[i], rows_[i + 1 == rows_.size() ? begin : i + 1]);
  // The solid lies on the left: within what goes up, and around what goes down.
  double outer = 0, inner = 0;
  for (std::size_t i = 0; i != profile.size(); ++i) {
    const Point2 &p = profile[i], &q = profile[(i + 1) % profile.size()];
    if (q.y > p.y) outer = std::max({outer, p.x, q.x});
    if (q.y < p.y) inner = std::max({inner, p.x, q.x});
  }
  const auto& [outward, inward] = columns_.deviation;
  const Mesh::Deviation all = between_walls({outer * outward, outer * inward}, {inner * outward, inner * inward});
  surface_.deviation = {std::max(surface_.deviation.outward, all.outward),
                        std::max(surface_.deviation.inward, all.inward)};
  return static_cast<std::uint32_t>(begin);
}

void Revolution::add_strip(const Row& p, const Row& q) {
  const std::size_t n = columns_.at.size();
  for (std::size_t i = 0; i != (columns_.closed ? n : n - 1); ++i) {
    const std::size_t j = (i + 1) % n;
    if (!p.on_axis) surface_.triangles.push_back({vertex(p, i), vertex(p, j), vertex(q, j)});
    if (!q.on_axis) surface_.triangles.push_back({vertex(p, i), vertex(q, j), vertex(q, i)});
  }
}

void Revolution::add_ends(const std::vector<UInt3>& triangles) {
  if (columns_.closed) return;
  const std::size_t last = columns_.at.size() - 1;
  for (const UInt3& t : triangles) {
    surface_.triangles.push_back({vertex(rows_[t.x], 0), vertex(rows_[t.y], 0), vertex(rows_[t.z], 0)});
    surface_.triangles.push_back({vertex(rows_[t.x], last), vertex(rows_[t.z], last), vertex(rows_[t.y], last)});
  }
}

std::vector<Polygon> loops_of(const Polygon& polygon) {
  // A corner that another touches may be flat, so loops are split before they are flattened.
  std::vector<Polygon> loops, left{polygon};
  while (!left.empty()) {
    Polygon loop = std::move(left.back());
    left.pop_back();
    std::map<std::pair<double, double>, std::size_t> seen;
    std::size_t end = 0;
    while (end != loop.size() && seen.emplace(std::pair(loop[end].x, loop[end].y), end).second) ++end;
    if (end == loop.size()) {
      loop = without_flat_corners(loop);
      if (!loop.empty()) loops.push_back(std::move(loop));
      continue;
    }
    const auto first = loop.begin() + static_cast<std::ptrdiff_t>(seen[{loop[end].x, loop[end].y}]);
    const auto last = loop.begin() + static_cast<std::ptrdiff_t>(end);
    left.emplace_back(first, last);
    loop.erase(first, last);
    left.push_back(std::move(loop));
  }
  return loops;
}

Surface revolve(const Polygon& profile, Columns columns) {
  Polygon outline = profile;
  if (signed_area(outline) < 0) std::reverse(outline.begin(), outline.end());
  Revolution revolution(std::move(columns));
  for (const Polygon& loop : loops_of(outline)) {
    const std::uint32_t first = revolution.add_sides(loop);
    std::vector<UInt3> ends = triangulate_polygon(loop);
    for (UInt3& t : ends) t = {t.x + first, t.y + first, t.z + first};
    revolution.add_ends(ends);
  }
  return revolution.take();
}

}  // namespace raylift::gdml
