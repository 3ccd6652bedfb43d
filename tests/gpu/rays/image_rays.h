// SPDX-License-Identifier: Apache-2.0
// The pixels of images, row by row.
#pragma once

#include <raylift/geometry/bvh/ray.h>

#include <cmath>
#include <random>
#include <vector>

namespace raylift::test {

/// From one point, the directions ending in a plane, or of unit length; in parallel; from anywhere in a lens.
enum class Lens { perspective, unit, parallel, thick };

/// Along x, from -2500 on. `field`: half of an image's width as seen from a distance of 1, or, of parallel rays, in
/// thousands. Pixels are squares.
inline std::vector<Ray> image_of(std::size_t width, std::size_t height, Lens lens, double field = 0.7) {
  std::vector<Ray> rays(width * height);
  const double step = 2 * field / static_cast<double>(width);
  std::mt19937 random(9);
  std::uniform_real_distribution<double> in_lens(-2, 2);
  for (std::size_t i = 0; i != rays.size(); ++i) {
    const double y = step * (static_cast<double>(i % width) + 0.5 - 0.5 * static_cast<double>(width)),
                 z = step * (static_cast<double>(i / width) + 0.5 - 0.5 * static_cast<double>(height));
    const double length = lens == Lens::unit ? std::sqrt(1 + y * y + z * z) : 1;
    Ray& ray = rays[i];
    ray.origin = LocalPoint(-2500, 3, 5);
    ray.direction = {static_cast<float>(1 / length), static_cast<float>(y / length), static_cast<float>(z / length)};
    if (lens == Lens::parallel) {
      ray.origin = LocalPoint(-2500, static_cast<float>(1000 * y), static_cast<float>(1000 * z));
      ray.direction = {1, 0.05F, -0.03F};
    }
    if (lens == Lens::thick) {
      ray.origin.y += static_cast<float>(in_lens(random));
      ray.origin.z += static_cast<float>(in_lens(random));
    }
  }
  return rays;
}

}  // namespace raylift::test
