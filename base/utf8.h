// SPDX-License-Identifier: Apache-2.0
// UTF-8, decoded strictly.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace raylift::base {

/// A code point and the number of its bytes; 0 bytes where the text does not begin with UTF-8.
struct Utf8Point {
  char32_t point = 0;
  std::size_t bytes = 0;
};

/// The code point at the beginning of a text that is not empty. Overlong forms, surrogates and values beyond U+10FFFF
/// are not UTF-8.
[[nodiscard]] Utf8Point decode_utf8(std::string_view text) noexcept;

/// Whether all of the text is UTF-8.
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// A text in UTF-16, in UTF-8. Halves of surrogate pairs and a byte too many become U+FFFD.
[[nodiscard]] std::string utf8_from_utf16(std::string_view bytes, bool big_endian);

}  // namespace raylift::base
