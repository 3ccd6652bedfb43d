// SPDX-License-Identifier: Apache-2.0
// Saved cameras, by the scene's file name, in a JSON file. No GL.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/camera.h"
#include "model/settings.h"
#include "model/solids.h"

namespace raylift::viewer {

struct Bookmark {
  std::string name;
  Camera camera;
  /// Those that follow are set from what add() was given; `hidden` as hidden_solids() writes it.
  Settings settings;
  std::vector<std::string> hidden;
  /// The solids of each style but Style::plain, as styled_solids() writes them.
  std::array<std::vector<std::string>, kStyleNames.size()> styled = {};
  bool whole = true;  ///< false: of an older file, with camera and clipping plane alone
  /// The light that was shown, with settings.photons; empty: there was none, and what there is stays.
  LightOrigin light = {};
  /// Those of glass with an opacity of their own, by hundredths.
  std::map<std::uint8_t, std::vector<std::string>> opacities = {};
};

/// The hidden solids, by the paths of the highest nodes below which all is hidden. Of several nodes with one path, the
/// number counts: "/World/pmt/" with all below it, "/World/pmt" by itself, "/World/pmt[3]" (the third).
[[nodiscard]] std::vector<std::string> hidden_solids(const Solids& solids);
/// The solids of each style, likewise.
[[nodiscard]] std::array<std::vector<std::string>, kStyleNames.size()> styled_solids(const Solids& solids);
/// The styles that they mean: one value per solid.
[[nodiscard]] std::vector<std::uint8_t> styles(const Solids& solids,
                                               const std::array<std::vector<std::string>, kStyleNames.size()>& styled);
/// Those of glass with an opacity of their own, likewise by their hundredths, and what they mean.
[[nodiscard]] std::map<std::uint8_t, std::vector<std::string>> solids_by_opacity(const Solids& solids);
[[nodiscard]] std::vector<std::uint8_t> opacities(
    const Solids& solids, const std::map<std::uint8_t, std::vector<std::string>>& by_hundredths);
/// The visibility that they mean: one value per solid. Paths that are not there mean nothing.
[[nodiscard]] std::vector<std::uint8_t> visibility(const Solids& solids, const std::vector<std::string>& hidden);

/// Writes visibility, styles and opacities of the solids into a bookmark.
void keep_solids(const Solids& solids, Bookmark& bookmark);
/// Puts them back, as one change. A bookmark of an older file, without them, changes nothing.
void put_solids_back(const Bookmark& bookmark, Solids& solids);

class Bookmarks {
 public:
  Bookmarks() = default;
  /// Reads the bookmarks of a scene, by its file's absolute path; those of the file's name alone are read too; there
  /// are none where the file does not exist. Errors: io, malformed.
  Bookmarks(std::filesystem::path file, std::string scene) { open(std::move(file), std::move(scene)); }
  /// The same. After an error there are no bookmarks, and saving fails, so that the file stays as it is.
  void open(std::filesystem::path file, std::string scene);

  [[nodiscard]] const std::vector<Bookmark>& all() const { return bookmarks_; }
  /// The bookmark of a name; null where there is none. Valid until the next change.
  [[nodiscard]] const Bookmark* find(std::string_view name) const;
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
