// SPDX-License-Identifier: Apache-2.0
// The picker of the colours that solids have of their own.
#include <imgui.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/colors/palette.h"
#include "window/items/panel_items.h"

namespace raylift::viewer {
namespace {

enum class Scope : std::uint8_t { solids, material, depth };
constexpr std::array<std::string_view, 3> kScopeNames{"selection", "material", "depth"};
constexpr float kBetweenColors = 3;  // units, of the named colours

/// That a solid has without one of its own, where each of its faces has the same.
Color solid_color(const ViewerState& state, std::uint32_t solid) {
  const Scene& scene = *state.scene();
  const Instance& placed = scene.instances[solid];
  switch (state.settings().color) {
    case ColorBy::material: {
      const std::uint32_t material = scene.material(placed, 0);
      return material == kNone ? kNoMaterialColor : unpacked(material_palette(scene)[material]);
    }
    case ColorBy::solid:
      return distinct_color(solid);
    case ColorBy::mesh:
      return distinct_color(placed.mesh);
    default:
      return kNoMaterialColor;
  }
}

/// The solids that share the material, or the depth in the tree, of the first of these.
std::vector<std::uint32_t> in_scope(const Solids& solids, const std::vector<std::uint32_t>& chosen, Scope scope) {
  if (scope == Scope::solids || chosen.empty()) return chosen;
  const Scene& scene = solids.scene();
  const std::uint32_t first = chosen.front();
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i != scene.instances.size(); ++i)
    if (scope == Scope::depth ? solids.depth(i) == solids.depth(first)
                              : scene.material(scene.instances[i], 0) == scene.material(scene.instances[first], 0))
      found.push_back(i);
  return found;
}

}  // namespace

void edit_color(ViewerState& state, const std::vector<std::uint32_t>& solids, const Color& shown) {
  if (solids.empty()) return;
  const std::uint32_t own = state.solids()->colors()[solids.front()];
  Color color = own == 0 ? shown : unpacked(own);
  const float side = ImGui::GetFrameHeight();
  for (const NamedColor& named : kNamedColors) {
    if (&named != kNamedColors.data()) ImGui::SameLine(0, em(kBetweenColors));
    const auto [r, g, b] = named.color;
    if (ImGui::ColorButton(named.name.data(), {r, g, b, 1}, ImGuiColorEditFlags_NoTooltip, {side, side}))
      state.change_solids([&](Solids& all) { all.set_color(solids, packed(named.color)); });
    tip(std::string(named.name));
  }
  if (ImGui::ColorPicker3("##colour", color.data(),
                          ImGuiColorEditFlags_NoSidePreview | ImGuiColorEditFlags_NoSmallPreview |
                              ImGuiColorEditFlags_DisplayHex | ImGuiColorEditFlags_PickerHueWheel))
    state.appearance().slide_color(solids, packed(color));
  if (ImGui::IsItemDeactivatedAfterEdit()) state.appearance().end_slide();
  // Always there: the popup would grow beyond the window's edge.
  if (button("Reset", "No colour of their own: that of the colouring",
             own != 0 ? nullptr : "They have no colour of their own"))
    state.change_solids([&](Solids& all) { all.set_color(solids, 0); });
}

void edit_own_color(ViewerState& state, const SelectedSolids& selected) {
  static constexpr const char* kPopup = "colour of the selection";
  if (selected.solids.empty()) return;
  const std::uint32_t own = state.solids()->colors()[selected.solids.front()];
  const Color shown = own == 0 ? solid_color(state, selected.solids.front()) : unpacked(own);
  field_label("Colour");
  if (ImGui::ColorButton("##colour", {shown[0], shown[1], shown[2], 1},
                         own == 0 ? ImGuiColorEditFlags_NoTooltip | ImGuiColorEditFlags_AlphaPreviewHalf
                                  : ImGuiColorEditFlags_NoTooltip))
    ImGui::OpenPopup(kPopup);
  tip("A colour for these solids, for all of their material, or for all at their depth in the tree; Ctrl+Z undoes it");
  ImGui::SetNextWindowSize({em(260), 0});
  if (!ImGui::BeginPopup(kPopup)) return;
  const ImGuiID kept = ImGui::GetID("scope");
  auto scope = static_cast<Scope>(ImGui::GetStateStorage()->GetInt(kept, 0));
  if (choose("For", kScopeNames, scope, "Which solids get the colour"))
    ImGui::GetStateStorage()->SetInt(kept, static_cast<int>(scope));
  edit_color(state, in_scope(*state.solids(), selected.solids, scope), shown);
  ImGui::EndPopup();
}

}  // namespace raylift::viewer
