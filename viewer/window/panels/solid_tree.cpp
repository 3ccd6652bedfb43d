// SPDX-License-Identifier: Apache-2.0
#include "window/panels/solid_tree.h"

#include <imgui.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "cli/text.h"
#include "model/solids/display_name.h"
#include "window/items/icons.h"
#include "window/items/panel_items.h"

namespace raylift::viewer {
namespace {

constexpr std::size_t kMaxFound = 5000;  // rows of a search
constexpr int kReveals = 3;
constexpr float kArrowWide = 16, kBetweenRows = 1, kCompactPadding = 2;
constexpr float kIndent = 11, kCompactIndent = 5;  // units of a level

/// "300 solids by name, 120 marked": as many as are marked in the image, where that is not all.
std::string found_text(std::size_t marked, const Found& found) {
  return count_text(found) + (marked == found.solids.size() ? "" : ", " + cli::grouped(marked) + " marked");
}

}  // namespace

float SolidTree::draw(ViewerState& state, bool& to_search, bool compact) {
  if (listed_ != state.solids()) {
    listed_ = state.solids();
    open_.clear();
    // Opens nodes that are only children.
    if (listed_ != nullptr)
      for (auto only = listed_->children(kNone); only.size() == 1; only = listed_->children(only[0]))
        open_.insert(only[0]);
    rows_stale_ = true;
  }
  if (listed_ == nullptr) {
    ImGui::TextDisabled("No scene");
    return 0;
  }
  if (compact) ImGui::SameLine();
  draw_search(state, to_search, compact);
  if (rows_stale_) list_rows(*listed_);
  const ImVec2 padding = ImGui::GetStyle().FramePadding;
  indent_ = compact ? kCompactIndent : kIndent;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {padding.x, compact ? em(kCompactPadding) : padding.y});
  ImGui::BeginChild("tree");
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ImGui::GetStyle().ItemSpacing.x, em(kBetweenRows)});
  reveal_selection(state);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(rows_.size()));
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      ImGui::PushID(i);
      draw_row(state, rows_[static_cast<std::size_t>(i)]);
      ImGui::PopID();
    }
  if (searching() && rows_.size() == kMaxFound)
    ImGui::TextDisabled("The first %zu; the buttons apply to all", kMaxFound);
  const float all = static_cast<float>(rows_.size()) * ImGui::GetFrameHeightWithSpacing();
  ImGui::PopStyleVar();
  hint_more();
  ImGui::EndChild();
  ImGui::PopStyleVar();
  return all - ImGui::GetItemRectSize().y;
}

void SolidTree::draw_search(ViewerState& state, bool& to_search, bool compact) {
  if (std::exchange(to_search, false)) ImGui::SetKeyboardFocusHere();
  const float side = ImGui::GetFrameHeight();
  if (search_field(
          "##search", compact ? "search ..." : "name, number, material ...", search_,
          "Find solids by words of their names, such as: sensor 117; by copy number or channel, mesh or material. "
          "Also pmt_*, /path, #copy, channel:12, material:Glass",
          compact ? side + ImGui::GetStyle().ItemSpacing.x : 0))
    rows_stale_ = true;
  const bool fresh = rows_stale_;
  if (fresh) list_rows(*listed_);
  // Also where the panel was away, and the marks with it.
  if (fresh || state.selection().found().empty()) state.selection().mark_found(found_.solids);
  if (!compact) return draw_buttons(state);
  ImGui::SameLine();
  if (tool_button(icon::kMore, "...", count_shown(state) + ": show, hide", false, side))
    ImGui::OpenPopup("of the search");
  if (!ImGui::BeginPopup("of the search")) return;
  draw_buttons(state);
  ImGui::EndPopup();
}

std::string SolidTree::count_shown(const ViewerState& state) const {
  return searching() ? found_text(state.selection().found().size(), found_)
                     : cli::counted(listed_->scene().instances.size(), "solid", "solids");
}

void SolidTree::draw_buttons(ViewerState& state) {
  // The count has its line with and without a search, so that the buttons don't move.
  ImGui::TextDisabled("%s", count_shown(state).c_str());
  const char* none = !searching() ? "Type a search first" : found_.solids.empty() ? "Nothing is found" : nullptr;
  if (button("Show all", "Show all solids (U)")) state.change_solids(&Solids::show_all);
  if (button_beside("Undo", "Undo the last change of what is hidden, of styles and of colours (Ctrl+Z)",
                    listed_->can_undo() ? nullptr : "There is nothing to undo"))
    state.appearance().undo();
  if (button_beside("Hide found", "Hide what the search finds; Ctrl+Z shows it again", none))
    state.change_solids([&](Solids& solids) { solids.set_visible(found_.solids, false); });
  if (button_beside("Only found", "Show only what the search finds", none))
    state.change_solids([&](Solids& solids) { solids.show_only(found_.solids); });
}

