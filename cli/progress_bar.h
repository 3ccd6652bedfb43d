// SPDX-License-Identifier: Apache-2.0
// The progress bar on standard error, which clears itself.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace raylift::cli {

/// One line of at most `width` columns: stage, bar, percentage and remaining time, as far as they fit. Without a total:
/// stage and elapsed time. `elapsed` is the stage's.
[[nodiscard]] std::string progress_line(std::string_view stage, std::uint64_t done, std::uint64_t total,
                                        std::chrono::duration<double> elapsed, std::size_t width);

/// "7 s", "1:05 min", "2:03 h".
[[nodiscard]] std::string short_duration(std::chrono::duration<double> time);

/// Draws at most ten times a second, from 0.3 s on.
class ProgressBar {
 public:
  explicit ProgressBar(bool enabled) : enabled_(enabled) {}
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::string_view stage, std::uint64_t done, std::uint64_t total) { show(stage, stage, done, total); }
  /// The same with another text in the stage's place.
  void show(std::string_view stage, std::string_view label, std::uint64_t done, std::uint64_t total);
  /// Removes the line from the terminal.
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
