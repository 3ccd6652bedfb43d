// SPDX-License-Identifier: Apache-2.0
// Messages between the ranks of a batch under mpirun. The program loads MPI from a module only when it was started as
// one of several ranks, so it also starts on machines without MPI.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace raylift::batch {

/// Where a process of a batch stands among the others.
struct RankPlace {
  int rank = 0;
  int ranks = 1;
  int local_rank = 0;   ///< among the ranks on this machine
  int local_ranks = 1;  ///< the number of these
};

struct MpiMessage {
  int rank = 0;  ///< the sender
  int type = 0;
  std::string text;
};

/// MPI between its start and its end. An MPI call that fails, or a rank that is lost, ends all ranks: MPI's default.
class Mpi {
 public:
  virtual ~Mpi() = default;

  RankPlace place;

  /// Does not wait for the receiver.
  virtual void send(int rank, int type, std::string text) = 0;
  /// The next message that has arrived; does not wait for one. Messages of one sender arrive in their order.
  [[nodiscard]] virtual std::optional<MpiMessage> receive() = 0;
  /// Waits until all ranks are here and all messages have arrived.
  virtual void finish() = 0;
  /// Ends all ranks.
  virtual void abort(int exit_code) = 0;
};

/// Whether mpirun or srun has started this process as one of several.
[[nodiscard]] bool started_in_parallel();

/// Starts MPI. Throws Error(unsupported) where raylift was built without MPI.
[[nodiscard]] std::unique_ptr<Mpi> start_mpi();

/// What the module exports: a function that makes an Mpi.
using MakeMpi = Mpi* (*)();
inline constexpr const char* kMakeMpi = "raylift_make_mpi_2";

}  // namespace raylift::batch
