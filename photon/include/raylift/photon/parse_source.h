// SPDX-License-Identifier: Apache-2.0
// Sources from text: "ball:0,0,-2m,150:wavelength=350-500". docs/photons.md has the form.
#pragma once

#include <raylift/photon/source.h>

#include <string>
#include <string_view>

namespace raylift::photon {

/// The source that a text describes. Its points are the scene's, in mm where they have no unit. Throws Error: usage,
/// which names the part that is wrong; of a spectrum's file also io, malformed and limit.
[[nodiscard]] Source parse_source(std::string_view text);
/// The file with the spectrum; empty where the text names none.
[[nodiscard]] std::string spectrum_file(std::string_view text);

/// The text of the same source elsewhere: its points moved by so many mm, in mm, rounded to a micrometre. Throws Error:
/// usage, as parse_source() does.
[[nodiscard]] std::string moved_source(std::string_view text, const Double3& by);

}  // namespace raylift::photon
