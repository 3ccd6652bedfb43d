// SPDX-License-Identifier: Apache-2.0
// Where photons are born. A photon's birth depends on the seed and its number alone.
//
//   raylift::photon::Source source;                                  // a point that emits in all directions
//   source.center = {0, 0, 1000};
//   source.spectrum = raylift::photon::make_spectrum(nanometres, intensity);
//   raylift::photon::propagate(geometry, source, run, outcomes, count, stream);
//
// parse_source() makes one from a text; docs/photons.md has the text's form.
#pragma once

#include <raylift/geometry/detail/standard.h>
#include <raylift/gpu/rays/boundary.h>
#include <raylift/photon/detail/genstep_view.h>

#if !defined(__CUDACC_RTC__)
#include <span>
#include <string>
#endif

namespace raylift::photon {

/// The process that created a photon. Each has a flag of Opticks's, 1 << (number - 1); histories have the number.
enum class BirthKind : std::uint8_t { cerenkov = 1, scintillation = 2, torch = 13 };
[[nodiscard]] RAYLIFT_HD constexpr std::uint32_t flag_of(BirthKind kind) {
  return 1U << (static_cast<unsigned>(kind) - 1);
}

/// A photon at its birth: a row of Opticks's photons, (N, 4, 4) of float32. Words without a meaning at birth are not
/// read.
struct alignas(16) StartPhoton {
  Float3 position;  ///< millimetres in the scene's coordinates, or from Source::photons_origin
  float time;       ///< ns
  Float3 direction;
  std::uint32_t unused0;
  Float3 polarization;      ///< only its component perpendicular to the direction is used; zero: random
  float wavelength;         ///< nm
  Float3 rest;              ///< of the position; read where Source::photon_rests says so
  std::uint32_t flags = 0;  ///< Opticks's; with that of Cerenkov light or scintillation it is such light, else TORCH
};
static_assert(sizeof(StartPhoton) == 64);

struct EventSource;

/// A source of photons, as a plain value that kernels take. The default is a point that emits in all directions with
/// 420 nm. A laser is a disc and a cone with one direction.
struct Source {
  /// A distribution of wavelengths, as a curve whose x is the cumulative probability and whose y is in nm.
  struct Spectrum {
    static constexpr std::uint32_t kMax = 256;
    std::uint32_t count = 0;  ///< of its points; 0: there is no spectrum
    Curve::Point points[kMax]{};
  };
  /// The shape in which births are uniform.
  enum class Shape : std::uint8_t { ball, line, disc };

  /// The distribution of directions at birth.
  enum class Aim : std::uint8_t {
    isotropic,
    cone,        ///< up to Source::half_angle about Source::direction, uniform in solid angle
    lambertian,  ///< by the cosine from Source::direction
  };

  Double3 center;          ///< of the shape, millimetres in the scene's coordinates
  float radius = 0;        ///< of the ball or disc; 0: a point
  Float3 extent{0, 0, 0};  ///< line: the way from its centre to one end; disc: its normal, of unit length
  Shape shape = Shape::ball;
  Aim aim = Aim::isotropic;
  Float3 direction{0, 0, 1};     ///< of unit length, for the cone and Lambert's law
  float half_angle = 0;          ///< of the cone, radians up to pi; 0: parallel
  Float3 polarization{0, 0, 0};  ///< only its component perpendicular to a photon's direction is used; zero: random
  float wavelength = 420;        ///< nm, where there is no spectrum
  float time = 0;                ///< ns
  float time_width = 0;          ///< ns: later by a uniform number up to this
  float time_constant = 0;       ///< ns: later by an exponential decay too
  Spectrum spectrum;

  /// Photons given instead, at an address of the device: photon number n is photons[n - first_photon], and there are
  /// photon_count of them; a null pointer to any is an Error(usage). The members above are then ignored. The photons'
  /// media come from locate(), or, if known, from `photons_in`, an array of the same size.
  const StartPhoton* photons = nullptr;
  bool photon_rests = false;  ///< positions are the sums of StartPhoton::position and `rest`
  const Containment* photons_in = nullptr;
  /// Added to the photons' positions, millimetres: for positions that floats of the scene's coordinates are too coarse
  /// for. GeometryView::origin keeps each float as it is.
  Double3 photons_origin;
  std::uint64_t first_photon = 0;
  std::uint64_t photon_count = 0;

  /// Or photons are generated along steps, numbered in the steps' order: Gensteps::source() sets it.
  GenstepView gensteps;

  /// Or each of Run::events has a source that makes photons itself, in an array at an address of the device.
  const EventSource* events = nullptr;
};
static_assert(std::is_trivially_copyable_v<Source>);

#if !defined(__CUDACC_RTC__)
/// The spectrum of a density that is linear between ascending wavelengths (nm): the integral is kept at these, and
/// between them as closely as Source::Spectrum::kMax points allow. Throws Error(malformed): no points, not ascending,
/// below zero, no area.
[[nodiscard]] Source::Spectrum make_spectrum(std::span<const double> wavelengths, std::span<const double> density);
/// The uniform spectrum of a range of wavelengths (nm).
[[nodiscard]] Source::Spectrum uniform_spectrum(float shortest, float longest);

/// Checks photons in host memory: positions, times and polarisations are finite, directions have a length, wavelengths
/// are above 0. Throws Error(malformed) that names the first wrong photon's number, from 0, and its column; `file` is
/// for the message.
void check_photons(std::span<const StartPhoton> photons, const std::string& file = {});
#endif

}  // namespace raylift::photon
