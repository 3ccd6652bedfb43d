// SPDX-License-Identifier: Apache-2.0
// Work on its own thread; the owner watches its progress and can cancel it.
#pragma once

#include <raylift/geometry/error.h>
#include <raylift/geometry/progress.h>

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace raylift::viewer {

template <class T>
class Task {
 public:
  /// Starts the work. Its Progress throws Error(cancelled) once the task is being destroyed.
  explicit Task(std::function<T(const Progress&)> work)
      : thread_([this, work = std::move(work)] {
          try {
            result_.emplace(work(Progress([this](std::string_view stage, std::uint64_t done, std::uint64_t total) {
              const std::lock_guard lock(mutex_);
              stage_ = stage;
              share_ = total == 0 ? -1.0F : static_cast<float>(static_cast<double>(done) / static_cast<double>(total));
              return !cancelled_;
            })));
          } catch (...) {
            failure_ = std::current_exception();
          }
          ready_ = true;
        }) {}
  ~Task() {
    cancelled_ = true;
    thread_.join();
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  [[nodiscard]] bool ready() const { return ready_; }
  /// Moves the result out, or rethrows the exception of the work. Requires ready().
  [[nodiscard]] T result() {
    if (failure_) std::rethrow_exception(failure_);
    return std::move(*result_);
  }
  /// The stage, and its share done from 0 to 1 (less than 0: unknown).
  [[nodiscard]] std::pair<std::string, float> progress() const {
    const std::lock_guard lock(mutex_);
    return {stage_, share_};
  }

 private:
  mutable std::mutex mutex_;
  std::string stage_;
  float share_ = -1;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> ready_{false};
  std::optional<T> result_;
  std::exception_ptr failure_;
  std::thread thread_;  // last: it uses the members above
};

}  // namespace raylift::viewer
