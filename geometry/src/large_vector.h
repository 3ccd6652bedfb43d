// SPDX-License-Identifier: Apache-2.0
// Large arrays that all threads are about to fill. Page faults of a single thread would cost more than what all of them
// do with the array.
#pragma once

#include "huge_pages.h"

#include <raylift/geometry/raw_vector.h>

#include <tbb/parallel_for.h>
#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace raylift::inline v0_1 {

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

/// resize for an empty vector.
template <class T>
void resize_large(RawVector<T>& vector, std::size_t size) {
  vector.reserve(size);
  touch(vector.data(), size * sizeof(T));
  vector.resize(size);
}

/// An array whose elements are not set to anything.
template <class T>
std::unique_ptr<T[]> make_large(std::size_t size) {
  auto array = std::make_unique_for_overwrite<T[]>(size);
  prefer_huge_pages(array.get(), size * sizeof(T));
  return array;
}

}  // namespace raylift::inline v0_1
