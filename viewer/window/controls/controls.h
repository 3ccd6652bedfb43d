// SPDX-License-Identifier: Apache-2.0
// Keys and mouse gestures: one table, from which the window's handler, its help and docs/viewer.md come.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "state/control_target.h"

namespace raylift::viewer {

/// The event that a control acts on.
struct ControlEvent {
  Cursor cursor;
  double dx = 0, dy = 0;  ///< of a drag since the last event, in pixels
  double steps = 0;       ///< of the wheel
  std::string_view key;   ///< without modifiers
  double seconds = 0;     ///< that a key was held since the last event
  bool shift = false;
  bool alt = false;
  std::size_t face = 0;           ///< of the clipping box, whose handle is dragged
  Eigen::Vector3d axis{0, 0, 0};  ///< of the gizmo, whose end is clicked
};

struct Control {
  enum class Kind { key, held_key, drag, wheel, click };
  enum class Group { view, selection, appearance, clip, light, files, window };
  using Action = std::variant<void (*)(Settings&), void (*)(ViewerState&), void (*)(Camera&, const ControlEvent&),
                              void (*)(const ControlTarget&, const ControlEvent&)>;
  Group group;
  Kind kind;
  std::vector<std::string_view> names;  ///< "Ctrl+Q", "left drag"
  std::string_view help;
  Action action;
  bool while_typing = false;    ///< also while a text field has the keyboard
  std::string_view shown = {};  ///< the names of many keys as help has them: "0 to 9"
  /// By MouseScheme: the names of a gesture, where schemes differ; none: it has no gesture in that scheme.
  std::array<std::vector<std::string_view>, kMouseSchemeNames.size()> by_scheme = {};

  void act(const ControlTarget& target, const ControlEvent& event) const;
  [[nodiscard]] bool differs_by_scheme() const { return names.empty(); }
  [[nodiscard]] const std::vector<std::string_view>& names_in(MouseScheme scheme) const;
  /// The names as help has them: "R, F5"; empty where the scheme has none.
  [[nodiscard]] std::string all_names(MouseScheme scheme = MouseScheme::raylift) const;
};

inline constexpr std::array<std::string_view, 7> kControlGroupNames{
    "View", "Selection", "Appearance", "Clip and measure", "Light", "Files and bookmarks", "Window"};

/// By their groups, in their order.
[[nodiscard]] const std::vector<Control>& controls();

/// The control of a key or gesture; modifiers that are in no control's name do not count, but
/// for Ctrl with a key. Null where there is none.
[[nodiscard]] const Control* find_control(Control::Kind kind, std::string_view name, bool control, bool shift,
                                          MouseScheme scheme = MouseScheme::raylift);

}  // namespace raylift::viewer
