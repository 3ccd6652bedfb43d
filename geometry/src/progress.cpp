// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/geometry/progress.h>

#include <chrono>
#include <new>

#include "stage.h"

#ifdef RAYLIFT_WITH_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace raylift {
namespace {

std::int64_t nanoseconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

void Progress::report(std::string_view stage, std::uint64_t done, std::uint64_t total) const {
  if (callback_ && !callback_(stage, done, total)) {
    throw Error(ErrorKind::cancelled, "cancelled during " + std::string(stage));
  }
}

void Progress::record(const Progress::StageTime& time) const noexcept {
  if (times_ == nullptr) return;
  try {
    times_->push_back(time);
  } catch (const std::bad_alloc&) {
    // A lost timing is no reason to end the program.
  }
}

Stage::Stage(const Progress& progress, std::string_view name, std::uint64_t total)
    : progress_(progress), name_(name), total_(total), start_(nanoseconds_now()) {
  // Before the range is pushed: a report that cancels throws, and then no destructor would pop it.
  progress_.report(name_, 0, total_);
#ifdef RAYLIFT_WITH_NVTX
  nvtxRangePushA(name_.c_str());
#endif
}

Stage::~Stage() {
#ifdef RAYLIFT_WITH_NVTX
  nvtxRangePop();
#endif
  progress_.record({name_, 1e-9 * static_cast<double>(nanoseconds_now() - start_)});
}

}  // namespace raylift
