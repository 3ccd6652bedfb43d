// SPDX-License-Identifier: Apache-2.0
#include "window/panels/open_panel.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <system_error>
#include <utility>

#include "cli/text.h"
#include "window/items/panel_items.h"

namespace raylift::viewer {
namespace {

constexpr float kWide = 640, kHigh = 440, kPlacesWide = 180;

std::string size_text(std::uintmax_t bytes) {
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  if (bytes < 10'000'000) return fmt::format("{} kB", bytes / 1000);
  return fmt::format("{} MB", bytes / 1'000'000);
}

}  // namespace

void OpenPanel::begin(const ViewerState& state) {
  open_ = true;
  keys_.clear();
  std::error_code failed;
  const std::filesystem::path shown = std::filesystem::absolute(state.file(), failed);
  if (!browser_.folder().empty())
    go(browser_.folder());  // its contents may have changed
  else
    go(state.file().empty() || failed ? std::filesystem::current_path(failed) : shown.parent_path());
}

void OpenPanel::go(const std::filesystem::path& folder) {
  browser_.open(folder);
  text_[0] = '\0';
  reveal_ = true;
}

std::string OpenPanel::new_names() {
  std::string names;
  if (!open_ || named_ == browser_.version()) return names;
  named_ = browser_.version();
  names = browser_.folder().string();
  for (const FileEntry& one : browser_.shown()) names += one.name;
  return names;
}

void OpenPanel::enter(ViewerState& state, WindowLayout& layout) {
  const std::uint64_t before = browser_.version();
  const auto file = browser_.enter();
  if (browser_.version() != before) {
    text_[0] = '\0';
    reveal_ = true;
  }
  if (!file) return;
  layout.opening = false;
  state.open(file->string());
}

void OpenPanel::draw(ViewerState& state, WindowLayout& layout, float width, float height) {
  if (!layout.opening) {
    open_ = false;
    return;
  }
  const bool fresh = !open_;
  if (fresh) begin(state);
  ImGui::SetNextWindowPos({0.5F * width, 0.5F * height}, ImGuiCond_Always, {0.5F, 0.5F});
  ImGui::SetNextWindowSize({std::min(em(kWide), 0.96F * width), std::min(em(kHigh), 0.96F * height)});
  if (fresh) ImGui::SetNextWindowFocus();
  ImGui::SetNextWindowBgAlpha(1);
  if (ImGui::Begin("Open a scene", &layout.opening,
                   ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoCollapse)) {
    draw_path();
    ImGui::SetNextItemWidth(-1);
    // The field has the keyboard whenever nothing else is pressed.
    if (fresh || (ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows) && !ImGui::IsAnyItemActive()))
      ImGui::SetKeyboardFocusHere();
    // Before the field removes the letter.
    if (const auto erasing = std::find(keys_.begin(), keys_.end(), "Backspace");
        erasing != keys_.end() && text_[0] == '\0') {
      browser_.up();
      reveal_ = true;
    }
    (void)text_field("##text", "a part of a name, or a path", text_,
                     "Lists the names that have it; a path is gone to. Enter opens, the arrows choose");
    browser_.set_text(text_.data());
    act_on_keys(state, layout);
    ImGui::BeginChild("places", {em(kPlacesWide), -ImGui::GetFrameHeightWithSpacing()});
    draw_places(state, layout);
    ImGui::EndChild();
    ImGui::SameLine();
    ImGui::BeginChild("entries", {0, -ImGui::GetFrameHeightWithSpacing()});
    draw_entries(state, layout);
    ImGui::EndChild();
    bool all = browser_.all_files();
    if (checkbox("All files", all, "Also files that don't end as scenes do")) browser_.set_all_files(all);
    ImGui::SameLine();
    if (button("Open", "Open the file, or go into the folder (Enter)")) enter(state, layout);
    ImGui::SameLine();
    if (button("Cancel", "Open nothing (Escape)")) layout.opening = false;
  }
  ImGui::End();
}

void OpenPanel::act_on_keys(ViewerState& state, WindowLayout& layout) {
  constexpr int kPage = 12;
  static const std::map<std::string_view, int> kSteps{
      {"Up", -1}, {"Down", 1}, {"Page Up", -kPage}, {"Page Down", kPage}};
  for (const std::string& key : std::exchange(keys_, {})) {
    if (const auto step = kSteps.find(key); step != kSteps.end()) {
      browser_.move(step->second);
      reveal_ = true;
    }
    if (key == "Enter") enter(state, layout);
    if (key == "Escape") layout.opening = false;
  }
}

