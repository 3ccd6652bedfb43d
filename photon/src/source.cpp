// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/photon/source.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ready_source.h"

namespace raylift::photon {
namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw Error(ErrorKind::malformed, problem, {}, "a spectrum has ascending wavelengths and densities of at least 0");
}

/// The integral of the density up to each wavelength, and what is between them.
class Cumulative {
 public:
  Cumulative(std::span<const double> at, std::span<const double> density)
      : at_(at), density_(density), sum_(at.size()) {
    for (std::size_t i = 1; i < at.size(); ++i)
      sum_[i] = sum_[i - 1] + (at[i] - at[i - 1]) * (density[i - 1] + density[i]) / 2;
  }
  [[nodiscard]] double all() const { return sum_.back(); }
  [[nodiscard]] CurvePoint point(std::size_t interval, double part) const {
    const double width = at_[interval + 1] - at_[interval];
    const double slope = density_[interval + 1] - density_[interval];
    const double sum = sum_[interval] + width * part * (density_[interval] + slope * part / 2);
    return {static_cast<float>(sum / all()), static_cast<float>(at_[interval] + width * part)};
  }

 private:
  std::span<const double> at_, density_;
  std::vector<double> sum_;
};

}  // namespace

Spectrum make_spectrum(std::span<const double> wavelengths, std::span<const double> density) {
  if (wavelengths.empty()) refuse("the spectrum has no points");
  if (wavelengths.size() != density.size())
    refuse("the spectrum has " + std::to_string(wavelengths.size()) + " wavelengths, and " +
           std::to_string(density.size()) + " densities");
  for (std::size_t i = 0; i != wavelengths.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    if (!(wavelengths[i] > (i == 0 ? 0 : wavelengths[i - 1])) || !std::isfinite(wavelengths[i]))
      refuse("wavelength " + number + " of the spectrum is not above the one before");
    if (!(density[i] >= 0) || !std::isfinite(density[i]))
      refuse("density " + number + " of the spectrum is below 0, or no number");
  }
  if (wavelengths.size() == 1) return {1, {{0, static_cast<float>(wavelengths[0])}}};
  const Cumulative cumulative(wavelengths, density);
  if (!(cumulative.all() > 0) || !std::isfinite(cumulative.all())) refuse("the spectrum has no area");
  Spectrum spectrum;
  const std::size_t intervals = wavelengths.size() - 1;
  const auto add = [&](std::size_t interval, double part) {
    spectrum.points[spectrum.count++] = cumulative.point(interval, part);
  };
  if (intervals < Spectrum::kMost) {
    // Each interval in as many pieces as there is room for.
    const std::size_t pieces = (Spectrum::kMost - 1) / intervals;
    for (std::size_t i = 0; i != intervals * pieces; ++i)
      add(i / pieces, static_cast<double>(i % pieces) / static_cast<double>(pieces));
  } else {
    const double step = (wavelengths.back() - wavelengths.front()) / (Spectrum::kMost - 1);
    for (std::size_t i = 0, interval = 0; i + 1 != Spectrum::kMost; ++i) {
      const double at = wavelengths.front() + static_cast<double>(i) * step;
      while (wavelengths[interval + 1] < at) ++interval;
      add(interval, (at - wavelengths[interval]) / (wavelengths[interval + 1] - wavelengths[interval]));
    }
  }
  add(intervals - 1, 1);
  return spectrum;
}

void check(const Source& source) {
  if (source.photons != nullptr) return;
  const auto require = [](bool holds, const char* problem) {
    if (!holds) throw Error(ErrorKind::usage, std::string("the source's ") + problem);
  };
  const auto length = [](float3 v) {
    return std::sqrt(double{v.x} * double{v.x} + double{v.y} * double{v.y} + double{v.z} * double{v.z});
  };
  const auto is_unit = [&](float3 v) { return std::abs(length(v) - 1) < 1e-5; };
  const auto at_least_0 = [](float x) { return x >= 0 && std::isfinite(x); };
  require(std::isfinite(length(source.center)), "centre is no point");
  require(std::isfinite(length(source.extent)), "extent is no vector");
  require(at_least_0(source.radius), "radius is below 0, or no number");
  require(source.shape != SourceShape::disc || is_unit(source.extent), "normal is not of length 1");
  require(source.aim == Aim::isotropic || is_unit(source.direction), "direction is not of length 1");
  require(source.half_angle >= 0 && source.half_angle <= 3.1415928F, "angle is not from 0 to pi");
  require(std::isfinite(length(source.polarization)), "polarisation is no vector");
  require(source.spectrum.count <= Spectrum::kMost, "spectrum has too many points");
  require(source.spectrum.count != 0 || (source.wavelength > 0 && std::isfinite(source.wavelength)),
          "wavelength is not above 0");
  require(std::isfinite(source.time), "time is no number");
  require(at_least_0(source.time_width) && at_least_0(source.time_constant), "spread of times is below 0");
}

Spectrum uniform_spectrum(float shortest, float longest) {
  return {2, {{0, shortest}, {1, longest}}};
}

}  // namespace raylift::photon
