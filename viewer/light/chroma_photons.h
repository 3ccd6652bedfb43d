// SPDX-License-Identifier: Apache-2.0
// Photons in Chroma's arrays: a folder with an array for each quantity. docs/photons.md describes them.
#pragma once

#include <raylift/photon/results.h>

#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

namespace raylift::viewer {

[[nodiscard]] bool has_chroma_photons(const std::filesystem::path& folder);
/// The first photons, at most so many, and how many there are. The arrays pos, t, wavelengths and flags must be there;
/// channel, solid and number may. Each photon's flag is that of its end. Throws Error: io, malformed, unsupported.
[[nodiscard]] std::pair<std::vector<photon::PhotonRow>, std::uint64_t> read_chroma_photons(
    const std::filesystem::path& folder, std::uint64_t most);

}  // namespace raylift::viewer