void SolidTree::draw_checkbox(ViewerState& state, const TreeRow& row) {
  const Solids& solids = *state.solids();
  const bool by_itself = row.node == kNone || (searching() && row.instance != kNone);
  const int shown = !by_itself ? solids.shown(row.node) : solids.visible()[row.instance] != 0 ? 2 : 0;
  bool checked = shown != 0;
  if (visibility_box(checked, shown == 1))
    state.change_solids([&](Solids& changed) {
      if (!by_itself)
        changed.set_visible(changed.below(row.node), checked);
      else
        changed.set_visible(std::span(&row.instance, 1), checked);
    });
}

void SolidTree::draw_row(ViewerState& state, const TreeRow& row) {
  draw_checkbox(state, row);
  ImGui::SameLine(0, em(2 + indent_ * static_cast<float>(row.depth)));
  if (!row.has_children) {
    ImGui::Dummy({em(kArrowWide), 1});
  } else if (arrow("##open", row.open, em(kArrowWide))) {
    if (row.open)
      open_.erase(row.node);
    else
      open_.insert(row.node);
    rows_stale_ = true;
  }
  ImGui::SameLine(0, 4);
  const Scene& scene = *state.scene();
  const std::string whole =
      row.node == kNone ? scene.solid_name(scene.instances[row.instance]) : scene.nodes[row.node].name;
  const std::string name = row.mark + cli::printable(display_name(whole));
  const auto& chosen = state.selection();
  const bool selected = chosen && (chosen->group != kNone ? row.node == chosen->group
                                                          : std::binary_search(chosen->solids.begin(),
                                                                               chosen->solids.end(), row.instance));
  ImGui::AlignTextToFramePadding();
  const bool pressed = ImGui::Selectable(name.c_str(), selected, ImGuiSelectableFlags_AllowDoubleClick);
  tip(row.instance == kNone ? cli::printable(whole) : cli::printable(scene.path(scene.instances[row.instance])));
  if (!pressed) return;
  if (row.instance != kNone)
    state.selection().select(row.instance);
  else
    state.selection().select_group(row.node);
  revealed_ = state.selection().version();  // the row is visible
  if (!ImGui::IsMouseDoubleClicked(0)) return;
  if (row.node == kNone)
    state.viewpoint().focus(std::span(&row.instance, 1));
  else
    state.viewpoint().focus(state.solids()->below(row.node));
}

void SolidTree::reveal_selection(const ViewerState& state) {
  if (revealed_ != state.selection().version()) reveals_ = kReveals;
  revealed_ = state.selection().version();
  if (reveals_ == 0) return;
  --reveals_;
  if (!state.selection()) return;
  const SelectedSolids& selected = *state.selection();
  if (selected.is_set()) return;
  const Scene& scene = *state.scene();
  const std::uint32_t own = selected.group != kNone ? selected.group : scene.instances[selected.instance].node;
  if (!searching()) {
    for (std::uint32_t node = own; node != kNone; node = scene.nodes[node].parent)
      if (scene.nodes[node].parent != kNone) open_.insert(scene.nodes[node].parent);
    list_rows(*listed_);
  }
  const auto row = std::find_if(rows_.begin(), rows_.end(), [&](const TreeRow& one) {
    return selected.group != kNone ? one.node == own : one.instance == selected.instance;
  });
  if (row == rows_.end()) return;
  const float height = ImGui::GetFrameHeightWithSpacing();
  ImGui::SetScrollY(std::max(0.0F, static_cast<float>(row - rows_.begin()) * height - 0.4F * ImGui::GetWindowHeight()));
}

void SolidTree::list_rows(const Solids& solids) {
  rows_stale_ = false;
  if (searching()) {
    found_ = search(solids, search_.data());
    rows_ = found_rows(solids, found_.solids, kMaxFound);
  } else {
    found_ = {};
    rows_ = tree_rows(solids, open_);
  }
}

}  // namespace raylift::viewer
