// SPDX-License-Identifier: Apache-2.0
// The images of bookmarks as textures. Needs a current OpenGL context where there are any.
#pragma once

#include <filesystem>
#include <map>

#include "draw/gl/gl_objects.h"

namespace raylift::viewer {

class Thumbnails {
 public:
  struct Picture {
    Texture texture;
    int width = 0, height = 0;
    std::filesystem::file_time_type written;
  };
  /// The image in a PNG file, read again where the file is newer; null where there is none that can be read.
  [[nodiscard]] const Picture* find(const std::filesystem::path& file);

 private:
  static constexpr int kLargest = 1024;  // pixels along a side

  std::map<std::filesystem::path, Picture> pictures_;
};

}  // namespace raylift::viewer
