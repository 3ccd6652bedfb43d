// SPDX-License-Identifier: Apache-2.0
// A batch over several ranks, on one machine or more: rank 0 deals scenes to the others and gets their rows, as MPI
// messages.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "mpi_messages.h"
#include "worker_pool.h"

namespace raylift::batch {

/// Rank 0's side: the other ranks as one pool.
class Ranks {
 public:
  explicit Ranks(Mpi& mpi) : mpi_(mpi), rooms_(static_cast<std::size_t>(mpi.place.ranks)) {}

  /// How many scenes can be started now, and how many are under way.
  [[nodiscard]] std::size_t idle() const;
  [[nodiscard]] std::size_t busy() const { return busy_; }
  /// Only where one is idle.
  void start(std::size_t scene, const std::string& path);
  /// Appends what has finished.
  void handle(std::vector<Finished>& finished);
  /// The signal that asked another rank to stop, or 0.
  [[nodiscard]] int interrupted_by() const { return signal_; }
  /// Ends the batch in all other ranks; what they have under way has no result.
  void stop();

  /// How often messages are looked for: MPI has nothing that poll() could wait for.
  static constexpr std::chrono::milliseconds kTick{5};

 private:
  Mpi& mpi_;
  std::vector<std::size_t> rooms_;  // of each rank, how many scenes more it can take
  std::size_t busy_ = 0;
  std::size_t stopped_ = 0;
  int signal_ = 0;
};

/// The others' side: does scenes until rank 0 ends the batch. Throws Error where this rank can't go on.
void serve_rank(Mpi& mpi, WorkerPoolOptions options);

}  // namespace raylift::batch
