// SPDX-License-Identifier: Apache-2.0
#include "collada_text.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/huge_pages.h"
#include "base/parse_number.h"

namespace raylift::collada {
namespace {

constexpr bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
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

// More digits before the point than this overflow 64-bit integers.
constexpr std::ptrdiff_t kMaxIntegerDigits = 19;

/// A real number's text, taken apart: the number is digits * 10^power unless there are more than kMaxIntegerDigits.
struct Real {
  const char* unsigned_text = nullptr;  // past the sign
  bool negative = false;
  bool special = false;       // NAN or INF
  std::ptrdiff_t count = 0;   // of digits, zeros in front too
  std::uint64_t digits = 0;   // as one integer
  std::ptrdiff_t power = 0;   // of ten
  std::ptrdiff_t stated = 0;  // the power behind the 'e' alone
};

/// Past the real number at `p`, or null where there is none.
const char* scan_real(const char* p, const char* end, Real& real) {
  real.negative = p != end && *p == '-';
  if (p != end && (*p == '-' || *p == '+')) ++p;
  const char* const integer = real.unsigned_text = p;
  const auto take_digits = [&](std::uint64_t& number) {
    while (p != end && is_digit(*p)) number = number * 10 + static_cast<std::uint64_t>(*p++ - '0');
  };
  take_digits(real.digits);
  real.count = p - integer;
  if (real.count > kMaxIntegerDigits) return nullptr;
  if (p != end && *p == '.') {
    const char* const fraction = ++p;
    take_digits(real.digits);
    real.power = fraction - p;
    real.count += p - fraction;
  }
  if (real.count == 0) {
    const char* const stop = token_end(integer, end);
    const std::string_view word(integer, static_cast<std::size_t>(stop - integer));
    real.special = equals_ignoring_case(word, "nan") || equals_ignoring_case(word, "inf") ||
                   equals_ignoring_case(word, "infinity");
    return real.special ? stop : nullptr;
  }
  if (p != end && (*p == 'e' || *p == 'E')) {
    ++p;
    const bool minus = p != end && *p == '-';
    if (p != end && (*p == '-' || *p == '+')) ++p;
    const char* const exponent = p;
    std::uint64_t number = 0;
    take_digits(number);
    if (p == exponent || p - exponent > 9) return nullptr;
    real.stated = minus ? -static_cast<std::ptrdiff_t>(number) : static_cast<std::ptrdiff_t>(number);
    real.power += real.stated;
  }
  return p == end || is_space(*p) ? p : nullptr;
}

/// The number in double, within two units in its last place; nothing where its digits or powers are too many for that.
std::optional<double> approximate(const Real& real) {
  constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};  // exact
  if (real.count > kMaxIntegerDigits || std::abs(real.power) > 22) return std::nullopt;
  const auto digits = static_cast<double>(real.digits);
  return real.power < 0 ? digits / kPowers[-real.power] : digits * kPowers[real.power];
}

/// What is infinite as a float, or zero. `to` is the number's end.
float out_of_range(const Real& real, const char* to) {
  const std::string_view text(real.unsigned_text, static_cast<std::size_t>(to - real.unsigned_text));
  const auto point = std::min(text.find_first_of(".eE"), text.size());
  const auto first = text.find_first_of("123456789");
  const std::ptrdiff_t magnitude =
      static_cast<std::ptrdiff_t>(point) - static_cast<std::ptrdiff_t>(first) + real.stated;
  return magnitude > 0 ? std::numeric_limits<float>::infinity() : 0.0F;
}

float special_value(const Real& real) {
  if ((*real.unsigned_text | 0x20) == 'n') return std::numeric_limits<float>::quiet_NaN();
  return real.negative ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
}

/// The float nearest to the number, whose text ends at `to`.
float nearest_float(const Real& real, const char* to) {
  float value = 0;
  const std::optional<double> near = approximate(real);
  // A double rounds to the same float as the number itself, unless the boundary between two floats is between them.
  // Doubles there have these bits, and all that were approximated are zero or in the range of normal floats.
  constexpr std::uint64_t kBoundary = std::uint64_t{1} << 28;
  constexpr std::uint64_t kBelowFloat = 2 * kBoundary - 1;
  constexpr std::uint64_t kMargin = 4;
  if (near && *near < 1e38 &&
      (std::bit_cast<std::uint64_t>(*near) & kBelowFloat) - (kBoundary - kMargin) > 2 * kMargin) {
    value = static_cast<float>(*near);
  } else {
    std::string_view text(real.unsigned_text, static_cast<std::size_t>(to - real.unsigned_text));
    if (base::read_number(text, value) == std::errc::result_out_of_range) value = out_of_range(real, to);
  }
  return real.negative ? -value : value;
}

/// Past the real number at `p`, which goes to `value`, or null where there is none.
const char* read_real(const char* p, const char* end, float& value) {
  Real real;
  const char* const to = scan_real(p, end, real);
  if (to != nullptr) value = real.special ? special_value(real) : nearest_float(real, to);
  return to;
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

/// The beginnings of numbers.
std::uint64_t count_tokens(std::string_view text) {
  std::uint64_t count = !text.empty() && !is_space(text.front()) ? 1U : 0U;
  for (std::size_t i = 1; i < text.size(); ++i) count += !is_space(text[i]) && is_space(text[i - 1]) ? 1U : 0U;
  return count;
}

/// Pieces of a text, and the number of tokens before each of them; one more for their sum.
struct Pieces {
  std::vector<std::string_view> texts;
  std::vector<std::uint64_t> before;

  explicit Pieces(std::string_view text) : texts(pieces(text)), before(texts.size() + 1) {
    tbb::parallel_for(std::size_t{0}, texts.size(), [&](std::size_t i) { before[i + 1] = count_tokens(texts[i]); });
    std::partial_sum(before.begin(), before.end(), before.begin());
  }

  /// Has `read(p, end, number)` read each token, which returns where it ends, or null where it is bad. Returns the
  /// first bad one.
  template <class Read>
  std::optional<std::string> read(const Read& read) const {
    std::vector<std::optional<std::string>> bad(texts.size());
    tbb::parallel_for(std::size_t{0}, texts.size(), [&](std::size_t i) {
      const char* p = texts[i].data();
      const char* const end = p + texts[i].size();
      const auto skip_space = [&] {
        while (p != end && is_space(*p)) ++p;
      };
      std::uint64_t number = before[i];
      for (skip_space(); p != end; skip_space()) {
        const char* const next = read(p, end, number++);
        if (next == nullptr) {
          bad[i] = printable(p, end);
          return;
        }
        p = next;
      }
    });
    const auto first = std::find_if(bad.begin(), bad.end(), [](const auto& one) { return one.has_value(); });
    return first == bad.end() ? std::nullopt : std::move(*first);
  }
};

}  // namespace

Floats read_floats(std::string_view text, bool rests) {
  const Pieces pieces(text);
  Floats result;
  base::reserve_huge(result.values, pieces.before.back());
  result.values.resize(pieces.before.back());
  result.bad = pieces.read(
      [&](const char* p, const char* end, std::uint64_t number) { return read_real(p, end, result.values[number]); });
  if (!rests || result.bad) return result;
  result.rests.resize(result.values.size());
  (void)pieces.read([&](const char* p, const char* end, std::uint64_t number) {
    Real real;
    const char* const next = scan_real(p, end, real);
    if (*p == '+') ++p;
    std::string_view word(p, static_cast<std::size_t>(next - p));
    double value = 0;
    const double rounded = static_cast<double>(result.values[number]);
    if (base::read_number(word, value) == std::errc() && std::isfinite(value) && std::isfinite(rounded))
      result.rests[number] = static_cast<float>(value - rounded);
    return next;
  });
  return result;
}

std::optional<float> read_float(std::string_view word) {
  float value = 0;
  const char* const end = word.data() + word.size();
  return read_real(word.data(), end, value) == end && !word.empty() ? std::optional(value) : std::nullopt;
}

IndexScan read_indices(std::string_view text, std::size_t stride, std::size_t position,
                       std::vector<std::uint32_t>& taken) {
  const Pieces pieces(text);
  IndexScan result;
  result.count = pieces.before.back();
  const std::size_t first = taken.size();
  const std::size_t points = result.count / stride;
  if (first == 0) base::reserve_huge(taken, points);
  taken.resize(first + points);
  result.bad = pieces.read([&](const char* p, const char* end, std::uint64_t number) {
    std::uint32_t value = 0;
    const char* const next = skip_index(p, end, value);
    if (number % stride == position && number / stride < points) taken[first + number / stride] = value;
    return next;
  });
  for (std::size_t i = first; i != taken.size(); ++i) result.largest = std::max(result.largest, taken[i]);
  return result;
}

std::optional<std::vector<double>> read_reals(std::string_view text) {
  std::vector<double> result;
  const char* p = text.data();
  const char* const end = p + text.size();
  for (;;) {
    while (p != end && is_space(*p)) ++p;
    if (p == end) return result;
    Real real;
    const char* const next = scan_real(p, end, real);
    if (next == nullptr) return std::nullopt;
    double value = 0;
    if (*p == '+') ++p;
    std::string_view number(p, static_cast<std::size_t>(next - p));
    const std::errc error = base::read_number(number, value);
    if (error == std::errc::result_out_of_range)
      value = std::numeric_limits<double>::infinity();
    else if (error != std::errc())
      return std::nullopt;
    result.push_back(value);
    p = next;
  }
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b; });
}

bool is_blank(std::string_view text) {
  return std::all_of(text.begin(), text.end(), is_space);
}

}  // namespace raylift::collada
