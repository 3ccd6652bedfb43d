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

std::string utf8_from_utf16(std::string_view bytes, bool big_endian) {
  constexpr char32_t kReplacement = 0xFFFD;
  const auto unit = [&](std::size_t at) -> char32_t {
    const auto byte = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(bytes[at + i])); };
    return big_endian ? byte(0) << 8 | byte(1) : byte(1) << 8 | byte(0);
  };
  std::string text;
  const auto append = [&text](char32_t point) {
    const auto add = [&text](char32_t byte) { text += static_cast<char>(byte); };
    if (point < 0x80) return add(point);
    if (point < 0x800) {
      add(0xC0 | point >> 6);
    } else {
      if (point < 0x10000) {
        add(0xE0 | point >> 12);
      } else {
        add(0xF0 | point >> 18);
        add(0x80 | (point >> 12 & 0x3F));
      }
      add(0x80 | (point >> 6 & 0x3F));
    }
    add(0x80 | (point & 0x3F));
  };
  std::size_t at = 0;
  for (; at + 2 <= bytes.size(); at += 2) {
    char32_t point = unit(at);
    if (point >= 0xD800 && point < 0xDC00 && at + 4 <= bytes.size() && unit(at + 2) >> 10 == 0xDC00 >> 10) {
      point = 0x10000 + ((point - 0xD800) << 10) + (unit(at + 2) - 0xDC00);
      at += 2;
    }
    append(point >= 0xD800 && point < 0xE000 ? kReplacement : point);
  }
  if (at != bytes.size()) append(kReplacement);
  return text;
}

}  // namespace raylift::base
