// SPDX-License-Identifier: Apache-2.0
// Whether a file that holds the state of a program is the user's own.
#pragma once

#include <sys/stat.h>

#include <string>

namespace raylift::base {

/// Why a file can't be trusted: "belongs to another user (number 1001)", where that is neither the own one nor root, or
/// "can be written by others". Empty: it can be. Entries of access control lists show in the group's bits.
[[nodiscard]] std::string mistrust(const struct stat& status);

}  // namespace raylift::base
