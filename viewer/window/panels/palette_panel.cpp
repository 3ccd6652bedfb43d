// SPDX-License-Identifier: Apache-2.0
#include "window/panels/palette_panel.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <utility>

#include "cli/text.h"
#include "window/items/panel_items.h"
#include "window/layout/dock_layout.h"

namespace raylift::viewer {
namespace {

constexpr float kPaletteWidth = 620, kPaletteHeight = 420;
constexpr float kHelpColumn = 400, kSchemeWidth = 260;
constexpr int kMaxColumns = 4;

/// The controls of a group that the scheme has.
std::vector<const Control*> controls_of(Control::Group group, MouseScheme scheme) {
  std::vector<const Control*> found;
  for (const Control& one : controls())
    if (one.group == group && !one.all_names(scheme).empty()) found.push_back(&one);
  return found;
}

/// Keys in a column of their own, at the left, with what they do wrapped beside them.
void draw_group(Control::Group group, MouseScheme scheme) {
  const std::string title(kControlGroupNames[static_cast<std::size_t>(group)]);
  ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_CheckMark));
  text(title);
  ImGui::PopStyleColor();
  if (ImGui::BeginTable(title.c_str(), 2, ImGuiTableFlags_None)) {
    ImGui::TableSetupColumn("key", ImGuiTableColumnFlags_WidthFixed, em(140));
    ImGui::TableSetupColumn("action", ImGuiTableColumnFlags_WidthStretch);
    for (const Control* one : controls_of(group, scheme)) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::PushTextWrapPos(0);
      ImGui::TextDisabled("%s", one->all_names(scheme).c_str());
      ImGui::PopTextWrapPos();
      ImGui::TableNextColumn();
      wrapped(std::string(one->help));
    }
    ImGui::EndTable();
  }
  ImGui::Spacing();
}

void draw_parameters(const Commands::Entry& verb) {
  if (verb.parameters.empty() || !ImGui::BeginTable("parameters", 2)) return;
  ImGui::TableSetupColumn("parameter", ImGuiTableColumnFlags_WidthStretch, 0.45F);
  ImGui::TableSetupColumn("help", ImGuiTableColumnFlags_WidthStretch, 0.55F);
  for (const auto& [parameter, help] : verb.parameters) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    wrapped(parameter);
    ImGui::TableNextColumn();
    ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyleColorVec4(ImGuiCol_TextDisabled));
    wrapped(help);
    ImGui::PopStyleColor();
  }
  ImGui::EndTable();
}

}  // namespace

void PalettePanel::set_text(const std::string& words) {
  text_.fill('\0');
  words.copy(text_.data(), text_.size() - 1);
  palette_.type(text_.data());
  cursor_to_end_ = true;
  ++field_;
}

void PalettePanel::type(unsigned letter) {
  std::array<char, 5> bytes{};
  ImTextCharToUtf8(bytes.data(), letter);
  ahead_ += bytes.data();
}

void PalettePanel::enter(const ControlTarget& to) {
  const std::string rest = palette_.enter(to, commands_);
  if (to.layout.palette) set_text(rest);
}

void PalettePanel::act_on_keys(const ControlTarget& to) {
  constexpr int kPage = 10;
  for (const std::string& key : std::exchange(keys_, {})) {
    const int step = key == "Up" ? -1 : key == "Down" ? 1 : key == "Page Up" ? -kPage : key == "Page Down" ? kPage : 0;
    if (step != 0) {
      palette_.move(step);
      reveal_ = true;
    }
    if (key == "Tab" && palette_.chosen() < palette_.rows().size())
      if (const Commands::Entry* verb = palette_.rows()[palette_.chosen()].verb) set_text(verb->name + ' ');
    if (key == "Enter" && to.layout.palette) enter(to);
    if (key == "Escape") to.layout.palette = false;
  }
}

void PalettePanel::draw(const ControlTarget& to, float width, float height) {
  if (!to.layout.palette) {
    open_ = false;
    keys_.clear();
    ahead_.clear();
    return;
  }
  const bool fresh = !std::exchange(open_, true);
  if (fresh) set_text("");
  if (!ahead_.empty()) set_text(text_.data() + std::exchange(ahead_, {}));
  ImGui::SetNextWindowPos({0.5F * width, std::min(em(60), 0.1F * height)}, ImGuiCond_Always, {0.5F, 0});
  ImGui::SetNextWindowSize({std::min(em(kPaletteWidth), 0.96F * width), std::min(em(kPaletteHeight), 0.86F * height)});
  if (fresh) ImGui::SetNextWindowFocus();
  ImGui::SetNextWindowBgAlpha(1);
  if (ImGui::Begin("Commands", &to.layout.palette,
                   ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoCollapse |
                       ImGuiWindowFlags_NoSavedSettings)) {
    act_on_keys(to);
    ImGui::SetNextItemWidth(-1);
    // The field has the keyboard whenever nothing else is pressed.
    if (fresh || (ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows) && !ImGui::IsAnyItemActive()))
      ImGui::SetKeyboardFocusHere();
    // ImGui keeps a text of its own while a field has the keyboard: a text that is set needs another field.
    (void)text_field(("##command" + std::to_string(field_)).c_str(), "what to do, or a verb with its parameters", text_,
                     "Parts of words find an action. The arrows choose, Enter does it, Tab takes a verb over, to add "
                     "its parameters");
    if (ImGuiInputTextState* field = ImGui::GetInputTextState(ImGui::GetItemID());
        cursor_to_end_ && field != nullptr && ImGui::IsItemActive()) {
      field->Stb.cursor = field->CurLenW;
      field->ClearSelection();
      cursor_to_end_ = false;
    }
    palette_.type(text_.data());
    draw_rows(to);
  }
  ImGui::End();
}

