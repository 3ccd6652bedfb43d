// SPDX-License-Identifier: Apache-2.0
// OpenGL's error flags as raylift's errors.
#pragma once

#include <string>

namespace raylift::detail {

/// Forgets errors of what was called before, by whomever.
void clear_gl_errors() noexcept;

/// Throws for an error since the last clear: out_of_device_memory or device. `what` begins the message.
void check_gl(const std::string& what);

}  // namespace raylift::detail
