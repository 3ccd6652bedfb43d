// SPDX-License-Identifier: Apache-2.0
// A backend around another one, for tests: fails the n-th call of a kind, counts what is alive, and can be as slow as a
// real link, so that a block that is used again too early is seen.
#pragma once

#include <raylift/geometry/error.h>
#include <raylift/gpu/device/backend.h>

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace raylift::test {

class TestBackend : public detail::Backend {
 public:
  explicit TestBackend(std::shared_ptr<detail::Backend> inner) : inner_(std::move(inner)) {}

  enum Call { device_allocation, pinned_allocation, split_allocation, stream, event, copy, kCalls };
  /// The `nth` call (from 0) of this kind fails, and so do the `more` calls after it.
  void fail(Call call, int nth, int more = 0) {
    fail_from_[call] = seen_[call] + nth;
    fail_to_[call] = seen_[call] + nth + more;
  }
  [[nodiscard]] int seen(Call call) const { return seen_[call]; }
  [[nodiscard]] int alive() const { return alive_; }
  /// Copies are queued until a synchronization executes them.
  void defer_copies() { deferred_ = true; }
  /// Number of copies that are still queued.
  [[nodiscard]] std::uint64_t waiting() {
    const std::lock_guard lock(mutex_);
    return queued_ - done_;
  }
  /// What memory_info says, whatever is true.
  void claim_free(std::uint64_t bytes) { claimed_ = bytes; }

  [[nodiscard]] const DeviceInfo& info() const override { return inner_->info(); }
  [[nodiscard]] MemoryInfo memory_info() const override {
    MemoryInfo memory = inner_->memory_info();
    if (claimed_) memory.free_bytes = *claimed_;
    return memory;
  }
  [[nodiscard]] void* allocate(std::size_t bytes) override {
    count(device_allocation, ErrorKind::out_of_device_memory);
    void* data = inner_->allocate(bytes);
    ++alive_;
    return data;
  }
  void release(void* data) noexcept override {
    --alive_;
    inner_->release(data);
  }
  [[nodiscard]] void* allocate_on(StreamHandle handle, std::size_t bytes) override {
    count(device_allocation, ErrorKind::out_of_device_memory);
    void* data = inner_->allocate_on(handle, bytes);
    ++alive_;
    return data;
  }
  void release_on(StreamHandle handle, void* data) noexcept override {
    --alive_;
    inner_->release_on(handle, data);
  }
  [[nodiscard]] PoolBytes pool_bytes() const override { return inner_->pool_bytes(); }
  void trim_pool(std::size_t keep) override {
    ++trims_;
    inner_->trim_pool(keep);
  }
  [[nodiscard]] int trims() const { return trims_; }
  [[nodiscard]] detail::HostBlock allocate_pinned(std::size_t bytes, PinnedFlags flags) override {
    count(pinned_allocation, ErrorKind::out_of_host_memory);
    const detail::HostBlock block = inner_->allocate_pinned(bytes, flags);
    ++alive_;
    return block;
  }
  void release_pinned(const detail::HostBlock& block) noexcept override {
    --alive_;
    inner_->release_pinned(block);
  }
  [[nodiscard]] detail::HostBlock register_host(void* host, std::size_t bytes, PinnedFlags flags) override {
    const detail::HostBlock block = inner_->register_host(host, bytes, flags);
    ++alive_;
    return block;
  }
  void unregister_host(const detail::HostBlock& block) noexcept override {
    --alive_;
    inner_->unregister_host(block);
  }
  [[nodiscard]] detail::SplitBlock allocate_split(std::size_t device_bytes, std::size_t host_bytes) override {
    count(split_allocation, ErrorKind::out_of_device_memory);
    const detail::SplitBlock block = inner_->allocate_split(device_bytes, host_bytes);
    ++alive_;
    return block;
  }
  void release_split(const detail::SplitBlock& block) noexcept override {
    --alive_;
    inner_->release_split(block);
  }
  [[nodiscard]] StreamHandle create_stream() override {
    count(stream, ErrorKind::device);
    StreamHandle handle = inner_->create_stream();
    ++alive_;
    return handle;
  }
  void release_stream(StreamHandle handle) noexcept override {
    --alive_;
    inner_->release_stream(handle);
  }
  void synchronize(StreamHandle handle) override {
    run_until(queued_);
    inner_->synchronize(handle);
  }
  [[nodiscard]] EventHandle create_event() override {
    count(event, ErrorKind::device);
    ++alive_;
    return reinterpret_cast<EventHandle>(new Position{inner_->create_event(), 0});
  }
  void release_event(EventHandle handle) noexcept override {
    --alive_;
    const std::unique_ptr<Position> position(reinterpret_cast<Position*>(handle));
    inner_->release_event(position->inner);
  }
  void record(EventHandle handle, StreamHandle on) override {
    const std::lock_guard lock(mutex_);
    auto* position = reinterpret_cast<Position*>(handle);
    position->queued = queued_;
    inner_->record(position->inner, on);
  }
  [[nodiscard]] bool passed(EventHandle handle) override {
    const std::lock_guard lock(mutex_);
    const auto* position = reinterpret_cast<Position*>(handle);
    return done_ >= position->queued && inner_->passed(position->inner);
  }
  void wait(EventHandle handle) override {
    const auto* position = reinterpret_cast<Position*>(handle);
    run_until(position->queued);
    inner_->wait(position->inner);
  }
  void wait_on(StreamHandle on, EventHandle handle) override {
    inner_->wait_on(on, reinterpret_cast<Position*>(handle)->inner);
  }
  void copy_to_device(void* device, const void* host, std::size_t bytes, StreamHandle on) override {
    count(copy, ErrorKind::device);
    link_bytes_ += bytes;
    later(on, [=, this] { inner_->copy_to_device(device, host, bytes, on); });
  }
  void copy_to_host(void* host, const void* device, std::size_t bytes, StreamHandle on) override {
    count(copy, ErrorKind::device);
    later(on, [=, this] { inner_->copy_to_host(host, device, bytes, on); });
  }
  void copy_on_device(void* to, const void* from, std::size_t bytes, StreamHandle on) override {
    count(copy, ErrorKind::device);
    later(on, [=, this] { inner_->copy_on_device(to, from, bytes, on); });
  }
  /// What the device reaches, whatever is true.
  void claim_reach(bool reaches) { reaches_ = reaches; }
  [[nodiscard]] bool reaches(detail::Backend&) override { return reaches_; }
  void copy_to_peer(detail::Backend& other, void* to, const void* from, std::size_t bytes, StreamHandle on) override {
    count(copy, ErrorKind::device);
    peer_bytes_ += bytes;
    detail::Backend* const peer = static_cast<TestBackend&>(other).inner_.get();
    later(on, [=, this] { inner_->copy_to_peer(*peer, to, from, bytes, on); });
  }
  [[nodiscard]] std::uint64_t link_bytes() const { return link_bytes_; }  ///< that came over the host's link
  [[nodiscard]] std::uint64_t peer_bytes() const { return peer_bytes_; }  ///< that went to other devices

 private:
  struct Position {
    EventHandle inner;
    std::uint64_t queued;  // copies queued before the event
  };

  void count(Call call, ErrorKind kind) {
    const std::lock_guard lock(mutex_);
    const int number = seen_[call]++;
    if (number >= fail_from_[call] && number <= fail_to_[call]) throw Error(kind, "injected fault");
  }
  void later(StreamHandle on, std::function<void()> work) {
    const std::lock_guard lock(mutex_);
    if (!deferred_) return work();
    // Events were recorded before the copies that they stand for reach the real stream: so each is waited for.
    queue_.push_back([this, on, work = std::move(work)] {
      work();
      inner_->synchronize(on);
    });
    ++queued_;
  }
  void run_until(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    for (; done_ < number; ++done_) {
      queue_.front()();
      queue_.pop_front();
    }
  }

  std::shared_ptr<detail::Backend> inner_;
  int seen_[kCalls] = {};
  int fail_from_[kCalls] = {1 << 30, 1 << 30, 1 << 30, 1 << 30, 1 << 30, 1 << 30};
  int fail_to_[kCalls] = {};
  std::atomic<int> alive_{0};
  std::recursive_mutex mutex_;  // uploads call from several threads
  int trims_ = 0;
  bool deferred_ = false;
  bool reaches_ = true;
  std::atomic<std::uint64_t> link_bytes_{0};
  std::atomic<std::uint64_t> peer_bytes_{0};
  std::optional<std::uint64_t> claimed_;
  std::deque<std::function<void()>> queue_;
  std::uint64_t queued_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace raylift::test
