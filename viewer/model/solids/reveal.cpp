// SPDX-License-Identifier: Apache-2.0
#include "model/solids/reveal.h"

#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <optional>

namespace raylift::viewer {
namespace {

constexpr double kNearlyAll = 0.95;      // of the other solids
constexpr std::size_t kCandidates = 64;  // the largest solids: no others are looked at
constexpr std::size_t kSample = 4096;    // solids, evenly chosen, that stand for all
constexpr std::size_t kMaxPairs = 50000000;

double volume(const Bounds& box) {
  return box.empty() ? 0 : to_eigen(box.size()).prod();
}

Bounds widened(const Bounds& box) {
  const Eigen::Vector3d slack = Eigen::Vector3d::Constant(1e-6 * to_eigen(box.size()).norm());
  return {to_eigen(box.min) - slack, to_eigen(box.max) + slack};
}

/// A box as the image has it: its rectangle, and how far its nearest point is. All of the image, where the box reaches
/// behind the eye.
struct Projected {
  Eigen::Array2d low{1e300, 1e300}, high{-1e300, -1e300};
  double nearest = 1e300;
};
Projected project(const Camera& camera, const Bounds& box, double aspect) {
  Projected result;
  bool behind = false;
  for (const Eigen::Vector3d& corner : box_corners(box)) {
    const Eigen::Vector3d p = camera.project(corner, aspect);
    result.low = result.low.min(p.head<2>().array());
    result.high = result.high.max(p.head<2>().array());
    result.nearest = std::min(result.nearest, p.z());
    behind = behind || (!camera.orthographic && p.z() <= 0);
  }
  if (behind) result.low = {-1e300, -1e300}, result.high = {1e300, 1e300};
  return result;
}

bool hides(const Projected& solid, const Projected& target) {
  return solid.nearest < target.nearest && (solid.low < target.high).all() && (target.low < solid.high).all();
}

std::vector<std::uint32_t> visible_solids(const Solids& solids) {
  std::vector<std::uint32_t> result;
  for (std::uint32_t i = 0; i != solids.visible().size(); ++i)
    if (solids.visible()[i] != 0) result.push_back(i);
  return result;
}

}  // namespace

std::vector<std::uint32_t> enclosing(const Solids& solids) {
  std::vector<std::uint32_t> all = visible_solids(solids);
  std::vector<Bounds> boxes(solids.visible().size());
  for (const std::uint32_t i : all) boxes[i] = solids.bounds(i);
  std::erase_if(all, [&](std::uint32_t i) { return boxes[i].empty(); });
  // The larger first: a solid encloses only smaller ones.
  std::stable_sort(all.begin(), all.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return volume(boxes[a]) > volume(boxes[b]); });
  std::vector<std::uint32_t> shells;
  for (std::size_t c = 0; c < std::min(all.size(), kCandidates); ++c) {
    const Bounds box = widened(boxes[all[c]]);
    const std::size_t step = std::max<std::size_t>(1, all.size() / kSample);
    std::size_t others = 0, inside = 0;
    for (std::size_t k = 0; k < all.size(); k += step) {
      if (k == c || std::find(shells.begin(), shells.end(), all[k]) != shells.end()) continue;
      ++others;
      inside += volume(boxes[all[k]]) < volume(boxes[all[c]]) * (1 - 1e-9) && box.contains(boxes[all[k]]);
    }
    if (others != 0 && static_cast<double>(inside) >= kNearlyAll * static_cast<double>(others))
      shells.push_back(all[c]);
  }
  return shells;
}

std::vector<std::uint32_t> all_but(const Solids& solids, std::span<const std::uint32_t> targets) {
  std::vector<std::uint8_t> stays(solids.visible().size(), 0);
  for (const std::uint32_t i : targets) {
    stays[i] = 1;
    if (const std::uint32_t node = solids.scene().instances[i].node; node != kNone)
      for (const std::uint32_t inner : solids.below(node)) stays[inner] = 1;
  }
  std::vector<std::uint32_t> result = visible_solids(solids);
  std::erase_if(result, [&](std::uint32_t i) { return stays[i] != 0; });
  return result;
}

