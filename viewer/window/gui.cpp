// SPDX-License-Identifier: Apache-2.0
#include "window/gui.h"

#include <GLFW/glfw3.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>
#include <imgui_internal.h>
#include <raylift/geometry/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <utility>

#include "base/utf8.h"
#include "draw/overlay/font.h"
#include "window/items/icons.h"
#include "window/items/panel_items.h"

namespace raylift::viewer {
namespace {

std::string last_glfw_error;

/// The first of these files that exists; null where none does.
const char* first_there(std::initializer_list<const char*> files) {
  std::error_code ignored;
  for (const char* file : files)
    if (std::filesystem::exists(file, ignored)) return file;
  return nullptr;
}

/// The theme's colours for ImGui's items. What is not here is ImGui's own.
void set_colors(ImGuiStyle& style, const Theme& t) {
  const auto mixed = [](const Color& a, const Color& b, float share) {
    return ImVec4(a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), a[2] + share * (b[2] - a[2]), 1);
  };
  const ImVec4 hovered = mixed(t.chosen, t.raised, 0.5F), quiet = ink(t.border, 0.35F);
  const std::pair<ImGuiCol, ImVec4> colors[] = {{ImGuiCol_Text, ink(t.text)},
                                                {ImGuiCol_TextDisabled, ink(t.dim)},
                                                {ImGuiCol_WindowBg, ink(t.ground)},
                                                {ImGuiCol_PopupBg, ink(t.raised)},
                                                {ImGuiCol_Border, ink(t.border)},
                                                {ImGuiCol_BorderShadow, {0, 0, 0, 0}},
                                                {ImGuiCol_TitleBg, ink(t.raised)},
                                                {ImGuiCol_TitleBgActive, ink(t.raised)},
                                                {ImGuiCol_TitleBgCollapsed, ink(t.raised)},
                                                {ImGuiCol_FrameBg, ink(t.field)},
                                                {ImGuiCol_FrameBgHovered, mixed(t.field, t.chosen, 0.5F)},
                                                {ImGuiCol_FrameBgActive, ink(t.chosen)},
                                                {ImGuiCol_Button, ink(t.raised)},
                                                {ImGuiCol_ButtonHovered, hovered},
                                                {ImGuiCol_ButtonActive, ink(t.chosen)},
                                                {ImGuiCol_Header, ink(t.chosen)},
                                                {ImGuiCol_HeaderHovered, hovered},
                                                {ImGuiCol_HeaderActive, ink(t.chosen)},
                                                {ImGuiCol_Tab, ink(t.ground)},
                                                {ImGuiCol_TabHovered, hovered},
                                                {ImGuiCol_TabActive, ink(t.chosen)},
                                                {ImGuiCol_TabUnfocused, ink(t.ground)},
                                                {ImGuiCol_TabUnfocusedActive, ink(t.chosen)},
                                                {ImGuiCol_CheckMark, ink(t.accent)},
                                                {ImGuiCol_SliderGrab, ink(t.accent)},
                                                {ImGuiCol_SliderGrabActive, ink(t.accent)},
                                                {ImGuiCol_PlotLines, ink(t.accent)},
                                                {ImGuiCol_PlotHistogram, ink(t.accent)},
                                                {ImGuiCol_TextSelectedBg, ink(t.accent, 0.4F)},
                                                {ImGuiCol_NavHighlight, ink(t.accent)},
                                                {ImGuiCol_Separator, quiet},
                                                {ImGuiCol_ScrollbarBg, ink(t.ground, 0)},
                                                {ImGuiCol_ScrollbarGrab, quiet},
                                                {ImGuiCol_ScrollbarGrabHovered, ink(t.border)},
                                                {ImGuiCol_ScrollbarGrabActive, ink(t.border)},
                                                {ImGuiCol_TableHeaderBg, ink(t.raised)},
                                                {ImGuiCol_TableRowBg, ink(t.ground, 0)},
                                                {ImGuiCol_TableRowBgAlt, ink(t.raised, 0.6F)},
                                                {ImGuiCol_TableBorderLight, quiet},
                                                {ImGuiCol_TableBorderStrong, quiet},
                                                {ImGuiCol_ModalWindowDimBg, ink(t.ground, 0.5F)}};
  for (const auto& [item, color] : colors) style.Colors[item] = color;
}

}  // namespace

