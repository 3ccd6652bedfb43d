// SPDX-License-Identifier: Apache-2.0
#include "utf8.h"

namespace raylift::base {

Utf8Point decode_utf8(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
  char32_t point = first & (0x7FU >> bytes);
  for (std::size_t i = 1; i != bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    point = (point << 6U) | (byte(i) & 0x3FU);
  }
  // Overlong, a surrogate, or beyond Unicode.
  if ((bytes == 3 && point < 0x800) || (bytes == 4 && point < 0x10000) || (point >= 0xD800 && point < 0xE000) ||
      point > 0x10FFFF)
    return {};
  return {point, bytes};
}

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t bytes = decode_utf8(text).bytes;
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

}  // namespace raylift::base
