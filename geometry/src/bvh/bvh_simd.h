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

namespace raylift::bvh {
namespace {

using namespace bvh_detail;

// A level leaves at most seven siblings; two more are where a walk ends, and where it leaves a mesh; see push_children.
constexpr int kStack = 2 * kBvhMaxDepth * 7 + 1 + 2 + 4;

// On the stack: t of entry and node, the lower the nearer, where t is not negative.
std::uint64_t entry(float t, std::uint32_t node) {
  return std::uint64_t{std::bit_cast<std::uint32_t>(t)} << 32 | node;
}

// Where in a node the planes of an axis are that rays meet first and last.
struct PlaneOffsets {
  std::uint32_t near_plane, far_plane;
};
constexpr PlaneOffsets plane_offsets(std::uint32_t axis, bool forward) {
  const auto lower = static_cast<std::uint32_t>(offsetof(bvh_detail::BvhNode, lower)) + 8 * axis;
  const auto upper = static_cast<std::uint32_t>(offsetof(bvh_detail::BvhNode, upper)) + 8 * axis;
  return forward ? PlaneOffsets{lower, upper} : PlaneOffsets{upper, lower};
}

RAYLIFT_LANES inline __m256 planes(const bvh_detail::BvhNode* node, std::uint32_t offset) {
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

// Adds entries to a stack, the nearest last. Returns the stack's new end.
inline std::uint64_t* push_sorted(const std::uint64_t* entries, int count, std::uint64_t* end) {
  std::uint64_t* const base = end;
  for (int i = 0; i < count; ++i) {
    std::uint64_t* to = end++;
    for (; to > base && to[-1] < entries[i]; --to) *to = to[-1];
    *to = entries[i];
  }
  return end;
}

// Adds the inner children among the slots `met`, the nearest last. The stack has room for four more than there are.
// Returns the stack's new end.
#ifdef RAYLIFT_LANES_AVX512

// Keys are t of entry without its last three bits, where a child's rank among its siblings is: half as many bytes to
// sort, and without 512 bits. So t of an entry is less than t by up to 8 ulp, or if it is negative, more.
constexpr std::uint32_t kRankBits = 7;

// Four keys, the largest first.
RAYLIFT_LANES inline __m128i sorted_down(__m128i x) {
  __m128i y = _mm_shuffle_epi32(x, _MM_SHUFFLE(2, 3, 0, 1));
  x = _mm_blend_epi32(_mm_max_epu32(x, y), _mm_min_epu32(x, y), 0b1010);
  y = _mm_shuffle_epi32(x, _MM_SHUFFLE(0, 1, 2, 3));
  x = _mm_blend_epi32(_mm_max_epu32(x, y), _mm_min_epu32(x, y), 0b1100);
  y = _mm_shuffle_epi32(x, _MM_SHUFFLE(2, 3, 0, 1));
  return _mm_blend_epi32(_mm_max_epu32(x, y), _mm_min_epu32(x, y), 0b1010);
}

// Without a branch on how many there are, as long as they are up to four.
RAYLIFT_LANES inline std::uint64_t* push_children(const bvh_detail::BvhNode* node, std::uint32_t met, __m256 entries,
                                                  std::uint64_t* end) {
  const auto inner = static_cast<__mmask8>(_pext_u32(node->inner, 0x11111111u));
  const auto hit = static_cast<__mmask8>(met & inner);
  const __m256i ranks = _mm256_maskz_expand_epi32(inner, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  const __m256i rank_bits = _mm256_set1_epi32(kRankBits);
  // (entries & ~rank_bits) | ranks
  const __m256i keys = _mm256_ternarylogic_epi32(_mm256_castps_si256(entries), rank_bits, ranks, 0b10111010);
  const __m256i found = _mm256_maskz_compress_epi32(hit, keys);
  const int count = std::popcount(hit);
  if (count <= 4) {
    // Where there are fewer, zeros come last, which are never looked at.
    const __m128i bits = _mm256_castsi256_si128(rank_bits), sorted = sorted_down(_mm256_castsi256_si128(found));
    const __m128i t = _mm_andnot_si128(bits, sorted);
    const __m128i child =
        _mm_add_epi32(_mm_and_si128(sorted, bits), _mm_set1_epi32(static_cast<int>(node->first_child)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(end), _mm_unpacklo_epi32(child, t));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(end + 2), _mm_unpackhi_epi32(child, t));
    return end + count;
  }
  alignas(32) std::uint32_t list[8];
  std::uint64_t all[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(list), found);
  for (int i = 0; i < count; ++i)
    all[i] = std::uint64_t{list[i] & ~kRankBits} << 32 | (node->first_child + (list[i] & kRankBits));
  return push_sorted(all, count, end);
}

#else

RAYLIFT_LANES inline std::uint64_t* push_children(const bvh_detail::BvhNode* node, std::uint32_t met, __m256 entries,
                                                  std::uint64_t* end) {
  alignas(32) float t[8];
  _mm256_store_ps(t, entries);
  std::uint64_t list[8];
  int count = 0;
  for (std::uint32_t bits = fours(met) & node->inner; bits != 0; bits &= bits - 1) {
    const int bit = std::countr_zero(bits);
    list[count++] = entry(t[bit / 4], node->first_child + count_bits(node->inner & ((1u << bit) - 1u)));
  }
  return push_sorted(list, count, end);
}

#endif

}  // namespace
}  // namespace raylift::bvh
