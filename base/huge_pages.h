// SPDX-License-Identifier: Apache-2.0
// Large pages for large arrays. Loading touches each byte of memory a few times only, so the page faults of the first
// touch are a good part of its cost: at 4 KiB pages, a third of the time of a large import.
#pragma once

#include <cstddef>

namespace raylift::base {

/// Asks for huge pages behind memory that has been allocated but not touched, where the system gives them on request.
/// Only advice: nothing changes but the time that the first touch takes.
void prefer_huge_pages(const void* data, std::size_t bytes) noexcept;

/// Touches memory that was allocated but holds nothing yet, by all threads.
void touch(void* data, std::size_t bytes);

/// prefer_huge_pages() for a string or vector that is empty and about to grow to `size`.
template <class Container>
void reserve_huge(Container& container, std::size_t size) {
  container.reserve(size);
  prefer_huge_pages(container.data(), container.capacity() * sizeof(*container.data()));
}

}  // namespace raylift::base
