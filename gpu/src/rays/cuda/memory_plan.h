// SPDX-License-Identifier: Apache-2.0
// The memory that trace() takes for a BVH of which a part lies in host memory, and in what order rays are taken that
// wait for pairs of the host's.
#pragma once

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>

#include "find_rows.h"
#include "paged_bvh.h"

namespace raylift::cuda {

// Sort keys: in which bucket of pairs the one is that a ray waits for.
using Key = std::uint16_t;
inline constexpr std::uint32_t kBuckets = 0x8000;
inline constexpr Key kDone = 0xFFFF;

// The pairs that rays wait for, in buckets and windows of buckets.
struct SortPlan {
  std::uint32_t first = 0, bucket_pairs = 1, window_pairs = 0, windows = 1;
  bool stages_pairs = false, stages_nodes = false;

  [[nodiscard]] __host__ __device__ std::uint32_t key_of(std::uint32_t pair) const {
    return (pair - first) / bucket_pairs;
  }
};

// Bytes of one window; there are two.
inline constexpr std::uint64_t kWindowBytes = std::uint64_t{32} << 20;
// What is copied for each ray at most: for more, it is quicker to read what is wanted alone.
inline constexpr std::uint64_t kStagedBytesPerRay = 256;
// Where no more is missing than that, and the bytes of two windows, there is a slot for each page. Sorting takes 13.
inline constexpr std::uint64_t kPagedBytesPerRay = 16;
inline constexpr std::uint64_t kMaxNodeBytes = std::uint64_t{128} << 20;

// With no more elements in host memory than there are, whatever a caller's own view says.
inline BvhView clamped(BvhView bvh) {
  bvh.host_nodes = std::min(bvh.host_nodes, bvh.node_count);
  bvh.host_pairs = std::min(bvh.host_pairs, bvh.pair_count);
  bvh.host_ids = std::min(bvh.host_ids, bvh.pair_count);
  return bvh;
}

inline SortPlan plan_for(const BvhView& bvh, std::size_t count) {
  SortPlan plan;
  plan.first = bvh.pair_count - std::max(bvh.host_pairs, bvh.host_ids);
  const std::uint32_t pairs = bvh.pair_count - plan.first;
  const std::uint64_t bytes_per_pair =
      sizeof(bvh_detail::PairIds) + (bvh.host_pairs != 0 ? sizeof(bvh_detail::TrianglePair) : 0);
  plan.bucket_pairs = pairs / kBuckets + 1;
  plan.window_pairs = pairs;
  plan.stages_pairs = bytes_per_pair * pairs <= kStagedBytesPerRay * count;
  if (plan.stages_pairs) {
    const std::uint64_t buckets = std::max<std::uint64_t>(1, kWindowBytes / bytes_per_pair / plan.bucket_pairs);
    plan.window_pairs = static_cast<std::uint32_t>(std::min<std::uint64_t>(pairs, buckets * plan.bucket_pairs));
  }
  if (pairs != 0) plan.windows = (pairs + plan.window_pairs - 1) / plan.window_pairs;
  plan.stages_nodes = bvh.host_nodes != 0 && bvh.host_nodes * sizeof(bvh_detail::BvhNode) <=
                                                 std::min<std::uint64_t>(kMaxNodeBytes, kStagedBytesPerRay / 4 * count);
  return plan;
}

// Parts of a memory, one behind the other.
class Parts {
 public:
  std::size_t bytes = 0;

  explicit Parts(void* memory) : at_(static_cast<std::byte*>(memory)) {}
  template <class T>
  T* take(std::size_t count) {
    auto* const part = reinterpret_cast<T*>(at_ + bytes);
    bytes += (count * sizeof(T) + 255) / 256 * 256;
    return part;
  }

 private:
  std::byte* at_;
};

// What sorting takes.
struct SortScratch {
  cub::DoubleBuffer<Key> keys;
  cub::DoubleBuffer<std::uint32_t> numbers;
  std::uint32_t* begins;
  bvh_detail::TrianglePair* pairs[2];
  bvh_detail::PairIds* ids[2];
  std::byte* cub = nullptr;
  std::size_t cub_bytes = 0;
  std::size_t bytes = 0;

