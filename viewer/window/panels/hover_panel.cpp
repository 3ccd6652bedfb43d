// SPDX-License-Identifier: Apache-2.0
#include "window/panels/hover_panel.h"

#include <imgui.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "cli/text.h"
#include "window/items/panel_items.h"

namespace raylift::viewer {
namespace {

constexpr float kPi = std::numbers::pi_v<float>;
constexpr ImU32 kMark = IM_COL32(255, 199, 64, 255), kMarkShadow = IM_COL32(10, 13, 15, 190);

}  // namespace

void draw_hover(const HoverText& what, float x, float y, float width, float height) {
  constexpr float kBeside = 16;
  // Left of the cursor, or above it, where the window ends.
  const bool left = x > 0.7F * width, above = y > 0.8F * height;
  ImGui::SetNextWindowPos({x + (left ? -1 : 1) * em(kBeside), y + (above ? -1 : 1) * em(kBeside)}, ImGuiCond_Always,
                          {left ? 1.0F : 0.0F, above ? 1.0F : 0.0F});
  ImGui::SetNextWindowBgAlpha(0.9F);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2{em(8), em(5)});
  if (ImGui::Begin("##hover", nullptr,
                   ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoInputs | ImGuiWindowFlags_NoSavedSettings |
                       ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoNav |
                       ImGuiWindowFlags_AlwaysAutoResize)) {
    text(cli::printable(what.name));
    if (!what.material.empty()) ImGui::TextDisabled("%s", cli::printable(what.material).c_str());
    if (!what.position.empty()) ImGui::TextDisabled("%s", what.position.c_str());
  }
  ImGui::End();
  ImGui::PopStyleVar();
}

void draw_snap_mark(const SnapPoint& snap, const Camera& camera, float width, float height) {
  const Eigen::Vector3d at = camera.project(snap.point, static_cast<double>(width) / static_cast<double>(height));
  const ImVec2 middle(0.5F * (1 + static_cast<float>(at.x())) * width,
                      0.5F * (1 - static_cast<float>(at.y())) * height);
  ImDrawList& list = *ImGui::GetBackgroundDrawList();
  const auto ring = [&](float radius, int corners, float turned) {
    for (const auto& [color, stroke] : {std::pair(kMarkShadow, em(4)), {kMark, em(2)}}) {
      for (int i = 0; i != corners; ++i) {
        const float angle = turned + 2 * kPi * static_cast<float>(i) / static_cast<float>(corners);
        list.PathLineTo({middle.x + radius * std::cos(angle), middle.y + radius * std::sin(angle)});
      }
      list.PathStroke(color, ImDrawFlags_Closed, stroke);
    }
  };
  switch (snap.to) {
    case SnapPoint::To::vertex:
      return ring(em(8), 4, kPi / 4);
    case SnapPoint::To::edge:
      return ring(em(8), 4, 0);
    case SnapPoint::To::face:
      return ring(em(5), 20, 0);
    case SnapPoint::To::centre:
      ring(em(8), 24, 0);
      return ring(em(1.5F), 8, 0);
  }
}

void draw_gizmo_highlight(const GizmoEnd& end, const Resolution& image, float width, float height) {
  const float scale = height / static_cast<float>(image.height);
  const ImVec2 at(end.at.x() * width / static_cast<float>(image.width), height - end.at.y() * scale);
  const float radius = end.radius * scale + 2;
  ImGui::GetBackgroundDrawList()->AddCircle(at, radius + 1, kMarkShadow, 0, 4);
  ImGui::GetBackgroundDrawList()->AddCircle(at, radius, IM_COL32(255, 255, 255, 255), 0, 2);
}

}  // namespace raylift::viewer
