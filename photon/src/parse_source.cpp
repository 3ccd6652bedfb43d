// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/photon/parse_source.h>

#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/parse_number.h"
#include "base/suggest.h"
#include "base/units.h"
#include "import/input_file.h"
#include "optics/csv_table.h"

namespace raylift::photon {
namespace {

using Point = std::array<double, 3>;

using base::kLengths;
using base::Unit;

// The first of each holds where a number has no unit.
constexpr std::array kTimes{Unit{"ns", 1}, Unit{"ps", 1e-3}, Unit{"us", 1e3}, Unit{"ms", 1e6}, Unit{"s", 1e9}};
constexpr std::array kWavelengths{Unit{"nm", 1}, Unit{"um", 1e3}};
constexpr std::array kNumbers{Unit{"", 1}};
constexpr std::array kAngles{Unit{"deg", std::numbers::pi / 180}, Unit{"rad", 1}, Unit{"mrad", 1e-3}};

/// A kind of source, and the numbers that it takes.
struct Kind {
  std::string_view name, form;
  std::size_t lengths, least, most;  ///< the first `lengths` numbers are lengths, but for those of a direction
};
constexpr std::array kKinds{Kind{"point", "x,y,z", 3, 3, 3}, Kind{"ball", "x,y,z,radius", 4, 4, 4},
                            Kind{"line", "x1,y1,z1,x2,y2,z2", 6, 6, 6}, Kind{"disc", "x,y,z,nx,ny,nz,radius", 3, 7, 7},
                            Kind{"laser", "x,y,z,dx,dy,dz[,radius]", 3, 6, 7}};

[[noreturn]] void refuse(std::string_view part, const std::string& what, const std::string& advice = {}) {
  throw Error(ErrorKind::usage, "'" + std::string(part) + "' of the source " + what, {}, advice);
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Takes a finite number with its unit from the text's beginning.
std::optional<double> take(std::string_view& text, std::span<const Unit> units) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  double value = 0;
  if (base::read_number(text, value) != std::errc() || !std::isfinite(value)) return std::nullopt;
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const std::string_view word = text.substr(begin, text.find_first_of(" -", begin) - begin);
  const auto unit = word.empty() ? units.front().value : base::value_of(word, units);
  if (!unit) return std::nullopt;
  text.remove_prefix(begin + word.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return value * *unit;
}

std::optional<double> one_number(std::string_view text, std::span<const Unit> units) {
  const auto value = take(text, units);
  return text.empty() ? value : std::nullopt;
}

/// "5" as 5 and 5, "350-500" as both.
std::optional<std::pair<double, double>> range(std::string_view text, std::span<const Unit> units) {
  const auto first = take(text, units);
  if (!first || (!text.empty() && text.front() != '-')) return std::nullopt;
  if (text.empty()) return std::pair(*first, *first);
  text.remove_prefix(1);
  const auto last = one_number(text, units);
  if (!last || !(*last > *first)) return std::nullopt;
  return std::pair(*first, *last);
}

Float3 to_float3(const Point& p) {
  return {static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2])};
}

/// The direction, of length 1.
Float3 direction_of(std::string_view part, const Point& v) {
  const double length = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  if (!(length > 0) || !std::isfinite(length)) refuse(part, "has a direction without a length");
  return to_float3({v[0] / length, v[1] / length, v[2] / length});
}

Float3 three_numbers(std::string_view part, std::string_view value) {
  Point v{};
  const std::vector<std::string_view> items = split(value, ',');
  for (std::size_t i = 0; i != 3; ++i) {
    const auto number = items.size() == 3 ? one_number(items[i], kNumbers) : std::nullopt;
    if (!number) refuse(part, "is not a direction of three numbers, such as 0,0,1");
    v[i] = *number;
  }
  return direction_of(part, v);
}

float at_least_0(std::string_view part, std::optional<double> value, const char* what) {
  if (!value || !(*value >= 0)) refuse(part, std::string("has ") + what);
  return static_cast<float>(*value);
}

/// The numbers of "ball:x,y,z,radius".
std::vector<double> numbers_of(const Kind& kind, std::string_view part, std::string_view text) {
  const std::vector<std::string_view> items = split(text, ',');
  if (items.size() < kind.least || items.size() > kind.most)
    refuse(part, "has " + std::to_string(items.size()) + (items.size() == 1 ? " number" : " numbers") +
                     " with commas between them: " + std::string(kind.name) + " takes " + std::string(kind.form));
  std::vector<double> numbers;
  for (std::size_t i = 0; i != items.size(); ++i) {
    const bool is_length = i < kind.lengths || i >= 6;
    const auto number = is_length ? one_number(items[i], kLengths) : one_number(items[i], kNumbers);
    if (!number)
      refuse(part, "has '" + std::string(items[i]) + "', which is no " +
                       (is_length ? "length, such as -1500, 30cm or 2m" : "number"));
    numbers.push_back(*number);
  }
  return numbers;
}

const Kind& kind_of(std::string_view part) {
  const std::string_view name = part.substr(0, part.find(':'));
  const Kind* kind = nullptr;
  std::vector<std::string> names;
  for (const Kind& one : kKinds) {
    names.emplace_back(one.name);
    if (one.name == name) kind = &one;
  }
  if (kind == nullptr)
    refuse(name, "is no kind" + base::did_you_mean(name, names),
           "kinds are point, ball, line, disc, laser, photons:FILE and gensteps:FILE");
  return *kind;
}

std::vector<double> numbers_of(const Kind& kind, std::string_view part) {
  return numbers_of(kind, part, part.substr(std::min(kind.name.size() + 1, part.size())));
}

Source with_shape(std::string_view part) {
  const std::string_view name = kind_of(part).name;
  const std::vector<double> n = numbers_of(kind_of(part), part);
  Source source;
  Point center{n[0], n[1], n[2]};
  if (name == "line") {
    source.shape = Source::Shape::line;
    Point half{};
    for (std::size_t i = 0; i != 3; ++i) {
      center[i] = (n[i] + n[i + 3]) / 2;
      half[i] = (n[i + 3] - n[i]) / 2;
    }
    source.extent = to_float3(half);
  } else if (name == "ball") {
    source.radius = at_least_0(part, n[3], "a radius below 0");
  } else if (name == "disc" || name == "laser") {
    source.shape = Source::Shape::disc;
    source.extent = source.direction = direction_of(part, {n[3], n[4], n[5]});
    if (n.size() == 7) source.radius = at_least_0(part, n[6], "a radius below 0");
    source.aim = name == "disc" ? Source::Aim::lambertian : Source::Aim::cone;
  }
  source.center = {center[0], center[1], center[2]};
  return source;
}

Source::Spectrum read_spectrum(std::string_view part, const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored))
    refuse(part, "is neither a wavelength in nm, such as 420, nor a range, such as 350-500, nor a file that is there");
  const raylift::detail::CsvTable table(InputFile(file, LoadLimits{}).text(), file);
  try {
    return make_spectrum(table.column(1), table.column(2));
  } catch (const Error& error) {
    throw Error(error.kind(), error.problem(), {file, error.element()}, error.advice());
  }
}

