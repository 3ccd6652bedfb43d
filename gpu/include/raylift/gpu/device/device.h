// SPDX-License-Identifier: Apache-2.0
// Choosing a device, and the small values that stand for it, its streams and its events.
#pragma once

#include <raylift/gpu/device/backend.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace raylift {

class PinnedPool;

/// What was tried on the way to a device, and why it was not taken; empty where it was.
struct DeviceAttempt {
  std::string device;
  std::string failure;
};

/// A device to put geometry on. A value: copies stand for the same device, which lives as long as one of them, or a
/// buffer on it, does.
class Device {
 public:
  /// The device that a user means who says nothing, by PyCUDA's rule: $CUDA_DEVICE, then the number in ~/.cuda_device
  /// or
  /// ~/.cuda-device, and that one alone; otherwise the first CUDA device, in order, that gives a context. Where there
  /// is no CUDA device at all, the host device. Throws Error(device) with the list of what was tried where CUDA devices
  /// are there and none works. `attempts` gets that list too, also on success.
  [[nodiscard]] static Device choose(std::vector<DeviceAttempt>* attempts = nullptr);

  /// The embedded host device; by default with half of this machine's memory as its budget.
  [[nodiscard]] static Device host(std::optional<std::uint64_t> budget_bytes = std::nullopt);

  /// CUDA device `ordinal`. Throws Error(device).
  [[nodiscard]] static Device cuda(int ordinal);

  /// "auto", "host" or "cuda:N"; `host_budget` is for the host device. Throws Error: usage, device.
  [[nodiscard]] static Device parse(std::string_view text, std::optional<std::uint64_t> host_budget = std::nullopt);

  /// Every CUDA device that works, in order, and the host device last.
  [[nodiscard]] static std::vector<Device> all(std::vector<DeviceAttempt>* attempts = nullptr);

  /// On a backend of the caller's.
  explicit Device(std::shared_ptr<Backend> backend, PinnedFlags staging = {true, true, false});

  [[nodiscard]] const DeviceInfo& info() const { return backend_->info(); }
  [[nodiscard]] MemoryInfo memory_info() const { return backend_->memory_info(); }
  [[nodiscard]] const std::shared_ptr<Backend>& backend() const { return backend_; }
  /// The device's pool of pinned blocks, from which uploads take their staging blocks. Ordinary cached memory: see
  /// docs/performance.md for why not write-combined.
  [[nodiscard]] PinnedPool& pinned_pool() const { return *pool_; }
  /// Gives back what the pools hold unused, device memory and pinned memory: to other programs on the same machine. To
  /// this process it counts as free anyway.
  void trim() const;

 private:
  std::shared_ptr<Backend> backend_;
  std::shared_ptr<PinnedPool> pool_;
};

/// An order of work on a device. Move-only.
class Stream {
 public:
  explicit Stream(const Device& device) : backend_(device.backend()), handle_(backend_->create_stream()) {}
  ~Stream() {
    if (backend_) backend_->release_stream(handle_);
  }
  Stream(Stream&& other) noexcept
      : backend_(std::move(other.backend_)), handle_(std::exchange(other.handle_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    Stream taken(std::move(other));
    std::swap(backend_, taken.backend_);
    std::swap(handle_, taken.handle_);
    return *this;
  }

  [[nodiscard]] StreamHandle handle() const { return handle_; }
  /// Waits until all work on it is done.
  void synchronize() const { backend_->synchronize(handle_); }

 private:
  std::shared_ptr<Backend> backend_;
  StreamHandle handle_;
};

/// A point in a stream's work. Move-only.
class Event {
 public:
  explicit Event(std::shared_ptr<Backend> backend) : backend_(std::move(backend)), handle_(backend_->create_event()) {}
  explicit Event(const Device& device) : Event(device.backend()) {}
  ~Event() {
    if (backend_) backend_->release_event(handle_);
  }
  Event(Event&& other) noexcept : backend_(std::move(other.backend_)), handle_(std::exchange(other.handle_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    Event taken(std::move(other));
    std::swap(backend_, taken.backend_);
    std::swap(handle_, taken.handle_);
    return *this;
  }

  void record(StreamHandle stream) { backend_->record(handle_, stream); }
  [[nodiscard]] bool passed() const { return backend_->passed(handle_); }
  void wait() const { backend_->wait(handle_); }

 private:
  std::shared_ptr<Backend> backend_;
  EventHandle handle_;
};

}  // namespace raylift
