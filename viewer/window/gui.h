// SPDX-License-Identifier: Apache-2.0
// GLFW's library and Dear ImGui, each as an object that ends what it began.
#pragma once

#include <imgui.h>

#include <set>
#include <string>

struct GLFWwindow;

namespace raylift::viewer {

class Glfw {
 public:
  /// Throws Error(no_display).
  Glfw();
  ~Glfw();
  Glfw(const Glfw&) = delete;
  Glfw& operator=(const Glfw&) = delete;
  /// GLFW's description of the last error.
  [[nodiscard]] static const std::string& last_error();
};

/// The look of the panels, at a scale of font and lengths.
void set_style(float scale, bool light);

/// Fills an atlas with the Latin letters and these others, so high in pixels. East Asian ones need a font that is not
/// everywhere: false where some are wanted and there is none. `ranges` must outlive the atlas.
bool add_fonts(ImFontAtlas& fonts, float size, const std::set<ImWchar>& letters, ImVector<ImWchar>& ranges);

/// Dear ImGui on a window, whose context must be current.
class Gui {
 public:
  /// `scale`: of font and panels; 0: the content scale of the window's monitor.
  Gui(GLFWwindow* window, double scale);
  ~Gui();
  Gui(const Gui&) = delete;
  Gui& operator=(const Gui&) = delete;

  /// Whether panels take what the mouse does at a place, in pixels of the window: by where they are in the last frame,
  /// not by where the cursor was then. So it holds for an event between two frames, however far apart they are.
  [[nodiscard]] static bool takes(double x, double y);

  void begin_frame(bool light);
  void end_frame();
  /// Makes the letters of a text, UTF-8, available from the next frame on: Greek, Cyrillic, and with a font for it CJK.
  void need_letters(const std::string& text);

 private:
  [[nodiscard]] float wanted_scale() const;
  void load_fonts();

  GLFWwindow* window_;
  float given_scale_, scale_ = 0;
  bool light_ = false;
  bool stale_ = true;
  std::set<ImWchar> letters_;
  ImVector<ImWchar> ranges_;
};

}  // namespace raylift::viewer
