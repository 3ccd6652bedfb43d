// SPDX-License-Identifier: Apache-2.0
// A photon from its birth to the pulse that it makes in a sensor, for the host and the GPU alike. Its random numbers
// depend on the seed and its number alone, and counts add up as integers: so the host, any GPU and any number of ranks
// give the same file, byte for byte.
#pragma once

#include <raylift/photon/follow.h>

namespace photon = raylift::photon;

/// What a channel has seen. A row of the result.
struct Channel {
  unsigned long long number;
  unsigned long long photons;  ///< that were detected
  unsigned long long pulses;   ///< above the threshold
  unsigned long long charge;   ///< of these, in units of 1/1024 of a photoelectron's mean
  unsigned long long first;    ///< pulse, in ps; kNever: there was none
  static constexpr unsigned long long kNever = ~0ULL;
};

struct Task {
  raylift::GeometryView geometry;
  photon::Source source;
  photon::Run run;  ///< run.first: of this task
  std::size_t photons;
  Channel* channels;      ///< by the channel's number
  photon::Anchor anchor;  ///< of the source: solids around its centre
};

struct Pulse {
  unsigned long long charge, time;  ///< in the units of Channel
};

/// The sensor's response: the electrons' transit time spreads, one in twenty pulses is late, and the charge of one
/// photoelectron varies. This is where a simulator puts its own.
RAYLIFT_HD inline Pulse respond(const photon::Outcome& outcome, photon::RandomStream& random) {
  constexpr float kSpread = 1.2f, kLate = 0.05f, kLateBy = 12, kChargeSpread = 0.35f;
  photon::Real time = outcome.photon.time + kSpread * random.normal();
  if (random.uniform() < photon::Real(kLate)) time = time + kLateBy * random.exponential();
  const photon::Real charge = 1.0f + kChargeSpread * random.normal();
  const auto units = [](float x) {
    return static_cast<unsigned long long>(x > 0 ? llrint(static_cast<double>(x)) : 0);
  };
  return {units(1024 * static_cast<float>(charge)), units(1000 * static_cast<float>(time))};
}

/// add(channel, pulse, counts): where the photon was detected. follow() does the search for boundaries and the physics
/// of each step; a loop of one's own can call photon::step() instead, or next_boundary() alone.
template <class Add>
RAYLIFT_HD void simulate(const Task& task, std::size_t i, const Add& add) {
  constexpr unsigned long long kThreshold = 256;
  constexpr std::uint64_t kOtherSeed = 0x5EED5EED5EED5EEDU;  // the response's numbers are not the photon's
  const std::uint64_t number = task.run.first + i;
  const photon::Outcome outcome = photon::follow(task.geometry, task.source, task.anchor, task.run, number);
  if (outcome.last.kind != photon::StepKind::detected || outcome.last.channel < 0) return;
  photon::RandomStream random(task.run.seed ^ kOtherSeed, number);
  const Pulse pulse = respond(outcome, random);
  add(task.channels[outcome.last.channel], pulse, pulse.charge > kThreshold);
}
