// SPDX-License-Identifier: Apache-2.0
// The embedded host device.
#include <raylift/geometry/error.h>
#include <raylift/gpu/device/backend.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

namespace raylift {
namespace {

constexpr std::uint64_t kPage = std::uint64_t{2} << 20;  // as CUDA's

std::string in_bytes(std::uint64_t bytes) {
  return std::to_string(bytes) + " bytes";
}

/// Address space from the system; null where there is none.
void* map_memory(std::size_t bytes) {
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  // Page faults would cost an upload more than its copies. Only a wish: without huge pages it works as well.
  (void)::madvise(data, bytes, MADV_HUGEPAGE);
  return data;
}

class HostBackend : public detail::Backend {
 public:
  explicit HostBackend(std::uint64_t budget) : budget_(budget) {
    info_.name = "host memory";
    info_.id = "host";
    info_.is_host = true;
    info_.total_bytes = budget;
    info_.multiprocessors = static_cast<int>(std::thread::hardware_concurrency());
    info_.maps_host_memory = true;
    info_.virtual_memory = true;
    info_.host_numa_pages = true;
    info_.splits_arrays = true;
    info_.page_bytes = kPage;
  }

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }

  [[nodiscard]] MemoryInfo memory_info() const override {
    const std::uint64_t used = used_.load();
    return {used < budget_ ? budget_ - used : 0, budget_};
  }

  [[nodiscard]] void* allocate(std::size_t bytes) override {
    take_from_budget(bytes);
    void* data = map_memory(bytes);
    if (data == nullptr) {
      used_ -= bytes;
      throw Error(ErrorKind::out_of_device_memory, "the system gave no " + in_bytes(bytes) + " for the host device");
    }
    remember(data, bytes);
    return data;
  }

  void release(void* device) noexcept override {
    const std::size_t bytes = forget(device);
    ::munmap(device, bytes);
    used_ -= bytes;
  }

  [[nodiscard]] void* allocate_on(StreamHandle, std::size_t bytes) override {
    void* data = allocate(bytes);
    pooled_ += bytes;
    return data;
  }

  void release_on(StreamHandle, void* device) noexcept override {
    pooled_ -= size_of(device);
    release(device);
  }

  [[nodiscard]] PoolBytes pool_bytes() const override { return {pooled_, pooled_}; }
  void trim_pool(std::size_t) override {}

  [[nodiscard]] detail::HostBlock allocate_pinned(std::size_t bytes, PinnedFlags flags) override {
    // One piece of memory at two addresses, as on a GPU: code that takes one for the other does not get away with it.
    const int file = ::memfd_create("raylift-pinned", MFD_CLOEXEC);
    detail::HostBlock block{nullptr, nullptr, bytes};
    if (file >= 0 && ::ftruncate(file, static_cast<off_t>(bytes)) == 0) {
      void* host = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      void* device = flags.mapped ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : nullptr;
      block.host = host == MAP_FAILED ? nullptr : host;
      block.device = device == MAP_FAILED ? nullptr : device;
    }
    if (file >= 0) ::close(file);
    if (block.host == nullptr || (flags.mapped && block.device == nullptr)) {
      release_pinned(block);
      throw Error(ErrorKind::out_of_host_memory, "the system gave no " + in_bytes(bytes) + " of shared memory");
    }
    return block;
  }

  void release_pinned(const detail::HostBlock& block) noexcept override {
    if (block.host != nullptr) ::munmap(block.host, block.bytes);
    if (block.device != nullptr) ::munmap(block.device, block.bytes);
  }

  [[nodiscard]] detail::HostBlock register_host(void* host, std::size_t bytes, PinnedFlags flags) override {
    return {host, flags.mapped ? host : nullptr, bytes};
  }
  void unregister_host(const detail::HostBlock&) noexcept override {}

  [[nodiscard]] detail::SplitBlock allocate_split(std::size_t device_bytes, std::size_t host_bytes) override {
    take_from_budget(device_bytes);
    auto* data = static_cast<std::byte*>(map_memory(device_bytes + host_bytes));
    if (data == nullptr) {
      used_ -= device_bytes;
      throw Error(ErrorKind::out_of_host_memory, "the system gave no " + in_bytes(device_bytes + host_bytes));
    }
    return {data, data + device_bytes, device_bytes, host_bytes};
  }

  void release_split(const detail::SplitBlock& block) noexcept override {
    ::munmap(block.device, block.device_bytes + block.host_bytes);
    used_ -= block.device_bytes;
  }

  // Work is done when its call returns, so a stream holds nothing, and an event has always passed.
  [[nodiscard]] StreamHandle create_stream() override { return nullptr; }
  void release_stream(StreamHandle) noexcept override {}
  void synchronize(StreamHandle) override {}
  [[nodiscard]] EventHandle create_event() override { return nullptr; }
  void release_event(EventHandle) noexcept override {}
  void record(EventHandle, StreamHandle) override {}
  [[nodiscard]] bool passed(EventHandle) override { return true; }
  void wait(EventHandle) override {}
  void wait_on(StreamHandle, EventHandle) override {}

  void copy_to_device(void* device, const void* host, std::size_t bytes, StreamHandle) override {
    std::memcpy(device, host, bytes);
  }
  void copy_to_host(void* host, const void* device, std::size_t bytes, StreamHandle) override {
    std::memcpy(host, device, bytes);
  }
  void copy_on_device(void* to, const void* from, std::size_t bytes, StreamHandle) override {
    std::memmove(to, from, bytes);
  }

  [[nodiscard]] bool reaches(detail::Backend& other) override { return other.info().is_host; }
  void copy_to_peer(detail::Backend&, void* to, const void* from, std::size_t bytes, StreamHandle) override {
    std::memmove(to, from, bytes);
  }

 private:
  void take_from_budget(std::size_t bytes) {
    std::uint64_t used = used_.load();
    do {
      if (used > budget_ || bytes > budget_ - used)
        throw Error(ErrorKind::out_of_device_memory, in_bytes(bytes) + " do not fit into the host device: " +
                                                         in_bytes(used < budget_ ? budget_ - used : 0) +
                                                         " of its budget of " + in_bytes(budget_) + " are free");
    } while (!used_.compare_exchange_weak(used, used + bytes));
  }

  void remember(void* data, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    sizes_.emplace(data, bytes);
  }
  std::size_t size_of(void* data) noexcept {
    const std::lock_guard lock(mutex_);
    return sizes_.at(data);
  }
  std::size_t forget(void* data) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(data);
    const std::size_t bytes = found->second;
    sizes_.erase(found);
    return bytes;
  }

  DeviceInfo info_;
  std::uint64_t budget_;
  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> pooled_{0};
  std::mutex mutex_;
  std::unordered_map<void*, std::size_t> sizes_;
};

}  // namespace

std::shared_ptr<detail::Backend> detail::make_host_backend(std::uint64_t budget_bytes) {
  return std::make_shared<HostBackend>(budget_bytes);
}

}  // namespace raylift
