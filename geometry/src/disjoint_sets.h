// SPDX-License-Identifier: Apache-2.0
// Disjoint sets of indices that any number of threads may join.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>

#include "base/huge_pages.h"

namespace raylift {

/// Disjoint sets under concurrent union, after Anderson and Woll (1991): a root is always hooked below a smaller
/// root, so a set's root is its smallest member in the end, in whatever order the unions ran.
class DisjointSets {
 public:
  using Index = std::uint32_t;

  explicit DisjointSets(std::size_t count) : parent_(std::make_unique_for_overwrite<Index[]>(count)) {
    base::prefer_huge_pages(parent_.get(), count * sizeof(Index));
    std::iota(parent_.get(), parent_.get() + count, Index{0});
  }
  Index find(Index i) {
    for (;;) {
      const std::atomic_ref<Index> above(parent_[i]);
      Index parent = above.load(std::memory_order_relaxed);
      if (parent == i) return i;
      const Index grand = std::atomic_ref<Index>(parent_[parent]).load(std::memory_order_relaxed);
      // Halve the path; losing this race only leaves it longer.
      if (grand != parent) above.compare_exchange_weak(parent, grand, std::memory_order_relaxed);
      i = grand;
    }
  }
  void join(Index a, Index b) {
    for (;;) {
      a = find(a);
      b = find(b);
      if (a == b) return;
      if (a > b) std::swap(a, b);
      Index expected = b;
      if (std::atomic_ref<Index>(parent_[b]).compare_exchange_strong(expected, a, std::memory_order_relaxed)) return;
    }
  }

 private:
  std::unique_ptr<Index[]> parent_;
};

}  // namespace raylift
