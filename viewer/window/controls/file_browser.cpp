// SPDX-License-Identifier: Apache-2.0
#include "window/controls/file_browser.h"

#include <raylift/geometry/import/load.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "cli/text.h"
#include "state/shown/remembered.h"

namespace raylift::viewer {
namespace {

bool is_path(const std::string& text) {
  return text.find('/') != std::string::npos || text == "~" || text == "..";
}

/// A typed path, relative to a folder or to the home folder.
std::filesystem::path typed_path(const std::string& text, const std::filesystem::path& folder) {
  const char* home = std::getenv("HOME");
  if (home != nullptr && text == "~") return home;
  if (home != nullptr && text.starts_with("~/")) return std::filesystem::path(home) / text.substr(2);
  return (folder / text).lexically_normal();
}

/// The absolute path without a '/' at its end, so that it has a name.
std::filesystem::path normal(const std::filesystem::path& folder) {
  std::error_code failed;
  const std::filesystem::path absolute = std::filesystem::absolute(folder, failed).lexically_normal();
  return absolute.has_filename() || !absolute.has_relative_path() ? absolute : absolute.parent_path();
}

}  // namespace

bool is_scene_name(std::string_view name) {
  static const std::vector<std::string> kEndings = supported_extensions();
  const std::string small = cli::lower(name);
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](const std::string& ending) { return small.ends_with('.' + ending); });
}

void FileBrowser::open(const std::filesystem::path& folder) {
  folder_ = normal(folder);
  all_.clear();
  text_.clear();
  error_.clear();
  chosen_ = 0;
  cut_ = false;
  ++version_;
  std::error_code failed;
  std::filesystem::directory_iterator entry(folder_, failed);
  for (const std::filesystem::directory_iterator end; !failed && entry != end; entry.increment(failed)) {
    FileEntry one{entry->path().filename().string()};
    if (one.name.starts_with('.')) continue;
    if ((cut_ = all_.size() == kMaxEntries)) break;
    // A broken link counts as an empty file.
    std::error_code unknown;
    one.folder = entry->is_directory(unknown);
    if (!one.folder) one.bytes = entry->file_size(unknown);
    if (unknown) one.bytes = 0;
    all_.push_back(std::move(one));
  }
  if (failed) error_ = failed.message();
  std::sort(all_.begin(), all_.end(), [](const FileEntry& a, const FileEntry& b) {
    if (a.folder != b.folder) return a.folder;
    const std::string left = cli::lower(a.name), right = cli::lower(b.name);
    return left != right ? left < right : a.name < b.name;
  });
  filter();
}

void FileBrowser::filter() {
  const std::string kept = chosen_ < shown_.size() ? shown_[chosen_].name : "", part = cli::lower(text_);
  shown_.clear();
  chosen_ = 0;
  for (const FileEntry& one : all_) {
    if (!one.folder && !all_files_ && !is_scene_name(one.name)) continue;
    if (!is_path(text_) && cli::lower(one.name).find(part) == std::string::npos) continue;
    if (one.name == kept) chosen_ = shown_.size();
    shown_.push_back(one);
  }
}

void FileBrowser::up() {
  const std::string left = folder_.filename().string();
  open(folder_.parent_path());
  const auto found = std::find_if(shown_.begin(), shown_.end(), [&](const FileEntry& one) { return one.name == left; });
  if (found != shown_.end()) chosen_ = static_cast<std::size_t>(found - shown_.begin());
}

void FileBrowser::set_all_files(bool all) {
  all_files_ = all;
  filter();
}

void FileBrowser::set_text(const std::string& text) {
  if (text == text_) return;
  text_ = text;
  filter();
}

void FileBrowser::choose(std::size_t entry) {
  if (entry < shown_.size()) chosen_ = entry;
}

void FileBrowser::move(int entries) {
  const auto last = static_cast<std::ptrdiff_t>(shown_.size()) - 1;
  chosen_ = static_cast<std::size_t>(
      std::clamp(static_cast<std::ptrdiff_t>(chosen_) + entries, std::ptrdiff_t{0}, std::max(last, std::ptrdiff_t{0})));
}

std::optional<std::filesystem::path> FileBrowser::enter() {
  std::filesystem::path to;
  if (is_path(text_))
    to = typed_path(text_, folder_);
  else if (chosen_ < shown_.size())
    to = folder_ / shown_[chosen_].name;
  else
    return std::nullopt;
  std::error_code unknown;
  if (std::filesystem::is_directory(to, unknown)) {
    if (to == folder_ / "..")
      up();
    else
      open(to);
    return std::nullopt;
  }
  error_ = why_not_opened(to.string());
  if (error_.empty()) return to;
  error_ = to.string() + ": " + error_;
  return std::nullopt;
}

}  // namespace raylift::viewer
