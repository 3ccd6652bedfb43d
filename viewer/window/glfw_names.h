// SPDX-License-Identifier: Apache-2.0
// GLFW's keys and buttons as the table of controls names them.
#pragma once

#include <string>

namespace raylift::viewer {

/// The name of a key; empty for keys without a control.
[[nodiscard]] std::string key_name(int key);
[[nodiscard]] std::string drag_name(int button);

}  // namespace raylift::viewer
