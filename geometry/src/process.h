// SPDX-License-Identifier: Apache-2.0
// What raylift's own child processes start with, and the memory that they share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace raylift::detail {

/// What a system call returned; throws an Error of kind_of_errno(errno) that names `what` where the call has failed.
[[nodiscard]] base::Descriptor opened(int value, const char* what);

/// Starts a program, and returns its process id. It has `descriptors` as its 0, 1, 2 and so on, and no other. It is in
/// a process group of its own, so that an interrupt from the terminal reaches its parent alone, which decides; and no
/// signal that the parent has blocked or ignored stays so. Throws Error(system), or Error(io) where the program is not
/// there.
[[nodiscard]] int spawn(const std::string& program, std::vector<std::string> arguments,
                        std::vector<std::string> environment, std::span<const int> descriptors);

/// This process's environment, as "NAME=value".
[[nodiscard]] std::vector<std::string> own_environment();

/// The memory that this process may use: the machine's, or the least limit of its control groups.
[[nodiscard]] std::uint64_t usable_memory();

}  // namespace raylift::detail
