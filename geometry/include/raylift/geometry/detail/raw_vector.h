// SPDX-License-Identifier: Apache-2.0
// Vectors for arrays that are resized once and then filled by all threads.
#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace raylift {

namespace detail {

/// std::allocator, but for elements that are given no value: those of trivial types are left as memory has them.
template <class T>
struct RawAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = RawAllocator<U>;
  };
  RawAllocator() = default;
  template <class U>
  RawAllocator(const RawAllocator<U>&) noexcept {}

  template <class U>
  void construct(U* place) noexcept(noexcept(U())) {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Values>
  void construct(U* place, Values&&... values) {
    ::new (static_cast<void*>(place)) U(std::forward<Values>(values)...);
  }
};

}  // namespace detail

/// A std::vector whose resize() does not set what it adds: one thread would set it all to zero, which for a BVH
/// of ten million triangles takes as long as a quarter of the build.
template <class T>
using RawVector = std::vector<T, detail::RawAllocator<T>>;

}  // namespace raylift
