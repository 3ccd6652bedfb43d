// SPDX-License-Identifier: Apache-2.0
// Pages for pinned memory. cudaHostAlloc() has one thread for all of them: 25 ms for 64 MiB on the H200's host. Huge
// pages that all threads touch, and cudaHostRegister(), take 4 ms.
#pragma once

#include <cstddef>
#include <mutex>
#include <unordered_map>

namespace raylift::cuda {

class OwnPages {
 public:
  /// For fewer bytes, one thread is as fast.
  static constexpr std::size_t kFewest = std::size_t{4} << 20;

  /// Readable and writable pages, touched by all threads; null where the system has none left. Forked processes do not
  /// have them: a page that is shared with one would be copied at the next write, away from where the device reads.
  [[nodiscard]] void* map(std::size_t bytes);
  /// Whether they are of this kind.
  [[nodiscard]] bool has(void* data) const noexcept;
  void unmap(void* data) noexcept;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<void*, std::size_t> sizes_;
};

}  // namespace raylift::cuda
