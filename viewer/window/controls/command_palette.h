// SPDX-License-Identifier: Apache-2.0
// The command palette: the actions of all keys and all verbs, found by parts of their names. No ImGui.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "window/controls/controls.h"

namespace raylift::viewer {

/// How well a text answers to what is typed; 0: not at all. Each typed word must be in the text, best at its begin or a
/// word's; or else its letters in their order, close to each other.
[[nodiscard]] int match_score(std::string_view typed, std::string_view text);

class CommandPalette {
 public:
  struct Row {
    std::string label;  ///< what it does
    std::string key;    ///< "Ctrl+Q", or the verb: "look ..."
    const Control* control = nullptr;
    const Commands::Entry* verb = nullptr;
  };

  /// `commands` may be null, and must outlive this.
  explicit CommandPalette(const Commands* commands);

  /// The rows that answer to what is typed, the best first; all, where nothing is. A text that begins with a verb and
  /// a space has this verb alone.
  void type(std::string_view text);
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }
  [[nodiscard]] std::size_t chosen() const { return chosen_; }
  void choose(std::size_t row) { chosen_ = row; }
  /// Chooses a row so many places on, within the list.
  void move(int rows);

  /// Does what the chosen row says, and returns an empty text. Of a verb that needs parameters: the text to go on with.
  [[nodiscard]] std::string enter(const ControlTarget& target, Commands* commands) const;

 private:
  std::vector<Row> all_, rows_;
  std::string typed_;
  std::size_t chosen_ = 0;
};

}  // namespace raylift::viewer
