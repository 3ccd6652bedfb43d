// SPDX-License-Identifier: Apache-2.0
// An image as a kernel sees it. This header is for kernels.
#pragma once

#include <raylift/geometry/vector_types.h>

#include <cstddef>
#include <cstdint>

namespace raylift {

/// The argument of a kernel, by value. Row 0 is the lowest, as in OpenGL; 0xAABBGGRR: red is the first byte.
struct ImageView {
  std::uint32_t* pixels = nullptr;  ///< width * height, row by row without gaps
  std::uint32_t width = 0;
  std::uint32_t height = 0;

  RAYLIFT_HD std::uint32_t& at(std::uint32_t x, std::uint32_t y) const {
    return pixels[static_cast<std::size_t>(y) * width + x];
  }
};

}  // namespace raylift
