// SPDX-License-Identifier: Apache-2.0
// Photons from birth to end, whose searches for boundaries are the caller's: included by <raylift/photon/follow.h>,
// behind what describes them.
#pragma once

#include <raylift/geometry/detail/standard.h>
#include <raylift/photon/detail/birth.h>
#include <raylift/photon/detail/events.h>

#if !defined(__CUDACC_RTC__)
#include <atomic>
#endif

namespace raylift::photon {

/// The state of an interrupted Follower, in addition to the outcome so far.
struct alignas(16) Pause {
  std::uint32_t drawn_and_phase;  ///< the number of random numbers, times four, and Follower::Phase
  Float3 rest;                    ///< of the photon's position
};

namespace detail {

/// Counts a step's properties whose tables do not cover its wavelength, at the number of the material or event.
/// On a GPU the threads of a warp that count the same add together: where all light lies beyond a table, atomic
/// additions of each thread took a third of the time of a run.
RAYLIFT_SLOW_PATH inline void count_end_values(const MaterialOptics& material, std::uint32_t number, float wavelength,
                                               std::uint64_t* counts) {
  std::uint32_t uncovered = 0;
  for (std::uint32_t i = 0; i != kBulkProperties; ++i)
    if (!covers(material.covered_by[i], wavelength)) uncovered |= 1U << i;
  std::uint64_t* const own = counts + std::size_t{number} * kBulkProperties;
#if defined(__CUDA_ARCH__)
  const unsigned same = __match_any_sync(__activemask(), number << kBulkProperties | uncovered);
  unsigned earlier;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(earlier));
  if ((same & earlier) != 0) return;  // the first of these threads adds for all
  for (std::uint32_t i = 0; i != kBulkProperties; ++i)
    if ((uncovered >> i & 1U) != 0)
      atomicAdd(reinterpret_cast<unsigned long long*>(own + i), static_cast<unsigned long long>(__popc(same)));
#else
  for (std::uint32_t i = 0; i != kBulkProperties; ++i)
    if ((uncovered >> i & 1U) != 0) std::atomic_ref(own[i]).fetch_add(1, std::memory_order_relaxed);
#endif
}

}  // namespace detail

/// Photons of a source, one after the other, each from birth to end, for kernels and host code. The search for a
/// boundary is left to the caller, so that a kernel has it once, for the births and steps of all threads of a warp:
///
///   Follower follower(geometry, source, anchor, run);
///   follower.start(number);
///   FineRay ray;
///   while (follower.ray(ray)) follower.arrive(next_boundary(geometry, ray, follower.in()));
///   outcome = follower.outcome();
///
/// `anchor` is anchor_of(geometry, source), which given photons don't need. The solid of a photon born elsewhere in the
/// source's shape is found by a walk from the centre, across all boundaries between; of one born on a face, by its
/// direction.
class Follower {
 public:
  /// Where a photon stands.
  enum class Phase : std::uint8_t {
    on_way,   ///< to its birth, along its direction; its time is how far that still is
    arrived,  ///< at the place of its birth
    aimed,    ///< it has a direction, which decides where it is on a face
    born,
  };

  RAYLIFT_HD_INLINE Follower(const GeometryView& geometry, const Source& source, const Anchor& anchor, const Run& run)
      : geometry_(geometry), source_(source), anchor_(anchor), run_(run), random_(run.seed, 0) {}

