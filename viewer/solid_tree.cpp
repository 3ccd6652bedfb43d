// SPDX-License-Identifier: Apache-2.0
#include "solid_tree.h"

#include <imgui.h>

#include <span>
#include <string>

#include "cli/text.h"
#include "panel_items.h"

namespace raylift::viewer {
namespace {

constexpr std::size_t kMostFound = 5000;  // rows of a search

}  // namespace

void SolidTree::draw(ViewerState& state) {
  if (listed_ != state.solids()) {
    listed_ = state.solids();
    open_.clear();
    rows_stale_ = true;
  }
  if (listed_ == nullptr) return ImGui::TextDisabled("no scene");
  draw_search(state);
  if (rows_stale_) list_rows(*listed_);
  ImGui::BeginChild("tree");
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(rows_.size()));
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      ImGui::PushID(i);
      draw_row(state, rows_[static_cast<std::size_t>(i)]);
      ImGui::PopID();
    }
  if (searching() && rows_.size() == kMostFound)
    ImGui::TextDisabled("the first %zu; the buttons apply to all", kMostFound);
  ImGui::EndChild();
}

void SolidTree::draw_search(ViewerState& state) {
  ImGui::SetNextItemWidth(-1);
  if (ImGui::InputTextWithHint("##search", "name, mesh, material, /path, #copy", search_.data(), search_.size()))
    rows_stale_ = true;
  if (searching()) {
    if (rows_stale_) list_rows(*listed_);
    text(count_text(found_));
  }
  if (ImGui::SmallButton("show all")) state.change_solids(&Solids::show_all);
  ImGui::SameLine();
  if (ImGui::SmallButton("hide found") && searching())
    state.change_solids([&](Solids& solids) { solids.set_visible(found_.solids, false); });
  ImGui::SameLine();
  if (ImGui::SmallButton("only found") && searching())
    state.change_solids([&](Solids& solids) { solids.show_only(found_.solids); });
}

void SolidTree::draw_checkbox(ViewerState& state, const Row& row) {
  const Solids& solids = *state.solids();
  const bool by_itself = row.node == kNone || (searching() && row.instance != kNone);
  const int shown = !by_itself ? solids.shown(row.node) : solids.visible()[row.instance] != 0 ? 2 : 0;
  bool checked = shown != 0;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {1, 0});
  if (shown == 1) ImGui::PushStyleColor(ImGuiCol_CheckMark, {0.6F, 0.6F, 0.6F, 1});
  if (ImGui::Checkbox("##shown", &checked))
    state.change_solids([&](Solids& changed) {
      if (!by_itself)
        changed.set_visible(changed.below(row.node), checked);
      else
        changed.set_visible(std::span(&row.instance, 1), checked);
    });
  if (shown == 1) ImGui::PopStyleColor();
  ImGui::PopStyleVar();
}

void SolidTree::draw_row(ViewerState& state, const Row& row) {
  draw_checkbox(state, row);
  ImGui::SameLine(0, 6 + 12 * static_cast<float>(row.depth));
  if (!row.has_children) {
    ImGui::Dummy({ImGui::GetFrameHeight(), 1});
  } else if (ImGui::ArrowButton("##open", row.open ? ImGuiDir_Down : ImGuiDir_Right)) {
    if (row.open)
      open_.erase(row.node);
    else
      open_.insert(row.node);
    rows_stale_ = true;
  }
  ImGui::SameLine(0, 4);
  const Scene& scene = *state.scene();
  const std::string name =
      cli::printable(row.node == kNone ? scene.solid_name(scene.instances[row.instance]) : scene.nodes[row.node].name);
  const bool selected = state.selection() && row.instance == state.selection()->instance;
  if (!ImGui::Selectable(name.c_str(), selected, ImGuiSelectableFlags_AllowDoubleClick)) return;
  if (row.instance != kNone) state.select(row.instance);
  if (!ImGui::IsMouseDoubleClicked(0)) return;
  if (row.node == kNone)
    state.focus(std::span(&row.instance, 1));
  else
    state.focus(state.solids()->below(row.node));
}

void SolidTree::list_rows(const Solids& solids) {
  rows_.clear();
  rows_stale_ = false;
  const auto instance_of = [&](std::uint32_t node) {
    const auto own = solids.instances(node);
    return own.empty() ? kNone : own[0];
  };
  if (searching()) {
    found_ = find(solids, search_.data());
    for (const std::uint32_t instance : found_.solids) {
      if (rows_.size() == kMostFound) break;
      rows_.push_back({solids.scene().instances[instance].node, instance, 0, false, false});
    }
    return;
  }
  struct Open {
    std::uint32_t node;
    int depth;
  };
  std::vector<Open> todo;
  const auto push_children = [&](std::uint32_t node, int depth) {
    const auto children = solids.children(node);
    for (std::size_t i = children.size(); i-- > 0;) todo.push_back({children[i], depth});
  };
  push_children(kNone, 0);
  while (!todo.empty()) {
    const Open next = todo.back();
    todo.pop_back();
    const bool has_children = !solids.children(next.node).empty();
    const bool is_open = has_children && open_.count(next.node) != 0;
    rows_.push_back({next.node, instance_of(next.node), next.depth, is_open, has_children});
    if (is_open) push_children(next.node, next.depth + 1);
  }
  for (const std::uint32_t instance : solids.instances(kNone)) rows_.push_back({kNone, instance, 0, false, false});
}

}  // namespace raylift::viewer
