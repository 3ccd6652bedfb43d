// SPDX-License-Identifier: Apache-2.0
// Draws an image piece by piece in several turns, between which the window answers. Needs a current context.
#pragma once

#include <GL/glew.h>

#include <chrono>
#include <cstdint>
#include <limits>

namespace raylift::viewer {

class Pace {
 public:
  /// Without a limit: an image is drawn at once.
  Pace() = default;
  /// A turn ends before its next piece would exceed `seconds`, if that piece takes as long as the last one did. Each
  /// turn draws at least one piece.
  explicit Pace(double seconds) : seconds_(seconds) {}

  /// Begins a turn. It goes through the same pieces in the same order as those before.
  void begin_turn() {
    piece_ = 0;
    stopped_ = false;
    last_ = 0;
    start_ = Clock::now();
  }
  /// Draws the next piece, unless a turn before did, or this one has ended.
  template <class Draw>
  void piece(const Draw& draw) {
    if (!limited()) return draw();
    if (++piece_ <= done_) return;
    const double begin = seconds();
    stopped_ = stopped_ || (last_ > 0 && begin + last_ > seconds_);
    if (stopped_) return;
    draw();
    glFinish();
    done_ = piece_;
    last_ = seconds() - begin;
  }
  [[nodiscard]] bool limited() const { return seconds_ < kUnlimited; }
  /// The share of the pieces that are drawn, after a turn.
  [[nodiscard]] double share() const {
    return piece_ == 0 ? 0 : static_cast<double>(done_) / static_cast<double>(piece_);
  }
  /// Whether pieces are left to the next turn.
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  using Clock = std::chrono::steady_clock;
  /// Since the turn began.
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  double seconds_ = kUnlimited;
  double last_ = 0;  // of the turn's last piece; 0: it has drawn none
  std::uint64_t piece_ = 0, done_ = 0;
  bool stopped_ = false;
  Clock::time_point start_ = Clock::now();
};

}  // namespace raylift::viewer
