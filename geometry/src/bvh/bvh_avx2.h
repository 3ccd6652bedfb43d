// SPDX-License-Identifier: Apache-2.0
// What the walks with AVX2 share, of one ray and of a packet. For bvh_avx2.cpp alone: compiled with its options.
#pragma once

#include <immintrin.h>
#include <raylift/geometry/bvh/ray.h>

#include <array>
#include <bit>
#include <cstdint>

#define RAYLIFT_AVX2 __attribute__((target("avx2,fma,bmi,popcnt")))

namespace raylift::inline v0_1::bvh {
namespace {

using namespace bvh_detail;

constexpr int kStack = 2 * kBvhMaxDepth * 7 + 1;  // a level leaves at most seven siblings

// On the stack: t of entry and node, the lower the nearer, where t is not negative.
std::uint64_t entry(float t, std::uint32_t node) {
  return std::uint64_t{std::bit_cast<std::uint32_t>(t)} << 32 | node;
}

RAYLIFT_AVX2 inline __m256 planes(const BvhNode* node, std::uint32_t offset) {
  const auto* bytes = reinterpret_cast<const __m128i*>(reinterpret_cast<const char*>(node) + offset);
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(bytes)));
}

// Four ones for each bit: a mask of slots as nodes have it.
constexpr std::array<std::uint32_t, 256> kFours = [] {
  std::array<std::uint32_t, 256> fours{};
  for (std::uint32_t mask = 0; mask < 256; ++mask)
    for (int s = 0; s < 8; ++s)
      if ((mask >> s & 1u) != 0) fours[mask] |= 0xFu << 4 * s;
  return fours;
}();

// Adds the inner children among `met`, the nearest last.
RAYLIFT_AVX2 inline void push_children(const BvhNode* node, std::uint32_t met, const float* entries,
                                       std::uint64_t* stack, int& depth) {
  const int base = depth;
  for (std::uint32_t bits = met & node->inner; bits != 0; bits &= bits - 1) {
    const int bit = std::countr_zero(bits);
    const std::uint32_t child = node->first_child + count_bits(node->inner & ((1u << bit) - 1u));
    const std::uint64_t e = entry(entries[bit / 4], child);
    int k = depth++;
    for (; k > base && stack[k - 1] < e; --k) stack[k] = stack[k - 1];
    stack[k] = e;
  }
}

}  // namespace
}  // namespace raylift::inline v0_1::bvh
