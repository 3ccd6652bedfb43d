// SPDX-License-Identifier: Apache-2.0
#include "model/settings/photon_settings.h"

#include <raylift/geometry/error.h>

#include <cmath>
#include <limits>

#include "cli/quantity.h"
#include "cli/text.h"

namespace raylift::viewer {
namespace {

Between<double> parse_range(std::string_view text, double least, double most, const char* example) {
  std::size_t dash = text.find('-', 1);  // a first one is a sign, as is that of an exponent
  if (dash != std::string_view::npos && (text[dash - 1] == 'e' || text[dash - 1] == 'E'))
    dash = text.find('-', dash + 1);
  const auto low = cli::number(text.substr(0, dash));
  const auto high = dash == std::string_view::npos ? low : cli::number(text.substr(dash + 1));
  if (!low || !high || !(*low >= least) || !(*high >= *low) || !(*high <= most))
    throw Error(ErrorKind::usage, "'" + cli::printable(text) + "' is no range, such as " + example);
  return {*low, *high};
}

}  // namespace

Between<float> parse_wavelengths(std::string_view text) {
  const Between<double> range = parse_range(text, 0, 1e9, "350-500 (nm)");
  return {static_cast<float>(range.low), static_cast<float>(range.high)};
}

Between<std::int32_t> parse_channels(std::string_view text) {
  const Between<double> range = parse_range(text, 0, std::numeric_limits<std::int32_t>::max(), "12 or 10-19");
  if (range.low != std::floor(range.low) || range.high != std::floor(range.high))
    throw Error(ErrorKind::usage, "'" + cli::printable(text) + "' has no whole numbers");
  return {static_cast<std::int32_t>(range.low), static_cast<std::int32_t>(range.high)};
}

Between<double> parse_scale_range(std::string_view text) {
  const Between<double> range = parse_range(text, -1e12, 1e12, "10-500");
  if (!(range.low < range.high))
    throw Error(ErrorKind::usage, "'" + cli::printable(text) + "' has no width; a range is such as 10-500");
  return range;
}

std::string range_text(const Between<double>& range) {
  return cli::short_number(range.low) + '-' + cli::short_number(range.high);
}

std::string range_text(const Between<float>& range) {
  const std::string low = cli::short_number(static_cast<double>(range.low));
  return range.low == range.high ? low : low + '-' + cli::short_number(static_cast<double>(range.high));
}

std::string range_text(const Between<std::int32_t>& range) {
  const std::string low = std::to_string(range.low);
  return range.low == range.high ? low : low + '-' + std::to_string(range.high);
}

}  // namespace raylift::viewer
