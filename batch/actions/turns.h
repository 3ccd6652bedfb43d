// SPDX-License-Identifier: Apache-2.0
// Several threads that hand over their results by turns.
#pragma once

#include <raylift/geometry/error.h>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

namespace raylift::batch {

/// Lets the lanes' batches hand their results over in order, and ends all lanes where one fails.
class Turns {
 public:
  /// Until all photons before `first` are done.
  void wait(std::uint64_t first) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ != nullptr || done_ == first; });
    throw_if_failed();
  }
  /// Throws Error(cancelled) where another device has failed.
  void stop_if_failed() {
    const std::lock_guard lock(mutex_);
    throw_if_failed();
  }
  void pass(std::uint64_t done) {
    const std::lock_guard lock(mutex_);
    done_ = done;
    changed_.notify_all();
  }
  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (failure_ == nullptr) failure_ = std::move(failure);
    changed_.notify_all();
  }
  /// The first failure.
  void rethrow() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

 private:
  void throw_if_failed() const {
    if (failure_ != nullptr) throw Error(ErrorKind::cancelled, "another device failed");
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t done_ = 0;
  std::exception_ptr failure_;
};

}  // namespace raylift::batch
