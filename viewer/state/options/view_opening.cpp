// SPDX-License-Identifier: Apache-2.0
// What follows from the options for a scene: its first view, and the names of files; and the settings of a bookmark.
#include <fmt/format.h>
#include <raylift/geometry/error.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/parse_number.h"
#include "cli/text.h"
#include "model/colors/palette.h"
#include "model/settings/setting_table.h"
#include "model/solids/clip_box.h"
#include "model/solids/find.h"
#include "model/solids/measured_points.h"
#include "model/solids/reveal.h"
#include "state/options/view_config.h"
#include "state/options/view_options.h"

namespace raylift::viewer {
namespace {

/// The solids that a pattern of the options means. Where there are none: a warning, for one of the configuration, which
/// is for any scene; else throws Error(usage).
std::vector<std::uint32_t> matching(const std::string& pattern, bool configured, const Solids& solids, Notes& notes) {
  Found found = configured ? find(solids, pattern) : find_some(solids, pattern);
  if (found.by) {
    notes.counts.push_back("'" + cli::printable(pattern) + "': " + count_text(found));
    return std::move(found.solids);
  }
  notes.warnings.push_back(nothing_matches(pattern) + ", of the configuration");
  return {};
}

/// The box of --clip-box in this scene.
void set_clip_box(const ViewOptions& options, const Solids& solids, Opening& view) {
  std::optional<Bounds> box = parse_box(options.solids.clip_box);
  if (!box) {
    const auto found = matching(options.solids.clip_box, options.solids.clip_box == options.solids.configured.clip_box,
                                solids, view.notes);
    if (!found.empty()) box = box_around(solids, found);
  }
  if (box && !box->empty()) view.settings.set_clip_box({*box, options.solids.clip_box_away});
}

/// The points of --measure in this scene.
void set_measured(const ViewOptions& options, const Solids& solids, Opening& view) {
  view.settings.measured.clear();
  // The measurer does not outlive the scene.
  SolidMeasurer measurer(std::shared_ptr<const Scene>(std::shared_ptr<const Scene>(), &solids.scene()));
  try {
    for (const std::string& text : options.solids.measured)
      view.settings.measured.push_back(find_point(solids, measurer, text));
  } catch (const Error& error) {
    if (!options.solids.configured.measured) throw;
    view.settings.measured.clear();
    view.notes.warnings.push_back(error.problem() + ", for --measure of the configuration");
  }
}

/// PATTERN or PATTERN=OPACITY, as --glass takes it; the whole where solids are found by that, or no opacity is behind
/// the =.
std::pair<std::string, std::uint8_t> split_opacity(const std::string& text, const Solids& solids) {
  const std::size_t at = text.rfind('=');
  if (at == std::string::npos || find(solids, text).by) return {text, 0};
  const auto opacity = base::parse_number<double>(std::string_view(text).substr(at + 1));
  if (!opacity || !(*opacity >= kMinOpacity && *opacity <= 1)) return {text, 0};
  return {text.substr(0, at), hundredths(*opacity)};
}

}  // namespace

Notes apply_visibility(const ViewOptions& options, Solids& solids) {
  Notes notes;
  std::vector<std::uint32_t> shown;
  for (std::size_t i = 0; i != options.solids.only.size(); ++i) {
    const auto found = matching(options.solids.only[i], i < options.solids.configured.only, solids, notes);
    shown.insert(shown.end(), found.begin(), found.end());
  }
  if (!shown.empty()) solids.show_only(shown);
  for (std::size_t i = 0; i != options.solids.hide.size(); ++i)
    solids.set_visible(matching(options.solids.hide[i], i < options.solids.configured.hide, solids, notes), false);
  for (std::size_t style = 1; style != options.solids.styled.size(); ++style)
    for (std::size_t i = 0; i != options.solids.styled[style].size(); ++i) {
      const auto as = static_cast<Style>(style);
      const std::string& text = options.solids.styled[style][i];
      const auto [pattern, opacity] =
          as == Style::glass ? split_opacity(text, solids) : std::pair(text, std::uint8_t{0});
      solids.set_style(matching(pattern, i < options.solids.configured.styled[style], solids, notes), as, opacity);
    }
  for (std::size_t i = 0; i != options.solids.colored.size(); ++i) {
    const std::string& text = options.solids.colored[i];
    const std::size_t at = text.rfind('=');
    solids.set_color(matching(text.substr(0, at), i < options.solids.configured.colored, solids, notes),
                     packed(parse_color(std::string_view(text).substr(at + 1)).value_or(Color())));
  }
  return notes;
}

void refuse_flat(const Scene& scene) {
  const std::uint64_t triangles = scene.unique_triangles();
  if (triangles == 0 || scene.report.degenerate_triangles < triangles) return;
  throw Error(ErrorKind::malformed,
              "none of the scene's " + cli::counted(triangles, "triangle", "triangles") +
                  " has an area, so nothing of it can be seen",
              {scene.source, ""}, "see where: 'raylift check'");
}

Opening open_view(const ViewOptions& options, const Solids& solids, const Camera& before, double aspect) {
  Opening view{before, options.settings, {}, {}, {}};
  const Scene& scene = solids.scene();
  const auto camera = [&](std::span<const Eigen::Vector3d> points) {
    Bounds box = points.empty() ? scene.bounds : Bounds();
    for (const Eigen::Vector3d& point : points) box.add(point);
    Camera made = make_camera(options.camera, scene.up_axis, box, aspect);
    if (!options.camera.eye && !options.camera.target) {
      made.free_middle = before.free_middle;
      made.free_share = before.free_share;
      made.frame(points, aspect);
      made.zoom(1 / options.camera.zoom);
    }
    return made;
  };
  if (options.clip_facing) view.settings.clip = facing_plane(camera({}).forward());
  if (!options.solids.clip_box.empty()) set_clip_box(options, solids, view);
  std::vector<std::uint32_t> focus;
  if (!options.solids.focus.empty())
    focus = matching(options.solids.focus, options.solids.focus == options.solids.configured.focus, solids, view.notes);
  view.framed = framed_points(solids, view.settings, focus.empty() ? shown_solid(looks(solids, view.settings)) : focus);
  view.camera = camera(view.framed);
  if (options.camera.eye || options.camera.target) view.framed.clear();
  if (!focus.empty()) view.in_the_way = all_but(solids, focus);
  set_measured(options, solids, view);
  if (!options.overlaps.empty() && options.overlaps != "find")
    view.settings.overlaps = std::make_shared<const OverlapMarks>(read_overlap_marks(options.overlaps, scene));
  return view;
}

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

}  // namespace raylift::viewer
