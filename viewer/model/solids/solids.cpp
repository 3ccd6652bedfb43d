// SPDX-License-Identifier: Apache-2.0
#include "model/solids/solids.h"

#include <raylift/geometry/scene/eigen.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "cli/camera.h"

namespace raylift::viewer {
namespace {

/// Lists of members by group, by a counting sort. `group(i)` is a node or kNone.
template <class Group>
void sort_by_group(std::size_t groups, std::size_t members, const Group& group, std::vector<std::uint32_t>& begin,
                   std::vector<std::uint32_t>& sorted) {
  begin.assign(groups + 2, 0);
  const auto slot = [&](std::size_t i) { return std::size_t{static_cast<std::uint32_t>(group(i) + 1)}; };
  for (std::size_t i = 0; i != members; ++i) ++begin[slot(i) + 1];
  for (std::size_t g = 0; g + 1 != begin.size(); ++g) begin[g + 1] += begin[g];
  sorted.resize(members);
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i != members; ++i) sorted[next[slot(i)]++] = static_cast<std::uint32_t>(i);
}

std::span<const std::uint32_t> group_of(std::uint32_t node, const std::vector<std::uint32_t>& begin,
                                        const std::vector<std::uint32_t>& sorted) {
  const std::size_t slot = static_cast<std::uint32_t>(node + 1);
  return {sorted.data() + begin[slot], begin[slot + 1] - begin[slot]};
}

/// The directions of the points on a cube's surface, by a grid of 7 a side; opposite ones are both there.
std::vector<Eigen::Vector3d> even_directions() {
  constexpr int kReach = 3;
  std::vector<Eigen::Vector3d> directions;
  for (int x = -kReach; x <= kReach; ++x)
    for (int y = -kReach; y <= kReach; ++y)
      for (int z = -kReach; z <= kReach; ++z)
        if (std::max({std::abs(x), std::abs(y), std::abs(z)}) == kReach)
          directions.push_back(Eigen::Vector3d(x, y, z).normalized());
  return directions;
}

/// The vertex of a placed mesh that lies farthest along a direction, in the world.
Eigen::Vector3d farthest_vertex(const Mesh& mesh, const EigenTransform& placed, const Eigen::Vector3d& direction) {
  const Eigen::Vector3f local = (placed.linear().transpose() * direction).cast<float>();
  const Float3 along{local.x(), local.y(), local.z()};
  const Float3* best = nullptr;
  float most = 0;
  for (const Float3& v : mesh.vertices) {
    const float reach = along.x * v.x + along.y * v.y + along.z * v.z;
    if (best == nullptr || reach > most) {
      best = &v;
      most = reach;
    }
  }
  return placed * to_eigen(best == nullptr ? Double3{} : Double3(*best));
}

}  // namespace

Solids::Solids(const Scene& scene) : scene_(&scene) {
  state_.visible.assign(scene.instances.size(), 1);
  state_.styles.resize(scene.instances.size());
  state_.opacities.resize(scene.instances.size());
  state_.colors.resize(scene.instances.size());
  sort_by_group(
      scene.nodes.size(), scene.nodes.size(), [&](std::size_t i) { return scene.nodes[i].parent; }, child_begin_,
      child_);
  sort_by_group(
      scene.nodes.size(), scene.instances.size(), [&](std::size_t i) { return scene.instances[i].node; },
      instance_begin_, instance_);
  mesh_bounds_.reserve(scene.meshes.size());
  for (const Mesh& mesh : scene.meshes) mesh_bounds_.push_back(mesh_bounds(mesh));
}

std::span<const std::uint32_t> Solids::children(std::uint32_t node) const {
  return group_of(node, child_begin_, child_);
}

std::span<const std::uint32_t> Solids::instances(std::uint32_t node) const {
  return group_of(node, instance_begin_, instance_);
}

std::vector<std::uint32_t> Solids::below(std::uint32_t node) const {
  std::vector<std::uint32_t> result;
  std::vector<std::uint32_t> open{node};
  while (!open.empty()) {
    const std::uint32_t next = open.back();
    open.pop_back();
    const auto own = instances(next);
    result.insert(result.end(), own.begin(), own.end());
    const auto down = children(next);
    open.insert(open.end(), down.rbegin(), down.rend());
  }
  return result;
}

void Solids::changing() {
  constexpr std::size_t kMaxSteps = 100;
  before_.push_back(state_);
  sliding_ = false;
  if (before_.size() > kMaxSteps) before_.erase(before_.begin());
  ++version_;
}

void Solids::set_visible(std::span<const std::uint32_t> instances, bool visible) {
  changing();
  for (const std::uint32_t i : instances) state_.visible[i] = visible ? 1 : 0;
}

void Solids::show_all() {
  set_all(std::vector<std::uint8_t>(state_.visible.size(), 1));
}

void Solids::show_only(std::span<const std::uint32_t> instances) {
  std::vector<std::uint8_t> visible(state_.visible.size(), 0);
  for (const std::uint32_t i : instances) visible[i] = 1;
  set_all(std::move(visible));
}

void Solids::set_all(std::vector<std::uint8_t> visible) {
  changing();
  state_.visible = std::move(visible);
}

void Solids::set_all(std::vector<std::uint8_t> visible, std::vector<std::uint8_t> styles,
                     std::vector<std::uint8_t> opacities, std::vector<std::uint32_t> colors) {
  changing();
  state_ = {std::move(visible), std::move(styles), std::move(opacities), std::move(colors)};
  state_.opacities.resize(state_.visible.size(), 0);
  state_.colors.resize(state_.visible.size(), 0);
}

void Solids::set_color(std::span<const std::uint32_t> instances, std::uint32_t color) {
  changing();
  for (const std::uint32_t i : instances) state_.colors[i] = color;
}

