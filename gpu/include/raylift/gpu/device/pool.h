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

class PinnedPool;

/// A pinned block on loan from a pool, to which it goes back at the end of its life. Move-only.
class PinnedBlock {
 public:
  PinnedBlock() = default;

  /// The bytes asked for; the block behind them may be up to 1/16 larger. Empty where there is no block.
  [[nodiscard]] std::span<std::byte> host() const;
  [[nodiscard]] std::byte* device() const;

  /// Says that work on `stream` up to now uses the block: neither wait() nor the pool's next lender gets past it
  /// before.
  void used_by(const Stream& stream);
  /// Waits for the work named last.
  void wait() const;
  /// Gives the block back now.
  void reset() noexcept { loan_.reset(); }

 private:
  friend class PinnedPool;
  struct Loan;
  struct GiveBack {
    void operator()(Loan* loan) const noexcept;
  };
  std::unique_ptr<Loan, GiveBack> loan_;
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

}  // namespace raylift
