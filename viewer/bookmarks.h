// SPDX-License-Identifier: Apache-2.0
// Places in a scene that somebody wants to come back to, kept in a JSON file by the scene's name. No GL.
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
  /// Reads those of a scene; none where the file is not there. Errors: io, malformed.
  Bookmarks(std::filesystem::path file, std::string scene) { open(std::move(file), std::move(scene)); }
  /// The same. After an error there are none, and none can be saved: the file stays as it is.
  void open(std::filesystem::path file, std::string scene);

  [[nodiscard]] const std::vector<Bookmark>& all() const { return bookmarks_; }
  /// Adds, or takes the place of the one of the same name, and saves. Those of other scenes stay. Errors: io,
  /// malformed.
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
