// SPDX-License-Identifier: Apache-2.0
// What the walks with vector instructions share, of one ray and of a packet. A source that includes it says first which
// instructions its functions have (RAYLIFT_LANES), and RAYLIFT_LANES_AVX512 where AVX-512 is among them. All is in
// unnamed namespaces: there are several of these sources.
#pragma once

#include <immintrin.h>
#include <raylift/geometry/bvh/ray.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace raylift::inline v0_1::bvh {
namespace {

using namespace bvh_detail;

constexpr int kStack = 2 * kBvhMaxDepth * 7 + 1 + 4;  // a level leaves at most seven siblings; see push_children

// On the stack: t of entry and node, the lower the nearer, where t is not negative.
std::uint64_t entry(float t, std::uint32_t node) {
  return std::uint64_t{std::bit_cast<std::uint32_t>(t)} << 32 | node;
}

// Where in a node the planes of an axis are that rays meet first and last.
struct PlaneOffsets {
  std::uint32_t near_plane, far_plane;
};
constexpr PlaneOffsets plane_offsets(std::uint32_t axis, bool forward) {
  const auto lower = static_cast<std::uint32_t>(offsetof(BvhNode, lower)) + 8 * axis;
  const auto upper = static_cast<std::uint32_t>(offsetof(BvhNode, upper)) + 8 * axis;
  return forward ? PlaneOffsets{lower, upper} : PlaneOffsets{upper, lower};
}

RAYLIFT_LANES inline __m256 planes(const BvhNode* node, std::uint32_t offset) {
  const auto* bytes = reinterpret_cast<const __m128i*>(reinterpret_cast<const char*>(node) + offset);
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(bytes)));
}

// Four ones for each bit: a mask of slots as nodes have it.
#ifdef RAYLIFT_LANES_AVX512
RAYLIFT_LANES inline std::uint32_t fours(std::uint32_t slots) {
  return _pdep_u32(slots, 0x11111111u) * 15u;
}
#else
constexpr std::array<std::uint32_t, 256> kFours = [] {
  std::array<std::uint32_t, 256> fours{};
  for (std::uint32_t mask = 0; mask < 256; ++mask)
    for (int s = 0; s < 8; ++s)
      if ((mask >> s & 1u) != 0) fours[mask] |= 0xFu << 4 * s;
  return fours;
}();
inline std::uint32_t fours(std::uint32_t slots) {
  return kFours[slots];
}
#endif

// Adds entries to a stack, the nearest last.
inline void push_sorted(const std::uint64_t* entries, int count, std::uint64_t* stack, int& depth) {
  const int base = depth;
  for (int i = 0; i < count; ++i) {
    int k = depth++;
    for (; k > base && stack[k - 1] < entries[i]; --k) stack[k] = stack[k - 1];
    stack[k] = entries[i];
  }
}

// Adds the inner children among the slots `met`, the nearest last. The stack has room for four more than there are.
#ifdef RAYLIFT_LANES_AVX512

// The larger ones of two lists of entries, or the smaller ones where `low` has a bit.
RAYLIFT_LANES inline __m256i select(__m256i a, __m256i b, __mmask8 low) {
  return _mm256_mask_mov_epi64(_mm256_max_epu64(a, b), low, _mm256_min_epu64(a, b));
}
// Four entries, the largest first.
RAYLIFT_LANES inline __m256i sorted_down(__m256i x) {
  x = select(x, _mm256_permutex_epi64(x, _MM_SHUFFLE(2, 3, 0, 1)), 0b1010);
  x = select(x, _mm256_permutex_epi64(x, _MM_SHUFFLE(0, 1, 2, 3)), 0b1100);
  return select(x, _mm256_permutex_epi64(x, _MM_SHUFFLE(2, 3, 0, 1)), 0b1010);
}

// Without a branch on how many there are, as long as they are up to four.
RAYLIFT_LANES inline void push_children(const BvhNode* node, std::uint32_t met, const float* entries,
                                        std::uint64_t* stack, int& depth) {
  const auto inner = static_cast<__mmask8>(_pext_u32(node->inner, 0x11111111u));
  const auto hit = static_cast<__mmask8>(met & inner);
  const __m256i ranks = _mm256_maskz_expand_epi32(inner, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  const __m256i children = _mm256_add_epi32(ranks, _mm256_set1_epi32(static_cast<int>(node->first_child)));
  const __m512i t = _mm512_cvtepu32_epi64(_mm256_load_si256(reinterpret_cast<const __m256i*>(entries)));
  const __m512i all = _mm512_or_si512(_mm512_slli_epi64(t, 32), _mm512_cvtepu32_epi64(children));
  const __m512i found = _mm512_maskz_compress_epi64(hit, all);
  const int count = std::popcount(hit);
  if (count <= 4) {
    // No entry is zero, as no child is node 0: zeros come last.
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(stack + depth), sorted_down(_mm512_castsi512_si256(found)));
    depth += count;
    return;
  }
  alignas(64) std::uint64_t list[8];
  _mm512_store_si512(list, found);
  push_sorted(list, count, stack, depth);
}

#else

inline void push_children(const BvhNode* node, std::uint32_t met, const float* entries, std::uint64_t* stack,
                          int& depth) {
  std::uint64_t list[8];
  int count = 0;
  for (std::uint32_t bits = fours(met) & node->inner; bits != 0; bits &= bits - 1) {
    const int bit = std::countr_zero(bits);
    list[count++] = entry(entries[bit / 4], node->first_child + count_bits(node->inner & ((1u << bit) - 1u)));
  }
  push_sorted(list, count, stack, depth);
}

#endif

}  // namespace
}  // namespace raylift::inline v0_1::bvh
