// SPDX-License-Identifier: Apache-2.0
// Large pages for large arrays. Loading touches each byte of memory a few times only, so the page faults of the first
// touch are a good part of its cost: at 4 KiB pages, a third of the time of a large import.
#pragma once

#include <sys/mman.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace raylift::inline v0_1 {

/// Asks for huge pages behind memory that has been allocated but not touched, where the system gives them on request.
/// Only advice: nothing changes but the time that the first touch takes.
inline void prefer_huge_pages(const void* data, std::size_t bytes) noexcept {
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(data) + kHugePage - 1) & ~(kHugePage - 1);
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(data) + bytes) & ~(kHugePage - 1);
  if (begin < end) (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

/// Touches memory that was allocated but holds nothing yet, by all threads.
inline void touch(void* data, std::size_t bytes) {
  constexpr std::size_t kChunk = std::size_t{2} << 20, kPage = 4096;
  if (bytes < 2 * kChunk) return;
  prefer_huge_pages(data, bytes);
  tbb::parallel_for(std::size_t{0}, (bytes + kChunk - 1) / kChunk, [&](std::size_t chunk) {
    volatile char* const base = static_cast<char*>(data);
    const std::size_t end = std::min(bytes, (chunk + 1) * kChunk);
    for (std::size_t at = chunk * kChunk; at < end; at += kPage) base[at] = 0;
  });
}

/// prefer_huge_pages() for a string or vector that is empty and about to grow to `size`.
template <class Container>
void reserve_huge(Container& container, std::size_t size) {
  container.reserve(size);
  prefer_huge_pages(container.data(), container.capacity() * sizeof(*container.data()));
}

}  // namespace raylift::inline v0_1
