// SPDX-License-Identifier: Apache-2.0
// A search by words: each of them somewhere in a text, the best texts first. No GL.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace raylift::viewer {

class WordQuery {
 public:
  explicit WordQuery(std::string_view typed);
  [[nodiscard]] bool empty() const { return words_.empty(); }
  /// How well the words fit, 0 the best: the whole text; whole words or numbers; beginnings of such; any parts.
  /// nullopt: a word is nowhere in it. Without regard to case. `numbers`: that stand beside the text, of which a word
  /// may be one.
  [[nodiscard]] std::optional<int> rank(std::string_view text, const std::vector<std::string>& numbers = {}) const;

 private:
  std::string typed_;
  std::vector<std::string> words_;
};

}  // namespace raylift::viewer
