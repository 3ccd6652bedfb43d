// SPDX-License-Identifier: Apache-2.0
#include "huge_pages.h"

#include <sys/mman.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdint>

namespace raylift::base {

void prefer_huge_pages(const void* data, std::size_t bytes) noexcept {
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(data) + kHugePage - 1) & ~(kHugePage - 1);
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(data) + bytes) & ~(kHugePage - 1);
  if (begin < end) (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

void touch(void* data, std::size_t bytes) {
  constexpr std::size_t kChunk = std::size_t{2} << 20, kPage = 4096;
  if (bytes < 2 * kChunk) return;
  prefer_huge_pages(data, bytes);
  tbb::parallel_for(std::size_t{0}, (bytes + kChunk - 1) / kChunk, [&](std::size_t chunk) {
    volatile char* const base = static_cast<char*>(data);
    const std::size_t end = std::min(bytes, (chunk + 1) * kChunk);
    for (std::size_t at = chunk * kChunk; at < end; at += kPage) base[at] = 0;
  });
}

}  // namespace raylift::base
