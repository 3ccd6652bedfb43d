// SPDX-License-Identifier: Apache-2.0
// Names as panels show them. No GL.
#pragma once

#include <string>
#include <string_view>

namespace raylift::viewer {

/// A name, or each name of a path, without the pointer that Geant4's exporters append: "/World0x5f/Tank_pv0x3af1840" is
/// "/World/Tank_pv".
[[nodiscard]] std::string display_name(std::string_view name);

}  // namespace raylift::viewer
