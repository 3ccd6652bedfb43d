// SPDX-License-Identifier: Apache-2.0
// A BVH of which a part lies in host memory, and copies in device memory of what of that part is wanted now.
#pragma once

#include <raylift/geometry/bvh/bvh_format.h>

#include <cstddef>
#include <cstdint>

namespace raylift::cuda {

// Elements first to first + count of an array.
template <class T>
struct Window {
  T* copy = nullptr;
  std::uint32_t first = 0, count = 0;

  [[nodiscard]] RAYLIFT_HD const T* at(const T* array, std::uint32_t i) const {
    return i - first < count ? copy + (i - first) : array + i;
  }
};

// The L2 does not keep what is read from host memory, so that what several rays read has to be copied.
struct StagedBvh : BvhView {
  Window<bvh_detail::BvhNode> staged_nodes;
  Window<bvh_detail::TrianglePair> staged_pairs;
  Window<bvh_detail::PairIds> staged_ids;

  [[nodiscard]] RAYLIFT_HD const bvh_detail::BvhNode* node(std::uint32_t i) const { return staged_nodes.at(nodes, i); }
  [[nodiscard]] RAYLIFT_HD const bvh_detail::TrianglePair* pair(std::uint32_t i) const {
    return staged_pairs.at(pairs, i);
  }
  [[nodiscard]] RAYLIFT_HD const bvh_detail::PairIds* ids_of(std::uint32_t pair) const {
    return staged_ids.at(ids, pair);
  }
};

// Blocks that copy the next window while the others trace: enough that the link is busy.
inline constexpr unsigned kCopyBlocks = 64;

// All of a window, by the first kCopyBlocks blocks of a grid.
template <class T>
__device__ inline void copy_window(const T* array, const Window<T>& window) {
  using Word = ::uint2;
  static_assert(sizeof(T) % sizeof(Word) == 0);
  const auto* const from = reinterpret_cast<const Word*>(array + window.first);
  auto* const to = reinterpret_cast<Word*>(window.copy);
  const std::size_t words = window.count * (sizeof(T) / sizeof(Word)), step = std::size_t{kCopyBlocks} * blockDim.x;
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i + 3 * step < words; i += 4 * step) {
    Word four[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) four[k] = __ldcs(from + i + k * step);
#pragma unroll
    for (int k = 0; k < 4; ++k) to[i + k * step] = four[k];
  }
  for (; i < words; i += step) to[i] = __ldcs(from + i);
}

}  // namespace raylift::cuda
