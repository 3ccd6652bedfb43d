// SPDX-License-Identifier: Apache-2.0
// The header of an array file: a Python dictionary in text.
#pragma once

#include <raylift/photon/npy.h>

#include <string>
#include <string_view>

namespace raylift::photon {

struct NpyHeader {
  NpyType type;
  std::vector<std::uint64_t> shape;  ///< at least one axis
};

/// Magic, version, length and dictionary of an array, filled up with spaces to a multiple of 64 bytes, and to at least
/// `least` bytes.
[[nodiscard]] std::string npy_header(NpyType type, std::span<const std::uint64_t> row_shape, std::uint64_t rows,
                                     std::size_t least);

/// The dictionary alone, as a file has it. Throws Error: malformed, unsupported.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view text, const std::string& file);

/// "float32 in rows of (4, 4)".
[[nodiscard]] std::string npy_text(NpyType type, std::span<const std::uint64_t> row_shape);

}  // namespace raylift::photon
