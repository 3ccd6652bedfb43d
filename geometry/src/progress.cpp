// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/geometry/progress.h>

#ifdef RAYLIFT_WITH_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace raylift {

void Progress::report(std::string_view stage, std::uint64_t done, std::uint64_t total) const {
  if (callback_ && !callback_(stage, done, total)) {
    throw Error(ErrorKind::cancelled, "cancelled during " + std::string(stage));
  }
}

Stage::Stage(const Progress& progress, std::string_view name, std::uint64_t total)
    : progress_(progress), name_(name), total_(total), start_(std::chrono::steady_clock::now()) {
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
  if (progress_.times_ == nullptr) return;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  try {
    progress_.times_->push_back({name_, elapsed.count()});
  } catch (const std::bad_alloc&) {
    // A lost timing is no reason to end the program.
  }
}

}  // namespace raylift
