// SPDX-License-Identifier: Apache-2.0
// The rights that an import process drops before it reads its input, so that an attacker who controls an importer has
// no others.
#pragma once

#include <filesystem>
#include <span>

namespace raylift::import {

/// Gives up, for good and as far as `import_sandbox()` says, what an import does without. From then on this process
/// reads `input` and what lies in `folders` and below; it opens no other file and none for
/// writing, and has no system call for sockets, processes, signals to others, limits and code. Call it before there are
/// threads. Throws Error(io).
void enter_sandbox(const std::filesystem::path& input, std::span<const std::filesystem::path> folders);

}  // namespace raylift::import
