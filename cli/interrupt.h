// SPDX-License-Identifier: Apache-2.0
// Signals that ask a program to stop: long work sees them through its Progress and ends in order.
#pragma once

namespace raylift::cli {

/// From now on, the first SIGINT, SIGTERM, SIGHUP or SIGUSR1 is only noted, and a second one ends the program at once.
/// Those that are ignored, as under nohup, stay so. SIGUSR1 is the one that mpirun passes on to its ranks.
void catch_interrupts() noexcept;

/// The signal that has come, or 0.
[[nodiscard]] int interrupted_by() noexcept;

}  // namespace raylift::cli
