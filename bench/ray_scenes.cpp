// SPDX-License-Identifier: Apache-2.0
// The scenes and rays of bench_rays.
#include "ray_scenes.h"

#include <tbb/parallel_for.h>
#include <cmath>
#include <numbers>
#include <utility>

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

RayScene detector(std::uint32_t sensors) {
  RayScene mesh{"detector", {}, {}, 15000};
  add_sphere(mesh, 200, 400, 20000, 0, 0, 0, 0);
  const double golden = std::numbers::pi * (3 - std::sqrt(5.0));
  for (std::uint32_t k = 0; k < sensors; ++k) {
    const double z = 1 - (2.0 * k + 1) / sensors, r = std::sqrt(1 - z * z), a = golden * k;
    add_sphere(mesh, 16, 32, 150, 0, 19500 * r * std::cos(a), 19500 * r * std::sin(a), 19500 * z);
  }
  return mesh;
}

double unit(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15u;
  std::uint64_t z = state;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return static_cast<double>((z ^ z >> 31) >> 11) * 0x1p-53;
}

}  // namespace

RayScene make_ray_scene(const std::string& name) {
  return name == "detector" ? detector(20000) : bumpy(static_cast<std::uint32_t>(std::stoul(name)));
}

void shuffle(RayScene& scene) {
  scene.name += " shuffled";
  std::uint64_t state = 1;
  for (std::size_t i = scene.triangles.size(); i > 1; --i)
    std::swap(scene.triangles[i - 1], scene.triangles[static_cast<std::size_t>(unit(state) * static_cast<double>(i))]);
}

std::vector<Ray> random_rays(std::size_t count, double radius) {
  std::vector<Ray> rays(count);
  tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
    std::uint64_t state = (i + 1) * 0xD1342543DE82EF95u;
    const auto direction = [&](double length) {
      const double z = 2 * unit(state) - 1, r = std::sqrt(1 - z * z), a = 2 * std::numbers::pi * unit(state);
      return float3{static_cast<float>(length * r * std::cos(a)), static_cast<float>(length * r * std::sin(a)),
                    static_cast<float>(length * z)};
    };
    const double length = radius * std::cbrt(unit(state));
    rays[i].origin = direction(length);
    rays[i].direction = direction(1);
  });
  return rays;
}

}  // namespace raylift::bench
