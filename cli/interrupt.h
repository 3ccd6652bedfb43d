// SPDX-License-Identifier: Apache-2.0
// Signals that stop a program in order: long work sees them through its Progress.
#pragma once

namespace raylift::cli {

/// Installs handlers: the first SIGINT, SIGTERM, SIGHUP or SIGUSR1 is recorded, the second ends the program. Ignored
/// signals, as under nohup, stay ignored. mpirun forwards SIGUSR1 to its ranks.
void catch_interrupts() noexcept;

/// The recorded signal, or 0.
[[nodiscard]] int interrupted_by() noexcept;

}  // namespace raylift::cli
