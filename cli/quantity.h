// SPDX-License-Identifier: Apache-2.0
// Parsers for quantities in options: sizes, counts, times, lengths. All throw Error(usage) for other text.
#pragma once

#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/scene.h>
#include <raylift/gpu/optics_view.h>
#include <Eigen/Core>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace raylift::cli {

/// "1500", "300MB", "1.5 GiB", "2g": bytes. Units are decimal (kB, MB, GB, TB) or binary (KiB, MiB, GiB, TiB),
/// in any case, and the B is optional. Fractions of a byte are dropped.
[[nodiscard]] std::uint64_t parse_bytes(std::string_view text);

/// "20000000", "20M", "1.5k": a count, with decimal k, M, G or T.
[[nodiscard]] std::uint64_t parse_count(std::string_view text);

/// The value; throws Error(usage) where it is 0.
[[nodiscard]] std::uint64_t above_0(std::uint64_t value);

/// "600", "0.5", "10s", "5min", "2h": seconds, more than 0 and up to 1e9.
[[nodiscard]] double parse_seconds(std::string_view text);

/// "mm", "cm", "m", "km", "inch", "ft", or a number: millimetres per unit.
[[nodiscard]] double parse_unit(std::string_view text);

/// "1500", "30cm", "2 m": millimetres, at least 0.
[[nodiscard]] double parse_length(std::string_view text);

/// The whole text as a finite number; nothing where it is not one.
[[nodiscard]] std::optional<double> number(std::string_view text);

/// "0,-1500,2e4" as three numbers; nothing for other text.
[[nodiscard]] std::optional<Eigen::Vector3d> three_numbers(std::string_view text);

/// "0,-1500,2e4": three numbers, millimetres.
[[nodiscard]] Eigen::Vector3d parse_point(std::string_view text);

/// "60:1000:5": wavelengths in nm from the first number on, by the third, below the second; 2 to 65536 of them.
[[nodiscard]] Raster parse_raster(std::string_view text);

/// An angle above 0, up to `most` degrees.
[[nodiscard]] double parse_degrees(std::string_view text, double most);

/// The name of a file, which "" and "-" are not.
[[nodiscard]] std::string parse_file_name(std::string_view text);

/// The same, with one of these endings (".png"), in any case of letters. A device or a pipe may have any name.
[[nodiscard]] std::string parse_file_name(std::string_view text, std::initializer_list<std::string_view> endings);
/// The name of a PNG file, likewise.
[[nodiscard]] std::string parse_image_name(std::string_view text);
/// The name of a PNG or an SVG file, likewise.
[[nodiscard]] std::string parse_drawing_name(std::string_view text);
/// Whether a file's name ends with .svg.
[[nodiscard]] bool is_svg_name(std::string_view name);

/// "x", "y" or "z".
[[nodiscard]] UpAxis parse_up_axis(std::string_view text);

/// A tolerance of at least 0, or "off".
[[nodiscard]] LoadOptions::Weld parse_weld(std::string_view text);

/// The shortest text that parse_bytes reads as exactly these bytes: "8GiB", "300MB", "1234".
[[nodiscard]] std::string exact_bytes(std::uint64_t bytes);

/// The shortest text that parse_count reads as exactly this count: "20M", "10k", "512".
[[nodiscard]] std::string exact_count(std::uint64_t count);

/// The unit's name ("mm", "inch"); of one without a name its size, "25.1 mm".
[[nodiscard]] std::string unit_name(double unit_mm);

/// A volume of so many cubes of the unit: "8 m^3"; of a unit without a name in mm^3.
[[nodiscard]] std::string volume_text(double volume, double unit_mm);

}  // namespace raylift::cli
