// SPDX-License-Identifier: Apache-2.0
// How solids appear: hidden, in a style of their own, faint where they hide others, and the Look that follows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "state/shown/selection.h"

namespace raylift::viewer {

class Appearance {
 public:
  Appearance(ShownScene& shown, Selection& selection) : shown_(shown), selection_(selection) {}

  /// The Look of each solid.
  [[nodiscard]] const std::vector<std::uint8_t>& looks() const;
  /// Raised by each change of looks().
  [[nodiscard]] std::uint64_t version() const {
    (void)looks();
    return version_;
  }
  /// Draws these solids faintly, and no others for that reason.
  void set_in_the_way(std::vector<std::uint32_t> instances) { in_the_way_ = std::move(instances); }
  /// Forgets the looks of the scene before.
  void reset();

  void hide_selection(bool stays_selected = false);
  /// Sets the style of the selected solids.
  void set_style(Style style);
  /// Sets the opacity of the selected solids that are glass, as Solids::slide_opacity does.
  void slide_opacity(double opacity);
  /// Gives these solids a colour of their own; all calls until end_slide() are one change.
  void slide_color(std::span<const std::uint32_t> solids, std::uint32_t color);
  void end_slide();
  /// Sets the opacity of all solids that are glass.
  void set_glass(double opacity);
  /// Draws all but the selected solids faintly; resets all styles where there are some.
  void ghost_others();
  /// Undoes the last change of what is hidden, or of styles.
  void undo();

 private:
  struct Key {
    std::uint64_t solids = 0;
    bool opened = false;
    Shells shells = Shells::faint;
    std::vector<std::uint32_t> in_the_way;
    friend bool operator==(const Key&, const Key&) = default;
  };

  ShownScene& shown_;
  Selection& selection_;
  std::vector<std::uint32_t> in_the_way_;  // of the last focus
  mutable std::optional<Key> looks_of_;
  mutable std::vector<std::uint8_t> looks_;
  mutable std::uint64_t version_ = 0;
};

}  // namespace raylift::viewer
