// SPDX-License-Identifier: Apache-2.0
// What raylift calls in the module that is linked with MPI. The program itself is not, so that it starts where there is
// no MPI.
#pragma once

namespace raylift::batch {

struct MpiPlace {
  int rank;
  int ranks;
  int local_rank;
  int local_ranks;
};

inline constexpr int kMpiMessageBytes = 4096;

/// Starts MPI, and says where this process is in it.
using MpiStart = int (*)(MpiPlace*);
/// Brings the first rank's message, of kMpiMessageBytes, to the others, and ends MPI.
using MpiTell = int (*)(char*);

inline constexpr const char* kMpiStart = "raylift_mpi_start";
inline constexpr const char* kMpiTell = "raylift_mpi_tell";

}  // namespace raylift::batch
