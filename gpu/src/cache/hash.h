// SPDX-License-Identifier: Apache-2.0
// xxHash (XXH3) behind one small door, with its fastest code for this processor where the library has that.
#pragma once

#include <raylift/gpu/cache/cache_file.h>

#include <cstddef>
#include <cstdint>

namespace raylift::detail {

/// XXH3, 64 bits, seed 0.
[[nodiscard]] std::uint64_t hash64(const void* data, std::size_t bytes) noexcept;
/// XXH3, 128 bits, seed 0.
[[nodiscard]] Hash128 hash128(const void* data, std::size_t bytes) noexcept;

}  // namespace raylift::detail
