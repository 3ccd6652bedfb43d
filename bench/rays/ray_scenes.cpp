// SPDX-License-Identifier: Apache-2.0
// The scenes and rays of bench_rays.
#include "ray_scenes.h"

#include <raylift/geometry/scene/eigen.h>
#include <tbb/parallel_for.h>
#include <cmath>
#include <numbers>
#include <utility>

#include "random_ray.h"

namespace raylift::bench {
namespace {

// A longitude-latitude sphere, `rows` x `columns` cells, radius r (1 + bump sin 7theta cos 5phi).
void add_sphere(RayScene& mesh, std::uint32_t rows, std::uint32_t columns, double radius, double bump, double x,
                double y, double z) {
  const auto base = static_cast<std::uint32_t>(mesh.vertices.size());
  const double pi = std::numbers::pi;
  for (std::uint32_t i = 0; i <= rows; ++i)
    for (std::uint32_t j = 0; j < columns; ++j) {
      const bool pole = i == 0 || i == rows;
      const double theta = pi * i / rows, phi = 2 * pi * j / columns;
      const double r = radius * (1 + (pole ? 0 : bump * std::sin(7 * theta) * std::cos(5 * phi)));
      const double across = pole ? 0 : r * std::sin(theta);
      mesh.vertices.push_back({static_cast<float>(x + across * std::cos(phi)),
                               static_cast<float>(y + across * std::sin(phi)),
                               static_cast<float>(z + r * std::cos(theta))});
    }
  const auto at = [&](std::uint32_t i, std::uint32_t j) { return base + i * columns + j % columns; };
  for (std::uint32_t i = 0; i < rows; ++i)
    for (std::uint32_t j = 0; j < columns; ++j) {
      mesh.triangles.push_back({at(i, j), at(i + 1, j), at(i + 1, j + 1)});
      mesh.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i, j + 1)});
    }
}

RayScene bumpy(std::uint32_t n) {
  RayScene mesh{"bumpy" + std::to_string(n), {}, {}, 800};
  add_sphere(mesh, n, n, 1000, 0.1, 0, 0, 0);
  return mesh;
}

// Directions on a Fibonacci lattice.
Eigen::Vector3d sensor_place(std::uint32_t k, std::uint32_t sensors) {
  const double golden = std::numbers::pi * (3 - std::sqrt(5.0));
  const double z = 1 - (2.0 * k + 1) / sensors, r = std::sqrt(1 - z * z), a = golden * k;
  return 19500 * Eigen::Vector3d(r * std::cos(a), r * std::sin(a), z);
}

RayScene detector(std::uint32_t sensors) {
  RayScene mesh{"detector", {}, {}, 15000};
  add_sphere(mesh, 200, 400, 20000, 0, 0, 0, 0);
  for (std::uint32_t k = 0; k < sensors; ++k) {
    const Eigen::Vector3d place = sensor_place(k, sensors);
    add_sphere(mesh, 16, 32, 150, 0, place.x(), place.y(), place.z());
  }
  return mesh;
}

std::uint32_t add_vertex(RayScene& mesh, const Eigen::Vector3d& v) {
  mesh.vertices.push_back({static_cast<float>(v.x()), static_cast<float>(v.y()), static_cast<float>(v.z())});
  return static_cast<std::uint32_t>(mesh.vertices.size() - 1);
}

Eigen::Vector3d random_direction(std::uint64_t& state) {
  const double z = 2 * random_unit(state) - 1, a = 2 * std::numbers::pi * random_unit(state), r = std::sqrt(1 - z * z);
  return {r * std::cos(a), r * std::sin(a), z};
}

// A point uniform in a ball.
Eigen::Vector3d random_place(std::uint64_t& state, double radius) {
  const double distance = radius * std::cbrt(random_unit(state));
  return distance * random_direction(state);
}

// A scene within a sphere, so that every ray hits something.
RayScene in_a_sphere(const char* name) {
  RayScene mesh{name, {}, {}, 800};
  add_sphere(mesh, 100, 200, 1500, 0, 0, 0, 0);
  return mesh;
}

RayScene soup(std::uint32_t count) {
  RayScene mesh = in_a_sphere("soup");
  std::uint64_t state = 7;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Eigen::Vector3d center = random_place(state, 1000);
    const auto corner = [&] { return add_vertex(mesh, center + 3 * random_direction(state)); };
    const std::uint32_t a = corner(), b = corner(), c = corner();
    mesh.triangles.push_back({a, b, c});
  }
  return mesh;
}

// A prism of 48 sides without ends.
void add_tube(RayScene& mesh, const Eigen::Vector3d& center, const Eigen::Vector3d& axis, double length,
              double radius) {
  constexpr std::uint32_t kSides = 48;
  const Eigen::Vector3d x = axis.unitOrthogonal(), y = axis.cross(x);
  const auto base = static_cast<std::uint32_t>(mesh.vertices.size());
  for (std::uint32_t k = 0; k < kSides; ++k) {
    const double a = 2 * std::numbers::pi * k / kSides;
    const Eigen::Vector3d to = center + radius * (std::cos(a) * x + std::sin(a) * y);
    add_vertex(mesh, to - axis * length / 2);
    add_vertex(mesh, to + axis * length / 2);
  }
  for (std::uint32_t k = 0; k < kSides; ++k) {
    const std::uint32_t a = base + 2 * k, b = base + 2 * ((k + 1) % kSides);
    mesh.triangles.push_back({a, b, a + 1});
    mesh.triangles.push_back({b, b + 1, a + 1});
  }
}

