// SPDX-License-Identifier: Apache-2.0
#include "gui.h"

#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>
#include <raylift/geometry/error.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace raylift::viewer {
namespace {

std::string last_glfw_error;

void set_style(float scale) {
  ImGui::StyleColorsDark();
  ImGuiStyle& s = ImGui::GetStyle();
  s.WindowRounding = 7;
  s.FrameRounding = 4;
  s.GrabRounding = 4;
  s.TabRounding = 4;
  s.ScrollbarRounding = 6;
  s.WindowBorderSize = 0;
  s.WindowPadding = {10, 9};
  s.ItemSpacing = {7, 5};
  s.Colors[ImGuiCol_WindowBg] = {0.085F, 0.095F, 0.11F, 0.88F};
  s.Colors[ImGuiCol_TitleBg] = s.Colors[ImGuiCol_TitleBgActive] = {0.11F, 0.125F, 0.15F, 0.95F};
  s.Colors[ImGuiCol_FrameBg] = {0.18F, 0.20F, 0.24F, 0.9F};
  s.Colors[ImGuiCol_Header] = {0.24F, 0.36F, 0.52F, 0.75F};
  s.Colors[ImGuiCol_Button] = {0.22F, 0.27F, 0.34F, 0.9F};
  s.ScaleAllSizes(scale);
}

}  // namespace

Glfw::Glfw() {
  glfwSetErrorCallback([](int, const char* text) { last_glfw_error = text; });
  if (glfwInit() != GLFW_TRUE)
    throw Error(ErrorKind::no_display, "no window can be opened: " + last_glfw_error, {},
                "set DISPLAY, or draw without a window: --output FILE.png");
}

Glfw::~Glfw() {
  glfwTerminate();
}

const std::string& Glfw::last_error() {
  return last_glfw_error;
}

Gui::Gui(GLFWwindow* window) {
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  float x = 1, y = 1;
  glfwGetWindowContentScale(window, &x, &y);
  const float scale = std::clamp(std::max(x, y), 1.0F, 3.0F);
  // ImGui's own font is a bitmap and does not scale.
  for (const char* font : {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
                           "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf"}) {
    std::error_code ignored;
    if (!std::filesystem::exists(font, ignored)) continue;
    io.Fonts->AddFontFromFileTTF(font, std::round(14 * scale));
    break;
  }
  set_style(scale);
  ImGui_ImplGlfw_InitForOpenGL(window, true);
  ImGui_ImplOpenGL3_Init("#version 450 core");
}

Gui::~Gui() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  ImGui::DestroyContext();
}

void Gui::begin_frame() {
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  ImGui::NewFrame();
}

void Gui::end_frame() {
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

}  // namespace raylift::viewer
