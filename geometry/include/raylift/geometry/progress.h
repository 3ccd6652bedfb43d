// SPDX-License-Identifier: Apache-2.0
// Progress reports and cancellation of long operations.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace raylift {

/// What a caller passes to a long operation, to get its progress and to cancel it. Cheap to copy; a default-constructed
/// one ignores reports and never cancels. Reports come from the thread that called the operation, never from its
/// workers.
class Progress {
 public:
  /// The wall time of one finished stage.
  struct StageTime {
    std::string stage;
    double seconds = 0;
  };
  /// Called with the stage ("weld"), and how much of it is done out of `total` (0: not known). Returning false cancels.
  using Callback = std::function<bool(std::string_view stage, std::uint64_t done, std::uint64_t total)>;

  Progress() = default;
  /// `times`, where given, collects a StageTime for each stage in the order in which they end; it must outlive this.
  explicit Progress(Callback callback, std::vector<StageTime>* times = nullptr)
      : callback_(std::move(callback)), times_(times) {}

  /// Throws Error(cancelled) when the caller wants to stop.
  void report(std::string_view stage, std::uint64_t done, std::uint64_t total) const;
  /// Adds the time of a stage that ended elsewhere, in a child process for instance.
  void record(const StageTime& time) const noexcept;

 private:
  Callback callback_;
  std::vector<StageTime>* times_ = nullptr;
};

}  // namespace raylift