void Solids::slide_color(std::span<const std::uint32_t> instances, std::uint32_t color) {
  if (!sliding_) changing();
  sliding_ = true;
  ++slides_;
  for (const std::uint32_t i : instances) state_.colors[i] = color;
}

bool Solids::has_styles() const {
  return std::any_of(state_.styles.begin(), state_.styles.end(), [](std::uint8_t one) { return one != 0; });
}

void Solids::set_style(std::span<const std::uint32_t> instances, Style style, std::uint8_t opacity) {
  changing();
  for (const std::uint32_t i : instances) {
    state_.styles[i] = static_cast<std::uint8_t>(style);
    state_.opacities[i] = opacity;
  }
}

void Solids::slide_opacity(std::span<const std::uint32_t> instances, std::uint8_t opacity) {
  if (!sliding_) changing();
  sliding_ = true;
  ++slides_;
  for (const std::uint32_t i : instances)
    if (state_.styles[i] == static_cast<std::uint8_t>(Style::glass)) state_.opacities[i] = opacity;
}

bool Solids::undo() {
  if (before_.empty()) return false;
  state_ = std::move(before_.back());
  before_.pop_back();
  sliding_ = false;
  ++version_;
  return true;
}

std::uint32_t Solids::depth(std::uint32_t instance) const {
  std::uint32_t depth = 0;
  const std::uint32_t own = scene_->instances[instance].node;
  if (own == kNone) return depth;
  for (std::uint32_t node = scene_->nodes[own].parent; node != kNone; node = scene_->nodes[node].parent) ++depth;
  return depth;
}

int Solids::shown(std::uint32_t node) const {
  if (shown_version_ != version_) {
    // Bit 0: something below is visible; bit 1: something is hidden. Parents come before their children.
    shown_.assign(scene_->nodes.size() + 1, 0);
    for (std::size_t i = 0; i != scene_->instances.size(); ++i)
      shown_[static_cast<std::uint32_t>(scene_->instances[i].node + 1)] |=
          static_cast<std::uint8_t>(state_.visible[i] != 0 ? 1 : 2);
    for (std::size_t i = scene_->nodes.size(); i-- > 0;)
      shown_[static_cast<std::uint32_t>(scene_->nodes[i].parent + 1)] |= shown_[i + 1];
    shown_version_ = version_;
  }
  const std::uint8_t bits = shown_[static_cast<std::uint32_t>(node + 1)];
  return bits == 2 ? 0 : bits == 3 ? 1 : 2;
}

std::uint8_t hundredths(double opacity) {
  return static_cast<std::uint8_t>(std::lround(100 * std::clamp(opacity, kMinOpacity, 1.0)));
}

Bounds moved_box(const Bounds& box, const Transform& transform) {
  Bounds result;
  if (box.empty()) return result;
  const EigenTransform map = to_eigen(transform);
  for (const Eigen::Vector3d& corner : box_corners(box)) result.add(Eigen::Vector3d(map * corner));
  return result;
}

bool meets(const Eigen::Vector3d& normal, double offset, const Bounds& box, const Transform& transform) {
  if (box.empty()) return false;
  const EigenTransform to_world = to_eigen(transform);
  const Eigen::Vector3d in_mesh = to_world.linear().transpose() * normal;
  const double middle = normal.dot(to_world * to_eigen(box.center()));
  const double reach = 0.5 * in_mesh.cwiseAbs().dot(to_eigen(box.size()));
  return std::abs(middle - offset) <= reach * (1 + 1e-9);
}

bool Solids::meets(std::uint32_t instance, const ClipPlane& plane) const {
  const Instance& placed = scene_->instances[instance];
  return viewer::meets(plane.normal, plane.offset_in(scene_->bounds), mesh_bounds_[placed.mesh], placed.transform);
}

Bounds Solids::bounds(std::uint32_t instance) const {
  const Instance& placed = scene_->instances[instance];
  return moved_box(mesh_bounds_[placed.mesh], placed.transform);
}

Bounds Solids::bounds(std::span<const std::uint32_t> instances) const {
  Bounds result;
  for (const std::uint32_t i : instances) result.add(bounds(i));
  return result;
}

std::vector<Eigen::Vector3d> Solids::outermost(std::span<const std::uint32_t> instances) const {
  std::vector<Bounds> boxes;
  std::vector<std::uint32_t> solids;
  for (const std::uint32_t i : instances)
    if (const Bounds box = bounds(i); !box.empty()) {
      boxes.push_back(box);
      solids.push_back(i);
    }
  if (solids.empty()) return {};
  static const std::vector<Eigen::Vector3d> kDirections = even_directions();
  std::vector<Eigen::Vector3d> points(kDirections.size());
  tbb::parallel_for(std::size_t{0}, points.size(), [&](std::size_t k) {
    const Eigen::Vector3d& direction = kDirections[k];
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t s = 0; s != solids.size(); ++s) {
      // Only a solid whose box reaches farther can.
      const Eigen::Vector3d corner = (direction.array() > 0).select(to_eigen(boxes[s].max), to_eigen(boxes[s].min));
      if (corner.dot(direction) <= most) continue;
      const Instance& placed = scene_->instances[solids[s]];
      const Eigen::Vector3d point = farthest_vertex(scene_->meshes[placed.mesh], to_eigen(placed.transform), direction);
      if (const double reach = point.dot(direction); reach > most) {
        most = reach;
        points[k] = point;
      }
    }
  });
  return points;
}

Bounds Solids::bounds_of(std::span<const std::uint8_t> visible) const {
  Bounds result;
  for (std::size_t i = 0; i != visible.size(); ++i)
    if (visible[i] != 0) result.add(bounds(static_cast<std::uint32_t>(i)));
  return result;
}

}  // namespace raylift::viewer
