// SPDX-License-Identifier: Apache-2.0
#include "image.h"

#include <raylift/geometry/error.h>
#ifdef RAYLIFT_WITH_PNG
#include <png.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

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

Image decode_png(const std::string& bytes, const std::string& name) {
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

#else

namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorKind::unsupported, "this raylift was built without libpng", {}, "build it where libpng-dev is");
}

}  // namespace

std::string encode_png(const Image&) {
  refuse();
}

Image decode_png(const std::string&, const std::string&) {
  refuse();
}

#endif

void write_png(const Image& image, const std::filesystem::path& path) {
  cli::write_file(path, encode_png(image), "the image");
}

Image read_png(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorKind::io, std::string("can't be read: ") + std::strerror(errno), {path.string(), ""});
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return decode_png(bytes.str(), path.string());
}

Difference compare(const Image& a, const Image& b, int tolerance) {
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
