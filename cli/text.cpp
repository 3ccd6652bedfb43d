// SPDX-License-Identifier: Apache-2.0
#include "text.h"

#include <fmt/format.h>

#include <algorithm>

namespace raylift::cli {
namespace {

/// A code point and the number of its bytes; 0 bytes where they are not UTF-8.
struct Decoded {
  char32_t point = 0;
  std::size_t bytes = 0;
};

Decoded decode(std::string_view text) {
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

bool acts_on_terminals(char32_t point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || (point >= 0x200E && point <= 0x200F) ||
         (point >= 0x2028 && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069) || point == 0xFEFF;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto [point, bytes] = decode(text);
    if (bytes == 0)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    else if (point == '\n')
      result += "\\n";
    else if (point == '\t')
      result += "\\t";
    else if (point < 0x80 && acts_on_terminals(point))
      result += fmt::format("\\x{:02x}", static_cast<unsigned>(point));
    else if (acts_on_terminals(point))
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(point));
    else
      result += text.substr(0, bytes);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return result;
}

std::size_t columns(std::string_view text) noexcept {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

std::string grouped(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t i = digits.size(); i > 3;) digits.insert(i -= 3, ",");
  return digits;
}

std::string short_number(double value) {
  return fmt::format("{:.6g}", value == 0 ? 0.0 : value);
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return grouped(count) + ' ' + std::string(count == 1 ? one : many);
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> items;
  while (true) {
    const std::size_t comma = text.find(',');
    items.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace raylift::cli
