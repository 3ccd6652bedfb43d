// SPDX-License-Identifier: Apache-2.0
// The rows of the tree of solids, and marks that distinguish equal names. No GL.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "model/solids/solids.h"

namespace raylift::viewer {

struct TreeRow {
  std::uint32_t node;      ///< kNone: of an instance without a node
  std::uint32_t instance;  ///< kNone: of a node without one
  int depth;
  bool open;
  bool has_children;
  std::string mark;  ///< before the name: "#12  ", a copy number, or "(3)  ", the third of that name; else empty
};

/// The rows of the nodes whose mothers are all open, in the file's order.
[[nodiscard]] std::vector<TreeRow> tree_rows(const Solids& solids, const std::unordered_set<std::uint32_t>& open);

/// A row for each of the first `most` solids.
[[nodiscard]] std::vector<TreeRow> found_rows(const Solids& solids, std::span<const std::uint32_t> found,
                                              std::size_t most);

}  // namespace raylift::viewer
