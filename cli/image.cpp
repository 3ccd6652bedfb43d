// SPDX-License-Identifier: Apache-2.0
#include "image.h"

#include <raylift/geometry/error.h>
#ifdef RAYLIFT_WITH_PNG
#include <png.h>
#endif

#include <algorithm>
#include <fstream>
#include <iterator>

#include "output_file.h"

namespace raylift {

#ifdef RAYLIFT_WITH_PNG

std::string encode_png(const Image& image) {
  const bool opaque = std::all_of(image.pixels.begin(), image.pixels.end(), [](const Pixel& p) { return p[3] == 255; });
  // libpng's simplified interface reports by return codes, and so needs no setjmp. It wants packed RGB for RGB.
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  png.width = static_cast<png_uint_32>(image.width);
  png.height = static_cast<png_uint_32>(image.height);
  png.format = opaque ? PNG_FORMAT_RGB : PNG_FORMAT_RGBA;
  // A third more bytes in a fifth of the time, which for a large image is longer than drawing it.
  png.flags = PNG_IMAGE_FLAG_FAST;
  std::vector<std::uint8_t> rgb;
  const void* data = image.pixels.data();
  if (opaque) {
    rgb.reserve(image.pixels.size() * 3);
    for (const Pixel& p : image.pixels) rgb.insert(rgb.end(), p.begin(), p.begin() + 3);
    data = rgb.data();
  }
  // Asking for the size would compress everything twice; the bound is cheap.
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(png);
  std::string result(bytes, '\0');
  if (png_image_write_to_memory(&png, result.data(), &bytes, 0, data, 0, nullptr) == 0)
    throw Error(ErrorKind::io, std::string("the image can't be encoded: ") + png.message);
  result.resize(bytes);
  return result;
}

Image load_png(const std::filesystem::path& path, int most) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorKind::io, "can't be read", {path.string(), ""});
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  const auto malformed = [&](const char* why) {
    png_image_free(&png);
    return Error(ErrorKind::malformed, std::string("not a PNG image: ") + why, {path.string(), ""});
  };
  if (png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) == 0) throw malformed(png.message);
  const auto largest = static_cast<png_uint_32>(most);
  if (png.width > largest || png.height > largest) throw malformed("it is too large");
  png.format = PNG_FORMAT_RGBA;
  Image image(static_cast<int>(png.width), static_cast<int>(png.height));
  if (png_image_finish_read(&png, nullptr, image.pixels.data(), 0, nullptr) == 0) throw malformed(png.message);
  return image;
}

#else

Image load_png(const std::filesystem::path&, int) {
  throw Error(ErrorKind::unsupported, "this raylift was built without libpng", {}, "build it where libpng-dev is");
}

std::string encode_png(const Image&) {
  throw Error(ErrorKind::unsupported, "this raylift was built without libpng", {}, "build it where libpng-dev is");
}

#endif

Image reduced(const Image& image, int width, int height) {
  const double factor =
      std::max({1.0, static_cast<double>(image.width) / width, static_cast<double>(image.height) / height});
  if (factor == 1) return image;
  Image small(std::max(1, static_cast<int>(image.width / factor)),
              std::max(1, static_cast<int>(image.height / factor)));
  for (int y = 0; y != small.height; ++y)
    for (int x = 0; x != small.width; ++x) {
      const int left = x * image.width / small.width, right = (x + 1) * image.width / small.width;
      const int top = y * image.height / small.height, below = (y + 1) * image.height / small.height;
      std::array<int, 4> sum{};
      for (int row = top; row != below; ++row)
        for (int column = left; column != right; ++column)
          for (std::size_t c = 0; c != 4; ++c) sum[c] += image.at(column, row)[c];
      for (std::size_t c = 0; c != 4; ++c)
        small.at(x, y)[c] = static_cast<std::uint8_t>(sum[c] / ((right - left) * (below - top)));
    }
  return small;
}

void write_png(const Image& image, const std::filesystem::path& path) {
  cli::write_file(path, encode_png(image), "the image");
}

}  // namespace raylift
