// SPDX-License-Identifier: Apache-2.0
// The folder of a user's sockets: $XDG_RUNTIME_DIR/raylift, else /tmp/raylift-UID. No other user has access to it
// (0700).
#pragma once

#include <filesystem>
#include <string>

#include "base/descriptor.h"

namespace raylift::cli {

/// The folder by the environment.
[[nodiscard]] std::filesystem::path runtime_folder();

/// Throws the Error(io) of a folder for sockets: `whose` are these, such as "viewers".
[[noreturn]] void refuse_folder(const std::filesystem::path& path, const std::string& whose,
                                const std::string& problem);

/// Opens a folder that is the user's alone; `make` creates it first. Throws refuse_folder()'s Error if it does not
/// exist, is a link, belongs to another user or is open to others, or if others can replace it.
[[nodiscard]] base::Descriptor open_own_folder(const std::filesystem::path& path, bool make, const std::string& whose);

}  // namespace raylift::cli
