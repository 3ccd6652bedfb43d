// SPDX-License-Identifier: Apache-2.0
// What the selected solid is made of, optically: tables with their ranges and curves, and constants.
#include <fmt/format.h>
#include <imgui.h>
#include <raylift/geometry/optics/properties.h>
#include <raylift/geometry/optics/surface_between.h>

#include <algorithm>
#include <array>

#include "cli/text.h"
#include "window/panel_items.h"

namespace raylift::viewer {
namespace {

std::string with_unit(PropertyOf of, const std::string& key, const std::string& value) {
  const PropertyInfo* info = find_property(of, key);
  const std::string_view unit = info == nullptr ? std::string_view() : raylift::unit(info->quantity);
  return unit.empty() ? value : value + ' ' + std::string(unit);
}

/// The table over the wavelengths that it is given for, as one line and as a curve.
void draw_table(PropertyOf of, const OpticalTable& table) {
  const TableRange all = range_of(table);
  const std::string range =
      all.least == all.most ? fmt::format("{:.5g}", all.least) : fmt::format("{:.5g} to {:.5g}", all.least, all.most);
  fact(table.key.c_str(),
       fmt::format("{}, {:.4g} to {:.4g} nm", with_unit(of, table.key, range), all.shortest_nm, all.longest_nm));
  if (all.least == all.most) return;
  std::array<float, 64> curve{};
  for (std::size_t i = 0; i != curve.size(); ++i)
    curve[i] =
        static_cast<float>(table.value(all.shortest_nm + (all.longest_nm - all.shortest_nm) * static_cast<double>(i) /
                                                             static_cast<double>(curve.size() - 1)));
  ImGui::PlotLines(("##" + table.key).c_str(), curve.data(), static_cast<int>(curve.size()), 0, nullptr,
                   static_cast<float>(all.least), static_cast<float>(all.most),
                   {ImGui::GetContentRegionAvail().x, em(28)});
}

void draw_properties(const char* id, PropertyOf of, const OpticalProperties& properties) {
  if (!begin_facts(id)) return;
  for (const OpticalTable& table : properties.tables) draw_table(of, table);
  for (const OpticalConstant& constant : properties.constants)
    fact(constant.key.c_str(), with_unit(of, constant.key, fmt::format("{:.6g}", constant.value)));
  ImGui::EndTable();
}

}  // namespace

void draw_optics(const Scene& scene, const SelectedSolids& selection) {
  const Optics& optics = scene.optics;
  if (selection.material < optics.materials.size() && !optics.materials[selection.material].empty() &&
      ImGui::TreeNode("optics of the material")) {
    draw_properties("material optics", PropertyOf::material, optics.materials[selection.material]);
    ImGui::TreePop();
  }
  for (const auto& [title, surface] :
       {std::pair("surface on the way in", selection.surface_in), {"surface on the way out", selection.surface_out}})
    if (surface < optics.surfaces.size() && !optics.surfaces[surface].properties.empty() && ImGui::TreeNode(title)) {
      draw_properties(title, PropertyOf::surface, optics.surfaces[surface].properties);
      ImGui::TreePop();
    }
}

}  // namespace raylift::viewer
