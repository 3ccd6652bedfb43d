// SPDX-License-Identifier: Apache-2.0
// Names as Geant4 writes them, and patterns of names.
#pragma once

#include <string>
#include <string_view>

namespace raylift {

/// A name without the pointer that Geant4's exporters append: "Water0x63556b0" is "Water". Other names are unchanged.
[[nodiscard]] std::string_view base_name(std::string_view name);

/// A name as Geant4's exporter G4DAE encodes it where '/', '#', ':' and ' ' are not allowed. It encodes names in some
/// places only.
[[nodiscard]] std::string g4dae_name(std::string_view name);

/// Whether a pattern matches all of a text: '*' is any text, '?' any character, '[abc]' one of these, and '\' escapes
/// the next character.
[[nodiscard]] bool matches(const std::string& pattern, const std::string& text);
/// The same for a name, with and without Geant4's pointer.
[[nodiscard]] bool matches_name(const std::string& pattern, const std::string& name);

/// Whether a pattern has a wildcard.
[[nodiscard]] bool has_wildcard(std::string_view pattern);
/// The pattern that matches `text` alone.
[[nodiscard]] std::string literal_pattern(std::string_view text);
/// The text that a pattern without a wildcard matches.
[[nodiscard]] std::string literal_text(std::string_view pattern);

}  // namespace raylift
