// SPDX-License-Identifier: Apache-2.0
// The worker pool of a batch on this machine: starts workers, gives them scenes, stops those that exceed a limit, and
// makes a row of each result.
#pragma once

#include <poll.h>
#include <raylift/geometry/error.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "batch/actions/actions.h"
#include "frames.h"
#include "process_table.h"

namespace raylift::batch {

struct WorkerPoolOptions {
  std::vector<const Action*> actions;
  std::vector<std::string> devices;  ///< one per worker
  double seconds = 0;                ///< time limit of a scene
  std::uint64_t bytes = 0;           ///< memory limit of a scene, whichever processes work on it; 0: none
  std::uint64_t import_bytes = 0;    ///< address space of an import
  unsigned threads = 1;              ///< of each worker
  int rank = 0;
  bool may_drop_last = false;  ///< go on without a device that works no longer also where this pool has no other
};

/// A finished scene: done or failed.
struct Finished {
  std::size_t scene;
  cli::Json row;
  bool refused = false;    ///< the error is not the scene's
  bool cancelled = false;  ///< a signal ended its process: there is no result
  std::string dropped{};   ///< a device that works no longer: there is no result, and other devices may have one
};

class WorkerPool {
 public:
  explicit WorkerPool(WorkerPoolOptions options);
  /// Kills the workers.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// The numbers of scenes that can start now, and of those that run.
  [[nodiscard]] std::size_t idle() const;
  [[nodiscard]] std::size_t busy() const;
  /// Workers whose device works, at most one scene each.
  [[nodiscard]] std::size_t usable() const;
  /// The scene that has been under way for the longest time.
  struct UnderWay {
    std::string path;
    std::chrono::duration<double> time;
  };
  [[nodiscard]] std::optional<UnderWay> slowest() const;
  /// Starts a scene; a worker must be idle. Where no process can be started, the scene is refused.
  void start(std::size_t scene, const std::string& path);
  /// Adds the descriptors to poll. Call handle() at least every kTick.
  void poll_for(std::vector<pollfd>& polled) const;
  /// Appends finished scenes.
  void handle(std::vector<Finished>& finished);

  static constexpr std::chrono::milliseconds kTick{100};

 private:
  using Clock = std::chrono::steady_clock;
  struct Slot {
    std::string device;
    pid_t process = 0;  // 0: none
    FrameSocket socket;
    base::Descriptor said;  // a file in memory: its standard error
    bool busy = false;
    bool leaving = false;
    bool dropped = false;  // its device works no longer
    bool taken = false;    // the worker has said something about the scene
    std::size_t scene = 0;
    std::string path;
    std::string stage;
    Clock::time_point start;
    std::optional<Error> not_started;
  };

  bool drop(const std::string& device);
  void spawn(Slot& slot);
  int end(Slot& slot) noexcept;
  void read(Slot& slot, std::vector<Finished>& finished);
  void check_limits(Slot& slot, const ProcessTable& processes, std::vector<Finished>& finished);
  void finish(Slot& slot, cli::Json row, bool refused, std::vector<Finished>& finished);
  void finish_failed(Slot& slot, const Error& error, bool refused, std::vector<Finished>& finished);
  [[nodiscard]] static Error death(const Slot& slot, int status, const std::string& said);

  WorkerPoolOptions options_;
  std::string host_;
  std::deque<Slot> slots_;
  Clock::time_point next_check_ = Clock::now();
};

}  // namespace raylift::batch
