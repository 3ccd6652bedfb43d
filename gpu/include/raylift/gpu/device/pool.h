// SPDX-License-Identifier: Apache-2.0
// A pool of pinned host memory, by PyCUDA's rules. (Device memory has CUDA's own pool: see Memory::pooled.)
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

/// A pool of pinned host memory, after PyCUDA's PageLockedMemoryPool: sizes fall into bins by their power of two and
/// the four bits below, so that at most 1/16 of a block is wasted. A bin is a stack of free blocks. The pool keeps them
/// until free_held() or stop_holding(). When pinned memory runs out, it frees them one by one, largest first, until the
/// allocation succeeds. A block whose last event has not passed is not reused. Thread-safe.
class PinnedPool : public std::enable_shared_from_this<PinnedPool> {
 public:
  /// A pinned block from a pool. The destructor returns it to the pool. Move-only.
  class Block {
   public:
    Block() = default;

    /// The bytes requested; the block may be up to 1/16 larger. Empty without a block.
    [[nodiscard]] std::span<std::byte> host() const;
    [[nodiscard]] std::byte* device() const;

    /// Records an event on `stream`, of a block that is not empty. wait() waits for it, and the pool does not reuse the
    /// block before it has passed.
    void used_by(StreamRef stream);
    /// Waits for the event of the last used_by().
    void wait() const;
    /// Returns the block to the pool now.
    void reset() noexcept { loan_.reset(); }

   private:
    friend class PinnedPool;
    struct Loan;
    struct GiveBack {
      void operator()(Loan* loan) const noexcept;
    };
    std::unique_ptr<Loan, GiveBack> loan_;
  };

  [[nodiscard]] static std::shared_ptr<PinnedPool> make(std::shared_ptr<detail::Backend> backend,
                                                        PinnedFlags flags = {});
  ~PinnedPool();
  PinnedPool(const PinnedPool&) = delete;
  PinnedPool& operator=(const PinnedPool&) = delete;

  /// Throws Error(usage) for 0 bytes, or more than half of all addresses. Throws Error(out_of_host_memory) with the
  /// bytes requested, held and active.
  [[nodiscard]] Block allocate(std::size_t bytes);

  [[nodiscard]] PinnedFlags flags() const { return flags_; }
  [[nodiscard]] std::size_t held_blocks() const;    ///< free blocks of the pool
  [[nodiscard]] std::size_t active_blocks() const;  ///< blocks in use
  [[nodiscard]] std::size_t managed_bytes() const;  ///< of both
  [[nodiscard]] std::size_t active_bytes() const;   ///< requested for the blocks in use

  /// Frees all held blocks.
  void free_held();
  /// Frees all held blocks, and from now on each returned block at once.
  void stop_holding();

  using Bin = unsigned;
  [[nodiscard]] static Bin bin_of(std::size_t bytes);
  /// The size of the blocks in a bin: the largest size that falls into it.
  [[nodiscard]] static std::size_t block_bytes(Bin bin);

 private:
  friend class Block;
  struct Held {
    detail::HostBlock block;
    std::unique_ptr<Event> busy;
  };
  PinnedPool(std::shared_ptr<detail::Backend> backend, PinnedFlags flags)
      : backend_(std::move(backend)), flags_(flags) {}
  void give_back(const detail::HostBlock& block, std::unique_ptr<Event> busy, std::size_t wanted) noexcept;
  void release(Held held) noexcept;
  bool release_largest(std::unique_lock<std::mutex>& lock);

  std::shared_ptr<detail::Backend> backend_;
  PinnedFlags flags_;
  mutable std::mutex mutex_;
  std::map<Bin, std::vector<Held>> held_;  // the last of a bin goes out first
  std::size_t held_blocks_ = 0;
  std::size_t active_blocks_ = 0;
  std::size_t managed_bytes_ = 0;
  std::size_t active_bytes_ = 0;
  bool holding_ = true;
};

}  // namespace raylift
