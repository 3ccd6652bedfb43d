// SPDX-License-Identifier: Apache-2.0
#include "scenes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace raylift::detector {
namespace {

using std::numbers::pi;

Surface box(const Eigen::Vector3d& min, const Eigen::Vector3d& max) {
  Surface surface;
  for (int i = 0; i != 8; ++i)
    surface.vertices.emplace_back((i & 1) != 0 ? max.x() : min.x(), (i & 2) != 0 ? max.y() : min.y(),
                                  (i & 4) != 0 ? max.z() : min.z());
  surface.triangles = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                       {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
  return surface;
}

/// Around the origin.
Surface box(const Eigen::Vector3d& size) {
  return box(-size / 2, size / 2);
}

}  // namespace

Detector argon_box(bool touching) {
  Detector detector;
  detector.world = {"World", "LiquidArgon", box({70000, 25000, 25000})};
  struct Layer {
    const char* name;
    const char* material;
    Eigen::Vector3d size;
  };
  const std::array<Layer, 4> layers{{{"Shell", "LiquidArgon", {60014.4, 13514.4, 13014.4}},
                                     {"BlueShifter", "BlueAcrylic", {60012.4, 13512.4, 13012.4}},
                                     {"Shifter", "PTerphenyl", {60000.4, 13500.4, 13000.4}},
                                     {"Target", "LiquidArgon", {60000, 13500, 13000}}}};
  for (const auto& [name, material, size] : layers) {
    Eigen::Vector3d min = -size / 2;
    // All in one frame, so that the faces have the same coordinates to the last bit.
    if (touching) min.z() = -layers.front().size.z() / 2;
    detector.nested.push_back({name, material, touching ? box(min, min + size) : box(size)});
  }
  return detector;
}

Detector water_sphere(std::uint32_t segments) {
  Detector detector;
  detector.world = {"World", "Air", box({4000, 4000, 4000})};
  detector.nested = {{"Sphere", "Water", sphere(500, segments)}};
  return detector;
}

Detector integrating_sphere(std::uint32_t segments) {
  Detector detector;
  detector.world = {"World", "Air", box({4000, 4000, 4000})};
  detector.nested = {{"Wall", "Barium", sphere(520, segments)}, {"Cavity", "Air", sphere(500, segments)}};
  detector.sensors_in = 1;
  detector.sensor = {{"Port", "Silicon", revolve(-1, {{20, -1}, {20, 1}}, 1, segments)}};
  // How near the wall's facets come to the centre: the disc's rim stays 5 mm away from them.
  const double nearest = 500 * std::cos(pi / segments) * std::cos(pi / (2 * std::max(segments / 2, 2U)));
  detector.placements = {EigenTransform(Eigen::Translation3d(0, 0, -std::floor(nearest - 7)))};
  return detector;
}

}  // namespace raylift::detector
