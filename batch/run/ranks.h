// SPDX-License-Identifier: Apache-2.0
// A batch over several processes on several machines: the first rank deals scenes to the others and gets their rows,
// over sockets.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "crew.h"
#include "frames.h"

namespace raylift::batch {

/// The first rank's side.
class Ranks {
 public:
  /// Listens on a port of the system's choice.
  Ranks();
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  /// Where the others find it, and their password; for join().
  [[nodiscard]] std::string invitation() const;
  /// How many others will come.
  void expect(std::size_t ranks) { expected_ = ranks; }

  [[nodiscard]] std::size_t idle() const;
  [[nodiscard]] std::size_t busy() const;
  void start(std::size_t scene, const std::string& path);
  void poll_for(std::vector<pollfd>& polled) const;
  /// Appends what has finished, and the scenes of ranks that were lost.
  void handle(std::vector<Finished>& finished, std::vector<std::size_t>& lost);
  [[nodiscard]] std::size_t lost_ranks() const { return lost_ranks_; }
  /// Tells all that the batch is over, also those that have not come yet; these it waits for, but not for ever.
  void dismiss();

 private:
  struct Rank {
    FrameSocket socket;
    std::size_t jobs = 0;  // at a time; 0: has not said its password yet
    bool leaving = false;
    std::set<std::size_t> scenes;

    [[nodiscard]] std::size_t room() const { return leaving || scenes.size() > jobs ? 0 : jobs - scenes.size(); }
  };
  void welcome();
  bool read(Rank& rank, std::vector<Finished>& finished);

  int listener_ = -1;
  std::string password_;
  std::deque<Rank> ranks_;
  std::size_t expected_ = 0;
  std::size_t arrived_ = 0;
  std::size_t lost_ranks_ = 0;
};

/// The others' side: does scenes until the first rank says that the batch is over. Throws Error(io) where the first
/// rank can't be reached or is gone, Error(cancelled) after an interrupt.
int serve_rank(const std::string& invitation, CrewOptions options);

}  // namespace raylift::batch
