// SPDX-License-Identifier: Apache-2.0
// Sizes and items that several panels use, and the panels that only one function draws.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "state/frame_scheduler.h"
#include "state/viewer_state.h"
#include "window/controls.h"
#include "window/dock_layout.h"

namespace raylift::viewer {

/// Lengths are in pixels at scale 1, where the font is kFontSize high; em() gives those of this window.
inline constexpr float kFontSize = 14;
[[nodiscard]] float em(float length);

inline constexpr float kSelectionWidth = 390;
inline constexpr float kMeasuredWidth = 330;

/// Whether a window is so small that panels begin closed, as their titles.
[[nodiscard]] bool is_small(float width, float height);
/// Whether the theme has dark letters on a light ground.
[[nodiscard]] bool is_light();
/// A panel's width in a window: its own, or nearly half of the window's.
[[nodiscard]] float panel_width(float own, float width);

/// Controls; `help` appears while the mouse rests on them. With `why_not` they are greyed out, and show that instead.
bool button(const char* label, const char* help);
/// The same, beside the last item where the panel has room for it.
bool button_beside(const char* label, const char* help);
bool checkbox(const char* label, bool& value, const char* help, const char* why_not = nullptr);
bool slider(const char* label, float& value, float least, float most, const char* format, const char* help,
            const char* why_not = nullptr);
/// A line that can be chosen.
bool list_row(const char* label, const std::string& help, const std::string& why_not);
/// The arrow of a tree's row.
bool arrow(const char* label, bool open);
/// Begins a list to choose from; true: add its items, then ImGui::EndCombo().
bool begin_list(const char* label, const char* shown, const char* help);
/// The number of the name that was chosen.
[[nodiscard]] std::size_t choose_name(const char* label, std::span<const std::string_view> names, std::size_t chosen,
                                      const char* help);
/// A list to choose an enumeration's value from, by its name.
template <class Enum, std::size_t N>
bool choose(const char* label, const std::array<std::string_view, N>& names, Enum& chosen, const char* help) {
  const auto before = static_cast<std::size_t>(chosen), now = choose_name(label, names, before, help);
  chosen = static_cast<Enum>(now);
  return now != before;
}

/// Three numbers, mm; true once they were typed.
bool point_field(const char* label, Double3& point, const char* help);
/// True once the text has changed, or the enter key ended it.
bool text_field(const char* label, const char* hint, std::span<char> buffer, const char* help,
                bool until_enter = false);

/// Goes on in the same line, where the second of two checkboxes stands.
void second_column();
/// With the letter µ for the u that stands for it: "20 us".
[[nodiscard]] std::string with_micro(std::string words);
/// What the last control does, while the mouse rests on it.
void tip(const std::string& words);
void text(const std::string& words);
/// The same in the colour of errors.
void text_error(const std::string& words);
/// A text, wrapped at the panel's edge.
void wrapped(const std::string& words);

/// Begins a table of facts. False where it is not visible; else fact() adds lines until ImGui::EndTable().
bool begin_facts(const char* id);
void fact(const char* name, const std::string& value);
void point_fact(const char* name, const Double3& point);

/// Begins a panel at the lower edge of a window, from `left` on: so wide, if there is room, and as high as it needs, up
/// to a share of the window, where it scrolls. End it with ImGui::End() in any case.
bool begin_lower_panel(const char* title, float wide, float left, float width, float height, float share = 0.36F);

/// The left edge of a selection's panel, which leaves the axes free.
[[nodiscard]] float selection_left(const ViewerState& state, float height);

/// Within a tab: the file's facts, and whether it is watertight.
void draw_facts(const ViewerState& state);
/// Within a tab: OpenGL, the device, and where each array lies.
void draw_device(const ViewerState& state, const FrameScheduler& frames);
/// Panels of their own.
/// Whether a panel is open, and its lower edge.
struct PanelPlace {
  bool open = false;
  float below = 0;
};
/// The clipping box with its handles, over the image and under the panels.
void draw_clip_handles(const ViewerState& state, float width, float height);
PanelPlace draw_image_settings(ViewerState& state, WindowLayout& layout, float width);
/// From `left` on, at the lower edge.
void draw_selection(ViewerState& state, float left, float width, float height);
void draw_measured(ViewerState& state, float left, float width, float height);

}  // namespace raylift::viewer
