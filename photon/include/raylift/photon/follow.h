// SPDX-License-Identifier: Apache-2.0
// One photon from birth to end, for kernels and host code.
#pragma once

#include <raylift/photon/source.h>

#include <cstdint>
#include <limits>

namespace raylift::photon {

/// Which photons, and how far.
struct Run {
  std::uint64_t seed = 0;
  std::uint64_t first = 0;                                ///< number of the first photon
  std::uint32_t most_steps = 10'000;                      ///< a photon with more is cut
  float latest = std::numeric_limits<float>::infinity();  ///< ns; likewise
  ShiftProfile shift_profile = ShiftProfile::delta;
};

/// A photon's end.
struct Outcome {
  Photon photon;
  StepEnd last;
  std::uint32_t steps;
  std::uint64_t history;  ///< its last 16 events, 4 bits each, the latest in the lowest bits
  std::uint16_t kinds;    ///< a bit for each kind of all of its events: 1 << kind
};

/// Photons of a source, one after the other, each from birth to end, for kernels and host code. The search for a
/// boundary is left to the caller, so that a kernel has it once, for the births and steps of all threads of a warp:
///
///   Follower follower(geometry, source, at_center, run);
///   follower.start(number);
///   Ray ray;
///   while (follower.ray(ray)) follower.arrive(next_boundary(geometry, ray, follower.in()));
///   outcome = follower.outcome();
///
/// `at_center` is locate(geometry, source.center). A photon that is born elsewhere in the source's ball is taken there
/// from the centre, across the boundaries on the way.
class Follower {
 public:
  RAYLIFT_HD Follower(const GeometryView& geometry, const Source& source, const Containment& at_center, const Run& run)
      : geometry_(geometry), source_(source), at_center_(at_center), run_(run), random_(run.seed, 0) {}

  /// Takes a photon up by its number.
  RAYLIFT_HD void start(std::uint64_t number) {
    random_ = RandomStream(run_.seed, number);
    outcome_ = {
        {source_.center, source_.time, source_.direction, source_.wavelength, {0, 0, 0}, at_center_}, {}, 0, 0, 0};
    from_ = 0;
    if (source_.radius > 0) {
      // The largest of three uniform numbers has the density of a radius in a ball.
      const Real a = random_.uniform(), b = random_.uniform(), c = random_.uniform();
      outcome_.photon.direction = random_.direction();
      birth_ = Real(source_.radius) * larger(a, larger(b, c));
    } else {
      birth_ = -1;
      aim();
    }
  }
  /// Where to search for a boundary next. False: the photon has ended.
  RAYLIFT_HD bool ray(Ray& ray) {
    Photon& photon = outcome_.photon;
    if (ends(outcome_.last.kind)) return false;
    if (birth_ >= 0) {
      ray = {source_.center, from_, photon.direction, birth_};
      return true;
    }
    if (outcome_.steps == run_.most_steps || photon.time > run_.latest) {
      outcome_.last.kind = StepKind::cut;
    } else {
      ++outcome_.steps;
      outcome_.last = detail::begin_step(geometry_, photon);
      if (!ends(outcome_.last.kind)) {
        ray = detail::step_ray(geometry_, photon, outcome_.last.material, random_);
        return true;
      }
    }
    record();
    return false;
  }
  /// What that search found.
  RAYLIFT_HD void arrive(const Boundary& boundary) {
    Photon& photon = outcome_.photon;
    if (birth_ >= 0) {
      photon.in = boundary.after;
      photon.position = boundary.point;
      from_ = boundary.end;
      if (boundary.crosses() && !boundary.inconsistent) return;
      birth_ = -1;
      aim();
      return;
    }
    detail::end_step(geometry_, boundary, run_.shift_profile, photon, outcome_.last, random_);
    record();
  }
  /// The solids that the photon is in.
  [[nodiscard]] RAYLIFT_HD const Containment& in() const { return outcome_.photon.in; }
  [[nodiscard]] RAYLIFT_HD const Outcome& outcome() const { return outcome_; }

 private:
  RAYLIFT_HD void aim() {
    const Vector given = source_.direction;
    const Vector direction = dot(given, given) > Real(0) ? given : random_.direction();
    outcome_.photon.direction = direction;
    outcome_.photon.polarization = random_polarization(direction, random_);
  }
  RAYLIFT_HD void record() {
    outcome_.history = outcome_.history << 4 | static_cast<std::uint64_t>(outcome_.last.kind);
    outcome_.kinds = static_cast<std::uint16_t>(outcome_.kinds | 1U << static_cast<unsigned>(outcome_.last.kind));
  }

  const GeometryView& geometry_;
  const Source& source_;
  const Containment& at_center_;
  const Run& run_;
  RandomStream random_;
  Outcome outcome_{};
  float birth_ = -1;  // how far from the centre the photon is born; negative: it is born
  float from_ = 0;    // how far of that way has been searched
};

/// One photon's way.
[[nodiscard]] RAYLIFT_HD inline Outcome follow(const GeometryView& geometry, const Source& source,
                                               const Containment& at_center, const Run& run, std::uint64_t number) {
  Follower follower(geometry, source, at_center, run);
  follower.start(number);
  Ray ray;
  while (follower.ray(ray)) follower.arrive(next_boundary(geometry, ray, follower.in()));
  return follower.outcome();
}

}  // namespace raylift::photon
