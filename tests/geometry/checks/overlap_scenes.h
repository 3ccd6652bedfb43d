// SPDX-License-Identifier: Apache-2.0
// Scenes of few solids for tests of overlaps, and what an independent method says of them.
#pragma once

#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/scene.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "support/conversions.h"
#include "support/meshes.h"

namespace raylift::test {

using Eigen::Vector3d;

inline Mesh box(const Vector3d& low, const Vector3d& high) {
  Mesh mesh = cube();
  mesh.name = "box";
  for (Float3& v : mesh.vertices) v = to_float(low + Vector3d(v.x, v.y, v.z).cwiseProduct(high - low));
  return mesh;
}
inline Mesh box(const Vector3d& half) {
  return box(-half, half);
}
inline Mesh ball(double radius, int levels = 3) {
  Mesh mesh;
  append(mesh, sphere(levels), static_cast<float>(radius));
  mesh.name = "ball";
  return mesh;
}

inline EigenTransform at(const Vector3d& place) {
  EigenTransform transform = EigenTransform::Identity();
  transform.translation() = place;
  return transform;
}

/// Puts a scene together: every solid has a node, below that of its mother.
class SolidScene {
 public:
  std::uint32_t add_mesh(Mesh mesh) {
    scene_.meshes.push_back(std::move(mesh));
    return static_cast<std::uint32_t>(scene_.meshes.size() - 1);
  }
  std::uint32_t place(std::uint32_t mesh, const EigenTransform& transform, std::uint32_t mother = kNone) {
    Instance instance;
    instance.mesh = mesh;
    instance.node = static_cast<std::uint32_t>(scene_.nodes.size());
    instance.transform = transform;
    scene_.nodes.push_back({"solid" + std::to_string(instance.node), mother, {}});
    scene_.instances.push_back(instance);
    return instance.node;
  }
  std::uint32_t add(Mesh mesh, const EigenTransform& transform = EigenTransform::Identity(),
                    std::uint32_t mother = kNone) {
    return place(add_mesh(std::move(mesh)), transform, mother);
  }
  /// All of it, as seen from elsewhere.
  [[nodiscard]] Scene moved(const EigenTransform& by) const {
    Scene scene = scene_;
    for (Instance& instance : scene.instances) instance.transform = by * to_eigen(instance.transform);
    return scene;
  }
  [[nodiscard]] const Scene& scene() const { return scene_; }

 private:
  Scene scene_;
};

inline std::vector<Vector3d> world_vertices(const Scene& scene, std::uint32_t solid) {
  const Instance& instance = scene.instances[solid];
  std::vector<Vector3d> result;
  for (const Float3& v : scene.meshes[instance.mesh].vertices)
    result.push_back(to_eigen(instance.transform) * Vector3d(v.x, v.y, v.z));
  return result;
}

/// A convex solid as half-spaces: normal and offset of each facet, outward, in the world.
struct Convex {
  std::vector<Vector3d> vertices;
  std::vector<std::pair<Vector3d, double>> facets;
  std::vector<Vector3d> edges;

  Convex(const Scene& scene, std::uint32_t solid) : vertices(world_vertices(scene, solid)) {
    Vector3d middle = Vector3d::Zero();
    for (const Vector3d& v : vertices) middle += v / static_cast<double>(vertices.size());
    for (const UInt3& t : scene.meshes[scene.instances[solid].mesh].triangles) {
      const Vector3d& a = vertices[t.x];
      Vector3d normal = (vertices[t.y] - a).cross(vertices[t.z] - a).normalized();
      if (normal.dot(middle - a) > 0) normal = -normal;
      facets.emplace_back(normal, normal.dot(a));
      edges.push_back((vertices[t.y] - a).normalized());
      edges.push_back((vertices[t.z] - vertices[t.y]).normalized());
    }
  }
  /// How deep a point lies: the distance to the nearest plane. Outside, negative.
  [[nodiscard]] double depth(const Vector3d& point) const {
    double least = 1e300;
    for (const auto& [normal, offset] : facets) least = std::min(least, offset - normal.dot(point));
    return least;
  }
  [[nodiscard]] double outermost(const Vector3d& direction) const {
    double most = -1e300;
    for (const Vector3d& v : vertices) most = std::max(most, v.dot(direction));
    return most;
  }
};

/// By separating axes: how far two convex solids would have to move apart. Negative: the gap between them, or less.
inline double penetration(const Convex& a, const Convex& b) {
  std::vector<Vector3d> axes;
  for (const auto& facet : a.facets) axes.push_back(facet.first);
  for (const auto& facet : b.facets) axes.push_back(facet.first);
  for (const Vector3d& e : a.edges)
    for (const Vector3d& f : b.edges)
      if (const Vector3d cross = e.cross(f); cross.norm() > 1e-6) axes.push_back(cross.normalized());
  double least = 1e300;
  for (const Vector3d& axis : axes)
    least = std::min(least, std::min(a.outermost(axis) + b.outermost(-axis), a.outermost(-axis) + b.outermost(axis)));
  return least;
}

class RandomShapes {
 public:
  explicit RandomShapes(unsigned seed) : engine_(seed) {}
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine_); }
  Vector3d vector(double low, double high) { return {uniform(low, high), uniform(low, high), uniform(low, high)}; }
  EigenTransform rotation() {
    EigenTransform transform = EigenTransform::Identity();
    const Vector3d axis = vector(-1, 1).normalized();
    transform.rotate(Eigen::AngleAxisd(uniform(0, 6), axis));
    return transform;
  }
  /// Rotation, shear, scale and sometimes a mirror.
  EigenTransform affine(double shift) {
    EigenTransform transform = rotation();
    Eigen::Matrix3d stretch = vector(0.5, 2).asDiagonal();
    stretch(0, 1) = uniform(-0.5, 0.5);
    stretch(1, 2) = uniform(-0.5, 0.5);
    if (uniform(0, 1) < 0.5) stretch.row(2) = -stretch.row(2).eval();
    transform.linear() = transform.linear() * stretch;
    transform.translation() = vector(-shift, shift);
    return transform;
  }
  Mesh tetrahedron() {
    Mesh mesh;
    mesh.name = "tetrahedron";
    Eigen::Matrix3d edges;
    do {
      mesh.vertices.clear();
      for (int i = 0; i != 4; ++i) mesh.vertices.push_back(to_float(vector(-10, 10)));
      const auto v = [&](std::size_t i) {
        return Vector3d(mesh.vertices[i].x, mesh.vertices[i].y, mesh.vertices[i].z);
      };
      edges << v(1) - v(0), v(2) - v(0), v(3) - v(0);
    } while (std::abs(edges.determinant()) < 100);
    mesh.triangles = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
    mesh.parts = {{0, 4}};
    return edges.determinant() > 0 ? mesh : inside_out(mesh);
  }

 private:
  std::mt19937 engine_;
};

}  // namespace raylift::test
