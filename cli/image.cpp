// SPDX-License-Identifier: Apache-2.0
#include "image.h"

#include <raylift/geometry/error.h>
#ifdef RAYLIFT_WITH_PNG
#include <png.h>
#endif

#include <algorithm>

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

#else

std::string encode_png(const Image&) {
  throw Error(ErrorKind::unsupported, "this raylift was built without libpng", {}, "build it where libpng-dev is");
}

#endif

void write_png(const Image& image, const std::filesystem::path& path) {
  cli::write_file(path, encode_png(image), "the image");
}

}  // namespace raylift
