// SPDX-License-Identifier: Apache-2.0
// The workers of a batch on this machine, as their supervisor sees them: it starts them, gives them scenes, stops those
// that take too long or too much, and makes a row of whatever they come to.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "batch/actions/actions.h"
#include "frames.h"

namespace raylift::batch {

struct CrewOptions {
  std::vector<const Action*> actions;
  std::vector<std::string> devices;  ///< of each worker, the one it works on
  double seconds = 0;                ///< for a scene
  std::uint64_t bytes = 0;           ///< of memory, for a scene; 0: only its import is limited
  std::uint64_t import_bytes = 0;    ///< of address space, for an import
  unsigned threads = 1;              ///< of each worker
  int rank = 0;
};

/// A scene that is done, one way or another.
struct Finished {
  std::size_t scene;
  cli::Json row;
  bool refused = false;    ///< the error is not the scene's
  bool cancelled = false;  ///< a signal told its process to end: there is no result
};

class Crew {
 public:
  explicit Crew(CrewOptions options);
  /// Kills the workers that are still at work.
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// How many scenes can be started now, and how many are under way.
  [[nodiscard]] std::size_t idle() const;
  [[nodiscard]] std::size_t busy() const { return slots_.size() - idle(); }
  /// Only where one is idle. Throws Error(io) where no process can be started.
  void start(std::size_t scene, const std::string& path);
  /// What to wait for. Call handle() at least every kTick.
  void poll_for(std::vector<pollfd>& polled) const;
  /// Appends what has finished.
  void handle(std::vector<Finished>& finished);

  static constexpr std::chrono::milliseconds kTick{100};

 private:
  using Clock = std::chrono::steady_clock;
  struct Slot {
    std::string device;
    pid_t process = 0;  // 0: none
    FrameSocket socket;
    int said = -1;  // a file in memory: its standard error
    bool busy = false;
    bool leaving = false;
    std::size_t scene = 0;
    std::string path;
    std::string stage;
    Clock::time_point start;
  };

  void spawn(Slot& slot);
  int end(Slot& slot) noexcept;
  void read(Slot& slot, std::vector<Finished>& finished);
  void check_limits(Slot& slot, std::vector<Finished>& finished);
  void finish(Slot& slot, cli::Json row, bool refused, std::vector<Finished>& finished);
  void finish_failed(Slot& slot, const Error& error, std::vector<Finished>& finished);
  [[nodiscard]] static Error death(const Slot& slot, int status, const std::string& said);

  CrewOptions options_;
  std::string host_;
  std::deque<Slot> slots_;
  Clock::time_point next_check_ = Clock::now();
};

/// The memory that this process may use: the machine's, or what its control group allows.
[[nodiscard]] std::uint64_t usable_memory();

}  // namespace raylift::batch
