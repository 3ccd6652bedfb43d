// SPDX-License-Identifier: Apache-2.0
#include "window/controls/solid_menu.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace raylift::viewer {
namespace {

using Target = const ControlTarget&;

/// A row with the action of a key.
MenuRow as_key(std::string_view label, std::string_view key) {
  return {label, key, [key](Target to) {
            if (const Control* control = find_control(Control::Kind::key, key, false, false)) control->act(to, {});
          }};
}

MenuRow copy(std::string_view label, std::string SelectedSolids::*words) {
  return {label, {}, [words](Target to) {
            if (!to.copy || !to.state.selection()) return;
            const std::string text = *to.state.selection().*words;
            to.copy(text);
            to.state.messages().show("copied: " + text);
          }};
}

void add_group(std::vector<MenuRow>& rows, std::vector<MenuRow> group) {
  group.front().first = true;
  for (MenuRow& row : group) rows.push_back(std::move(row));
}

/// The style of the first solid has the mark.
std::vector<MenuRow> style_rows(const ViewerState& state) {
  const std::uint8_t now = state.solids()->styles()[state.selection()->solids.front()];
  std::vector<MenuRow> rows;
  for (std::size_t style = 0; style != kStyleNames.size(); ++style)
    rows.push_back({kStyleNames[style],
                    {},
                    [style](Target to) { to.state.appearance().set_style(static_cast<Style>(style)); },
                    style == now});
  return rows;
}

}  // namespace

std::vector<MenuRow> solid_menu(const ViewerState& state) {
  std::vector<MenuRow> rows;
  if (!state.selection() || state.selection()->solids.empty()) return rows;
  const auto selected = [](Target to) { return to.state.selection()->solids; };
  add_group(
      rows,
      {as_key("Frame", "F"),
       {"Focus: all others faint", {}, [=](Target to) { to.state.viewpoint().focus_alone(selected(to)); }},
       {"Clipping box around it", {}, [](Target to) { to.state.clipping().fit_box(); }},
       {"Measure from its centre", {}, [](Target to) { to.state.measuring().add_centre(*to.state.selection()); }}});
  add_group(rows,
            {as_key("Hide", "L"),
             {"Show only",
              {},
              [=](Target to) { to.state.change_solids([&](Solids& solids) { solids.show_only(selected(to)); }); }},
             as_key("Ghost others", "Ctrl+G"),
             as_key("Show all", "U"),
             as_key("Undo", "Ctrl+Z")});
  add_group(rows, style_rows(state));
  add_group(rows, {copy("Copy name", &SelectedSolids::name), copy("Copy path", &SelectedSolids::path),
                   as_key("Copy properties", "Ctrl+C"), as_key("Bookmark the view", "Ctrl+D")});
  return rows;
}

void open_solid_menu(const ControlTarget& to, const ControlEvent& event) {
  const auto picked = to.frames->pick(to.state, event.cursor);
  if (!picked) return;
  const auto& before = to.state.selection();
  if (!before || std::find(before->solids.begin(), before->solids.end(), picked->instance) == before->solids.end()) {
    to.state.selection().select(picked, event.cursor);
    to.print(to.state.selection()->path);
  }
  to.layout.menu = WindowLayout::Menu::opening;
}

}  // namespace raylift::viewer
