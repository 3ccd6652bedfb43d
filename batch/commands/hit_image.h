// SPDX-License-Identifier: Apache-2.0
// Images of what the camera's rays hit.
#pragma once

#include <raylift/geometry/bvh/ray.h>
#include <cstdint>
#include <span>
#include <vector>

#include "cli/image.h"

namespace raylift::batch {

enum class ImageKind : std::uint8_t {
  depth,   ///< grey: white at the nearest hit, getting darker with the distance
  normal,  ///< red, green, blue: the outward normal's x, y, z, from -1 (0) to 1 (255)
};

/// Collects the first hit of each pixel. Pixels without one become black.
class HitImage {
 public:
  HitImage(ImageKind kind, std::uint32_t width, std::uint32_t height);
  /// The hits of rays `first` and after; those beyond the last pixel do not count.
  void add(std::uint64_t first, std::span<const Hit> hits);
  [[nodiscard]] Image image() const;

 private:
  struct Seen {
    float t;
    Float3 normal;
  };
  ImageKind kind_;
  std::uint32_t width_, height_;
  std::vector<Seen> seen_;
};

}  // namespace raylift::batch
