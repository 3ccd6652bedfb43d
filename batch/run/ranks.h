// SPDX-License-Identifier: Apache-2.0
// A batch over several ranks, on one machine or more: rank 0 deals scenes to the others and gets their rows, as MPI
// messages.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "mpi_messages.h"
#include "worker_pool.h"

namespace raylift::batch {

/// Rank 0's side: the other ranks as one pool.
class Ranks {
 public:
  explicit Ranks(Mpi& mpi) : mpi_(mpi), ranks_(static_cast<std::size_t>(mpi.place.ranks)) {}

  /// How many scenes can be started now, and how many are under way.
  [[nodiscard]] std::size_t idle() const;
  [[nodiscard]] std::size_t busy() const { return busy_; }
  /// Whether there is one that has a device that works, or has not said yet.
  [[nodiscard]] bool usable() const;
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
  struct Rank {
    std::optional<std::size_t> workers;  // that can work; not known before it says so
    std::size_t busy = 0;                // scenes that it has
    [[nodiscard]] std::size_t idle() const { return workers.value_or(0) - std::min(workers.value_or(0), busy); }
  };

  Mpi& mpi_;
  std::vector<Rank> ranks_;  // the first one, this process, has none here
  std::size_t busy_ = 0;
  std::size_t stopped_ = 0;
  int signal_ = 0;
};

/// The others' side: does scenes until rank 0 ends the batch. Throws Error where this rank can't go on.
void serve_rank(Mpi& mpi, WorkerPoolOptions options);

}  // namespace raylift::batch
