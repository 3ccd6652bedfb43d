// SPDX-License-Identifier: Apache-2.0
// Keys and mouse gestures: one table, from which the window's handler, its help and docs/viewer.md come.
#pragma once

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
  std::string_view key;   ///< of a held key
  double seconds = 0;     ///< that a key was held since the last event
  bool shift = false;
  std::size_t face = 0;  ///< of the clipping box, whose handle is dragged
};

struct Control {
  enum class Kind { key, held_key, drag, wheel, click };
  using Action = std::variant<void (*)(Settings&), void (*)(ViewerState&), void (*)(Camera&, const ControlEvent&),
                              void (*)(const ControlTarget&, const ControlEvent&)>;
  Kind kind;
  std::vector<std::string_view> names;  ///< "Ctrl+Q", "left drag"
  std::string_view help;
  Action action;
  bool while_typing = false;  ///< also while a text field has the keyboard

  void act(const ControlTarget& target, const ControlEvent& event) const;
  /// The names as help has them: "R, F5".
  [[nodiscard]] std::string all_names() const;
};

[[nodiscard]] const std::vector<Control>& controls();

/// The control of a key or gesture; modifiers that are in no control's name do not count. Null where there is none.
[[nodiscard]] const Control* find_control(Control::Kind kind, std::string_view name, bool control, bool shift);

}  // namespace raylift::viewer