void PalettePanel::draw_rows(const ControlTarget& to) {
  ImGui::BeginChild("rows");
  if (palette_.rows().empty()) ImGui::TextDisabled("nothing has this name");
  bool entered = false;
  if (ImGui::BeginTable("commands", 2)) {
    ImGui::TableSetupColumn("action", ImGuiTableColumnFlags_WidthStretch, 0.66F);
    ImGui::TableSetupColumn("key", ImGuiTableColumnFlags_WidthStretch, 0.34F);
    for (std::size_t i = 0; i != palette_.rows().size(); ++i) {
      const CommandPalette::Row& row = palette_.rows()[i];
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::PushID(static_cast<int>(i));
      if (ImGui::Selectable(row.label.c_str(), i == palette_.chosen(), ImGuiSelectableFlags_SpanAllColumns)) {
        palette_.choose(i);
        entered = true;
      }
      tip(row.label);
      if (i == palette_.chosen() && reveal_) ImGui::SetScrollHereY();
      ImGui::PopID();
      ImGui::TableNextColumn();
      ImGui::TextDisabled("%s", row.key.c_str());
    }
    ImGui::EndTable();
  }
  reveal_ = false;
  if (palette_.rows().size() == 1 && palette_.rows().front().verb != nullptr)
    draw_parameters(*palette_.rows().front().verb);
  ImGui::EndChild();
  if (entered) enter(to);
}

void draw_help(const ControlTarget& to, float width, float height) {
  if (!to.layout.help) return;
  const MouseScheme scheme = to.state.settings().controls;
  // It covers all panels, so that the only cross in sight is its own.
  const float left = to.layout.panels ? std::min(em(kToolbarWidth), 0.5F * width) : 0, wide = width - left;
  const int columns = std::clamp(static_cast<int>((wide - 2 * em(kGap)) / em(kHelpColumn)), 1, kMaxColumns);
  ImGui::SetNextWindowPos({left, 0});
  ImGui::SetNextWindowSize({wide, height});
  ImGui::SetNextWindowBgAlpha(1);
  if (ImGui::Begin("Keys and mouse", &to.layout.help,
                   ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoCollapse |
                       ImGuiWindowFlags_NoSavedSettings)) {
    if (button("Find a command ...", "All actions and verbs by their names (Ctrl+P)")) {
      to.layout.palette = true;
      to.layout.help = false;
    }
    ImGui::SameLine();
    ImGui::BeginChild("scheme",
                      {std::min(em(kSchemeWidth), ImGui::GetContentRegionAvail().x), ImGui::GetFrameHeight()});
    MouseScheme chosen = scheme;
    if (choose("Mouse", kMouseSchemeNames, chosen,
               "Buttons of the mouse as in raylift, VTK (ParaView, F3D) or Blender"))
      to.state.change_settings([&](Settings& s) { s.controls = chosen; });
    ImGui::EndChild();
    ImGui::Separator();
    ImGui::BeginChild("groups");
    // Each group goes into the column that has the fewest rows so far, in their order.
    std::vector<std::vector<Control::Group>> groups(static_cast<std::size_t>(columns));
    std::vector<std::size_t> rows(groups.size(), 0);
    for (std::size_t i = 0; i != kControlGroupNames.size(); ++i) {
      const auto group = static_cast<Control::Group>(i);
      const auto shortest = static_cast<std::size_t>(std::min_element(rows.begin(), rows.end()) - rows.begin());
      groups[shortest].push_back(group);
      rows[shortest] += controls_of(group, scheme).size() + 2;
    }
    if (ImGui::BeginTable("columns", columns)) {
      ImGui::TableNextRow();
      for (const auto& column : groups) {
        ImGui::TableNextColumn();
        for (const Control::Group group : column) draw_group(group, scheme);
      }
      ImGui::EndTable();
    }
    ImGui::EndChild();
  }
  ImGui::End();
}

}  // namespace raylift::viewer
