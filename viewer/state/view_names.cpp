// SPDX-License-Identifier: Apache-2.0
// The names of files that follow from options, and bookmarks' settings.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "model/setting_table.h"
#include "state/view_config.h"
#include "state/view_options.h"

namespace raylift::viewer {

std::filesystem::path bookmarks_file(const ViewOptions& options) {
  if (!options.bookmarks.empty()) return options.bookmarks;
  const std::string folder = config_folder();
  return folder.empty() ? "" : folder + "/bookmarks.json";
}

std::string bookmarks_key(const std::string& scene_file) {
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::weakly_canonical(scene_file, failed);
  return failed ? scene_file : path.string();
}

Settings with_bookmark(const Settings& settings, const Bookmark& bookmark) {
  Settings result = settings;
  result.clip = bookmark.settings.clip;
  result.more_clips = bookmark.settings.more_clips;
  result.clip_box = bookmark.settings.clip_box;
  if (bookmark.whole) copy_settings(bookmark.settings, result, {Setting::Part::scene});
  if (!bookmark.light.empty()) result.photons = bookmark.settings.photons;
  return result;
}

std::string output_name(const std::string& pattern, const std::string& file, std::size_t number,
                        std::optional<int> frame) {
  std::string name = std::filesystem::path(file).filename().string();
  if (name.size() > 3 && name.ends_with(".gz")) name.resize(name.size() - 3);
  name = std::filesystem::path(name).stem().string();
  std::vector<std::pair<std::string_view, std::string>> words{{"{name}", name}, {"{n}", std::to_string(number)}};
  if (frame) words.emplace_back("{frame}", fmt::format("{:04}", *frame));
  std::string result;
  for (std::size_t i = 0; i < pattern.size();) {
    const auto found = std::find_if(words.begin(), words.end(), [&](const auto& word) {
      return pattern.compare(i, word.first.size(), word.first) == 0;
    });
    result += found == words.end() ? std::string(1, pattern[i]) : found->second;
    i += found == words.end() ? 1 : found->first.size();
  }
  return result;
}

bool writes_frames(const ViewOptions& options) {
  return options.image.frames > 0 && options.image.output.find("{frame}") != std::string::npos;
}

}  // namespace raylift::viewer
