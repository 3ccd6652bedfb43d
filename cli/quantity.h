// SPDX-License-Identifier: Apache-2.0
// Quantities as people write them in options: sizes, counts, times, lengths. All throw Error(usage) for anything else.
#pragma once

#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/scene.h>
#include <cstdint>
#include <string>
#include <string_view>

namespace raylift::cli {

/// "1500", "300MB", "1.5 GiB", "2g": bytes. Units are decimal (kB, MB, GB, TB) or binary (KiB, MiB, GiB, TiB), case
/// does not count, and the B may be left out. A fraction of a byte is cut off.
[[nodiscard]] std::uint64_t parse_bytes(std::string_view text);

/// "20000000", "20M", "1.5k": a count, with decimal k, M, G or T.
[[nodiscard]] std::uint64_t parse_count(std::string_view text);

/// "600", "0.5", "10s", "5min", "2h": seconds, more than 0.
[[nodiscard]] double parse_seconds(std::string_view text);

/// "mm", "cm", "m", "km", "inch", "ft", or a number: millimetres per unit.
[[nodiscard]] double parse_unit(std::string_view text);

/// "1500", "30cm", "2 m": millimetres, at least 0.
[[nodiscard]] double parse_length(std::string_view text);

/// "0,-1500,2e4": three numbers, millimetres.
[[nodiscard]] Eigen::Vector3d parse_point(std::string_view text);

/// An angle of more than 0 and at most `most`.
[[nodiscard]] double parse_degrees(std::string_view text, double most);

/// Any name but an empty one, which is what an unset variable leaves of it.
[[nodiscard]] std::string parse_file_name(std::string_view text);

/// "x", "y" or "z".
[[nodiscard]] UpAxis parse_up_axis(std::string_view text);

/// A tolerance of at least 0, or "off".
[[nodiscard]] WeldOptions parse_weld(std::string_view text);

/// The shortest text that parse_bytes reads as exactly these bytes: "8GiB", "300MB", "1234".
[[nodiscard]] std::string exact_bytes(std::uint64_t bytes);

/// Likewise for parse_count: "20M", "10k", "512".
[[nodiscard]] std::string exact_count(std::uint64_t count);

/// The unit's name where it has one ("mm", "inch"), else "25.1 mm".
[[nodiscard]] std::string unit_name(double unit_mm);

}  // namespace raylift::cli