  SortScratch(const BvhView& bvh, const SortPlan& plan, std::size_t count, void* memory) {
    Parts parts(memory);
    Key* const some_keys = parts.take<Key>(count);
    keys = {some_keys, parts.take<Key>(count)};
    std::uint32_t* const some_numbers = parts.take<std::uint32_t>(count);
    numbers = {some_numbers, parts.take<std::uint32_t>(count)};
    begins = parts.take<std::uint32_t>(plan.windows + 2);
    for (int i = 0; i < 2; ++i) {
      const bool used = plan.stages_pairs && (i == 0 || plan.windows > 1);
      pairs[i] = parts.take<bvh_detail::TrianglePair>(used && bvh.host_pairs != 0 ? plan.window_pairs : 0);
      ids[i] = parts.take<bvh_detail::PairIds>(used && bvh.host_ids != 0 ? plan.window_pairs : 0);
    }
    (void)sort(count, nullptr);  // says how much it needs
    cub = parts.take<std::byte>(cub_bytes);
    bytes = parts.bytes;
  }
  cudaError_t sort(std::size_t count, cudaStream_t stream) {
    return cub::DeviceRadixSort::SortPairs(cub, cub_bytes, keys, numbers, static_cast<std::int64_t>(count), 0,
                                           8 * static_cast<int>(sizeof(Key)), stream);
  }
};

// All of it. Where there is a slot for each page, rays are not sorted. Where they are, what that takes lies in the
// slots' place once packets are done.
struct MemoryPlan {
  SortPlan sorting;
  PagedBvh bvh;
  std::uint32_t* counters;  // of slots in use; of warps whose rays part
  RowsNote* note;
  std::size_t counter_bytes, bytes;
  bool sorts;

  MemoryPlan(const BvhView& clamped_bvh, std::size_t count, void* memory)
      : sorting(plan_for(clamped_bvh, count)), bvh{clamped_bvh, {}, {}, {}, {}} {
    Parts parts(memory);
    bvh.pair_pages = {nullptr, bvh.pair_count - bvh.host_pairs, bvh.pair_count};
    bvh.id_pages = {nullptr, bvh.pair_count - bvh.host_ids, bvh.pair_count};
    const std::uint32_t pages = bvh.pair_pages.count() + bvh.id_pages.count();
    counter_bytes = (2 + std::size_t{pages}) * sizeof *counters;
    counters = parts.take<std::uint32_t>(2 + std::size_t{pages});
    note = parts.take<RowsNote>(1);
    bvh.pair_pages.entries = counters + 2;
    bvh.id_pages.entries = bvh.pair_pages.entries + bvh.pair_pages.count();
    if (sorting.stages_nodes)
      bvh.staged_nodes = {parts.take<bvh_detail::BvhNode>(bvh.host_nodes), bvh.node_count - bvh.host_nodes,
                          bvh.host_nodes};
    const std::size_t to_sort = SortScratch(bvh, sorting, count, nullptr).bytes;
    sorts = std::size_t{pages} * kPageBytes > std::max(to_sort, kPagedBytesPerRay * count + 2 * kWindowBytes);
    const std::size_t slots = sorts ? to_sort / kPageBytes : pages;
    bvh.slots = {nullptr, static_cast<std::uint32_t>(slots), counters};
    bvh.slots.memory = parts.take<std::byte>(sorts ? to_sort : slots * kPageBytes);
    bytes = parts.bytes;
  }
};

// The BVH with its window `number`, where there is one, or with nothing staged but nodes.
inline StagedBvh with_window(const PagedBvh& bvh, const SortPlan& plan, const SortScratch& scratch,
                             std::uint32_t number) {
  StagedBvh staged{bvh, bvh.staged_nodes, {}, {}};
  if (!plan.stages_pairs || number >= plan.windows) return staged;
  const std::uint32_t first = plan.first + number * plan.window_pairs,
                      count = std::min(plan.window_pairs, bvh.pair_count - first);
  if (bvh.host_pairs != 0) staged.staged_pairs = {scratch.pairs[number % 2], first, count};
  if (bvh.host_ids != 0) staged.staged_ids = {scratch.ids[number % 2], first, count};
  return staged;
}

}  // namespace raylift::cuda
