// SPDX-License-Identifier: Apache-2.0
// Hashes: XXH3 to find damage, with its fastest code for this processor where the library has that, and SHA-256 to
// identify a file, as two files with one XXH3 hash can be made on purpose.
#pragma once

#include "cache_file.h"

#include <cstddef>
#include <cstdint>

namespace raylift::detail {

/// XXH3, 64 bits, seed 0.
[[nodiscard]] std::uint64_t hash64(const void* data, std::size_t bytes) noexcept;
/// XXH3, 128 bits, seed 0.
[[nodiscard]] Hash128 hash128(const void* data, std::size_t bytes) noexcept;
[[nodiscard]] Hash256 sha256(const void* data, std::size_t bytes);

}  // namespace raylift::detail
