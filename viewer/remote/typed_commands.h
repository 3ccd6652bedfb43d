// SPDX-License-Identifier: Apache-2.0
// The verbs for a person in the window, who types them as --send takes them.
#pragma once

#include "remote/conversation.h"

namespace raylift::viewer {

/// The words of a line, separated by spaces, outside of '...' and "...".
[[nodiscard]] std::vector<std::string> words_of_line(const std::string& line);

class TypedCommands : public Commands {
 public:
  explicit TypedCommands(const ControlTarget& target);

  [[nodiscard]] const std::vector<Entry>& all() const override { return entries_; }
  void run(const std::string& line) override;
  bool serve() override;
  [[nodiscard]] bool pending() const override { return talk_.pending() || talk_.has_work(); }

 private:
  ControlTarget target_;
  std::vector<Entry> entries_;
  Conversation talk_;
};

}  // namespace raylift::viewer
