// SPDX-License-Identifier: Apache-2.0
// PNG files as tests read and compare them. What uses it links libpng.
#pragma once

#include <png.h>
#include <raylift/geometry/error.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "cli/image.h"

namespace raylift {

/// Throws Error(malformed).
inline Image decode_png(const std::string& bytes, const std::string& name = "PNG") {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) == 0)
    throw Error(ErrorKind::malformed, std::string("not a PNG image: ") + png.message, {name, ""});
  png.format = PNG_FORMAT_RGBA;
  Image image(static_cast<int>(png.width), static_cast<int>(png.height));
  if (png_image_finish_read(&png, nullptr, image.pixels.data(), 0, nullptr) == 0)
    throw Error(ErrorKind::malformed, std::string("not a PNG image: ") + png.message, {name, ""});
  return image;
}

/// Throws Error: io, malformed.
inline Image read_png(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorKind::io, "can't be read", {path.string(), ""});
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return decode_png(bytes.str(), path.string());
}

/// The difference of two images: the mean absolute difference over pixels and channels, from 0 to 1, and the share of
/// pixels with a channel that differs by more than `tolerance`. Both are 1 for images of different sizes.
struct Difference {
  double mean = 1;
  double share = 1;
};

inline Difference compare(const Image& a, const Image& b, int tolerance = 8) {
  if (a.width != b.width || a.height != b.height) return {};
  if (a.pixels.empty()) return {0, 0};
  double sum = 0;
  std::size_t different = 0;
  for (std::size_t i = 0; i != a.pixels.size(); ++i) {
    int most = 0;
    for (std::size_t c = 0; c < 4; ++c) {
      const int difference = std::abs(int{a.pixels[i][c]} - int{b.pixels[i][c]});
      most = std::max(most, difference);
      sum += difference;
    }
    if (most > tolerance) ++different;
  }
  const auto count = static_cast<double>(a.pixels.size());
  return {sum / (count * 4 * 255), static_cast<double>(different) / count};
}

}  // namespace raylift
