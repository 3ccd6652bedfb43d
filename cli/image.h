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

/// The image made smaller to fit into this size, by whole pixels' means; as it is where it fits.
[[nodiscard]] Image reduced(const Image& image, int width, int height);

/// Reads a PNG file. Throws Error: io; malformed, also for more than `most` pixels along a side; unsupported in a build
/// without libpng.
[[nodiscard]] Image load_png(const std::filesystem::path& path, int most);

/// The bytes of a PNG file, without an alpha channel where all pixels are opaque. Throws Error(unsupported) in a
/// build without libpng.
[[nodiscard]] std::string encode_png(const Image& image);
/// As write_file() does. Errors: io.
void write_png(const Image& image, const std::filesystem::path& path);

}  // namespace raylift
