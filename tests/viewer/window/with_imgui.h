// SPDX-License-Identifier: Apache-2.0
// Dear ImGui without a window.
#pragma once

#include <imgui.h>

#include <cmath>

#include "window/gui.h"
#include "window/items/panel_items.h"

namespace raylift::viewer {

/// ImGui's context, for a scope.
class ImGuiContextHere {
 public:
  ImGuiContextHere(float width, float height) {
    ImGui::CreateContext();
    ImGui::GetIO().IniFilename = nullptr;
    ImGui::GetIO().DisplaySize = {width, height};
  }
  ~ImGuiContextHere() { ImGui::DestroyContext(); }
  ImGuiContextHere(const ImGuiContextHere&) = delete;
  ImGuiContextHere& operator=(const ImGuiContextHere&) = delete;

  /// With the program's fonts and style, at a scale.
  void set_scale(float scale) {
    (void)add_fonts(*ImGui::GetIO().Fonts, std::round(kFontSize * scale), {}, ranges_);
    make_texture();
    set_style(scale, false);
  }
  static void make_texture() {
    unsigned char* pixels = nullptr;
    int columns = 0, rows = 0;
    ImGui::GetIO().Fonts->GetTexDataAsRGBA32(&pixels, &columns, &rows);
  }

 private:
  ImVector<ImWchar> ranges_;
};

}  // namespace raylift::viewer
