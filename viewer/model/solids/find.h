// SPDX-License-Identifier: Apache-2.0
// Finds solids by text: for the window's search and the patterns of options. No GL.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/solids/solids.h"

namespace raylift::viewer {

enum class FoundBy : std::uint8_t { name, mesh, material, path, copy, channel, depth };

struct Found {
  std::vector<std::uint32_t> solids;  ///< ascending, of search() by relevance; empty: none
  std::optional<FoundBy> by;
};

/// The solids that match a text: "name:TEXT", "mesh:TEXT", "material:TEXT", "path:TEXT" or "copy:NUMBER", also
/// "#NUMBER", or "channel:NUMBER". A text with a '/' is a path. Any other is a name, or else a mesh or a material
/// inside. A text is a pattern: '*' is any text, '?' any character, '[abc]' one of these, '\\' escapes the next. A text
/// without a full match finds names, meshes, materials or paths, without Geant4's pointers, that have each of its words
/// in any part, without regard to case. A node without a solid stands for all solids below it.
[[nodiscard]] Found find(const Solids& solids, std::string_view text);
/// For a search as it is typed: the best first, by WordQuery::rank(), and the copy number and the channel are beside
/// the name. What has a wildcard, and paths, depths and numbers, are as in find().
[[nodiscard]] Found search(const Solids& solids, std::string_view text);
/// The same; throws Error(usage) without a match.
[[nodiscard]] Found find_some(const Solids& solids, std::string_view text);
/// The first node without a solid of its own whose whole name or path matches a text. kNone without a match, or if a
/// solid has that name or path.
[[nodiscard]] std::uint32_t find_group(const Solids& solids, std::string_view text);
/// "no solid's name, mesh or material matches 'x'".
[[nodiscard]] std::string nothing_matches(std::string_view text);
/// The solids that match any of these texts, ascending. Throws Error(usage) if a text has no match.
[[nodiscard]] std::vector<std::uint32_t> find_each(const Solids& solids, std::span<const std::string> texts);

/// "12 solids by material", "none found".
[[nodiscard]] std::string count_text(const Found& found);

}  // namespace raylift::viewer
