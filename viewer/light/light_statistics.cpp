// SPDX-License-Identifier: Apache-2.0
#include "light/light_statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace raylift::viewer {
namespace {

constexpr std::size_t kSamples = 8192;  // photons that are looked at: enough for a hundredth, and quick
constexpr std::size_t kQuantiles = 256;
constexpr int kPartsOfAWay = 4;
constexpr double kByTime = 0.2;  // of the positions

/// Even parts of the way of a photon, from `begin` to `end`.
void add_way(std::vector<double>& times, double begin, double end) {
  if (!(begin < end)) return;
  for (int part = 1; part <= kPartsOfAWay; ++part)
    times.push_back(std::lerp(begin, end, static_cast<double>(part) / kPartsOfAWay));
}

/// Whether 90 % of these lie within the width of a line.
bool of_one_line(std::vector<float>& wavelengths) {
  constexpr float kLine = 2;  // nm
  if (wavelengths.empty()) return true;
  const auto place = [&](std::size_t twentieths) {
    const auto at = wavelengths.begin() + static_cast<std::ptrdiff_t>(wavelengths.size() * twentieths / 20);
    std::nth_element(wavelengths.begin(), at, wavelengths.end());
    return *at;
  };
  const float low = place(1), high = place(19);
  return high - low <= kLine;
}

std::size_t stride(std::size_t count) {
  return std::max<std::size_t>(1, count / kSamples);
}

}  // namespace

LightStatistics::LightStatistics(const PhotonSet& set) {
  if (set.times.empty()) return;
  first_ = static_cast<double>(set.times.low);
  last_ = static_cast<double>(set.times.high);
  std::vector<double> times;
  std::vector<float> wavelengths;
  for (std::size_t i = 0; i < set.paths(); i += stride(set.paths()))
    if (const auto path = set.path(i); !path.empty()) {
      add_way(times, static_cast<double>(path.front().time), static_cast<double>(path.back().time));
      for (const photon::PhotonRow& row : path) wavelengths.push_back(row.wavelength);
    }
  for (std::size_t i = 0; i < set.points.size(); i += stride(set.points.size())) {
    add_way(times, first_, static_cast<double>(set.points[i].time));
    wavelengths.push_back(set.points[i].wavelength);
  }
  one_wavelength_ = of_one_line(wavelengths);
  if (times.empty()) return;
  std::sort(times.begin(), times.end());
  times.insert(times.begin(), first_);
  quantiles_.reserve(kQuantiles + 1);
  for (std::size_t i = 0; i <= kQuantiles; ++i) {
    const double at = static_cast<double>((times.size() - 1) * i) / kQuantiles;
    const auto below = std::min(static_cast<std::size_t>(at), times.size() - 2);
    quantiles_.push_back(std::lerp(times[below], times[below + 1], at - static_cast<double>(below)));
  }
  quantiles_.front() = first_;
  quantiles_.back() = last_;
}

double LightStatistics::quantile(double share) const {
  if (quantiles_.empty()) return std::lerp(first_, last_, share);
  const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(quantiles_.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), quantiles_.size() - 2);
  return std::lerp(quantiles_[below], quantiles_[below + 1], at - static_cast<double>(below));
}

double LightStatistics::position(double time) const {
  if (!run()) return 1;
  time = std::clamp(time, first_, last_);
  const double even = (time - first_) / (last_ - first_);
  if (quantiles_.empty()) return even;
  const auto above = std::upper_bound(quantiles_.begin(), quantiles_.end(), time);
  double share = 1;
  if (above != quantiles_.end()) {
    const double low = *(above - 1), high = *above;
    share = (static_cast<double>(above - quantiles_.begin()) - 1 + (time - low) / (high - low)) /
            static_cast<double>(quantiles_.size() - 1);
  }
  return std::lerp(share, even, kByTime);
}

double LightStatistics::time_at(double position) const {
  if (position >= 1 || !run()) return last_;
  double low = first_, high = last_;
  for (int i = 0; i != 50; ++i) {
    const double middle = 0.5 * (low + high);
    (this->position(middle) < position ? low : high) = middle;
  }
  return position <= 0 ? first_ : high;
}

Between<double> play_times(const PhotonSettings& settings, const LightStatistics& light) {
  const Between<double> all{light.first(), light.last()};
  if (!settings.play_range) return all;
  const Between<double> part{std::max(all.low, settings.play_range->low),
                             std::min(all.high, settings.play_range->high)};
  return part.low < part.high ? part : all;
}

std::optional<double> played(const PhotonSettings& settings, const LightStatistics& light, double seconds) {
  if (!light.run()) return std::nullopt;
  const Between<double> times = play_times(settings, light);
  const double now = std::clamp(settings.time.value_or(times.low), times.low, times.high);
  // Along times, or along their positions.
  const bool steady = settings.speed > 0;
  const auto place_of = [&](double time) { return steady ? time : light.position(time); };
  const double begin = place_of(times.low), length = place_of(times.high) - begin;
  double place = place_of(now) + seconds * (steady ? settings.speed : length / kPlaySeconds);
  if (place > begin + length) {
    if (!settings.loop) return std::nullopt;
    place = begin + std::fmod(place - begin, length);
  }
  return steady ? place : light.time_at(place);
}

double time_of_play(const PhotonSettings& settings, const LightStatistics& light, double share) {
  const Between<double> times = play_times(settings, light);
  if (settings.speed > 0) return std::lerp(times.low, times.high, share);
  // Its ends are not rounded by the way over positions.
  if (share <= 0 || share >= 1) return share <= 0 ? times.low : times.high;
  return light.time_at(std::lerp(light.position(times.low), light.position(times.high), share));
}

}  // namespace raylift::viewer
