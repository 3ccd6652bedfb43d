// SPDX-License-Identifier: Apache-2.0
// The stages of long operations.
#pragma once

#include <raylift/geometry/progress.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace raylift {

/// A named stage of an operation: reports its start and end to a Progress, records its time, and is an NVTX range if
/// raylift was built with NVTX. Stages may nest; one belongs to the thread that made it.
class Stage {
 public:
  Stage(const Progress& progress, std::string_view name, std::uint64_t total = 0);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// Throws Error(cancelled) when the caller wants to stop.
  void advance(std::uint64_t done) const { progress_.report(name_, done, total_); }

 private:
  const Progress& progress_;
  std::string name_;
  std::uint64_t total_;
  std::int64_t start_;  // nanoseconds, as <chrono> takes long to compile
};

}  // namespace raylift
