// SPDX-License-Identifier: Apache-2.0
// Saved views, by the scene's file, in a JSON file. No GL.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/camera.h"
#include "model/settings/settings.h"
#include "model/solids/solids.h"

namespace raylift::viewer {

/// Solids by a value that they have, in the form of hidden_solids(). None has the value 0.
using SolidsByValue = std::map<std::uint8_t, std::vector<std::string>>;

/// Solids of each colour, sRGB 0xAABBGGRR, by hidden_solids().
using SolidsByColor = std::map<std::uint32_t, std::vector<std::string>>;

struct Bookmark {
  std::string name;
  Camera camera;
  Settings settings;
  std::vector<std::string> hidden;  ///< by hidden_solids()
  SolidsByValue styled = {};        ///< by Style
  bool whole = true;                ///< false: from an older file, with camera and clipping planes alone
  /// The light that was shown, with settings.photons. Empty: none; the current light stays.
  LightOrigin light = {};
  SolidsByValue opacities = {};  ///< of glass, where it is their own, by hundredths
  std::optional<int> key = {};   ///< the digit that goes to it
  SolidsByColor colors = {};     ///< of those with a colour of their own
};

/// The hidden solids, as paths of the highest nodes below which all solids are hidden: "/World/pmt/" with all below it,
/// "/World/pmt" alone, "/World/pmt[3]" the third node of this path.
[[nodiscard]] std::vector<std::string> hidden_solids(const Solids& solids);
/// The inverse of hidden_solids(): one value per solid. Unknown paths are ignored.
[[nodiscard]] std::vector<std::uint8_t> visibility(const Solids& solids, const std::vector<std::string>& hidden);

/// Writes visibility, styles and opacities of the solids into a bookmark.
void save_solids(const Solids& solids, Bookmark& bookmark);
/// Restores them as one change that can be undone. A bookmark that is not whole changes nothing.
void restore_solids(const Bookmark& bookmark, Solids& solids);

class Bookmarks {
 public:
  Bookmarks() = default;
  /// Reads the bookmarks of a scene, by its file's absolute path, or else by the file's name. None if the file of
  /// bookmarks does not exist. Errors: io, malformed.
  Bookmarks(std::filesystem::path file, std::string scene) { open(std::move(file), std::move(scene)); }
  /// The same. After an error there are no bookmarks, and saving fails, so that the file is not overwritten.
  void open(std::filesystem::path file, std::string scene);

  [[nodiscard]] const std::vector<Bookmark>& all() const { return bookmarks_; }
  /// The bookmark of a name; null if unknown. Valid until the next change.
  [[nodiscard]] const Bookmark* find(std::string_view name) const;
  /// The bookmark with a key, 0 to 9; null where there is none.
  [[nodiscard]] const Bookmark* with_key(int key) const;
  /// Adds a bookmark, or replaces the one of its name, and saves. It gets its key from any other, or where it has none
  /// the first free one from 1 on, 0 as the last. Errors: io, malformed.
  void add(Bookmark bookmark);
  void remove(std::size_t index);
  /// Its image and its key stay. Errors: usage (no name, or that of another one), io, malformed.
  void rename(std::size_t index, const std::string& name);
  /// The PNG file with the image of a bookmark, beside the file of bookmarks; empty where that has no name.
  [[nodiscard]] std::filesystem::path thumbnail_file(const std::string& name) const;
  /// The name, "view 3", and the key of a new bookmark without a name: its number is the key, the least one of which
  /// both are free, or the given key. 10 stands for the key 0; a name with a larger number has another key, or none.
  [[nodiscard]] std::pair<std::string, std::optional<int>> fresh_name(std::optional<int> key) const;
  /// Whether open() has read its file, or there was none.
  [[nodiscard]] bool readable() const { return readable_; }

 private:
  void save() const;
  [[nodiscard]] std::optional<int> free_key() const;

  std::filesystem::path file_;
  std::string scene_;
  bool readable_ = true;
  std::vector<Bookmark> bookmarks_;
};

}  // namespace raylift::viewer
