// SPDX-License-Identifier: Apache-2.0
// Large arrays that all threads are about to fill. Page faults of a single thread would cost more than what all of them
// do with the array.
#pragma once

#include <raylift/geometry/detail/raw_vector.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "base/huge_pages.h"

namespace raylift {

/// resize for an empty vector.
template <class T>
void resize_large(RawVector<T>& vector, std::size_t size) {
  vector.reserve(size);
  base::touch(vector.data(), size * sizeof(T));
  vector.resize(size);
}

/// An array whose elements are not set to anything.
template <class T>
std::unique_ptr<T[]> make_large(std::size_t size) {
  auto array = std::make_unique_for_overwrite<T[]>(size);
  base::prefer_huge_pages(array.get(), size * sizeof(T));
  return array;
}

}  // namespace raylift
