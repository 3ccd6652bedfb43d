// SPDX-License-Identifier: Apache-2.0
// What the words mean that the window's lists, legends and panels show: one table, from which their tooltips and the
// docs come.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace raylift::viewer {

struct WordHelp {
  std::string_view where;  ///< the list, or kind, of the word
  std::string_view word, meaning;
};

inline constexpr std::string_view kColorWords = "colour by", kShellsWords = "enclosing solids", kStyleWords = "style",
                                  kRayWords = "ray casting", kSurfaceWords = "optical surface",
                                  kResidencyWords = "residency";

/// In the order of the docs.
[[nodiscard]] std::span<const WordHelp> word_helps();
/// The meaning of a word; empty where it has none.
[[nodiscard]] std::string_view meaning(std::string_view where, std::string_view word);
/// "Residency: where ...", beginning with a capital letter; empty likewise.
[[nodiscard]] std::string explained(std::string_view where, std::string_view word);

}  // namespace raylift::viewer
