// SPDX-License-Identifier: Apache-2.0
// The progress bar on a terminal's standard error. It clears itself.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace raylift::cli {

/// One line of at most `width` columns: stage, bar, percent and the time left, as far as there is room; without a
/// total, the stage and the time gone. `elapsed` is the stage's.
[[nodiscard]] std::string progress_line(std::string_view stage, std::uint64_t done, std::uint64_t total,
                                        std::chrono::duration<double> elapsed, std::size_t width);

/// "7 s", "1:05 min", "2:03 h".
[[nodiscard]] std::string short_duration(std::chrono::duration<double> time);

/// Draws on standard error, at most ten times a second, and only once work has taken longer than a blink.
class ProgressBar {
 public:
  explicit ProgressBar(bool enabled) : enabled_(enabled) {}
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::string_view stage, std::uint64_t done, std::uint64_t total) { show(stage, stage, done, total); }
  /// The same with a text in the stage's place, which may change without the stage's being over.
  void show(std::string_view stage, std::string_view label, std::uint64_t done, std::uint64_t total);
  /// Takes the line off the terminal, so that other text can be written there.
  void clear() noexcept;

 private:
  using Clock = std::chrono::steady_clock;
  bool enabled_;
  bool drawn_ = false;
  std::string stage_;
  Clock::time_point stage_start_ = Clock::now();
  Clock::time_point next_draw_ = Clock::now() + std::chrono::milliseconds(300);
};

}  // namespace raylift::cli
