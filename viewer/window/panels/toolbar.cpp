// SPDX-License-Identifier: Apache-2.0
#include "window/panels/toolbar.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cstddef>
#include <span>

#include "window/controls/controls.h"
#include "window/items/icons.h"
#include "window/items/panel_items.h"

namespace raylift::viewer {
namespace {

constexpr float kButton = 32, kBetween = 2, kApart = 8;

/// A button of the toolbar with its menu, if it has one.
void draw_tool(const Tool& tool) {
  ImGui::PushID(tool.word);
  const bool pressed = tool_button(tool.icon, tool.word, tool.help, tool.on, em(kButton));
  // A menu has the room from its button up or down, whichever is more, and scrolls in that.
  const float window = ImGui::GetIO().DisplaySize.y, top = ImGui::GetItemRectMin().y,
              bottom = ImGui::GetItemRectMax().y;
  const bool up = bottom > window - top;
  const ImVec2 corner(ImGui::GetItemRectMax().x + em(kGap), up ? bottom : top);
  if (pressed && tool.menu)
    ImGui::OpenPopup("menu");
  else if (pressed)
    tool.act();
  if (tool.menu) {
    ImGui::SetNextWindowPos(corner, ImGuiCond_Always, {0, up ? 1.0F : 0.0F});
    // In a narrow window its edge cuts the column of keys.
    ImGui::SetNextWindowSizeConstraints({0, 0}, {ImGui::GetIO().DisplaySize.x - corner.x, up ? bottom : window - top});
    if (ImGui::BeginPopup("menu", ImGuiWindowFlags_NoMove)) {
      tool.menu();
      ImGui::EndPopup();
    }
  }
  ImGui::PopID();
}

/// The tools that the bar has no room for, as a menu; with their keys where the window is wide enough.
void draw_rest(std::span<const Tool> tools) {
  constexpr float kBesideWords = 70;  // units of icon, mark and gaps
  float wide = 0;
  for (const Tool& tool : tools)
    wide = std::max(wide, ImGui::CalcTextSize(tool.does).x + ImGui::CalcTextSize(keys_in(tool.help).c_str()).x);
  const bool keys = ImGui::GetWindowPos().x + wide + em(kBesideWords) < ImGui::GetIO().DisplaySize.x;
  for (const Tool& tool : tools) {
    const char* icon = has_icons() ? tool.icon : nullptr;
    if (tool.menu) {
      if (!ImGui::BeginMenuEx(tool.does, icon)) continue;
      tool.menu();
      ImGui::EndMenu();
      continue;
    }
    if (ImGui::MenuItemEx(tool.does, icon, keys ? keys_in(tool.help).c_str() : nullptr, tool.on)) tool.act();
    tip(tool.help);
  }
}

}  // namespace

std::string key_of(std::string_view help) {
  for (const Control& control : controls())
    if (control.kind == Control::Kind::key && control.help == help) return std::string(control.names.front());
  return {};
}

std::string keys_in(const std::string& help) {
  const std::size_t at = help.rfind(" (");
  return at == std::string::npos || !help.ends_with(')') ? "" : help.substr(at + 2, help.size() - at - 3);
}

void draw_toolbar(const Rectangle& at, const std::vector<Tool>& tools) {
  ImGui::SetNextWindowPos({at.left, at.top});
  ImGui::SetNextWindowSize({at.width(), at.height()});
  const float padding = 0.5F * (at.width() - em(kButton));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {padding, em(kGap)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {em(kBetween), em(kBetween)});
  const bool open = ImGui::Begin("##toolbar", nullptr,
                                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing |
                                     ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar(4);
  if (open) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {em(kBetween), em(kBetween)});
    const float each = em(kButton + kBetween), all = at.height() - 2 * em(kGap);
    float needed = 0;
    for (const Tool& tool : tools) needed += each + (tool.apart ? em(kApart) : 0);
    const bool all_fit = needed <= all;
    const auto fit = all_fit ? tools.size() : static_cast<std::size_t>(std::max(0.0F, all / each - 1));
    for (std::size_t i = 0; i != std::min(fit, tools.size()); ++i) {
      if (all_fit && tools[i].apart) ImGui::Dummy({1, em(kApart - kBetween)});
      ImGui::PopStyleVar();
      draw_tool(tools[i]);
      ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {em(kBetween), em(kBetween)});
    }
    ImGui::PopStyleVar();
    if (!all_fit)
      draw_tool({icon::kMore, "More", "Show more tools", "More tools", false, false, {}, [&] {
                   draw_rest(std::span(tools).subspan(fit));
                 }});
  }
  ImGui::End();
}

}  // namespace raylift::viewer