void set_wavelength(Source& source, std::string_view part, std::string_view value) {
  const auto both = range(value, kWavelengths);
  if (!both) {
    source.spectrum = read_spectrum(part, std::string(value));
    return;
  }
  if (!(both->first > 0)) refuse(part, "is not a wavelength of more than 0");
  source.wavelength = static_cast<float>(both->first);
  if (both->second > both->first)
    source.spectrum = uniform_spectrum(source.wavelength, static_cast<float>(both->second));
}

void set_time(Source& source, std::string_view part, std::string_view value) {
  const auto both = range(value, kTimes);
  if (!both) refuse(part, "is neither a time in ns, such as 10, nor a range, such as 0-25");
  source.time = static_cast<float>(both->first);
  source.time_width = static_cast<float>(both->second - both->first);
}

void set_direction(Source& source, std::string_view part, std::string_view value) {
  if (value == "isotropic") {
    source.aim = Source::Aim::isotropic;
  } else if (value == "lambertian") {
    if (source.shape != Source::Shape::disc) refuse(part, "needs the normal of a disc");
    source.aim = Source::Aim::lambertian;
    source.direction = source.extent;
  } else {
    source.aim = Source::Aim::cone;
    source.direction = three_numbers(part, value);
  }
}

void set_angle(Source& source, std::string_view part, std::string_view value) {
  const float angle = at_least_0(part, one_number(value, kAngles), "no angle, such as 30 (degrees) or 5mrad");
  if (angle > std::numbers::pi_v<float>) refuse(part, "is more than 180 degrees");
  if (source.aim == Source::Aim::isotropic) refuse(part, "is about no direction", "give direction=x,y,z before it");
  source.aim = Source::Aim::cone;
  source.half_angle = angle;
}

