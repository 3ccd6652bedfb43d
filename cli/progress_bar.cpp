// SPDX-License-Identifier: Apache-2.0
#include "progress_bar.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "text.h"

namespace raylift::cli {
namespace {

std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// Ignores errors: the progress bar is not essential.
void write_error(std::string_view text) noexcept {
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

std::string short_duration(std::chrono::duration<double> time) {
  const auto seconds = static_cast<std::uint64_t>(std::clamp(std::ceil(time.count()), 0.0, 3.6e6));
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{}:{:02} min", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02} h", seconds / 3600, seconds / 60 % 60);
}

std::string progress_line(std::string_view stage, std::uint64_t done, std::uint64_t total,
                          std::chrono::duration<double> elapsed, std::size_t width) {
  std::string name = printable(stage);
  const auto cut = [&](std::string text) {
    if (columns(text) > width) text = text.substr(0, std::min(width, text.size()));
    return text;
  };
  if (total == 0) return cut(fmt::format("{:<10} {}", name, short_duration(elapsed)));
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  std::string tail = fmt::format(" {:3.0f} %", std::floor(share * 100));
  // Earlier estimates would vary too much.
  if (share > 0.01 && share < 1 && elapsed.count() > 0.5)
    tail += fmt::format(", {} left", short_duration(elapsed * ((1 - share) / share)));
  std::string head = fmt::format("{:<10} ", name);
  constexpr std::size_t kMin = 10;
  constexpr std::size_t kMax = 40;
  const std::size_t used = columns(head) + tail.size() + 2;
  if (used + kMin > width) return cut(head + tail.substr(1));
  const std::size_t length = std::min(kMax, width - used);
  const auto filled = static_cast<std::size_t>(std::floor(share * static_cast<double>(length)));
  return head + '[' + std::string(filled, '=') + std::string(length - filled, ' ') + ']' + tail;
}

void ProgressBar::show(std::string_view stage, std::string_view label, std::uint64_t done, std::uint64_t total) {
  if (!enabled_) return;
  const Clock::time_point now = Clock::now();
  if (stage != stage_) {
    stage_ = stage;
    stage_start_ = now;
  }
  if (now < next_draw_) return;
  next_draw_ = now + std::chrono::milliseconds(100);
  // The last column stays free: a terminal may wrap the line there.
  write_error("\r" + progress_line(label, done, total, now - stage_start_, terminal_width() - 1) + "\x1b[K");
  drawn_ = true;
}

void ProgressBar::clear() noexcept {
  if (!drawn_) return;
  write_error("\r\x1b[K");
  drawn_ = false;
}

}  // namespace raylift::cli
