// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/gpu/device/pool.h>

#include <algorithm>
#include <bit>
#include <new>
#include <string>

namespace raylift {
namespace {

// Bits of a size below its leading one that select a bin: a block is at most 1/16 larger than what was asked for.
constexpr unsigned kMantissaBits = 4;

}  // namespace

struct PinnedPool::Block::Loan {
  std::shared_ptr<PinnedPool> pool;
  detail::HostBlock block;
  std::unique_ptr<Event> busy;
  std::size_t wanted = 0;
};

PinnedPool::Bin PinnedPool::bin_of(std::size_t bytes) {
  const auto exponent = static_cast<unsigned>(std::bit_width(bytes) - 1);
  const std::size_t mantissa =
      exponent >= kMantissaBits ? bytes >> (exponent - kMantissaBits) : bytes << (kMantissaBits - exponent);
  return exponent << kMantissaBits | static_cast<unsigned>(mantissa & ((1U << kMantissaBits) - 1));
}

std::size_t PinnedPool::block_bytes(Bin bin) {
  const unsigned exponent = bin >> kMantissaBits;
  const std::size_t mantissa = (std::size_t{1} << kMantissaBits) | (bin & ((1U << kMantissaBits) - 1));
  if (exponent < kMantissaBits) return std::max<std::size_t>(mantissa >> (kMantissaBits - exponent), 1);
  const unsigned shift = exponent - kMantissaBits;
  return mantissa << shift | ((std::size_t{1} << shift) - 1);
}

std::shared_ptr<PinnedPool> PinnedPool::make(std::shared_ptr<detail::Backend> backend, PinnedFlags flags) {
  return std::shared_ptr<PinnedPool>(new PinnedPool(std::move(backend), flags));
}

PinnedPool::~PinnedPool() {
  // No block is on loan: a loan keeps the pool alive.
  for (auto& [bin, blocks] : held_)
    for (Held& held : blocks) release(std::move(held));
}

PinnedPool::Block PinnedPool::allocate(std::size_t bytes) {
  if (bytes == 0) throw Error(ErrorKind::usage, "a pinned block of no bytes was asked for");
  if (bytes > PTRDIFF_MAX) throw Error(ErrorKind::usage, "a pinned block is larger than any memory");
  const Bin bin = bin_of(bytes);
  const std::size_t size = block_bytes(bin);

  PinnedPool::Block loan;
  loan.loan_.reset(new PinnedPool::Block::Loan);
  const auto lend = [&](const detail::HostBlock& block) {
    // The lock is held.
    ++active_blocks_;
    active_bytes_ += bytes;
    *loan.loan_ = {shared_from_this(), block, nullptr, bytes};
    return std::move(loan);
  };

  std::unique_lock lock(mutex_);
  if (const auto found = held_.find(bin); found != held_.end()) {
    // The last one in is the first one out, unless a copy still reads it and another one is free.
    std::vector<Held>& blocks = found->second;
    auto chosen = std::find_if(blocks.rbegin(), blocks.rend(),
                               [](const Held& held) { return !held.busy || held.busy->passed(); });
    if (chosen == blocks.rend() && !blocks.empty()) {
      // All of them are being copied: the oldest will be ready first.
      blocks.front().busy->wait();
      chosen = std::prev(blocks.rend());
    }
    if (chosen != blocks.rend()) {
      const detail::HostBlock block = chosen->block;
      blocks.erase(std::next(chosen).base());
      --held_blocks_;
      return lend(block);
    }
  }
  for (;;) {
    try {
      lock.unlock();
      const detail::HostBlock block = backend_->allocate_pinned(size, flags_);
      lock.lock();
      managed_bytes_ += block.bytes;
      return lend(block);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::out_of_host_memory) throw;
      lock.lock();
      if (release_largest(lock)) continue;
      throw Error(ErrorKind::out_of_host_memory,
                  "no pinned memory for " + std::to_string(bytes) + " bytes: the pool holds " +
                      std::to_string(managed_bytes_ - active_bytes_) + " bytes in " + std::to_string(held_blocks_) +
                      " blocks, and " + std::to_string(active_bytes_) + " bytes in " + std::to_string(active_blocks_) +
                      " blocks are in use (" + error.problem() + ")",
                  {}, "free pinned memory, or upload with a smaller ring");
    }
  }
}

bool PinnedPool::release_largest(std::unique_lock<std::mutex>& lock) {
  while (!held_.empty() && held_.rbegin()->second.empty()) held_.erase(std::prev(held_.end()));
  if (held_.empty()) return false;
  std::vector<Held>& largest = held_.rbegin()->second;
  Held held = std::move(largest.back());
  largest.pop_back();
  --held_blocks_;
  managed_bytes_ -= held.block.bytes;
  lock.unlock();
  release(std::move(held));
  lock.lock();
  return true;
}

void PinnedPool::release(Held held) noexcept {
  try {
    if (held.busy) held.busy->wait();
  } catch (const Error&) {
    // The device is in trouble: then no copy reads the block any more either.
  }
  backend_->release_pinned(held.block);
}

void PinnedPool::give_back(const detail::HostBlock& block, std::unique_ptr<Event> busy, std::size_t wanted) noexcept {
  Held held{block, std::move(busy)};
  {
    const std::lock_guard lock(mutex_);
    --active_blocks_;
    active_bytes_ -= wanted;
    if (holding_) {
      try {
        held_[bin_of(block.bytes)].push_back(std::move(held));
        ++held_blocks_;
        return;
      } catch (const std::bad_alloc&) {
        // No memory to remember it by: let it go.
      }
    }
    managed_bytes_ -= block.bytes;
  }
  release(std::move(held));
}

void PinnedPool::free_held() {
  std::unique_lock lock(mutex_);
  while (release_largest(lock)) {
  }
}

void PinnedPool::stop_holding() {
  {
    const std::lock_guard lock(mutex_);
    holding_ = false;
  }
  free_held();
}

std::size_t PinnedPool::held_blocks() const {
  const std::lock_guard lock(mutex_);
  return held_blocks_;
}
std::size_t PinnedPool::active_blocks() const {
  const std::lock_guard lock(mutex_);
  return active_blocks_;
}
std::size_t PinnedPool::managed_bytes() const {
  const std::lock_guard lock(mutex_);
  return managed_bytes_;
}
std::size_t PinnedPool::active_bytes() const {
  const std::lock_guard lock(mutex_);
  return active_bytes_;
}

void PinnedPool::Block::GiveBack::operator()(Loan* loan) const noexcept {
  if (loan->pool) loan->pool->give_back(loan->block, std::move(loan->busy), loan->wanted);
  delete loan;
}

std::span<std::byte> PinnedPool::Block::host() const {
  if (!loan_) return {};
  return {static_cast<std::byte*>(loan_->block.host), loan_->wanted};
}

std::byte* PinnedPool::Block::device() const {
  return loan_ ? static_cast<std::byte*>(loan_->block.device) : nullptr;
}

void PinnedPool::Block::used_by(StreamRef stream) {
  if (!loan_) return;
  if (!loan_->busy) loan_->busy = std::make_unique<Event>(loan_->pool->backend_);
  loan_->busy->record(stream);
}

void PinnedPool::Block::wait() const {
  if (loan_ && loan_->busy) loan_->busy->wait();
}

}  // namespace raylift
