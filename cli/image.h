// SPDX-License-Identifier: Apache-2.0
// Images in memory, and as PNG files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace raylift {

using Pixel = std::array<std::uint8_t, 4>;

/// RGBA, 8 bits a channel, sRGB, alpha not multiplied in; rows from the top.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<Pixel> pixels;

  Image() = default;
  Image(int w, int h) : width(w), height(h), pixels(static_cast<std::size_t>(w) * static_cast<std::size_t>(h)) {}
  [[nodiscard]] Pixel& at(int x, int y) { return pixels[index(x, y)]; }
  [[nodiscard]] const Pixel& at(int x, int y) const { return pixels[index(x, y)]; }

 private:
  [[nodiscard]] std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
  }
};

/// The bytes of a PNG file, without an alpha channel where all pixels are opaque. All functions for PNG throw
/// Error(unsupported) in a build without libpng.
[[nodiscard]] std::string encode_png(const Image& image);
/// Errors: malformed.
[[nodiscard]] Image decode_png(const std::string& bytes, const std::string& name = "PNG");

/// As write_file() does. Errors: io.
void write_png(const Image& image, const std::filesystem::path& path);
/// Errors: io, malformed.
[[nodiscard]] Image read_png(const std::filesystem::path& path);

/// The difference of two images: the mean absolute difference over pixels and channels, from 0 to 1, and the share of
/// pixels with a channel that differs by more than `tolerance`. Both are 1 for images of different sizes.
struct Difference {
  double mean = 1;
  double share = 1;
};
[[nodiscard]] Difference compare(const Image& a, const Image& b, int tolerance = 8);

}  // namespace raylift
