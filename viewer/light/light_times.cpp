// SPDX-License-Identifier: Apache-2.0
#include "light/light_times.h"

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
  for (int part = 1; part <= kPartsOfAWay; ++part)
    times.push_back(std::lerp(begin, end, static_cast<double>(part) / kPartsOfAWay));
}

std::size_t stride(std::size_t count) {
  return std::max<std::size_t>(1, count / kSamples);
}

}  // namespace

LightTimes::LightTimes(const PhotonSet& set) {
  if (set.times.empty()) return;
  first_ = static_cast<double>(set.times.low);
  last_ = static_cast<double>(set.times.high);
  std::vector<double> times;
  for (std::size_t i = 0; i < set.paths(); i += stride(set.paths()))
    if (const auto path = set.path(i); !path.empty())
      add_way(times, static_cast<double>(path.front().time), static_cast<double>(path.back().time));
  for (std::size_t i = 0; i < set.points.size(); i += stride(set.points.size()))
    add_way(times, first_, static_cast<double>(set.points[i].time));
  if (times.empty()) return;
  std::sort(times.begin(), times.end());
  quantiles_.reserve(kQuantiles + 1);
  for (std::size_t i = 0; i <= kQuantiles; ++i)
    quantiles_.push_back(times[((times.size() - 1) * i + kQuantiles - 1) / kQuantiles]);
  quantiles_.front() = first_;
  quantiles_.back() = last_;
}

double LightTimes::quantile(double share) const {
  if (quantiles_.empty()) return first_;
  const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(quantiles_.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), quantiles_.size() - 2);
  return std::lerp(quantiles_[below], quantiles_[below + 1], at - static_cast<double>(below));
}

double LightTimes::position(double time) const {
  if (!run() || quantiles_.empty()) return 1;
  time = std::clamp(time, first_, last_);
  const auto above = std::upper_bound(quantiles_.begin(), quantiles_.end(), time);
  double share = 1;
  if (above != quantiles_.end()) {
    const double low = *(above - 1), high = *above;
    share = (static_cast<double>(above - quantiles_.begin()) - 1 + (time - low) / (high - low)) /
            static_cast<double>(quantiles_.size() - 1);
  }
  return std::lerp(share, (time - first_) / (last_ - first_), kByTime);
}

double LightTimes::time_at(double position) const {
  if (position >= 1 || !run()) return last_;
  double low = first_, high = last_;
  for (int i = 0; i != 50; ++i) {
    const double middle = 0.5 * (low + high);
    (this->position(middle) < position ? low : high) = middle;
  }
  return position <= 0 ? first_ : high;
}

}  // namespace raylift::viewer
