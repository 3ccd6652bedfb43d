// SPDX-License-Identifier: Apache-2.0
#include "window/items/docks.h"

#include <imgui.h>

#include <cmath>

#include "draw/overlay/overlay_builder.h"
#include "window/items/panel_items.h"

namespace raylift::viewer {
namespace {

// Units of a window in which panels begin closed: both docks, and as much between them.
constexpr float kSmallWidth = kToolbarWidth + kLeftWidth + kRightWidth + 140, kSmallHeight = 440;
constexpr float kTinyWidth = 480;  // a panel that opens by itself would take the middle
constexpr ImGuiWindowFlags kDocked = ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoResize |
                                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing |
                                     ImGuiWindowFlags_NoBringToFrontOnFocus;

}  // namespace

void Docks::place(float width, float height, bool toolbar, const std::array<bool, kPanels>& open) {
  const bool small = width < em(kSmallWidth) || height < em(kSmallHeight);
  if (small && !small_) uses_before_small_ = uses_;
  small_ = small;
  DockWish wish;
  wish.width = width;
  wish.height = height;
  wish.unit = em(1);
  wish.overlay_scale = overlay_scale(static_cast<int>(height));
  wish.toolbar = toolbar;
  for (std::size_t i = 0; i != kPanels; ++i) {
    State& panel = panels_[i];
    const auto which = static_cast<Panel>(i);
    const bool by_itself = which == Panel::selection || which == Panel::measurement;
    // The legend opens with the scene.
    const bool wanted = by_itself ? width >= em(kTinyWidth) || shown(Panel::scene) : placed_ && which != Panel::legend;
    if (open[i] && !panel.open && wanted) use(which);
    panel.open = open[i];
    panel.begun = false;
    if (!open[i] || (small && panel.used <= uses_before_small_)) continue;
    wish.panels[i] = {panel.folded ? ImGui::GetFrameHeight() : em(panel.height), panel.used};
  }
  placed_ = true;
  changes_ = changed_ ? changes_ + 1 : 0;
  changed_ = false;
  layout_ = dock_layout(wish);
}

bool Docks::begin(Panel panel, const char* title, bool& open) {
  State& state = of(panel);
  const DockLayout::PanelBox& place = layout_.of(panel);
  if (!open || place.at.empty()) return false;
  const bool folded = place.folded || state.folded;
  ImGui::SetNextWindowPos({place.at.left, place.at.top});
  ImGui::SetNextWindowSize({place.at.width(), place.at.height()});
  ImGui::SetNextWindowCollapsed(folded);
  state.begun = true;
  bool stays = true;
  const bool seen = ImGui::Begin(title, &stays, kDocked);
  if (!stays) open = false;
  // Begin() has carried out a click on the title's arrow.
  if (ImGui::IsWindowCollapsed() != folded) {
    if (folded)
      use(panel);
    else
      state.folded = true;
  }
  return seen && !folded && !ImGui::IsWindowCollapsed();
}

void Docks::end(Panel panel, float more) {
  State& state = of(panel);
  if (!state.begun) return;
  if (!ImGui::IsWindowCollapsed() && !layout_.of(panel).folded && !state.folded) {
    const ImGuiStyle& style = ImGui::GetStyle();
    const float height = (ImGui::GetCursorPosY() - style.ItemSpacing.y + style.WindowPadding.y + more) / em(1);
    changed_ |= std::abs(height - state.height) * em(1) >= 1;
    state.height = height;
    hint_more();
  }
  ImGui::End();
}

void Docks::use(Panel panel) {
  of(panel).folded = false;
  of(panel).used = ++uses_;
}

bool Docks::squeezed(Panel panel, float units) const {
  const float high = layout_.of(panel).at.height();
  return high < em(units) && high + 1 < em(panels_[static_cast<std::size_t>(panel)].height);
}

bool Docks::shown(Panel panel) const {
  const DockLayout::PanelBox& place = layout_.of(panel);
  return !place.at.empty() && !place.folded && !panels_[static_cast<std::size_t>(panel)].folded;
}

}  // namespace raylift::viewer
