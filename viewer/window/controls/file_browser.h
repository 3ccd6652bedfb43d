// SPDX-License-Identifier: Apache-2.0
// The files and folders that the dialog for opening a scene offers. No GL, no window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace raylift::viewer {

/// Whether a file's name has the extension of a scene: "x.dae", "X.STL", "x.dae.gz".
[[nodiscard]] bool is_scene_name(std::string_view name);

struct FileEntry {
  std::string name;
  bool folder = false;
  std::uintmax_t bytes = 0;  ///< of a file
};

/// A folder, its listed entries, and the chosen one.
class FileBrowser {
 public:
  static constexpr std::size_t kMaxEntries = 20000;  ///< read of a folder at most

  /// Lists a folder: folders first, each by name, without hidden ones. A folder that can't be read is empty, and
  /// error() has the reason.
  void open(const std::filesystem::path& folder);
  /// Goes to the folder above, and chooses the one that was left.
  void up();
  /// Lists also files without the extension of a scene.
  void set_all_files(bool all);
  /// Lists only entries whose names contain the text, in any case; a text with a '/', or "~", is a path for enter().
  void set_text(const std::string& text);
  void choose(std::size_t entry);
  /// Chooses the entry that is so many rows below.
  void move(int entries);
  /// Goes into the folder that is chosen or typed, or returns the file. Of a path that does not exist, error() has the
  /// message.
  [[nodiscard]] std::optional<std::filesystem::path> enter();

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] bool all_files() const { return all_files_; }
  [[nodiscard]] const std::vector<FileEntry>& shown() const { return shown_; }
  /// An index in shown(), where this is not empty.
  [[nodiscard]] std::size_t chosen() const { return chosen_; }
  /// Whether the folder has more than kMaxEntries.
  [[nodiscard]] bool cut() const { return cut_; }
  /// Raised with each folder that is listed.
  [[nodiscard]] std::uint64_t version() const { return version_; }

 private:
  void filter();

  std::filesystem::path folder_;
  std::vector<FileEntry> all_, shown_;
  std::string text_, error_;
  std::size_t chosen_ = 0;
  bool all_files_ = false, cut_ = false;
  std::uint64_t version_ = 0;
};

}  // namespace raylift::viewer