RayScene tubes(std::uint32_t count) {
  RayScene mesh = in_a_sphere("tubes");
  std::uint64_t state = 7;
  for (std::uint32_t i = 0; i < count; ++i) {
    const Eigen::Vector3d center = random_place(state, 1000), axis = random_direction(state);
    const double length = 20 + 400 * random_unit(state);
    add_tube(mesh, center, axis, length, 1 + 4 * random_unit(state));
  }
  return mesh;
}

// The sides of a cube, n x n cells each, on a sphere: cells are about as large everywhere.
RayScene cube_sphere(std::uint32_t n) {
  RayScene mesh{"cube", {}, {}, 800};
  const double pi = std::numbers::pi;
  for (int side = 0; side < 6; ++side) {
    const auto base = static_cast<std::uint32_t>(mesh.vertices.size());
    for (std::uint32_t i = 0; i <= n; ++i)
      for (std::uint32_t j = 0; j <= n; ++j) {
        Eigen::Vector3d v;
        v[side % 3] = side < 3 ? 1 : -1;
        v[(side + 1) % 3] = std::tan(pi / 2 * i / n - pi / 4);
        v[(side + 2) % 3] = std::tan(pi / 2 * j / n - pi / 4);
        v.normalize();
        add_vertex(mesh, 1000 * (1 + 0.1 * std::sin(10 * v.x()) * std::cos(12 * v.y()) * std::sin(9 * v.z())) * v);
      }
    for (std::uint32_t i = 0; i < n; ++i)
      for (std::uint32_t j = 0; j < n; ++j) {
        const std::uint32_t a = base + i * (n + 1) + j, b = a + n + 1;
        mesh.triangles.push_back({a, b, a + 1});
        mesh.triangles.push_back({b, b + 1, a + 1});
      }
  }
  return mesh;
}

/// As Eigen::Quaterniond::FromTwoVectors() has it, which takes a minute to compile: it decomposes matrices for vectors
/// that are opposite.
Eigen::Matrix3d rotation_of_z_to(const Eigen::Vector3d& direction) {
  const double cosine = direction.z();
  if (cosine <= -1 + 1e-12) return Eigen::Vector3d(1, -1, -1).asDiagonal();
  const double s = std::sqrt(2 * (1 + cosine));
  const Eigen::Vector3d axis = Eigen::Vector3d::UnitZ().cross(direction) / s;
  return Eigen::Quaterniond(0.5 * s, axis.x(), axis.y(), axis.z()).toRotationMatrix();
}

}  // namespace

RayScene make_ray_scene(const std::string& name) {
  if (name == "soup") return soup(500000);
  if (name == "tubes") return tubes(4000);
  if (name == "cube") return cube_sphere(300);
  return name == "detector" ? detector(20000) : bumpy(static_cast<std::uint32_t>(std::stoul(name)));
}

void shuffle(RayScene& scene) {
  scene.name += " shuffled";
  std::uint64_t state = 1;
  for (std::size_t i = scene.triangles.size(); i > 1; --i)
    std::swap(scene.triangles[i - 1],
              scene.triangles[static_cast<std::size_t>(random_unit(state) * static_cast<double>(i))]);
}

Scene instanced_detector(std::uint32_t count, Sensors sensors) {
  Scene scene;
  const auto add_mesh = [&](std::uint32_t rows, std::uint32_t columns, double radius) {
    RayScene sphere;
    add_sphere(sphere, rows, columns, radius, 0, 0, 0, 0);
    Mesh& mesh = scene.meshes.emplace_back();
    mesh.parts.push_back({0, static_cast<std::uint32_t>(sphere.triangles.size())});
    mesh.vertices = std::move(sphere.vertices);
    mesh.triangles = std::move(sphere.triangles);
  };
  add_mesh(200, 400, 20000);
  add_mesh(16, 32, 150);
  scene.bindings.push_back({kNone});
  scene.instances.emplace_back();
  for (std::uint32_t k = 0; k < count; ++k) {
    Instance& instance = scene.instances.emplace_back();
    instance.mesh = 1;
    const Eigen::Vector3d place = sensor_place(k, count);
    EigenTransform transform(Eigen::Translation3d{place});
    if (sensors == Sensors::turned) transform.linear() = rotation_of_z_to((-place).normalized());
    instance.transform = transform;
  }
  scene.bounds = world_bounds(scene);
  return scene;
}

std::vector<Ray> random_rays(std::size_t count, double radius) {
  std::vector<Ray> rays(count);
  tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) { rays[i] = random_ray(i, radius); });
  return rays;
}

std::vector<Ray> camera_rays(std::size_t count, PixelOrder order) {
  const std::size_t side = static_cast<std::size_t>(std::sqrt(static_cast<double>(count))) / 8 * 8;
  std::vector<Ray> rays(side * side);
  const std::size_t tiles = side / 8;  // in a row of them
  tbb::parallel_for(std::size_t{0}, rays.size(), [&](std::size_t i) {
    std::size_t column = i % side, row = i / side;
    if (order == PixelOrder::tiles) {
      column = i / 32 % tiles * 8 + i % 8;
      row = i / 32 / tiles * 4 + i % 32 / 8;
    }
    const double step = 2.0 / static_cast<double>(side);
    const double x = (static_cast<double>(column) + 0.5) * step - 1;
    const double y = (static_cast<double>(row) + 0.5) * step - 1;
    const double length = std::sqrt(x * x + y * y + 1);
    rays[i].origin = LocalPoint(0, 0, 0);
    rays[i].direction = {static_cast<float>(1 / length), static_cast<float>(x / length),
                         static_cast<float>(y / length)};
  });
  return rays;
}

}  // namespace raylift::bench
