// SPDX-License-Identifier: Apache-2.0
#include "model/colors/value_scale.h"

#include <algorithm>
#include <cmath>

#include "cli/text.h"

namespace raylift::viewer {
namespace {

constexpr double kDecades = 1e-3;  // of a logarithmic scale whose range begins at 0

/// 1, 2 or 5 times a power of ten, at least `least`.
double round_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double digit : {1.0, 2.0, 5.0})
    if (digit * power >= least * (1 - 1e-9)) return digit * power;
  return 10 * power;
}

/// A multiple of a round step, with no more digits than that.
double multiple(double step, double count) {
  return step < 1 ? count / std::round(1 / step) : count * step;
}

std::vector<double> linear_ticks(double low, double high, std::size_t about) {
  constexpr double kMore = 1.2;  // rather a few more than fewer
  const double step = round_step((high - low) / (static_cast<double>(about) + kMore));
  std::vector<double> values;
  for (double count = std::ceil(low / step - 1e-9); count <= high / step + 1e-9; ++count)
    values.push_back(multiple(step, count) + 0.0);  // no -0
  return values;
}

/// Powers of ten, with 2 and 5 between them as far as there is room.
std::vector<double> log_ticks(double low, double high, std::size_t about) {
  const double first = std::floor(std::log10(low) + 1e-9), last = std::floor(std::log10(high) + 1e-9);
  const auto each = std::max(1.0, std::ceil((last - first) / static_cast<double>(about)));
  std::vector<double> values;
  const auto take = [&](std::initializer_list<double> digits) {
    values.clear();
    for (double power = first; power <= last; power += each)
      for (const double digit : digits) {
        const double value = power < 0 ? digit / std::pow(10.0, -power) : digit * std::pow(10.0, power);
        if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) values.push_back(value);
      }
    return values.size();
  };
  if (each > 1 || take({1, 2, 5}) > about + 1)
    if (each > 1 || take({1, 3}) > about + 1) take({1});
  if (values.size() < 2) return linear_ticks(low, high, about);
  return values;
}

}  // namespace

ValueScale::ValueScale(const ScaleSettings& settings, double low, double high)
    : low_(settings.range ? settings.range->low : low),
      high_(settings.range ? settings.range->high : high),
      log_(settings.log && (settings.range ? settings.range->high : high) > 0) {
  if (log_ && !(low_ > 0)) low_ = kDecades * high_;
}

double ValueScale::place(double value) const {
  if (!(high_ > low_)) return 1;
  const double place =
      log_ ? std::log(std::max(value, low_) / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  return std::clamp(place, 0.0, 1.0);
}

std::vector<Tick> ValueScale::ticks(std::size_t about, double least, double most) const {
  if (!(high_ > low_)) return {{1, cli::short_number(high_)}};
  std::vector<Tick> ticks;
  const double step = round_step((high_ - low_) / 100);  // what an end's label is rounded to
  const auto end = [&](const char* sign, double value) {
    const double unit = log_ ? round_step(std::abs(value) / 100) : step;
    const double rounded = multiple(unit, std::round(value / unit));
    return Tick{value == low_ ? 0.0F : 1.0F, sign + cli::short_number(rounded)};
  };
  constexpr double kBeyond = 1e-6;  // of the scale: rounding of floats is not beyond
  const bool below = least<low_ - kBeyond*(high_ - low_), above = most> high_ + kBeyond * (high_ - low_);
  if (below) ticks.push_back(end("< ", low_));
  constexpr double kClear = 0.25;  // of the scale, around such a label
  for (const double value : log_ ? log_ticks(low_, high_, about) : linear_ticks(low_, high_, about)) {
    const double at = place(value);
    if ((below && at < kClear) || (above && at > 1 - kClear)) continue;
    ticks.push_back({static_cast<float>(at), cli::short_number(value)});
  }
  if (above) ticks.push_back(end("> ", high_));
  return ticks;
}

}  // namespace raylift::viewer
