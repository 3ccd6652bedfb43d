// SPDX-License-Identifier: Apache-2.0
// The file of the font of images.
#pragma once

#include <span>

namespace raylift::viewer {

[[nodiscard]] std::span<const unsigned char> font_data();

}  // namespace raylift::viewer
