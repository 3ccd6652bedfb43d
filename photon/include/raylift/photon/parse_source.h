// SPDX-License-Identifier: Apache-2.0
// Sources from text: "ball:0,0,-2m,150:wavelength=350-500". docs/photons.md has the form.
#pragma once

#include <raylift/photon/source.h>

#include <span>
#include <string_view>

namespace raylift::photon {

/// The source that a text describes. Its points are the scene's, in mm where they have no unit; `origin` is subtracted
/// from them: GeometryView::origin. Throws Error: usage, which names the part that is wrong; of a spectrum's file also
/// io, malformed and limit.
[[nodiscard]] Source parse_source(std::string_view text, std::span<const double, 3> origin);
/// The file with the spectrum; empty where the text names none.
[[nodiscard]] std::string spectrum_file(std::string_view text);
/// The same with an origin of zero: to check a text before there is a geometry.
[[nodiscard]] Source parse_source(std::string_view text);

}  // namespace raylift::photon