std::vector<std::uint32_t> standing_before(const Solids& solids, std::span<const std::uint32_t> targets,
                                           const Camera& camera, double aspect) {
  std::vector<std::uint8_t> is_target(solids.visible().size(), 0);
  std::vector<Projected> wanted;
  for (const std::uint32_t i : targets) {
    is_target[i] = 1;
    if (const Bounds box = solids.bounds(i); !box.empty()) wanted.push_back(project(camera, box, aspect));
  }
  const std::vector<std::uint32_t> all = visible_solids(solids);
  if (wanted.size() > 1 && wanted.size() * all.size() > kMaxPairs)
    wanted = {project(camera, solids.bounds(targets), aspect)};
  const Bounds all_targets = solids.bounds(targets);
  std::vector<std::uint32_t> result;
  for (const std::uint32_t i : all) {
    const Bounds box = solids.bounds(i);
    if (is_target[i] != 0 || box.empty()) continue;
    const Projected solid = project(camera, box, aspect);
    if (!std::any_of(wanted.begin(), wanted.end(), [&](const Projected& target) { return hides(solid, target); }))
      continue;
    result.push_back(i);
    const std::uint32_t node = solids.scene().instances[i].node;
    if (node == kNone || widened(box).contains(all_targets)) continue;
    for (const std::uint32_t inner : solids.below(node))
      if (is_target[inner] == 0) result.push_back(inner);
  }
  return result;
}

namespace {

/// What the user asked for goes before what follows from the scene.
std::optional<Look> look_of(Style style) {
  switch (style) {
    case Style::ghost:
      return Look::faint;
    case Style::glass:
      return Look::glass;
    case Style::wireframe:
      return Look::lines;
    case Style::edges:
      return Look::edged;
    case Style::plain:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::uint8_t> looks(const Solids& solids, const Settings& settings,
                                std::span<const std::uint32_t> in_the_way) {
  std::vector<std::uint8_t> result = solids.visible();  // 0 and 1 are hidden and solid
  if (settings.shells != Shells::solid) {
    std::vector<std::uint32_t> shells = enclosing(solids);
    const bool cut = settings.cuts_open();
    const std::size_t unopened = !cut ? shells.size() : shells.size() > 1 ? 1 : 0;
    for (std::size_t k = 0; k != shells.size(); ++k)
      result[shells[k]] = static_cast<std::uint8_t>(k >= unopened                      ? Look::open
                                                    : settings.shells == Shells::faint ? Look::faint
                                                                                       : Look::hidden);
  }
  for (std::size_t i = 0; i != result.size(); ++i)
    if (const auto look = look_of(static_cast<Style>(solids.styles()[i])); look && solids.visible()[i] != 0)
      result[i] = static_cast<std::uint8_t>(*look);
  for (const std::uint32_t i : in_the_way)
    if (result[i] != static_cast<std::uint8_t>(Look::hidden)) result[i] = static_cast<std::uint8_t>(Look::faint);
  return result;
}

std::vector<std::uint32_t> shown_solid(std::span<const std::uint8_t> looks) {
  std::vector<std::uint32_t> solid, visible;
  for (std::uint32_t i = 0; i != looks.size(); ++i) {
    const Look look{looks[i]};
    if (look != Look::hidden && look != Look::faint) solid.push_back(i);
    if (look != Look::hidden) visible.push_back(i);
  }
  return solid.empty() ? visible : solid;
}

std::vector<Eigen::Vector3d> framed_points(const Solids& solids, const Settings& settings,
                                           std::span<const std::uint32_t> instances) {
  std::vector<Eigen::Vector3d> points = solids.outermost(instances);
  if (settings.cuts_away()) return points;  // what is left stands all around
  for (const ClipPlane& plane : settings.planes()) {
    const double offset = plane.offset_in(solids.scene().bounds);
    // What is cut away ends at the plane. All of it, where nothing would be left.
    if (std::all_of(points.begin(), points.end(), [&](const auto& p) { return plane.normal.dot(p) > offset; }))
      continue;
    for (Eigen::Vector3d& p : points) p -= std::max(0.0, plane.normal.dot(p) - offset) * plane.normal;
  }
  return points;
}

}  // namespace raylift::viewer
