// SPDX-License-Identifier: Apache-2.0
// Pools: pinned blocks by PyCUDA's rules, and device memory from CUDA's own stream-ordered pool.
#pragma once

#include <raylift/gpu/device/backend.h>
#include <raylift/gpu/device/device.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace raylift {

class PinnedPool;

/// A pinned block on loan from a pool, to which it goes back at the end of its life. Move-only.
class PinnedBlock {
 public:
  PinnedBlock() = default;
  ~PinnedBlock() { reset(); }
  PinnedBlock(PinnedBlock&& other) noexcept
      : pool_(std::move(other.pool_)),
        block_(std::exchange(other.block_, {})),
        busy_(std::move(other.busy_)),
        wanted_(std::exchange(other.wanted_, 0)) {}
  PinnedBlock& operator=(PinnedBlock&& other) noexcept {
    PinnedBlock taken(std::move(other));
    std::swap(pool_, taken.pool_);
    std::swap(block_, taken.block_);
    std::swap(busy_, taken.busy_);
    std::swap(wanted_, taken.wanted_);
    return *this;
  }

  /// The bytes asked for; the block behind them may be up to 1/16 larger.
  [[nodiscard]] std::span<std::byte> host() const { return {static_cast<std::byte*>(block_.host), wanted_}; }
  [[nodiscard]] std::byte* device() const { return static_cast<std::byte*>(block_.device); }

  /// Says that work on `stream` up to now uses the block: neither wait() nor the pool's next lender gets past it
  /// before.
  void used_by(const Stream& stream);
  /// Waits for the work named last.
  void wait() const {
    if (busy_) busy_->wait();
  }
  /// Gives the block back now.
  void reset() noexcept;

 private:
  friend class PinnedPool;
  std::shared_ptr<PinnedPool> pool_;
  HostBlock block_;
  std::unique_ptr<Event> busy_;
  std::size_t wanted_ = 0;
};

/// A pool of pinned host memory, after PyCUDA's PageLockedMemoryPool: sizes fall into bins by their power of two and
/// the four bits below, so that at most 1/16 of a block is wasted; a bin gives out the block that came back last;
/// blocks stay with the pool until free_held() or stop_holding(). When pinned memory runs out, held blocks go back to
/// the system one by one, largest first, until the allocation succeeds. A block whose last copy has not passed yet is
/// not given out. Safe to use from several threads.
class PinnedPool : public std::enable_shared_from_this<PinnedPool> {
 public:
  [[nodiscard]] static std::shared_ptr<PinnedPool> make(std::shared_ptr<Backend> backend, PinnedFlags flags = {});
  ~PinnedPool();
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;

  /// `bytes` must not be 0. Throws Error(out_of_host_memory) that names the bytes asked, held and active.
  [[nodiscard]] PinnedBlock allocate(std::size_t bytes);

  [[nodiscard]] PinnedFlags flags() const { return flags_; }
  [[nodiscard]] std::size_t held_blocks() const;    ///< in the pool, ready for use or waiting for a copy
  [[nodiscard]] std::size_t active_blocks() const;  ///< on loan
  [[nodiscard]] std::size_t managed_bytes() const;  ///< of both
  [[nodiscard]] std::size_t active_bytes() const;   ///< asked for by those on loan

  /// Gives all held blocks back to the system.
  void free_held();
  /// From now on, blocks that come back go to the system at once. Also gives back all that are held.
  void stop_holding();

  using Bin = unsigned;
  [[nodiscard]] static Bin bin_of(std::size_t bytes);
  /// The size of the blocks in a bin: the largest size that falls into it.
  [[nodiscard]] static std::size_t block_bytes(Bin bin);

 private:
  friend class PinnedBlock;
  struct Held {
    HostBlock block;
    std::unique_ptr<Event> busy;
  };
  PinnedPool(std::shared_ptr<Backend> backend, PinnedFlags flags) : backend_(std::move(backend)), flags_(flags) {}
  void give_back(const HostBlock& block, std::unique_ptr<Event> busy, std::size_t wanted) noexcept;
  void release(Held held) noexcept;
  bool release_largest(std::unique_lock<std::mutex>& lock);

  std::shared_ptr<Backend> backend_;
  PinnedFlags flags_;
  mutable std::mutex mutex_;
  std::map<Bin, std::vector<Held>> held_;  // the last of a bin goes out first
  std::size_t held_blocks_ = 0;
  std::size_t active_blocks_ = 0;
  std::size_t managed_bytes_ = 0;
  std::size_t active_bytes_ = 0;
  bool holding_ = true;
};

/// Device memory out of the device's pool, in the order of a stream. Throws Error(out_of_device_memory), after the pool
/// has given back what it holds and a second try, with the bytes asked, free, held and active.
[[nodiscard]] void* allocate_pooled(Backend& backend, StreamHandle stream, std::size_t bytes);

/// Device memory out of the device's pool: valid for work that follows on `stream`, and given back when the stream gets
/// to its release. The stream must outlive it. Move-only.
template <class T>
class PooledBuffer {
 public:
  PooledBuffer(const Device& device, const Stream& stream, std::size_t size)
      : backend_(device.backend()),
        stream_(stream.handle()),
        size_(size),
        data_(size == 0 ? nullptr : static_cast<T*>(allocate_pooled(*backend_, stream_, size * sizeof(T)))) {}
  ~PooledBuffer() {
    if (data_ != nullptr) backend_->release_on(stream_, data_);
  }
  PooledBuffer(PooledBuffer&& other) noexcept
      : backend_(other.backend_),
        stream_(other.stream_),
        size_(std::exchange(other.size_, 0)),
        data_(std::exchange(other.data_, nullptr)) {}
  PooledBuffer& operator=(PooledBuffer&&) = delete;

  [[nodiscard]] T* device() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::shared_ptr<Backend> backend_;
  StreamHandle stream_;
  std::size_t size_;
  T* data_;
};

}  // namespace raylift
