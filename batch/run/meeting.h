// SPDX-License-Identifier: Apache-2.0
// How the processes that mpirun has started find each other. MPI tells each who it is and brings the first one's
// address to the others; from then on they talk over sockets, so that a process that is lost takes none of the others
// with it.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace raylift::batch {

struct Meeting {
  int rank = 0;
  int ranks = 1;
  int local_rank = 0;   ///< among those on this machine
  int local_ranks = 1;  ///< their number
  std::string message;  ///< the first rank's, to the others
};

/// Whether this process is one of several that mpirun, or srun, has started.
[[nodiscard]] bool started_in_parallel();

/// Waits for all of them, and hands the text that `message` makes in the first rank to all others. Throws
/// Error(unsupported) where raylift was built without MPI.
[[nodiscard]] Meeting meet(const std::function<std::string()>& message);

}  // namespace raylift::batch
