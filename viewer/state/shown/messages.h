// SPDX-License-Identifier: Apache-2.0
// The line that the viewer shows the user: a message for some seconds, or the last error until the next success.
#pragma once

#include <raylift/geometry/error.h>

#include <chrono>
#include <cstdint>
#include <new>
#include <optional>
#include <string>

namespace raylift::viewer {

class Messages {
 public:
  /// Shows a message, in place of the last error.
  void show(const std::string& message) {
    error_.clear();
    text_ = message;
    until_ = Clock::now() + std::chrono::seconds(4);
  }
  /// Runs work. An exception becomes the error shown, unless the work was cancelled.
  template <class Work>
  void attempt(const Work& work) {
    try {
      work();
    } catch (const Error& failure) {
      fail(failure);
    } catch (const std::bad_alloc&) {
      fail(Error(ErrorKind::out_of_host_memory, "no memory left"));
    }
  }
  void dismiss_error() { error_.clear(); }

  /// The last message, for some seconds; then empty.
  [[nodiscard]] std::string text() const { return Clock::now() < until_ ? text_ : ""; }
  /// The last error, until the next success.
  [[nodiscard]] const std::string& error() const { return error_; }
  /// The number of failures so far, and the last one.
  [[nodiscard]] std::uint64_t failures() const { return failures_; }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  using Clock = std::chrono::steady_clock;
  void fail(const Error& failure) {
    if (failure.kind() == ErrorKind::cancelled) return;
    error_ = std::string(to_string(failure.kind())) + ": " + failure.what();
    failure_ = failure;
    ++failures_;
  }

  std::string error_, text_;
  Clock::time_point until_{};
  std::optional<Error> failure_;
  std::uint64_t failures_ = 0;
};

}  // namespace raylift::viewer