  /// Starts the photon of this number.
  RAYLIFT_HD_INLINE void start(std::uint64_t number) {
    const std::uint32_t event = run_.events.count == 0 ? 0 : run_.events.find(number);
    random_ = random_of(number, event, 0);
    phase_ = Phase::born;
    rest_ = {0, 0, 0};
    if (source_.photons != nullptr) {
      const std::uint64_t i = number - source_.first_photon;
      const StartPhoton& start = source_.photons[i];
      const FinePoint at = start_of(geometry_, source_, start);
      rest_ = at.rest;
      const std::uint16_t birth = birth_bit(birth_kind(start.flags));
      outcome_ = {born(start, at.point, source_.photons_in[i], random_), {}, 0, 0, birth, event};
      return;
    }
    const Source& source = source_of(event);
    const Anchor anchor = anchor_of(event);
    const BirthPlace place = birth_place(source, random_);
    const FinePoint center = geometry_.fine_from_scene(source.center);
    outcome_ = {{center.point, place.distance, place.direction, 0, {0, 0, 0}, anchor.in}, {}, 0, 0, 0, event};
    rest_ = center.rest;
    phase_ = place.distance < Real(0) ? Phase::arrived : Phase::on_way;
    if (phase_ == Phase::on_way && anchor.clear) {
      move_to(geometry_.along(center, outcome_.photon.time, place.direction));
      phase_ = Phase::arrived;
    }
  }
  /// Continues a photon that waits for the boundary of a ray.
  RAYLIFT_HD_INLINE void resume(std::uint64_t number, const Outcome& so_far, const Pause& pause) {
    random_ = random_of(number, so_far.event, pause.drawn_and_phase >> 2);
    outcome_ = so_far;
    phase_ = static_cast<Phase>(pause.drawn_and_phase & 3U);
    rest_ = pause.rest;
  }
  [[nodiscard]] RAYLIFT_HD_INLINE Pause pause() const {
    return {random_.drawn() << 2 | static_cast<std::uint32_t>(phase_), rest_};
  }
  /// The ray for the next search for a boundary. False: the photon has ended.
  RAYLIFT_HD_INLINE bool ray(FineRay& ray) {
    Photon& photon = outcome_.photon;
    if (ends(outcome_.last.kind)) return false;
    if (phase_ == Phase::on_way) {
      ray = {{photon.position, rest_}, photon.direction, photon.time};
      return true;
    }
    if (phase_ == Phase::arrived) {
      const Source& source = source_of(outcome_.event);
      give_birth(source, photon, random_);
      phase_ = anchor_of(outcome_.event).clear || fills_volume(source) ? Phase::born : Phase::aimed;
    }
    if (phase_ == Phase::aimed) {
      ray = start_ray(geometry_, {photon.position, rest_}, photon.direction);
      return true;
    }
    if (outcome_.steps == run_.most_steps || photon.time > run_.latest) {
      outcome_.last.kind = StepKind::cut;
    } else {
      ++outcome_.steps;
      outcome_.last = detail::begin_step(geometry_, photon);
      if (!ends(outcome_.last.kind)) {
        ray = detail::step_ray(geometry_, photon, rest_, outcome_.last.material, known_, random_);
        return true;
      }
    }
    record();
    return false;
  }
  /// Takes the result of that search.
  RAYLIFT_HD_INLINE void arrive(const Boundary& boundary) {
    Photon& photon = outcome_.photon;
    if (phase_ == Phase::on_way) {
      photon.in = boundary.after;
      move_to(boundary.point);
      if (boundary.inconsistent) {
        outcome_.last.kind = StepKind::inconsistent;
        ++outcome_.steps;  // so that its history has an event
        record();
      } else if (boundary.crosses()) {
        photon.time = photon.time > boundary.t ? photon.time - boundary.t : 0;
      } else {
        phase_ = Phase::arrived;
      }
      return;
    }
    if (phase_ == Phase::aimed) {
      if (crosses_at_start(boundary)) photon.in = boundary.after;
      phase_ = Phase::born;
      return;
    }
    const std::uint16_t through = outcome_.last.material;
    const MaterialOptics& material = geometry_.optics.materials[through];
    if (run_.end_values != nullptr && !covers(material.covered, photon.wavelength))
      detail::count_end_values(material, run_.events.count == 0 ? through : outcome_.event, photon.wavelength,
                               run_.end_values);
    detail::end_step(geometry_, boundary, run_.shift_profile, photon, rest_, outcome_.last, known_, random_);
    record();
  }
  /// The ray that the photon was last given for a search, with another end. Valid after resume().
  [[nodiscard]] RAYLIFT_HD_INLINE FineRay last_ray(float tmax) const {
    return {{outcome_.photon.position, rest_}, outcome_.photon.direction, tmax};
  }
  /// The solids that the photon is in.
  [[nodiscard]] RAYLIFT_HD_INLINE const Containment& in() const { return outcome_.photon.in; }
  [[nodiscard]] RAYLIFT_HD_INLINE const Outcome& outcome() const { return outcome_; }

 private:
  [[nodiscard]] RAYLIFT_HD_INLINE RandomStream random_of(std::uint64_t number, std::uint32_t event,
                                                         std::uint32_t drawn) const {
    if (run_.events.count == 0) return {run_.seed, number, drawn};
    const EventKey key = run_.events.keys[event];
    return {key.seed, number + key.offset, drawn};
  }
  [[nodiscard]] RAYLIFT_HD_INLINE const Source& source_of(std::uint32_t event) const {
    return source_.events == nullptr ? source_ : source_.events[event].source;
  }
  // By value: an address would keep it in memory.
  [[nodiscard]] RAYLIFT_HD_INLINE Anchor anchor_of(std::uint32_t event) const {
    return source_.events == nullptr ? anchor_ : source_.events[event].anchor;
  }
  RAYLIFT_HD_INLINE void move_to(const FinePoint& place) {
    outcome_.photon.position = place.point;
    rest_ = place.rest;
  }
  RAYLIFT_HD_INLINE void record() {
    outcome_.history = outcome_.history << 4 | static_cast<std::uint64_t>(outcome_.last.kind);
    outcome_.kinds = static_cast<std::uint16_t>(outcome_.kinds | 1U << static_cast<unsigned>(outcome_.last.kind));
  }

  const GeometryView& geometry_;
  const Source& source_;
  const Anchor& anchor_;
  const Run& run_;
  RandomStream random_;
  Outcome outcome_{};
  detail::KnownRate known_;
  Float3 rest_{0, 0, 0};  // of the photon's position
  Phase phase_ = Phase::born;
};

}  // namespace raylift::photon
