// SPDX-License-Identifier: Apache-2.0
// Draws an image piece by piece in several turns, between which the window answers. Needs a current context.
#pragma once

#include <GL/glew.h>

#include <chrono>
#include <cstdint>

namespace raylift::viewer {

class Pace {
 public:
  /// Each turn ends with the first piece that ends after so long.
  explicit Pace(double seconds) : seconds_(seconds) {}

  /// Begins a turn. It goes through the same pieces in the same order as those before.
  void begin_turn() {
    piece_ = 0;
    stopped_ = late_ = false;
    start_ = Clock::now();
  }
  /// Draws the next piece, unless a turn before did, or this one has ended.
  template <class Draw>
  void piece(const Draw& draw) {
    if (++piece_ <= done_) return;
    stopped_ = stopped_ || late_;
    if (stopped_) return;
    draw();
    glFinish();
    done_ = piece_;
    const double turn = std::chrono::duration<double>(Clock::now() - start_).count();
    late_ = turn > seconds_;
  }
  /// Whether pieces are left to the next turn.
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  using Clock = std::chrono::steady_clock;
  double seconds_;
  std::uint64_t piece_ = 0, done_ = 0;
  bool stopped_ = false, late_ = false;
  Clock::time_point start_ = Clock::now();
};

/// As a piece of `pace`; null: at once.
template <class Draw>
void draw_piece(Pace* pace, const Draw& draw) {
  if (pace == nullptr)
    draw();
  else
    pace->piece(draw);
}

}  // namespace raylift::viewer
