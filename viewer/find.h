// SPDX-License-Identifier: Apache-2.0
// Solids by what somebody types: the window's search, and the patterns of options. No GL.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "solids.h"

namespace raylift::viewer {

enum class FoundBy : std::uint8_t { name, mesh, material, path, copy };

struct Found {
  std::vector<std::uint32_t> solids;  ///< ascending; empty: none
  std::optional<FoundBy> by;
};

/// The solids that a text means: "name:TEXT", "mesh:TEXT", "material:TEXT", "path:TEXT" or "copy:NUMBER", also
/// "#NUMBER". A text with a '/' is a path. Any other is a name, or else a mesh or a material inside. A text is a
/// pattern: '*' is any text, '?' any character, '[abc]' one of these, '\\' takes the next as it is. Where it matches
/// nothing in full, it is any part of the name, mesh, material or path, and case does not count. A node without a solid
/// stands for those below.
[[nodiscard]] Found find(const Solids& solids, std::string_view text);

/// "12 solids by material", "none found".
[[nodiscard]] std::string count_text(const Found& found);

}  // namespace raylift::viewer