void set_style(float scale, bool light) {
  ImGui::GetStyle() = ImGuiStyle();
  light ? ImGui::StyleColorsLight() : ImGui::StyleColorsDark();
  ImGuiStyle& s = ImGui::GetStyle();
  s.WindowRounding = 6;
  s.PopupRounding = 6;
  s.FrameRounding = 4;
  s.GrabRounding = 4;
  s.TabRounding = 4;
  s.ScrollbarRounding = 6;
  s.ScrollbarSize = 11;
  s.WindowBorderSize = light ? 1.0F : 0.0F;
  s.PopupBorderSize = 1;
  s.FrameBorderSize = 1;    // for unticked boxes
  s.FramePadding = {7, 5};  // 24 pixels with the font
  s.WindowPadding = {10, 9};
  s.ItemSpacing = {6, 4};
  s.WindowTitleAlign = {0, 0.5F};
  set_colors(s, theme(light));
  s.ScaleAllSizes(scale);
}

bool add_fonts(ImFontAtlas& fonts, float size, const std::set<ImWchar>& letters, ImVector<ImWchar>& ranges) {
  fonts.Clear();
  // ImGui's own font is a bitmap and does not scale.
  const char* latin = first_there({"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
                                   "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf"});
  if (latin == nullptr) fonts.AddFontDefault();
  // Only the letters in use: all of CJK would take seconds, and a texture larger than some GPUs allow.
  ImFontGlyphRangesBuilder builder;
  builder.AddRanges(fonts.GetGlyphRangesDefault());
  for (const ImWchar letter : letters) builder.AddChar(letter);
  builder.AddChar(0xFFFD);
  ranges.clear();
  builder.BuildRanges(&ranges);
  if (latin != nullptr) fonts.AddFontFromFileTTF(latin, size, nullptr, ranges.Data);
  const bool east_asian = std::any_of(letters.begin(), letters.end(), [](ImWchar c) { return c >= 0x1100; });
  // All of them: a letter is that of the first font that has it.
  for (const char* font : kEastAsianFonts) {
    if (!east_asian || first_there({font}) == nullptr) continue;
    ImFontConfig merged;
    merged.MergeMode = true;
    fonts.AddFontFromFileTTF(font, size, &merged, ranges.Data);
  }
  if (const char* icons = first_there({"/usr/share/fonts/truetype/font-awesome/fontawesome-webfont.ttf"})) {
    static constexpr ImWchar kIcons[] = {icon::kFirst, icon::kLast, 0};
    ImFontConfig merged;
    merged.MergeMode = true;
    merged.GlyphMinAdvanceX = size;  // icons below each other are aligned
    merged.GlyphOffset = {0, std::round(0.07F * size)};
    fonts.AddFontFromFileTTF(icons, size, &merged, kIcons);
  }
  fonts.Build();
  return std::all_of(letters.begin(), letters.end(),
                     [&](ImWchar letter) { return fonts.Fonts[0]->FindGlyphNoFallback(letter) != nullptr; });
}

Glfw::Glfw() {
  glfwSetErrorCallback([](int, const char* text) { last_glfw_error = text; });
  if (glfwInit() == GLFW_TRUE) return;
  // Debian's default GLFW is one for X11 alone.
  const bool wayland = std::getenv("WAYLAND_DISPLAY") != nullptr && std::getenv("DISPLAY") == nullptr;
  throw Error(ErrorKind::no_display, "no window can be opened: " + last_glfw_error, {},
              std::string(wayland ? "on Wayland start XWayland, which sets DISPLAY" : "set DISPLAY") +
                  ", or draw without a window: --output FILE.png");
}

Glfw::~Glfw() {
  glfwTerminate();
}

const std::string& Glfw::last_error() {
  return last_glfw_error;
}

