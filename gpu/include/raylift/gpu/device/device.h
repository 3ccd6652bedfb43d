// SPDX-License-Identifier: Apache-2.0
// Devices, their streams and their events, and how a device is chosen.
#pragma once

#include <raylift/gpu/device/backend.h>
#include <raylift/gpu/device/detail/owned.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace raylift {

class PinnedPool;
class StreamRef;

/// A device to put geometry on. A value: copies refer to the same device, which lives as long as one of them, or a
/// buffer on it, does.
class Device {
 public:
  /// A device that was tried, and why it was not chosen; empty if it was.
  struct Attempt {
    std::string device;
    std::string failure;
  };

  /// The default device, by PyCUDA's rule: the CUDA device that $CUDA_DEVICE, ~/.cuda_device or ~/.cuda-device names,
  /// in this order. Otherwise the first CUDA device that gives a context. Without any CUDA device, the host device.
  /// Throws Error(device), with the list of attempts, where CUDA devices exist and none works. `attempts` receives that
  /// list in any case.
  [[nodiscard]] static Device choose(std::vector<Attempt>* attempts = nullptr);

  /// The embedded host device; by default with half of this machine's memory as its budget.
  [[nodiscard]] static Device host(std::optional<std::uint64_t> budget_bytes = std::nullopt);

  /// CUDA device `ordinal`. Throws Error(device).
  [[nodiscard]] static Device cuda(int ordinal);

  /// "auto", "host" or "cuda:N"; `host_budget` is for the host device. Throws Error: usage, device.
  [[nodiscard]] static Device parse(std::string_view text, std::optional<std::uint64_t> host_budget = std::nullopt);

  /// Every CUDA device that works, in order, and the host device last.
  [[nodiscard]] static std::vector<Device> all(std::vector<Attempt>* attempts = nullptr);

  /// On a backend of the caller's.
  explicit Device(std::shared_ptr<detail::Backend> backend, PinnedFlags staging = {true, true, false});

  [[nodiscard]] const DeviceInfo& info() const { return backend_->info(); }
  [[nodiscard]] MemoryInfo memory_info() const { return backend_->memory_info(); }
  [[nodiscard]] const std::shared_ptr<detail::Backend>& backend() const { return backend_; }
  /// The device's pool of pinned blocks, from which uploads take their staging blocks. Ordinary cached memory: see
  /// docs/performance.md for why not write-combined.
  [[nodiscard]] PinnedPool& pinned_pool() const { return *pool_; }
  /// Waits until all work on one of the device's streams is done.
  void synchronize(StreamRef stream) const;
  /// Releases unused device and pinned memory of the pools, for other programs on the machine. For this process it
  /// counts as free anyway.
  void trim() const;

 private:
  std::shared_ptr<detail::Backend> backend_;
  std::shared_ptr<PinnedPool> pool_;
};

/// A stream of work on a device. Move-only.
class Stream {
 public:
  explicit Stream(const Device& device) : stream_(device.backend(), device.backend()->create_stream()) {}

  [[nodiscard]] StreamHandle handle() const { return stream_.get(); }
  /// Waits until all work on it is done.
  void synchronize() const { stream_.backend()->synchronize(handle()); }

 private:
  detail::Owned<StreamHandle, &detail::Backend::release_stream> stream_;
};

/// A stream, not owned: a Stream of raylift's, or any cudaStream_t of the device, CUDA's null stream included (null, or
/// cudaStreamPerThread). Functions that take one enqueue their work on that stream. CUDA's null stream and raylift's
/// own streams do not synchronize with each other. The host device does all work immediately, whatever the stream.
class StreamRef {
 public:
  StreamRef(const Stream& stream) : handle_(stream.handle()) {}
  StreamRef(StreamHandle stream) : handle_(stream) {}

  [[nodiscard]] StreamHandle handle() const { return handle_; }

 private:
  StreamHandle handle_;
};

inline void Device::synchronize(StreamRef stream) const {
  backend_->synchronize(stream.handle());
}

/// A point in a stream's work. Move-only.
class Event {
 public:
  explicit Event(const std::shared_ptr<detail::Backend>& backend) : event_(backend, backend->create_event()) {}
  explicit Event(const Device& device) : Event(device.backend()) {}

  [[nodiscard]] EventHandle handle() const { return event_.get(); }
  void record(StreamRef stream) { event_.backend()->record(event_.get(), stream.handle()); }
  [[nodiscard]] bool passed() const { return event_.backend()->passed(event_.get()); }
  /// Waits for it.
  void wait() const { event_.backend()->wait(event_.get()); }
  /// Makes what is enqueued from now on wait for it, on a stream of the same device.
  void wait(StreamRef stream) const { event_.backend()->wait_on(stream.handle(), event_.get()); }

 private:
  detail::Owned<EventHandle, &detail::Backend::release_event> event_;
};

}  // namespace raylift
