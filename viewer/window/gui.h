// SPDX-License-Identifier: Apache-2.0
// GLFW's library and Dear ImGui, each as an object that closes it, and GLFW's keys and buttons as the table of controls
// names them.
#pragma once

#include <imgui.h>

#include <set>
#include <string>
#include <utility>

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

/// Sets the theme of the panels, at a scale of font and lengths.
void set_style(float scale, bool light);

/// Fills an atlas with the Latin letters, icons where their font is installed, and these others, of `size` pixels.
/// Returns whether all these letters have a glyph in an installed font. `ranges` must outlive the atlas.
bool add_fonts(ImFontAtlas& fonts, float size, const std::set<ImWchar>& letters, ImVector<ImWchar>& ranges);

/// Dear ImGui on a window, whose context must be current.
class Gui {
 public:
  /// `scale` of font and panels; 0: the content scale of the window's monitor.
  Gui(GLFWwindow* window, double scale);
  ~Gui();
  Gui(const Gui&) = delete;
  Gui& operator=(const Gui&) = delete;

  /// Whether a panel covers a place, in pixels of the window, by the layout of the last frame. So it holds for an event
  /// between two frames, wherever the cursor was in the last one.
  [[nodiscard]] static bool covers(double x, double y);
  /// Closes the menus and pickers that are open. False: there are none.
  static bool close_menus();

  void begin_frame(bool light);
  void end_frame();
  /// Makes the letters of a text, UTF-8, available from the next frame on: Greek, Cyrillic, and with a font for it CJK.
  void need_letters(const std::string& text);
  /// Whether letters that were asked for since the last call have no installed font: they are drawn as boxes.
  [[nodiscard]] bool lacks_new_letters() { return std::exchange(lacks_new_, false); }

 private:
  [[nodiscard]] float wanted_scale() const;
  void load_fonts();

  GLFWwindow* window_;
  float given_scale_, scale_ = 0;
  bool light_ = false;
  bool stale_ = true, lacks_new_ = false;
  std::set<ImWchar> letters_;
  ImVector<ImWchar> ranges_;
};

/// The name of a key; empty for keys without a control.
[[nodiscard]] std::string key_name(int key);
[[nodiscard]] std::string drag_name(int button);

}  // namespace raylift::viewer
