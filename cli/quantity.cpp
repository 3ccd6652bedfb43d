// SPDX-License-Identifier: Apache-2.0
#include "quantity.h"

#include <fmt/format.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/upload/optics_arrays.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <utility>

#include "base/parse_number.h"
#include "base/suggest.h"
#include "base/units.h"
#include "text.h"

namespace raylift::cli {
namespace {

using base::kLengths;
using base::Unit;
using base::value_of;

constexpr std::array kDecimal{Unit{"", 1}, Unit{"k", 1e3}, Unit{"m", 1e6}, Unit{"g", 1e9}, Unit{"t", 1e12}};
constexpr std::array kBinary{Unit{"ki", 1024.0}, Unit{"mi", 1048576.0}, Unit{"gi", 1073741824.0},
                             Unit{"ti", 1099511627776.0}};
constexpr std::array kTimes{Unit{"", 1}, Unit{"s", 1}, Unit{"min", 60}, Unit{"h", 3600}};

[[noreturn]] void refuse(std::string_view text, const std::string& what) {
  throw Error(ErrorKind::usage, fmt::format("'{}' is not {}", printable(text), what));
}

/// The word after a number: lower case, without leading blanks.
std::string word_of(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return lower(text);
}

/// A finite number from the text's beginning, and the lower-case word after it.
std::optional<std::pair<double, std::string>> number_and_word(std::string_view text) {
  double number = 0;
  if (base::read_number(text, number) != std::errc() || !std::isfinite(number)) return std::nullopt;
  return std::pair(number, word_of(text));
}

/// A number times the factor of its unit; nothing where that is not a whole number of 64 bits. Numbers without point
/// and exponent are exact over the whole range, as a double's 53 bits are not.
template <class FactorOf>
std::optional<std::uint64_t> scaled(std::string_view text, bool cut_fraction, const FactorOf& factor_of) {
  std::uint64_t digits = 0;
  if (std::string_view rest = text; base::read_number(rest, digits) == std::errc()) {
    if (const std::optional<double> factor = factor_of(word_of(rest))) {
      std::uint64_t result = 0;
      if (__builtin_mul_overflow(digits, static_cast<std::uint64_t>(*factor), &result)) return std::nullopt;
      return result;
    }
  }
  const auto parsed = number_and_word(text);
  const std::optional<double> factor = parsed ? factor_of(parsed->second) : std::nullopt;
  if (!factor) return std::nullopt;
  const double value = parsed->first * *factor;
  constexpr double kEnd = 18446744073709551616.0;
  if (!(value >= 0 && value < kEnd) || (!cut_fraction && value != std::floor(value))) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

/// The shortest text of the value, among units that it is a multiple of.
std::string shortest(std::uint64_t value, std::initializer_list<std::pair<const char*, std::uint64_t>> units) {
  std::string best = std::to_string(value);
  for (const auto& [unit, size] : units) {
    if (value == 0 || value % size != 0) continue;
    std::string text = std::to_string(value / size) + unit;
    if (text.size() < best.size()) best = std::move(text);
  }
  return best;
}

/// The length's name; null where it has none. Files often hold a unit as a float, or rounded.
const Unit* named_length(double mm) {
  const auto* const found = std::find_if(
      kLengths.begin(), kLengths.end(), [mm](const Unit& one) { return std::abs(mm - one.value) <= 1e-6 * one.value; });
  return found == kLengths.end() ? nullptr : found;
}

}  // namespace

std::uint64_t parse_bytes(std::string_view text) {
  const auto factor_of = [](std::string word) {
    if (!word.empty() && word.back() == 'b') word.pop_back();
    const auto decimal = value_of(word, kDecimal);
    return decimal ? decimal : value_of(word, kBinary);
  };
  const auto bytes = scaled(text, true, factor_of);
  if (!bytes) refuse(text, "a size in bytes, such as 1500000, 300MB or 1.5GiB");
  return *bytes;
}

std::uint64_t parse_count(std::string_view text) {
  const auto count = scaled(text, false, [](const std::string& word) { return value_of(word, kDecimal); });
  if (!count) refuse(text, "a count, such as 20000000 or 20M");
  return *count;
}

std::uint64_t above_0(std::uint64_t value) {
  if (value == 0) throw Error(ErrorKind::usage, "it must be more than 0");
  return value;
}

double parse_seconds(std::string_view text) {
  const auto parsed = number_and_word(text);
  const auto factor = parsed ? value_of(parsed->second, kTimes) : std::nullopt;
  if (!factor || !(parsed->first > 0)) refuse(text, "a time of more than 0 s, such as 600, 0.5 or 10min");
  constexpr double kLongest = 1e9;
  if (!(parsed->first * *factor <= kLongest)) refuse(text, "a time of at most 1e9 s, some 30 years");
  return parsed->first * *factor;
}

double parse_unit(std::string_view text) {
  if (const auto named = value_of(lower(text), kLengths)) return *named;
  const auto value = number(text);
  std::vector<std::string> names;
  for (const Unit& one : kLengths) names.emplace_back(one.name);
  if (!value || !(*value > 0))
    refuse(text, "a unit: mm, cm, m, km, um, inch, ft, or the number of millimetres that it has" +
                     (value ? "" : base::did_you_mean(lower(text), names)));
  // Scenes end up in floats.
  if (!(*value >= 1e-15 && *value <= 1e15)) refuse(text, "a unit from 1e-15 to 1e15 mm");
  return *value;
}

double parse_length(std::string_view text) {
  const auto parsed = number_and_word(text);
  const auto factor = !parsed                  ? std::nullopt
                      : parsed->second.empty() ? std::optional(1.0)
                                               : value_of(parsed->second, kLengths);
  if (!factor || !(parsed->first >= 0)) refuse(text, "a length of at least 0, such as 1500, 30cm or 2m");
  return parsed->first * *factor;
}

std::optional<double> number(std::string_view text) {
  const auto parsed = number_and_word(text);
  return parsed && parsed->second.empty() ? std::optional(parsed->first) : std::nullopt;
}

std::optional<Eigen::Vector3d> three_numbers(std::string_view text) {
  Eigen::Vector3d result;
  for (int i = 0; i != 3; ++i) {
    const std::size_t comma = text.find(',');
    const auto value = number(text.substr(0, comma));
    if (!value || (comma == std::string_view::npos) != (i == 2)) return std::nullopt;
    result[i] = *value;
    text.remove_prefix(i == 2 ? text.size() : comma + 1);
  }
  return result;
}

Eigen::Vector3d parse_point(std::string_view text) {
  const auto point = three_numbers(text);
  if (!point) refuse(text, "a point, such as 0,-1500,20.5");
  return *point;
}

Raster parse_raster(std::string_view text) {
  std::string commas(text);
  std::replace(commas.begin(), commas.end(), ':', ',');
  const auto given = text.find(',') == std::string_view::npos ? three_numbers(commas) : std::nullopt;
  // The step's rounding adds no wavelength.
  const double count = given ? std::ceil(((*given)[1] - (*given)[0]) / (*given)[2] - 1e-9) : 0;
  const Raster raster =
      count >= 1 && count <= std::numeric_limits<std::uint32_t>::max()
          ? Raster{static_cast<float>((*given)[0]), static_cast<float>((*given)[2]), static_cast<std::uint32_t>(count)}
          : kOwnPoints;
  if (raster == kOwnPoints || !valid(raster))
    refuse(text, "a raster of 2 to 65536 wavelengths, FROM:BELOW:STEP in nm, such as 60:1000:5");
  return raster;
}

double parse_degrees(std::string_view text, double most) {
  const auto value = number(text);
  if (!value || !(*value > 0 && *value <= most))
    refuse(text, fmt::format("an angle of more than 0 and at most {} degrees", short_number(most)));
  return *value;
}

std::string parse_file_name(std::string_view text) {
  if (text.empty()) refuse(text, "the name of a file");
  if (text == "-") refuse(text, "the name of a file: standard output has other text; one of that name is given as ./-");
  return std::string(text);
}

std::string parse_file_name(std::string_view text, std::initializer_list<std::string_view> endings) {
  std::string name = parse_file_name(text);
  const std::string ending = lower(std::filesystem::path(name).extension().string());
  std::error_code ignored;
  const auto there = std::filesystem::status(name, ignored).type();
  using Type = std::filesystem::file_type;
  const bool device = there == Type::character || there == Type::fifo || there == Type::socket;
  if (device || std::find(endings.begin(), endings.end(), ending) != endings.end()) return name;
  std::string known;
  for (const std::string_view one : endings) known += (known.empty() ? "" : " or ") + std::string(one);
  refuse(text, "the name of a file that ends in " + known + ": the ending decides the format");
}

std::string parse_image_name(std::string_view text) {
  return parse_file_name(text, {".png"});
}

std::string parse_drawing_name(std::string_view text) {
  return parse_file_name(text, {".png", ".svg"});
}

bool is_svg_name(std::string_view name) {
  return lower(std::filesystem::path(name).extension().string()) == ".svg";
}

UpAxis parse_up_axis(std::string_view text) {
  const std::string axis = lower(text);
  if (axis == "x") return UpAxis::x;
  if (axis == "y") return UpAxis::y;
  if (axis == "z") return UpAxis::z;
  refuse(text, "an axis: x, y or z");
}

LoadOptions::Weld parse_weld(std::string_view text) {
  if (lower(text) == "off") return {false, 0};
  const auto tolerance = number(text);
  if (!tolerance || *tolerance < 0) refuse(text, "a distance of at least 0 in the file's unit, or 'off'");
  return {true, *tolerance};
}

std::string exact_bytes(std::uint64_t bytes) {
  return shortest(bytes, {{"TiB", std::uint64_t{1} << 40},
                          {"GiB", 1 << 30},
                          {"MiB", 1 << 20},
                          {"KiB", 1 << 10},
                          {"TB", 1'000'000'000'000},
                          {"GB", 1'000'000'000},
                          {"MB", 1'000'000},
                          {"kB", 1'000}});
}

std::string exact_count(std::uint64_t count) {
  return shortest(count, {{"G", 1'000'000'000}, {"M", 1'000'000}, {"k", 1'000}});
}

std::string unit_name(double unit_mm) {
  const Unit* const named = named_length(unit_mm);
  return named != nullptr ? std::string(named->name) : short_number(unit_mm) + " mm";
}

std::string volume_text(double volume, double unit_mm) {
  const Unit* const named = named_length(unit_mm);
  if (named == nullptr) return short_number(volume * unit_mm * unit_mm * unit_mm) + " mm^3";
  return short_number(volume) + ' ' + std::string(named->name) + "^3";
}

}  // namespace raylift::cli
