// SPDX-License-Identifier: Apache-2.0
// Sizes and items that several panels use, and the panels that only one function draws.
#pragma once

#include <imgui.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "model/colors/theme.h"
#include "state/frame_scheduler.h"
#include "state/viewer_state.h"
#include "window/controls/controls.h"

namespace raylift::viewer {

/// Lengths are in pixels at scale 1, where the font is kFontSize high; em() gives those of this window.
inline constexpr float kFontSize = 14;
[[nodiscard]] float em(float length);

/// The colours of the panels as they are now.
[[nodiscard]] const Theme& theme_now();
[[nodiscard]] ImVec4 ink(const Color& color, float alpha = 1);

/// The heading of a section; whether it is open. A click opens or closes it.
bool section(const char* title, bool& open);

/// Scrolls a panel to the section that has grown: that was opened, or in which an item made room for others.
class SectionScroll {
 public:
  /// After the items of a section, which begins at `top`. `wanted`: scroll to it in any case.
  void end(std::size_t section, float top, bool wanted);

 private:
  std::array<std::optional<float>, std::tuple_size_v<decltype(WindowLayout::sections)>> heights_{};  // units
  std::size_t last_ = 0;
  int frames_ = 0;  // that still scroll: the panel's height follows its content
};

/// At the end of a window's content: shades the edges beyond which there is more of it.
void hint_more();

struct TabItem {
  const char *icon, *word, *help;
};
/// Tabs over the panel's content, all of which are seen in any width. True once another one was chosen.
bool tabs(std::span<const TabItem> items, std::size_t& chosen);
/// The same as a narrow list, beside which there is room.
bool tab_list(std::span<const TabItem> items, std::size_t& chosen);

/// Controls; sliders, lists and text fields have their labels before them. A slider's number stands beside it, and can
/// be typed where `format` has one ("%.0f px"), up to `limit` if that is more than `most`. `help` appears while the
/// mouse rests on them. With `why_not` they are greyed out, and show that instead.
bool button(const char* label, const char* help, const char* why_not = nullptr);
/// The same, beside the last item where the panel has room for it.
bool button_beside(const char* label, const char* help, const char* why_not = nullptr);
bool checkbox(const char* label, bool& value, const char* help, const char* why_not = nullptr);
bool slider(const char* label, float& value, float least, float most, const char* format, const char* help,
            const char* why_not = nullptr, float limit = 0);
/// A square button without a border, with an icon, or with a word where the icons' font is missing.
bool tool_button(const char* icon, const char* word, const std::string& help, bool on, float side);
/// A line that can be chosen.
bool list_row(const char* label, const std::string& help, const std::string& why_not);
/// The arrow of a tree's row, so wide.
bool arrow(const char* label, bool open, float wide);
/// Whether a tree's row is shown: an eye. `partly`: some of what is below it is hidden. True once it was changed.
bool visibility_box(bool& shown, bool partly);
/// Whether the icons' font is loaded.
[[nodiscard]] bool has_icons();
/// Begins a list to choose from; true: add its items, then ImGui::EndCombo().
bool begin_list(const char* label, const char* shown, const char* help);
/// The number of the name that was chosen. `words`: where word_help.h has the names, which tooltips explain; empty:
/// they explain themselves.
[[nodiscard]] std::size_t choose_name(const char* label, std::span<const std::string_view> names, std::size_t chosen,
                                      const char* help, std::string_view words = {});
/// A list to choose an enumeration's value from, by its name.
template <class Enum, std::size_t N>
bool choose(const char* label, const std::array<std::string_view, N>& names, Enum& chosen, const char* help,
            std::string_view words = {}) {
  const auto before = static_cast<std::size_t>(chosen), now = choose_name(label, names, before, help, words);
  chosen = static_cast<Enum>(now);
  return now != before;
}

/// Three numbers, mm; true once they were typed.
bool point_field(const char* label, Double3& point, const char* help);
/// True once the text has changed, or the enter key ended it.
bool text_field(const char* label, const char* hint, std::span<char> buffer, const char* help,
                bool until_enter = false);
/// A text_field() as wide as its place but for `beside` px, whose text is selected when the cursor comes, with a button
/// that clears it.
bool search_field(const char* label, const char* hint, std::span<char> buffer, const char* help, float beside = 0);

/// Writes what stands before a field, up to a "##", in the column of labels; the next item fills the rest of the line.
void field_label(const char* label);
/// With the letter µ for the u that stands for it: "20 us".
[[nodiscard]] std::string with_micro(std::string words);
/// What the last control does, once the cursor has rested on it for a moment: beside it, never on it.
void tip(const std::string& words);
/// Seconds until the tooltip appears that the cursor waits for, in the frame that was drawn last; none: it waits for
/// none.
[[nodiscard]] std::optional<double> seconds_to_tip();
void text(const std::string& words);
/// The same in the colour of errors.
void text_error(const std::string& words);
/// A text with line breaks, at spaces, and before the names of a path that is wider than a line. ImGui also breaks a
/// line after the point of a number, and a path anywhere.
[[nodiscard]] std::string broken_lines(const std::string& words, float room);
/// A text, wrapped at the panel's edge.
void wrapped(const std::string& words);

/// Begins a table of properties. False where it is not visible; else fact() adds lines until ImGui::EndTable().
bool begin_facts(const char* id);
/// `whole`: what the tip has, where that is more than the value.
void fact(const char* name, const std::string& value, const std::string& whole = {});
/// A name, or a path, without Geant4's pointers, which the tip has.
void name_fact(const char* name, const std::string& value);
/// With a capital letter: "Box from".
[[nodiscard]] std::string capital(std::string words);
void point_fact(const char* name, const Double3& point);

/// Within a tab: the scene's properties, and whether it is watertight.
void draw_properties(const ViewerState& state);
/// Within a tab: OpenGL, the device, and where each array lies.
void draw_device(const ViewerState& state, const FrameScheduler& frames);
/// The clipping box with its handles, over the image and under the panels.
void draw_clip_handles(const ViewerState& state, float width, float height);
/// Within a popup: a picker of the colour of these solids.
void edit_color(ViewerState& state, const std::vector<std::uint32_t>& solids, const Color& shown);
/// A button that opens it for the selection, or for all of the same material or depth.
void edit_own_color(ViewerState& state, const SelectedSolids& selected);
/// The contents of panels.
void draw_image_settings(ViewerState& state, WindowLayout& layout, SectionScroll& scroll);
void draw_selection(ViewerState& state);
void draw_measured(ViewerState& state);

}  // namespace raylift::viewer
