// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/scene.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <numeric>

namespace raylift {
namespace {

using Range = tbb::blocked_range<std::size_t>;

template <class Point>
Bounds bounds_of(std::size_t count, const Point& point) {
  constexpr std::size_t kSmall = 1U << 14;
  const auto add = [&](const Range& range, Bounds box) {
    for (std::size_t i = range.begin(); i != range.end(); ++i) box.add(point(i));
    return box;
  };
  const Range all(0, count, kSmall);
  if (count <= kSmall) return add(all, {});  // a scene may have many small meshes, and each task takes a microsecond
  return tbb::parallel_reduce(all, Bounds{}, add, [](Bounds a, const Bounds& b) {
    a.add(b);
    return a;
  });
}

/// A box around a transformed box, larger by a few roundings so that it holds every transformed vertex.
Bounds transformed(const Bounds& box, const Transform& transform) {
  if (box.empty()) return {};
  const EigenTransform map = to_eigen(transform);
  const Eigen::Vector3d center = map * to_eigen(box.center());
  const Eigen::Vector3d largest = to_eigen(box.min).cwiseAbs().cwiseMax(to_eigen(box.max).cwiseAbs());
  const Eigen::Vector3d reach = map.linear().cwiseAbs() * largest;
  const Eigen::Vector3d rounding = 8 * std::numeric_limits<double>::epsilon() * (reach + map.translation().cwiseAbs());
  const Eigen::Vector3d half = map.linear().cwiseAbs() * (to_eigen(box.size()) / 2) + rounding;
  return {center - half, center + half};
}

}  // namespace

const std::string& Scene::solid_name(const Instance& instance) const {
  if (instance.node != kNone && !nodes[instance.node].name.empty()) return nodes[instance.node].name;
  return meshes[instance.mesh].name;
}

const std::string& Scene::volume_name(const Instance& instance) const {
  if (instance.node != kNone && nodes[instance.node].volume != kNone) return volumes[nodes[instance.node].volume];
  return meshes[instance.mesh].name;
}

std::string Scene::path(const Instance& instance) const {
  std::vector<const std::string*> names;
  for (std::uint32_t node = instance.node; node != kNone; node = nodes[node].parent) names.push_back(&nodes[node].name);
  std::string path;
  for (auto name = names.rbegin(); name != names.rend(); ++name) path += '/' + **name;
  return path.empty() ? "/" : path;
}

std::optional<std::int64_t> Scene::copy_number(const Instance& instance) const {
  return instance.node == kNone ? std::nullopt : nodes[instance.node].copy_number;
}

std::uint32_t Scene::material(const Instance& instance, std::size_t part) const {
  return part < bindings[instance.binding].size() ? bindings[instance.binding][part] : kNone;
}

std::uint64_t Scene::unique_vertices() const {
  return std::accumulate(meshes.begin(), meshes.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Mesh& mesh) { return sum + mesh.vertices.size(); });
}

std::uint64_t Scene::unique_triangles() const {
  return std::accumulate(meshes.begin(), meshes.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Mesh& mesh) { return sum + mesh.triangles.size(); });
}

std::uint64_t Scene::expanded_vertices() const {
  return std::accumulate(instances.begin(), instances.end(), std::uint64_t{0},
                         [this](std::uint64_t sum, const Instance& i) { return sum + meshes[i.mesh].vertices.size(); });
}

std::uint64_t Scene::expanded_triangles() const {
  return std::accumulate(
      instances.begin(), instances.end(), std::uint64_t{0},
      [this](std::uint64_t sum, const Instance& i) { return sum + meshes[i.mesh].triangles.size(); });
}

Bounds mesh_bounds(const Mesh& mesh) {
  return bounds_of(mesh.vertices.size(), [&](std::size_t i) { return mesh.vertices[i]; });
}

bool has_rests(const Scene& scene) {
  return std::any_of(scene.meshes.begin(), scene.meshes.end(), [](const Mesh& mesh) { return !mesh.rests.empty(); });
}

Bounds world_bounds(const Scene& scene) {
  std::vector<Bounds> mesh_boxes(scene.meshes.size());
  tbb::parallel_for(std::size_t{0}, mesh_boxes.size(),
                    [&](std::size_t i) { mesh_boxes[i] = mesh_bounds(scene.meshes[i]); });

  std::vector<Bounds> outer;  // of each instance: contains its vertices, and often more
  outer.reserve(scene.instances.size());
  for (const Instance& instance : scene.instances)
    outer.push_back(transformed(mesh_boxes[instance.mesh], instance.transform));

  // Vertices that may reach farthest along an axis come first: they determine the box, and the rest is culled against
  // it.
  std::vector<std::uint32_t> order(outer.size());
  std::iota(order.begin(), order.end(), 0U);
  Bounds exact;
  const auto look_at = [&](std::uint32_t i) {
    if (outer[i].empty() || exact.contains(outer[i])) return;
    const Instance& instance = scene.instances[i];
    const Mesh& mesh = scene.meshes[instance.mesh];
    const EigenTransform to_world = to_eigen(instance.transform);
    exact.add(bounds_of(mesh.vertices.size(),
                        [&](std::size_t v) -> Eigen::Vector3d { return to_world * to_eigen(mesh.vertices[v]); }));
  };
  for (int axis = 0; axis != 3 && !order.empty(); ++axis) {
    const auto by = [&](auto value) {
      return [&, value](std::uint32_t a, std::uint32_t b) { return value(outer[a]) < value(outer[b]); };
    };
    look_at(*std::min_element(order.begin(), order.end(), by([axis](const Bounds& box) { return box.min[axis]; })));
    look_at(*std::max_element(order.begin(), order.end(), by([axis](const Bounds& box) { return box.max[axis]; })));
  }
  for (const std::uint32_t i : order) look_at(i);
  return exact;
}

}  // namespace raylift
