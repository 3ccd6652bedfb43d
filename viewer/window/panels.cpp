// SPDX-License-Identifier: Apache-2.0
#include "window/panels.h"

#include <imgui.h>

#include <algorithm>
#include <filesystem>

#include "cli/text.h"
#include "window/panel_items.h"
#include "window/solid_menu.h"

namespace raylift::viewer {
namespace {

constexpr ImGuiWindowFlags kPlain = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoInputs |
                                    ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing |
                                    ImGuiWindowFlags_AlwaysAutoResize;

template <class Content>
void tab(const char* title, const Content& content) {
  if (!ImGui::BeginTabItem(title)) return;
  content();
  ImGui::EndTabItem();
}

}  // namespace

void Panels::draw(float width, float height) {
  left_ = right_ = 0;
  // Panels close as the window becomes small, and open again as it becomes large.
  const bool small = is_small(width, height), fold = small_ != small;
  small_ = small;
  const auto fold_next = [&] {
    ImGui::SetNextWindowCollapsed(small, fold ? ImGuiCond_Always : ImGuiCond_FirstUseEver);
  };
  if (layout_.panels) {
    draw_clip_handles(state_, width, height);
    fold_next();
    draw_scene(width, height);
    fold_next();
    const PanelPlace image = draw_image_settings(state_, layout_, width);
    if (image.open) right_ = panel_width(kRightWidth, width) + em(kGap);
    draw_chosen(width, height);
    if (layout_.legend) {
      fold_next();
      legend_.draw(state_, frames_, width, height, image.below);
    }
  }
  draw_activity(width, height);
  draw_message(width, height);
  if (layout_.help) draw_help(width, height);
  open_.draw(state_, layout_, width, height);
}

std::optional<std::size_t> Panels::handle_under(const Cursor& cursor) const {
  const auto& clip = state_.settings().clip_box;
  if (!layout_.panels || !clip) return std::nullopt;
  return viewer::handle_under(state_.camera(), clip->box, cursor, static_cast<double>(em(1)));
}

/// The measured distances, and the selection beside them where there is room for both.
void Panels::draw_chosen(float width, float height) {
  float left = selection_left(state_, height);
  if (state_.measuring().active() || !state_.settings().measured.empty()) {
    draw_measured(state_, left, width, height);
    left += em(kMeasuredWidth + kGap);
    if (left + em(kSelectionWidth) > width) return;
  }
  if (state_.selection()) draw_selection(state_, left, width, height);
  if (state_.photons().selection()) draw_photon(state_, left, width, height);
}

std::pair<Eigen::Vector2d, Eigen::Vector2d> Panels::free_part(float width, float) const {
  constexpr float kMin = 0.35F;
  if (width - left_ - right_ < kMin * width) return {{0, 0}, {1, 1}};
  return {{left_ / width, 0}, {1 - right_ / width, 1}};
}

void Panels::draw_scene(float width, float height) {
  const float wide = panel_width(kLeftWidth, width);
  ImGui::SetNextWindowPos({em(kGap), em(kGap)});
  ImGui::SetNextWindowSize({wide, std::max(em(200), 0.62F * height)},
                           scene_width_ == wide ? ImGuiCond_FirstUseEver : ImGuiCond_Always);
  scene_width_ = wide;
  const bool open = ImGui::Begin("Scene", nullptr, ImGuiWindowFlags_NoMove);
  if (open && !ImGui::IsWindowCollapsed()) left_ = wide + em(kGap);
  if (open && ImGui::BeginTabBar("tabs")) {
    tab("Solids", [&] { tree_.draw(state_); });
    tab("Light", [&] { light_.draw(state_, frames_); });
    tab("Facts", [&] { draw_facts(state_); });
    tab("Device", [&] { draw_device(state_, frames_); });
    tab("Bookmarks", [&] { draw_bookmarks(); });
    ImGui::EndTabBar();
  }
  ImGui::End();
}

void Panels::draw_bookmarks() {
  ImGui::SetNextItemWidth(em(-60));
  const bool entered = text_field("##name", "name", bookmark_, "The name of a new bookmark", true);
  ImGui::SameLine();
  if ((button("add", "Keep this view, and what is hidden, by this name (Ctrl+D)") || entered) && bookmark_[0] != '\0') {
    state_.add_bookmark(bookmark_.data());
    bookmark_[0] = '\0';
  }
  for (std::size_t i = 0; i < state_.bookmarks().all().size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    const Bookmark bookmark = state_.bookmarks().all()[i];
    const bool removed = button("x", "Remove this bookmark");
    ImGui::SameLine();
    if (ImGui::Selectable(cli::printable(bookmark.name).c_str())) state_.go_to(bookmark);
    tip("Go to this view");
    ImGui::PopID();
    if (removed) {
      state_.remove_bookmark(i);
      break;
    }
  }
  if (state_.bookmarks().all().empty()) ImGui::TextDisabled("none yet; Ctrl+D adds one");
  draw_recent_files();
}

void Panels::draw_recent_files() {
  constexpr auto kLookAgain = std::chrono::seconds(2);  // not in each frame: a file may be on a slow disk
  ImGui::Separator();
  ImGui::TextDisabled("recent files");
  ImGui::SameLine();
  if (button("open ...", "Open another file (Ctrl+O)")) layout_.opening = true;
  const auto now = std::chrono::steady_clock::now();
  const bool same =
      std::equal(recent_.begin(), recent_.end(), state_.recent_files().begin(), state_.recent_files().end(),
                 [](const RecentFile& shown, const std::string& path) { return shown.path == path; });
  if (now >= recent_until_ || !same) {
    recent_.clear();
    for (const std::string& file : state_.recent_files()) recent_.push_back({file, why_not_opened(file)});
    recent_until_ = now + kLookAgain;
  }
  std::string opened;
  for (std::size_t i = 0; i != recent_.size(); ++i) {
    const auto& [path, why_not] = recent_[i];
    ImGui::PushID(static_cast<int>(i) + 1000);
    const std::string name = cli::printable(std::filesystem::path(path).filename().string());
    if (list_row(name.c_str(), cli::printable(path), why_not.empty() ? "" : cli::printable(path) + ": " + why_not))
      opened = path;
    ImGui::PopID();
  }
  if (!opened.empty()) state_.open(opened);
}

void Panels::draw_activity(float width, float height) {
  SceneLoader::Activity work = loader_.activity();
  const auto rays = frames_.ray_progress(state_);
  if (work.what.empty() && rays) work = {"casting rays", "", *rays, false};
  if (!work.what.empty()) {
    ImGui::SetNextWindowPos({0.5F * width, height - 3 * em(kGap)}, ImGuiCond_Always, {0.5F, 1});
    if (ImGui::Begin("##activity", nullptr,
                     ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoMove |
                         ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_AlwaysAutoResize)) {
      text(cli::printable(work.what));
      const float bar = std::min(em(300), width - em(120));
      ImGui::ProgressBar(std::max(work.share, 0.0F), {bar, 0}, work.share < 0 ? work.stage.c_str() : nullptr);
      if (work.can_stop) {
        ImGui::SameLine();
        if (button("cancel", loader_.loading() ? "Stop reading this file (Escape)" : "Stop this work"))
          loader_.cancel();
      }
      if (work.share >= 0 && !work.stage.empty()) ImGui::TextDisabled("%s", work.stage.c_str());
    }
    ImGui::End();
  } else if (!state_.scene() && state_.messages().error().empty()) {
    ImGui::SetNextWindowPos({0.5F * width, 0.5F * height}, ImGuiCond_Always, {0.5F, 0.5F});
    if (ImGui::Begin("##drop", nullptr, kPlain))
      text("Drop a scene here: .dae, .zae, .dae.gz, .obj, .stl, .ply, .gltf ...\nor open one: Ctrl+O");
    ImGui::End();
  }
}

void Panels::draw_message(float width, float height) const {
  const bool failed = !state_.messages().error().empty();
  const std::string message = failed ? state_.messages().error() : state_.messages().text();
  if (message.empty()) return;
  ImGui::SetNextWindowPos({0.5F * width, em(kGap)}, ImGuiCond_Always, {0.5F, 0});
  ImGui::SetNextWindowSizeConstraints(
      {0, 0}, {std::max(std::min(em(300), 0.9F * width), width - 2 * em(kLeftWidth + 3 * kGap)), height});
  if (ImGui::Begin("##message", nullptr, kPlain)) {
    ImGui::PushTextWrapPos(std::max(std::min(em(280), 0.85F * width), width - 2 * em(kLeftWidth + 4 * kGap)));
    failed ? text_error(cli::printable(message)) : text(cli::printable(message));
    ImGui::PopTextWrapPos();
  }
  ImGui::End();
}

void Panels::draw_help(float width, float height) {
  ImGui::SetNextWindowPos({0.5F * width, 0.5F * height}, ImGuiCond_Always, {0.5F, 0.5F});
  ImGui::SetNextWindowSizeConstraints({0, 0}, {width - 2 * em(kGap), height - 2 * em(kGap)});
  if (ImGui::Begin(
          "Keys and mouse", &layout_.help,
          ImGuiWindowFlags_NoResize | ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_HorizontalScrollbar)) {
    // Two controls beside each other: a window of the default height holds all.
    if (ImGui::BeginTable("keys", 4, ImGuiTableFlags_SizingFixedFit)) {
      const std::size_t rows = (controls().size() + 1) / 2;
      for (std::size_t row = 0; row < rows; ++row) {
        ImGui::TableNextRow();
        for (std::size_t i = row; i < controls().size(); i += rows) {
          ImGui::TableNextColumn();
          text(controls()[i].all_names());
          ImGui::TableNextColumn();
          text(std::string(controls()[i].help) + "  ");
        }
      }
      ImGui::EndTable();
    }
  }
  ImGui::End();
}

void draw_solid_menu(const ControlTarget& to) {
  using Menu = WindowLayout::Menu;
  constexpr const char* kPopup = "menu of a solid";
  Menu& menu = to.layout.menu;
  if (menu == Menu::opening) ImGui::OpenPopup(kPopup);
  if (!ImGui::BeginPopup(kPopup)) {
    menu = Menu::closed;
    return;
  }
  const std::vector<MenuRow> rows = solid_menu(to.state);
  if (menu == Menu::closed || rows.empty()) ImGui::CloseCurrentPopup();
  menu = rows.empty() ? Menu::closed : menu == Menu::opening ? Menu::open : menu;
  const MenuRow* chosen = nullptr;
  if (!rows.empty()) ImGui::TextDisabled("%s", cli::printable(to.state.selection()->name).c_str());
  for (const MenuRow& row : rows) {
    if (row.first) ImGui::Separator();
    if (ImGui::MenuItem(std::string(row.label).c_str(), std::string(row.key).c_str(), row.chosen)) chosen = &row;
  }
  ImGui::EndPopup();
  if (chosen != nullptr) chosen->act(to);
}

}  // namespace raylift::viewer
