// SPDX-License-Identifier: Apache-2.0
// Draws the menu of a solid. Dear ImGui.
#include <imgui.h>

#include "cli/text.h"
#include "window/solid_menu.h"

namespace raylift::viewer {

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