using Set = void (*)(Source&, std::string_view part, std::string_view value);
struct Key {
  std::string_view name;
  Set set;
};
constexpr std::array kKeys{Key{"wavelength", set_wavelength},
                           Key{"time", set_time},
                           Key{"decay",
                               [](Source& source, std::string_view part, std::string_view value) {
                                 source.time_constant = at_least_0(part, one_number(value, kTimes),
                                                                   "no time of at least 0, such as 26 (ns)");
                               }},
                           Key{"direction", set_direction},
                           Key{"angle", set_angle},
                           Key{"polarization", [](Source& source, std::string_view part, std::string_view value) {
                                 source.polarization = three_numbers(part, value);
                               }}};

void set(Source& source, std::string_view part, std::vector<std::string_view>& seen) {
  const std::size_t sign = part.find('=');
  const std::string_view name = part.substr(0, sign);
  std::vector<std::string> names;
  for (const Key& key : kKeys) {
    names.emplace_back(key.name);
    if (sign == std::string_view::npos || key.name != name) continue;
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) refuse(part, "is the second " + std::string(name));
    seen.push_back(name);
    return key.set(source, part, part.substr(sign + 1));
  }
  constexpr const char* kList = "keys are wavelength, time, decay, direction, angle and polarization";
  if (sign == std::string_view::npos) refuse(part, "is no part of the form key=value", kList);
  refuse(name, "is no key" + base::did_you_mean(name, names), kList);
}

/// Where the shape ends: at the second colon.
std::size_t end_of_shape(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  return std::min(text.find(':', std::min(colon + 1, text.size())), text.size());
}

}  // namespace

std::string spectrum_file(std::string_view text) {
  constexpr std::string_view kKey = "wavelength=";
  for (const std::string_view part : split(text.substr(end_of_shape(text)), ':'))
    if (part.starts_with(kKey) && !range(part.substr(kKey.size()), kWavelengths))
      return std::string(part.substr(kKey.size()));
  return {};
}

std::string moved_source(std::string_view text, const Double3& by) {
  const std::string_view shape = text.substr(0, end_of_shape(text));
  const Kind& kind = kind_of(shape);
  std::vector<double> numbers = numbers_of(kind, shape);
  const std::array<double, 3> way{by.x, by.y, by.z};
  std::string moved = std::string(kind.name) + ':';
  for (std::size_t i = 0; i != numbers.size(); ++i) {
    if (i < kind.lengths && !(kind.name == "ball" && i == 3)) numbers[i] += way[i % 3];
    constexpr double kMicrometres = 1000;  // in a millimetre
    const bool length = i < kind.lengths || i >= 6;
    const double written = length ? std::round(kMicrometres * numbers[i]) / kMicrometres : numbers[i];
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), written == 0 ? 0.0 : written).ptr;
    moved += i == 0 ? "" : ",";
    moved.append(digits.data(), end);
  }
  return moved + std::string(text.substr(shape.size()));
}

Source parse_source(std::string_view text) {
  const std::size_t end = end_of_shape(text);
  Source source = with_shape(text.substr(0, end));
  std::vector<std::string_view> seen;
  // The angle last, which is about the direction.
  std::string_view angle;
  if (end != text.size())
    for (const std::string_view part : split(text.substr(end + 1), ':')) {
      if (part.starts_with("angle=") && angle.empty())
        angle = part;
      else
        set(source, part, seen);
    }
  if (!angle.empty()) set(source, angle, seen);
  return source;
}

}  // namespace raylift::photon
