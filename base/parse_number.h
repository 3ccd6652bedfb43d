// SPDX-License-Identifier: Apache-2.0
// Numbers in texts, in any locale: digits, a leading '-', a decimal point and an exponent, as std::from_chars reads
// them.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace raylift::base {

/// Reads the number at the text's beginning into `value`, and removes it from the text. Returns the error of
/// std::from_chars: out of range removes the number too, but leaves `value` as it was. `format` is the base of an
/// integer, or a std::chars_format.
template <class Number, class... Format>
std::errc read_number(std::string_view& text, Number& value, Format... format) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, format...);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return error;
}

/// The number that the whole text is; nothing where it is none or out of range.
template <class Number, class... Format>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text, Format... format) {
  Number value{};
  if (read_number(text, value, format...) != std::errc() || !text.empty()) return std::nullopt;
  return value;
}

/// The text without a leading '+' of a number, which std::from_chars does not read.
[[nodiscard]] constexpr std::string_view without_plus(std::string_view text) {
  if (text.starts_with('+') && !text.substr(1).starts_with('-')) text.remove_prefix(1);
  return text;
}

}  // namespace raylift::base
