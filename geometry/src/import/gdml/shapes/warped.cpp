// SPDX-License-Identifier: Apache-2.0
// Solids with warped sides: arb8, and the twisted ones.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "loft.h"
#include "revolve.h"
#include "tessellate.h"

namespace raylift::gdml {
namespace {

using std::numbers::pi;

constexpr std::uint32_t kMaxParts = 256;

double gap(const Point2& a, const Point2& b) {
  return std::hypot(b.x - a.x, b.y - a.y);
}

/// An even number of parts, as diagonals alternate.
std::uint32_t even_parts(double needed) {
  return 2 * static_cast<std::uint32_t>(std::ceil(std::clamp(needed, 1., 1. * kMaxParts) / 2));
}

Point2 turned_about_z(const Point2& p, double angle) {
  const double c = std::cos(angle), s = std::sin(angle);
  return {c * p.x - s * p.y, s * p.x + c * p.y};
}

/// The polygon with each side divided.
Polygon divided(const Polygon& corners, const std::vector<std::uint32_t>& parts) {
  Polygon result;
  for (std::size_t i = 0; i != corners.size(); ++i)
    for (std::uint32_t k = 0; k != parts[i]; ++k)
      result.push_back(between(corners[i], corners[(i + 1) % corners.size()], k, parts[i]));
  return result;
}

/// How far the side between two edges of an arb8 is from plane: half the distance of its diagonals' middles. Sides
/// whose edges are parallel are plane, and so are those of which an edge is a point.
double warp(const Point2& a, const Point2& b, const Point2& above_a, const Point2& above_b) {
  const Point2 low{b.x - a.x, b.y - a.y}, high{above_b.x - above_a.x, above_b.y - above_a.y};
  const double across = std::abs(low.x * high.y - low.y * high.x), lengths = gap(a, b) * gap(above_a, above_b);
  constexpr double kParallel = 1e-9;
  return across <= kParallel * lengths ? 0 : std::hypot(high.x - low.x, high.y - low.y) / 4;
}

Mesh::Deviation both_ways(double distance) {
  return {distance, distance};
}

}  // namespace

std::array<Point2, 4> section_of(const Arb8& arb8, std::uint32_t i, std::uint32_t n) {
  std::array<Point2, 4> section;
  for (std::size_t k = 0; k != section.size(); ++k) section[k] = between(arb8.corners[k], arb8.corners[k + 4], i, n);
  return section;
}

Surface tessellate_warped(const Arb8& arb8, const Fineness& fineness) {
  double size = 2 * arb8.dz, most = 0;
  for (const Point2& corner : arb8.corners) size = std::max(size, gap(arb8.corners[0], corner));
  std::array<double, 4> warps{};
  for (std::size_t k = 0; k != warps.size(); ++k) {
    const std::size_t next = (k + 1) % 4;
    warps[k] = warp(arb8.corners[k], arb8.corners[next], arb8.corners[k + 4], arb8.corners[next + 4]);
    most = std::max(most, warps[k]);
  }
  // Divided both ways, a side is off by the square of that.
  const std::uint32_t levels = most == 0 ? 1 : even_parts(std::sqrt(most / chord_of(fineness, size)));
  std::vector<std::uint32_t> parts;
  for (const double one : warps) parts.push_back(one == 0 ? 1 : levels);
  std::vector<Ring> rings;
  for (std::uint32_t i = 0; i <= levels; ++i) {
    const std::array<Point2, 4> section = section_of(arb8, i, levels);
    const double z = arb8.dz * (2. * i - levels) / levels;
    rings.push_back({z, divided({section.begin(), section.end()}, parts)});
  }
  Surface surface = loft(std::move(rings), most != 0);
  surface.deviation = both_ways(most / (1. * levels * levels));
  return surface;
}

Surface tessellate_warped(const TwistedTrap& trap, const Fineness& fineness) {
  const std::array<Point2, 8> corners =
      corners_of(Trap{trap.z, 0, 0, trap.y1, trap.x1, trap.x2, trap.alpha, trap.y2, trap.x3, trap.x4, trap.alpha});
  double radius = 0, side = 0;
  for (std::size_t k = 0; k != corners.size(); ++k) {
    radius = std::max(radius, std::hypot(corners[k].x, corners[k].y));
    side = std::max(side, gap(corners[k], corners[k / 4 * 4 + (k + 1) % 4]));
  }
  // Half a facet of a turn for each level: between two of them the section is smaller.
  const std::uint32_t levels = even_parts(std::abs(trap.twist) * steps_of_turn(fineness, radius) / pi);
  const double chord = chord_of(fineness, std::max(2 * radius, trap.z));
  const std::uint32_t across = even_parts(side * std::abs(trap.twist) / levels / (4 * chord));
  const double shift = trap.z * std::tan(trap.theta);
  std::vector<Ring> rings;
  for (std::uint32_t i = 0; i <= levels; ++i) {
    const double up = (2. * i - levels) / (2. * levels);
    const Arb8 untwisted{corners, trap.z / 2};
    Polygon section;
    for (const Point2& corner : section_of(untwisted, i, levels)) {
      const Point2 p = turned_about_z(corner, up * trap.twist);
      section.push_back({p.x + up * shift * std::cos(trap.phi), p.y + up * shift * std::sin(trap.phi)});
    }
    rings.push_back({up * trap.z, divided(section, {across, across, across, across})});
  }
  Surface surface = loft(std::move(rings), true);
  // Edges turn about z while they move, so that they are no lines; and a facet's side leaves the plane as it turns.
  const double turn = std::abs(trap.twist) / levels;
  double moved = 0;
  for (std::size_t k = 0; k != 4; ++k) moved = std::max(moved, gap(corners[k], corners[k + 4]));
  surface.deviation =
      both_ways(radius * (1 - std::cos(turn / 2)) + turn * moved / levels / 4 + turn * side / across / 4);
  return surface;
}

/// All of its points move along straight lines from one end to the other.
Surface tessellate_warped(const TwistedTube& tube, const Fineness& fineness) {
  const std::uint32_t steps = steps_of_turn(fineness, tube.outer_r);
  const std::uint32_t levels = even_parts(std::abs(tube.twist) * steps / pi);
  const double chord = chord_of(fineness, std::max(2 * tube.outer_r, tube.z));
  const double width = tube.outer_r - tube.inner_r;
  const std::uint32_t across = even_parts(2 * width * std::sin(std::abs(tube.twist) / 2) / levels / (4 * chord));
  const Columns columns = circle_columns({-tube.phi / 2, tube.phi}, steps, fineness.fit);
  Polygon outline;
  std::vector<std::uint32_t> parts(2 * columns.at.size(), 1);
  for (const Point2& column : columns.at) outline.push_back({tube.outer_r * column.x, tube.outer_r * column.y});
  for (auto column = columns.at.rbegin(); column != columns.at.rend(); ++column)
    outline.push_back({tube.inner_r * column->x, tube.inner_r * column->y});
  parts[columns.at.size() - 1] = parts.back() = across;
  outline = divided(outline, parts);
  std::vector<Ring> rings;
  for (std::uint32_t i = 0; i <= levels; ++i) {
    rings.push_back({tube.z * (2. * i - levels) / (2. * levels), {}});
    for (const Point2& p : outline)
      rings.back().corners.push_back(
          between(turned_about_z(p, -tube.twist / 2), turned_about_z(p, tube.twist / 2), i, levels));
  }
  Surface surface = loft(std::move(rings), true);
  double widest = width / across;
  for (std::size_t i = 0; i + 1 != columns.at.size(); ++i)
    widest = std::max(widest, tube.outer_r * gap(columns.at[i], columns.at[i + 1]));
  const auto& [outward, inward] = columns.deviation;
  surface.deviation =
      between_walls({tube.outer_r * outward, tube.outer_r * inward}, {tube.inner_r * outward, tube.inner_r * inward}) +
      both_ways(widest * std::sin(std::abs(tube.twist) / 2) / levels / 2);
  return surface;
}

}  // namespace raylift::gdml
