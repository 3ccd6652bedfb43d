// SPDX-License-Identifier: Apache-2.0
#include "window/panels/thumbnails.h"

#include <raylift/geometry/error.h>

#include <system_error>
#include <utility>

#include "cli/image.h"

namespace raylift::viewer {

const Thumbnails::Picture* Thumbnails::find(const std::filesystem::path& file) {
  std::error_code missing;
  const auto written = std::filesystem::last_write_time(file, missing);
  if (missing) return nullptr;
  Picture& picture = pictures_[file];
  if (picture.written != written) {
    picture = Picture();
    picture.written = written;  // a file that can't be read is not read with each image
    try {
      const Image image = load_png(file, kLargest);
      Texture texture = make_texture(GL_TEXTURE_2D);
      glTextureStorage2D(texture.name(), 1, GL_RGBA8, image.width, image.height);
      glTextureParameteri(texture.name(), GL_TEXTURE_MIN_FILTER, GL_LINEAR);
      glTextureParameteri(texture.name(), GL_TEXTURE_MAG_FILTER, GL_LINEAR);
      glTextureSubImage2D(texture.name(), 0, 0, 0, image.width, image.height, GL_RGBA, GL_UNSIGNED_BYTE,
                          image.pixels.data());
      picture.texture = std::move(texture);
      picture.width = image.width;
      picture.height = image.height;
    } catch (const Error&) {
      picture.width = picture.height = 0;
    }
  }
  return picture.texture ? &picture : nullptr;
}

}  // namespace raylift::viewer
