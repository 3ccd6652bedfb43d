// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/photon/source.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "base/units.h"
#include "finite.h"
#include "ready_source.h"
#include "upload/optics_tables.h"

namespace raylift::photon {
namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw Error(ErrorKind::malformed, problem, {}, "a spectrum has ascending wavelengths and densities of at least 0");
}

/// The wavelengths of a spectrum's points: as many in each interval as there is room for, or even ones over all.
std::vector<double> points_of(std::span<const double> wavelengths) {
  constexpr std::size_t kMax = Source::Spectrum::kMax - 1;
  const std::size_t intervals = wavelengths.size() - 1;
  std::vector<double> points;
  const auto add = [&](double from, double to, std::size_t pieces) {
    for (std::size_t i = 0; i != pieces; ++i)
      points.push_back(from + (to - from) * static_cast<double>(i) / static_cast<double>(pieces));
  };
  if (intervals > kMax) add(wavelengths.front(), wavelengths.back(), kMax);
  for (std::size_t i = 0; intervals <= kMax && i != intervals; ++i)
    add(wavelengths[i], wavelengths[i + 1], kMax / intervals);
  points.push_back(wavelengths.back());
  return points;
}

}  // namespace

Source::Spectrum make_spectrum(std::span<const double> wavelengths, std::span<const double> density) {
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
  const OpticalTable table{{},
                           OpticalTable::Axis::wavelength_nm,
                           {wavelengths.begin(), wavelengths.end()},
                           {density.begin(), density.end()}};
  const std::vector<double> points = points_of(wavelengths);
  // Sums are exact from one of the density's points to the next.
  std::vector<double> at, values;
  std::set_union(points.begin(), points.end(), wavelengths.begin(), wavelengths.end(), std::back_inserter(at));
  for (const double wavelength : at) values.push_back(table.value(wavelength));
  const std::vector<Curve::Point> curve = raylift::detail::cumulative(at, values);
  if (curve.size() == 1) refuse("the spectrum has no area");
  Source::Spectrum spectrum;
  for (std::size_t i = 0; i != at.size(); ++i)
    if (std::binary_search(points.begin(), points.end(), at[i])) spectrum.points[spectrum.count++] = curve[i];
  return spectrum;
}

void check(const Source& source) {
  const auto require = [](bool holds, const char* problem) {
    if (!holds) throw Error(ErrorKind::usage, std::string("the source's ") + problem);
  };
  const GenstepView& made = source.gensteps;
  require((source.photon_count == 0 && source.photons_in == nullptr) || source.photons != nullptr,
          "photons are a null pointer");
  require((made.count == 0 && made.photons == 0) ||
              (made.steps != nullptr && made.places != nullptr && made.ends != nullptr),
          "gensteps are null pointers");
  using base::kFarthestMm;
  const auto is_place = [](const Double3& p) {
    return std::abs(p.x) <= kFarthestMm && std::abs(p.y) <= kFarthestMm && std::abs(p.z) <= kFarthestMm;
  };
  if (source.photons != nullptr)
    return require(is_place(source.photons_origin), "photons_origin is no point within 1e18 mm");
  const auto norm = [](Float3 v) { return std::hypot(double{v.x}, double{v.y}, double{v.z}); };
  const auto is_unit = [&](Float3 v) { return std::abs(norm(v) - 1) < 1e-5; };
  require(is_place(source.center), "centre is no point within 1e18 mm");
  require(finite(source.extent), "extent is no vector");
  require(at_least_0(source.radius), "radius is below 0, or no number");
  require(source.shape != Source::Shape::disc || is_unit(source.extent), "normal is not of length 1");
  require(source.aim == Source::Aim::isotropic || is_unit(source.direction), "direction is not of length 1");
  require(source.half_angle >= 0 && source.half_angle <= 3.1415928F, "angle is not from 0 to pi");
  require(finite(source.polarization), "polarisation is no vector");
  require(source.spectrum.count <= Source::Spectrum::kMax, "spectrum has too many points");
  require(source.spectrum.count != 0 || (source.wavelength > 0 && std::isfinite(source.wavelength)),
          "wavelength is not above 0");
  require(std::isfinite(source.time), "time is no number");
  require(at_least_0(source.time_width) && at_least_0(source.time_constant), "spread of times is below 0");
}

void check_photons(std::span<const StartPhoton> photons, const std::string& file) {
  const auto is_zero = [](Float3 v) { return v.x == 0 && v.y == 0 && v.z == 0; };
  for (std::size_t i = 0; i != photons.size(); ++i) {
    const StartPhoton& photon = photons[i];
    const auto refuse = [&](const char* column, const char* problem, const char* advice) {
      throw Error(ErrorKind::malformed, std::string("the ") + column + ' ' + problem,
                  {file, "photon " + std::to_string(i)}, advice);
    };
    constexpr const char* kCorrect = "correct the photon, or leave it out";
    if (!finite(photon.position)) refuse("position", "is not finite", kCorrect);
    if (!std::isfinite(photon.time)) refuse("time", "is not finite", kCorrect);
    if (!finite(photon.direction)) refuse("direction", "is not finite", kCorrect);
    if (is_zero(photon.direction)) refuse("direction", "has no length", kCorrect);
    if (!finite(photon.polarization)) refuse("polarisation", "is not finite", "use (0, 0, 0) for a random one");
    if (!(photon.wavelength > 0) || !std::isfinite(photon.wavelength))
      refuse("wavelength", "is not above 0", "wavelengths are in nm");
  }
}

Source::Spectrum uniform_spectrum(float shortest, float longest) {
  return {2, {{0, shortest}, {1, longest}}};
}

}  // namespace raylift::photon