Gui::Gui(GLFWwindow* window, double scale) : window_(window), given_scale_(static_cast<float>(scale)) {
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;
  ImGui_ImplGlfw_InitForOpenGL(window, true);
  ImGui_ImplOpenGL3_Init("#version 450 core");
}

float Gui::wanted_scale() const {
  if (given_scale_ > 0) return given_scale_;
  float x = 1, y = 1;
  glfwGetWindowContentScale(window_, &x, &y);
  return std::clamp(std::max(x, y), 0.5F, 4.0F);
}

void Gui::need_letters(const std::string& text) {
  for (std::string_view rest = text; !rest.empty();) {
    const auto [code, bytes] = base::decode_utf8(rest);
    rest.remove_prefix(std::max<std::size_t>(bytes, 1));
    // Latin letters are always there.
    if (code > 0xFF && code < 0x10000 && letters_.insert(static_cast<ImWchar>(code)).second) stale_ = true;
  }
}

void Gui::load_fonts() {
  const bool all = add_fonts(*ImGui::GetIO().Fonts, std::round(kFontSize * scale_), letters_, ranges_);
  lacks_new_ = lacks_new_ || !all;
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
}

Gui::~Gui() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
}

bool Gui::close_menus() {
  if (!ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel)) return false;
  ImGui::ClosePopupToLevel(0, true);
  return true;
}

bool Gui::covers(double x, double y) {
  // An open menu takes every click.
  if (ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel)) return true;
  const ImVec2 place(static_cast<float>(x), static_cast<float>(y));
  const ImVector<ImGuiWindow*>& panels = ImGui::GetCurrentContext()->Windows;
  return std::any_of(panels.begin(), panels.end(), [&](const ImGuiWindow* panel) {
    return panel->Active && !panel->Hidden && (panel->Flags & ImGuiWindowFlags_NoMouseInputs) == 0 &&
           panel->OuterRectClipped.Contains(place);
  });
}

void Gui::begin_frame(bool light) {
  const float scale = wanted_scale();
  if (stale_ || scale != scale_) {
    scale_ = scale;
    load_fonts();
    set_style(scale_, light);
  } else if (light != light_) {
    set_style(scale_, light);
  }
  stale_ = false;
  light_ = light;
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
}

void Gui::end_frame() {
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

std::string key_name(int key) {
  if (key >= GLFW_KEY_F1 && key <= GLFW_KEY_F25) return "F" + std::to_string(key - GLFW_KEY_F1 + 1);
  if (key >= GLFW_KEY_KP_0 && key <= GLFW_KEY_KP_9) return "Num " + std::to_string(key - GLFW_KEY_KP_0);
  if (key == GLFW_KEY_KP_DECIMAL) return "Num .";
  if (key == GLFW_KEY_KP_ADD) return "Num +";
  if (key == GLFW_KEY_KP_SUBTRACT) return "Num -";
  if (key == GLFW_KEY_TAB) return "Tab";
  if (key == GLFW_KEY_SPACE) return "Space";
  if (key > GLFW_KEY_SPACE && key <= GLFW_KEY_GRAVE_ACCENT) return {static_cast<char>(key)};  // ASCII
  constexpr std::array<const char*, 4> kFromDown{"Down", "Up", "Page Up", "Page Down"};
  if (key >= GLFW_KEY_DOWN && key <= GLFW_KEY_PAGE_DOWN)
    return kFromDown[static_cast<std::size_t>(key - GLFW_KEY_DOWN)];
  if (key == GLFW_KEY_BACKSPACE) return "Backspace";
  if (key == GLFW_KEY_HOME) return "Home";
  if (key == GLFW_KEY_ENTER || key == GLFW_KEY_KP_ENTER) return "Enter";
  return key == GLFW_KEY_ESCAPE ? "Escape" : "";
}

std::string drag_name(int button) {
  return button == GLFW_MOUSE_BUTTON_LEFT    ? "left drag"
         : button == GLFW_MOUSE_BUTTON_RIGHT ? "right drag"
                                             : "middle drag";
}

}  // namespace raylift::viewer
