// SPDX-License-Identifier: Apache-2.0
// The messages of ChAR0N, by which RAT uses Chroma (github.com/JamesJieranShen/char0n, README of 2025): lists of
// frames, of which the first has a word. docs/service.md lists them.
#pragma once

#include <raylift/geometry/scene/scene.h>
#include <raylift/photon/service.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace raylift::batch {

/// The channels of a scene as Chroma has them: numbered from 0 on, in the order of their numbers.
struct Char0nSensors {
  std::vector<std::int32_t> channels;  ///< the scene's numbers, ascending
  std::vector<float> x, y, z;       ///< mm, of the volume's own origin; of a channel with several volumes the first's
  std::vector<std::int32_t> types;  ///< indices of channel types; -1: none
};
[[nodiscard]] Char0nSensors char0n_sensors(const Scene& scene);

using Char0nFrames = std::vector<std::span<const std::byte>>;

/// The word of a message; empty where it is no message.
[[nodiscard]] std::string char0n_word(const Char0nFrames& frames);

/// The answer to a message that needs no simulation: PING, RUN_BEGIN, RUN_END, DETECTOR_INFO, and all that is none.
[[nodiscard]] std::vector<std::string> char0n_answer(const std::string& word, const Char0nSensors& sensors);

/// Reads PHOTONDATA: fills in the request's event, seed, photons and hits. Returns what is wrong, or nothing. The
/// numbers of photons are left to Service::submit().
[[nodiscard]] std::string read_char0n_photons(const Char0nFrames& frames, photon::Request& request);

/// SIM_COMPLETE with the hits that have a channel.
[[nodiscard]] std::vector<std::string> char0n_result(std::uint64_t event, const photon::Reply& reply,
                                                     const Char0nSensors& sensors);
/// SIM_FAILED, and why; RAT ignores the reason.
[[nodiscard]] std::vector<std::string> char0n_failure(std::uint64_t event, const std::string& why);
/// NO_WORKERS: RAT tries again after its timeout.
[[nodiscard]] std::vector<std::string> char0n_busy();

}  // namespace raylift::batch
