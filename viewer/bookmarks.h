// SPDX-License-Identifier: Apache-2.0
// Saved cameras, by the scene's file name, in a JSON file. No GL.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/camera.h"
#include "settings.h"

namespace raylift::viewer {

struct Bookmark {
  std::string name;
  Camera camera;
  std::optional<ClipPlane> clip;
};

class Bookmarks {
 public:
  Bookmarks() = default;
  /// Reads the bookmarks of a scene; there are none where the file does not exist. Errors: io, malformed.
  Bookmarks(std::filesystem::path file, std::string scene) { open(std::move(file), std::move(scene)); }
  /// The same. After an error there are no bookmarks, and saving fails, so that the file stays as it is.
  void open(std::filesystem::path file, std::string scene);

  [[nodiscard]] const std::vector<Bookmark>& all() const { return bookmarks_; }
  /// Adds a bookmark, or replaces the one of its name, and saves. Errors: io, malformed.
  void add(const Bookmark& bookmark);
  void remove(std::size_t index);

 private:
  void save() const;

  std::filesystem::path file_;
  std::string scene_;
  bool readable_ = true;
  std::vector<Bookmark> bookmarks_;
};

}  // namespace raylift::viewer
