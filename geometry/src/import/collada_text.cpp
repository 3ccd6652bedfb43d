// SPDX-License-Identifier: Apache-2.0
#include "collada_text.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace raylift::inline v0_1::collada {
namespace {

constexpr bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b; });
}

/// The end of the token that starts at `p`.
const char* token_end(const char* p, const char* end) {
  while (p != end && !is_space(*p)) ++p;
  return p;
}

std::string printable(const char* p, const char* end) {
  std::string token(p, std::min<std::ptrdiff_t>(token_end(p, end) - p, 40));
  for (char& c : token)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7F) c = '?';
  return token;
}

// More digits before the point than this overflow the 64-bit integers that readers of numbers use, Assimp's among them.
constexpr std::ptrdiff_t kMostIntegerDigits = 19;

/// Past the real number at `p`, or null where there is none.
const char* skip_real(const char* p, const char* end) {
  const char* const start = p;
  if (p != end && (*p == '-' || *p == '+')) ++p;
  const char* const integer = p;
  while (p != end && is_digit(*p)) ++p;
  std::ptrdiff_t digits = p - integer;
  if (digits > kMostIntegerDigits) return nullptr;
  if (p != end && *p == '.') {
    const char* const fraction = ++p;
    while (p != end && is_digit(*p)) ++p;
    digits += p - fraction;
  }
  if (digits == 0) {
    const char* const stop = token_end(start, end);
    const std::string_view word(integer, static_cast<std::size_t>(stop - integer));
    const bool special = p == integer && (equals_ignoring_case(word, "nan") || equals_ignoring_case(word, "inf") ||
                                          equals_ignoring_case(word, "infinity"));
    return special ? stop : nullptr;
  }
  if (p != end && (*p == 'e' || *p == 'E')) {
    ++p;
    if (p != end && (*p == '-' || *p == '+')) ++p;
    const char* const exponent = p;
    while (p != end && is_digit(*p)) ++p;
    if (p == exponent || p - exponent > 9) return nullptr;
  }
  return p == end || is_space(*p) ? p : nullptr;
}

/// Past the index at `p`, whose value goes to `value`, or null where there is none.
const char* skip_index(const char* p, const char* end, std::uint32_t& value) {
  if (*p == '+') ++p;
  const char* const start = p;
  std::uint64_t number = 0;
  while (p != end && is_digit(*p)) number = number * 10 + static_cast<std::uint64_t>(*p++ - '0');
  if (p == start || p - start > 10 || number > std::numeric_limits<std::uint32_t>::max()) return nullptr;
  value = static_cast<std::uint32_t>(number);
  return p == end || is_space(*p) ? p : nullptr;
}

/// Cuts a text into pieces of about a megabyte, between tokens.
std::vector<std::string_view> pieces(std::string_view text) {
  constexpr std::size_t kPiece = 1U << 20;
  std::vector<std::string_view> result;
  while (text.size() > kPiece) {
    const auto* const cut = token_end(text.data() + kPiece, text.data() + text.size());
    const auto length = static_cast<std::size_t>(cut - text.data());
    result.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  result.push_back(text);
  return result;
}

template <class Scan, class Piece>
std::vector<Scan> scan_pieces(std::string_view text, const Piece& scan_piece) {
  const std::vector<std::string_view> parts = pieces(text);
  std::vector<Scan> scans(parts.size());
  tbb::parallel_for(std::size_t{0}, parts.size(), [&](std::size_t i) { scans[i] = scan_piece(parts[i]); });
  return scans;
}

}  // namespace

NumberScan scan_reals(std::string_view text) {
  const auto scan_piece = [](std::string_view piece) {
    NumberScan scan;
    const char* p = piece.data();
    const char* const end = p + piece.size();
    for (;;) {
      while (p != end && is_space(*p)) ++p;
      if (p == end) return scan;
      const char* const next = skip_real(p, end);
      if (next == nullptr) {
        scan.bad = printable(p, end);
        return scan;
      }
      p = next;
      ++scan.count;
    }
  };
  NumberScan total;
  for (NumberScan& scan : scan_pieces<NumberScan>(text, scan_piece)) {
    total.count += scan.count;
    if (scan.bad) {
      total.bad = std::move(scan.bad);
      break;
    }
  }
  return total;
}

IndexScan scan_indices(std::string_view text, std::size_t stride) {
  const auto scan_piece = [stride](std::string_view piece) {
    IndexScan scan;
    scan.largest.assign(stride, 0);
    const char* p = piece.data();
    const char* const end = p + piece.size();
    std::size_t position = 0;
    for (;;) {
      while (p != end && is_space(*p)) ++p;
      if (p == end) return scan;
      std::uint32_t value = 0;
      const char* const next = skip_index(p, end, value);
      if (next == nullptr) {
        scan.bad = printable(p, end);
        return scan;
      }
      p = next;
      scan.largest[position] = std::max(scan.largest[position], value);
      position = position + 1 == stride ? 0 : position + 1;
      ++scan.count;
    }
  };
  IndexScan total;
  total.largest.assign(stride, 0);
  for (IndexScan& scan : scan_pieces<IndexScan>(text, scan_piece)) {
    for (std::size_t i = 0; i != stride; ++i) {
      std::uint32_t& largest = total.largest[(total.count + i) % stride];
      largest = std::max(largest, scan.largest[i]);
    }
    total.count += scan.count;
    if (scan.bad) {
      total.bad = std::move(scan.bad);
      break;
    }
  }
  return total;
}

std::vector<std::uint32_t> read_indices(std::string_view text) {
  std::vector<std::uint32_t> result;
  const char* p = text.data();
  const char* const end = p + text.size();
  for (;;) {
    while (p != end && is_space(*p)) ++p;
    std::uint32_t value = 0;
    if (p == end || (p = skip_index(p, end, value)) == nullptr) return result;
    result.push_back(value);
  }
}

std::optional<std::vector<double>> read_reals(std::string_view text) {
  std::vector<double> result;
  const char* p = text.data();
  const char* const end = p + text.size();
  for (;;) {
    while (p != end && is_space(*p)) ++p;
    if (p == end) return result;
    const char* const next = skip_real(p, end);
    if (next == nullptr) return std::nullopt;
    double value = 0;
    const auto [stop, error] = std::from_chars(*p == '+' ? p + 1 : p, next, value);
    if (error == std::errc::result_out_of_range) {
      value = std::numeric_limits<double>::infinity();
    } else if (error != std::errc() || stop > next) {
      return std::nullopt;
    }
    result.push_back(value);
    p = next;
  }
}

}  // namespace raylift::inline v0_1::collada
