// SPDX-License-Identifier: Apache-2.0
// The instruction sets that rays on the host are traced with; a test compares them.
#pragma once

#include "bvh/bvh_batch.h"

#include <cstddef>

namespace raylift::bvh {

[[nodiscard]] bool has_avx2();
[[nodiscard]] bool has_avx512();

/// closest_hits on the calling thread, with baseline instructions, or with AVX2 or AVX-512, only where the CPU has it.
/// Return how many of the rays went together with others, as packets.
std::size_t trace_portable(const BvhView& bvh, BvhLevels levels, const Ray* rays, Hit* hits, std::size_t count);
std::size_t trace_avx2(const BvhView& bvh, BvhLevels levels, const Ray* rays, Hit* hits, std::size_t count);
std::size_t trace_avx512(const BvhView& bvh, BvhLevels levels, const Ray* rays, Hit* hits, std::size_t count);

}  // namespace raylift::bvh
