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
};

/// One photon's way. For kernels and host code.
[[nodiscard]] RAYLIFT_HD inline Outcome follow(const GeometryView& geometry, const Source& source,
                                               const Containment& at_center, const Run& run, std::uint64_t number) {
  RandomStream random(run.seed, number);
  Outcome outcome{born(geometry, source, at_center, random), {}, 0, 0};
  while (true) {
    if (outcome.steps == run.most_steps || outcome.photon.time > run.latest) {
      outcome.last.kind = StepKind::cut;
    } else {
      outcome.last = step(geometry, outcome.photon, random, run.shift_profile);
      ++outcome.steps;
    }
    outcome.history = outcome.history << 4 | static_cast<std::uint64_t>(outcome.last.kind);
    if (ends(outcome.last.kind)) return outcome;
  }
}

}  // namespace raylift::photon
