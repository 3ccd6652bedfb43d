// SPDX-License-Identifier: Apache-2.0
// The docked panels of a window: each at the place that dock_layout() has for it, which can be folded and closed. Dear
// ImGui; no window.
#pragma once

#include <array>
#include <cstdint>

#include "window/layout/dock_layout.h"

namespace raylift::viewer {

class Docks {
 public:
  /// Places what is open, within an ImGui frame: before the first begin().
  void place(float width, float height, bool toolbar, const std::array<bool, kPanels>& open);
  /// Begins a panel; true: add its content. In any case end() follows. A click on its cross clears `open`.
  bool begin(Panel panel, const char* title, bool& open);
  /// `more`: the height that the content would have beyond what it takes now, px.
  void end(Panel panel, float more = 0);
  /// Unfolds a panel, and keeps it open before the others.
  void use(Panel panel);
  /// Whether it is less high than its content needs, and than so many units.
  [[nodiscard]] bool squeezed(Panel panel, float units) const;
  /// Whether its content is seen.
  [[nodiscard]] bool shown(Panel panel) const;
  [[nodiscard]] const DockLayout& layout() const { return layout_; }
  /// Whether the places fit the panels as they were drawn: else the next image differs. True after some images in any
  /// case, so that panels whose height follows from their place end.
  [[nodiscard]] bool settled() const { return !changed_ || changes_ >= kMaxChanges; }

 private:
  struct State {
    float height = 300;  // of its content and title, as drawn last, units
    std::uint64_t used = 0;
    bool open = false;
    bool folded = false;  // by the user
    bool begun = false;   // in this frame
  };
  [[nodiscard]] State& of(Panel panel) { return panels_[static_cast<std::size_t>(panel)]; }

  static constexpr int kMaxChanges = 4;
  std::array<State, kPanels> panels_{};
  DockLayout layout_;
  std::uint64_t uses_ = 0, uses_before_small_ = 0;
  bool small_ = false, placed_ = false;
  bool changed_ = false;  // a panel's height, since place()
  int changes_ = 0;       // images in a row with such a change
};

}  // namespace raylift::viewer
