// SPDX-License-Identifier: Apache-2.0
// A BVH of which a part lies in host memory, and whose pages are copied to the device when a warp first needs them.
//
// A page is a run of an array's elements. Pages lie in slots, in the order in which they are asked for. Where no slot
// is left, and where a page was not requested, elements are read over the link: the bytes are the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "staged_bvh.h"

namespace raylift::cuda {

inline constexpr std::uint32_t kPageBytes = 6144;

// The states of a page's entry: not requested, being copied, without a slot; or kFirstSlot plus its slot.
enum PageEntry : std::uint32_t { kNotAsked = 0, kComing = 1, kNoSlot = 2, kFirstSlot = 3 };

struct PageSlots {
  std::byte* memory = nullptr;
  std::uint32_t count = 0;
  std::uint32_t* used = nullptr;
};

// The pages of elements first to end of an array, numbered as those of the whole array would be; `entries` begins with
// the one that `first` is in.
template <class T>
struct Pages {
  static constexpr std::uint32_t kElements = kPageBytes / sizeof(T);
  static_assert(kPageBytes % sizeof(T) == 0);
  std::uint32_t* entries = nullptr;
  std::uint32_t first = 0, end = 0;

  [[nodiscard]] RAYLIFT_HD std::uint32_t begin_page() const { return first / kElements; }
  [[nodiscard]] RAYLIFT_HD std::uint32_t count() const {
    return first < end ? (end - 1) / kElements + 1 - begin_page() : 0;
  }
  [[nodiscard]] RAYLIFT_HD std::uint32_t* entry_of(std::uint32_t i) const {
    return entries + (i / kElements - begin_page());
  }
  // Without a slot: the host's element.
  [[nodiscard]] RAYLIFT_HD const T* at(const T* array, std::uint32_t i, std::uint32_t entry,
                                       const std::byte* memory) const {
    if (entry < kFirstSlot) return array + i;
    return reinterpret_cast<const T*>(memory + std::size_t{entry - kFirstSlot} * kPageBytes) + i % kElements;
  }
};

// With those pages that are there.
struct PagedBvh : BvhView {
  Window<bvh_detail::BvhNode> staged_nodes;
  Pages<bvh_detail::TrianglePair> pair_pages;
  Pages<bvh_detail::PairIds> id_pages;
  PageSlots slots;

  [[nodiscard]] RAYLIFT_HD const bvh_detail::BvhNode* node(std::uint32_t i) const { return staged_nodes.at(nodes, i); }
  [[nodiscard]] RAYLIFT_HD const bvh_detail::TrianglePair* pair(std::uint32_t i) const {
    return element(pair_pages, pairs, i);
  }
  [[nodiscard]] RAYLIFT_HD const bvh_detail::PairIds* ids_of(std::uint32_t pair) const {
    return element(id_pages, ids, pair);
  }

 private:
  template <class T>
  [[nodiscard]] RAYLIFT_HD const T* element(const Pages<T>& pages, const T* array, std::uint32_t i) const {
    return i < pages.first ? array + i : pages.at(array, i, *pages.entry_of(i), slots.memory);
  }
};

// While pages come. An entry of a page that is there never changes, so a multiprocessor's own cache may keep it; of
// others it may hold an old state, and the L2 is asked. Ids are read over the link: of a packet few are wanted, and
// they lie together. kStagedNodes: some nodes are staged.
template <bool kStagedNodes>
struct FillingBvh : PagedBvh {
  [[nodiscard]] __device__ const bvh_detail::BvhNode* node(std::uint32_t i) const {
    if constexpr (kStagedNodes) return PagedBvh::node(i);
    return nodes + i;
  }
  [[nodiscard]] __device__ const bvh_detail::TrianglePair* pair(std::uint32_t i) const {
    return i < pair_pages.first ? pairs + i : pair_pages.at(pairs, i, entry_of(i), slots.memory);
  }
  [[nodiscard]] __device__ const bvh_detail::PairIds* ids_of(std::uint32_t pair) const { return ids + pair; }

  // For a whole warp, which wants the same pair; nullptr: its page is not there.
  [[nodiscard]] __device__ const bvh_detail::TrianglePair* pair_of_warp(std::uint32_t i) const {
    if (i < pair_pages.first) return pairs + i;
    const std::uint32_t entry = __shfl_sync(0xFFFFFFFFu, entry_of(i), 0);
    return entry < kNoSlot ? nullptr : pair_pages.at(pairs, i, entry, slots.memory);
  }

 private:
  [[nodiscard]] __device__ std::uint32_t entry_of(std::uint32_t pair) const {
    const std::uint32_t* const at = pair_pages.entry_of(pair);
    const std::uint32_t entry = __ldca(at);
    return entry >= kNoSlot ? entry : __ldcg(at);
  }
};

// By a whole warp: copies a page, or waits for the warp that has begun to; returns its entry. A warp that copies waits
// for no other, so all make progress. A slot is written once, before it is read: no cache has an older state of it.
template <class T>
__device__ inline std::uint32_t bring_page(const Pages<T>& pages, const T* array, std::uint32_t page,
                                           const PageSlots& slots) {
  constexpr unsigned kAll = 0xFFFFFFFFu;
  constexpr std::uint32_t kElements = Pages<T>::kElements;
  const std::uint32_t lane = threadIdx.x & 31u;
  std::uint32_t* const entry = pages.entries + (page - pages.begin_page());
  std::uint32_t state = 0, slot = 0;
  if (lane == 0) {
    state = atomicCAS(entry, kNotAsked, kComing);
    if (state == kNotAsked) slot = atomicAdd(slots.used, 1u);
    while (state == kComing) state = *static_cast<volatile std::uint32_t*>(entry);
  }
  state = __shfl_sync(kAll, state, 0);
  if (state != kNotAsked) return state;
  slot = __shfl_sync(kAll, slot, 0);
  state = kNoSlot;
  if (slot < slots.count) {
    state = kFirstSlot + slot;
    using Word = ::uint2;
    static_assert(sizeof(T) % sizeof(Word) == 0);
    const std::uint32_t left = pages.end - page * kElements,
                        words = (left < kElements ? left : kElements) * (sizeof(T) / sizeof(Word));
    const auto* const from = reinterpret_cast<const Word*>(array + std::size_t{page} * kElements);
    auto* const to = reinterpret_cast<Word*>(slots.memory + std::size_t{slot} * kPageBytes);
    constexpr std::uint32_t kAtOnce = 12;
    for (std::uint32_t begin = lane; begin < words; begin += 32 * kAtOnce) {
      Word some[kAtOnce];
#pragma unroll
      for (std::uint32_t k = 0; k < kAtOnce; ++k)
        if (begin + 32 * k < words) some[k] = __ldcs(from + begin + 32 * k);
#pragma unroll
      for (std::uint32_t k = 0; k < kAtOnce; ++k)
        if (begin + 32 * k < words) to[begin + 32 * k] = some[k];
    }
    __threadfence();
    __syncwarp();
  }
  if (lane == 0) atomicExch(entry, state);
  __syncwarp();
  return state;
}

// By a whole warp: the page of a pair.
__device__ __noinline__ inline void bring_pair(const PagedBvh* bvh, std::uint32_t i) {
  (void)bring_page(bvh->pair_pages, bvh->pairs, i / Pages<bvh_detail::TrianglePair>::kElements, bvh->slots);
}

}  // namespace raylift::cuda
