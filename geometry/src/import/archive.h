// SPDX-License-Identifier: Apache-2.0
// Reading what gzip or zip packed into a file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "input_file.h"

namespace raylift {

/// What gzip packed into the file. Throws Error: io, malformed, limit (text_bytes, expansion, memory).
[[nodiscard]] std::string read_gzip(const InputFile& file, const LoadLimits& limits);

struct ZaeDocument {
  std::string text;
  std::string entry;  ///< its path in the archive
};
/// The document in a .zae archive: the one that its manifest names, else the first .dae. Throws Error as above.
[[nodiscard]] ZaeDocument read_zae(const InputFile& file, const LoadLimits& limits);
/// The document of a file of is_collada(), unpacked where it is packed. Throws Error as above.
[[nodiscard]] ZaeDocument read_collada(const InputFile& file, const LoadLimits& limits);
/// Another document of a .zae archive. Throws Error as above.
[[nodiscard]] std::string read_zae_entry(const std::filesystem::path& path, const std::string& entry,
                                         const LoadLimits& limits);

/// An entry of any zip archive, unpacked; nothing where the archive has none of that name. Throws Error as above, and
/// as InputFile does.
[[nodiscard]] std::optional<std::string> read_zip_entry(const std::filesystem::path& path, const std::string& entry,
                                                        const LoadLimits& limits);

}  // namespace raylift