/// Buttons of the folder and those above it; of a long path the last ones.
void OpenPanel::draw_path() {
  std::vector<std::filesystem::path> above;
  for (std::filesystem::path one = browser_.folder();; one = one.parent_path()) {
    above.push_back(one);
    if (!one.has_relative_path()) break;
  }
  const float room = ImGui::GetContentRegionAvail().x;
  const auto label = [](const std::filesystem::path& one) {
    return one.has_relative_path() ? cli::printable(one.filename().string()) : std::string("/");
  };
  std::size_t shown = 0;
  for (float wide = 0; shown != above.size(); ++shown) {
    wide += ImGui::CalcTextSize(label(above[shown]).c_str()).x + 2 * ImGui::GetStyle().FramePadding.x + em(4);
    if (wide > room && shown != 0) break;
  }
  std::filesystem::path chosen;
  for (std::size_t i = shown; i-- > 0;) {
    ImGui::PushID(static_cast<int>(i));
    if (button(label(above[i]).c_str(), cli::printable(above[i].string()).c_str())) chosen = above[i];
    ImGui::PopID();
    if (i != 0) ImGui::SameLine(0, em(4));
  }
  if (!chosen.empty()) go(chosen);
}

void OpenPanel::draw_places(ViewerState& state, WindowLayout& layout) {
  std::error_code failed;
  if (const char* home = std::getenv("HOME"); home != nullptr && list_row("Home", home, "")) go(home);
  const std::filesystem::path here = std::filesystem::current_path(failed);
  if (!failed && list_row("Working folder", cli::printable(here.string()), "")) go(here);
  if (!state.file().empty() && list_row("The scene's folder", "Where the scene that is shown lies", ""))
    go(std::filesystem::absolute(state.file(), failed).parent_path());
  if (state.recent_files().empty()) return;
  ImGui::Separator();
  ImGui::TextDisabled("Recent files");
  std::string opened;
  for (std::size_t i = 0; i != state.recent_files().size(); ++i) {
    const std::string& file = state.recent_files()[i];
    ImGui::PushID(static_cast<int>(i));
    if (list_row(cli::printable(std::filesystem::path(file).filename().string()).c_str(), cli::printable(file), ""))
      opened = file;
    ImGui::PopID();
  }
  if (opened.empty()) return;
  layout.opening = false;
  state.open(opened);
}

void OpenPanel::draw_entries(ViewerState& state, WindowLayout& layout) {
  if (!browser_.error().empty()) {
    ImGui::PushTextWrapPos();
    text_error(cli::printable(browser_.error()));
    ImGui::PopTextWrapPos();
  }
  const auto rows = static_cast<int>(browser_.shown().size());
  if (rows == 0 && browser_.error().empty()) ImGui::TextDisabled("Nothing here that ends as scenes do");
  if (browser_.cut()) ImGui::TextDisabled("The first %zu files; type a path", FileBrowser::kMaxEntries);
  if (rows == 0 || !ImGui::BeginTable("files", 2, ImGuiTableFlags_ScrollY)) return;
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupColumn("size", ImGuiTableColumnFlags_WidthFixed, em(70));
  const float row_height = ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y;
  if (reveal_)
    ImGui::SetScrollY(
        std::max(0.0F, static_cast<float>(browser_.chosen()) * row_height - 0.4F * ImGui::GetWindowHeight()));
  reveal_ = false;
  bool entered = false;
  ImGuiListClipper clipper;
  clipper.Begin(rows, row_height);
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const auto row = static_cast<std::size_t>(i);
      const FileEntry& one = browser_.shown()[row];
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::PushID(i);
      const std::string name = cli::printable(one.name) + (one.folder ? "/" : "");
      if (ImGui::Selectable(name.c_str(), row == browser_.chosen(),
                            ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowDoubleClick)) {
        browser_.choose(row);
        entered = ImGui::IsMouseDoubleClicked(0);
      }
      ImGui::PopID();
      ImGui::TableNextColumn();
      if (!one.folder) ImGui::TextDisabled("%s", size_text(one.bytes).c_str());
    }
  ImGui::EndTable();
  if (entered) enter(state, layout);
}

}  // namespace raylift::viewer
