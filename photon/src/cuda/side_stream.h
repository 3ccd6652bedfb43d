// SPDX-License-Identifier: Apache-2.0
// A stream beside a caller's, for kernels that keep few threads busy, while others fill the device.
#pragma once

#include <cuda_runtime_api.h>

#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace raylift::photon {

/// A stream of the current device with high priority: the blocks of its kernels start before those of the main stream's
/// that are still to start. Work on it waits for the main stream only at follow(). The main stream waits for all work
/// on it at join(), and in the end. Streams and events are kept for the next SideStream, as making them takes longer
/// than a small launch.
class SideStream {
 public:
  explicit SideStream(cudaStream_t main) : main_(main) {
    if ((error_ = cudaGetDevice(&device_)) != cudaSuccess) return;
    {
      const std::lock_guard lock(pool().mutex);
      for (auto& [device, parts] : pool().free) {
        if (device != device_ || parts.stream == nullptr) continue;
        if (cudaEventQuery(parts.done) == cudaSuccess) {
          parts_ = std::exchange(parts, {});
          return;
        }
        (void)cudaGetLastError();  // not ready: the last photons of another launch are on their way there
      }
    }
    int least = 0, greatest = 0;
    error_ = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    if (error_ == cudaSuccess) error_ = cudaStreamCreateWithPriority(&parts_.stream, cudaStreamNonBlocking, greatest);
    for (cudaEvent_t* const event : {&parts_.reached, &parts_.done})
      if (error_ == cudaSuccess) error_ = cudaEventCreateWithFlags(event, cudaEventDisableTiming);
  }
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;
  ~SideStream() {
    if (error_ != cudaSuccess || join() != cudaSuccess) {
      destroy();
      return;
    }
    const std::lock_guard lock(pool().mutex);
    for (auto& [device, parts] : pool().free)
      if (parts.stream == nullptr) {
        device = device_;
        parts = parts_;
        return;
      }
    try {
      pool().free.emplace_back(device_, parts_);
    } catch (const std::bad_alloc&) {
      destroy();
    }
  }

  /// Whether the constructor failed.
  [[nodiscard]] cudaError_t error() const { return error_; }
  [[nodiscard]] cudaStream_t stream() const { return parts_.stream; }
  /// Work that comes next on this stream waits for what is on the main stream by now.
  [[nodiscard]] cudaError_t follow() const { return wait(main_, parts_.reached, parts_.stream); }
  /// Work that comes next on the main stream waits for what is on this stream by now.
  [[nodiscard]] cudaError_t join() const { return wait(parts_.stream, parts_.done, main_); }

 private:
  struct Parts {
    cudaStream_t stream = nullptr;
    cudaEvent_t reached = nullptr, done = nullptr;
  };
  struct Pool {
    std::mutex mutex;
    std::vector<std::pair<int, Parts>> free;  // by device
  };
  // Never destroyed: the driver may be gone by then.
  static Pool& pool() {
    static Pool* const pool = new Pool;
    return *pool;
  }
  void destroy() const {
    for (const cudaEvent_t event : {parts_.reached, parts_.done})
      if (event != nullptr) (void)cudaEventDestroy(event);
    if (parts_.stream != nullptr) (void)cudaStreamDestroy(parts_.stream);
    (void)cudaGetLastError();
  }
  static cudaError_t wait(cudaStream_t before, cudaEvent_t event, cudaStream_t behind) {
    const cudaError_t error = cudaEventRecord(event, before);
    return error != cudaSuccess ? error : cudaStreamWaitEvent(behind, event, 0);
  }

  cudaStream_t main_;
  int device_ = 0;
  Parts parts_;
  cudaError_t error_ = cudaSuccess;
};

}  // namespace raylift::photon
