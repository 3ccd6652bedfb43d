// SPDX-License-Identifier: Apache-2.0
// The bytes of a file, as it lies there or out of its archive.
#pragma once

#include <raylift/geometry/import/load.h>

#include <filesystem>
#include <optional>
#include <string>

namespace raylift {

/// The file's name ending in lower case without the dot; of compressed files both: "dae.gz".
[[nodiscard]] std::string extension_of(const std::filesystem::path& path);

/// Whether files ending like this are read by raylift itself, and all in that one file. Importers of Assimp look for
/// others beside it, such as OBJ's materials and glTF's buffers.
[[nodiscard]] bool is_collada(const std::string& extension);

/// The memory that an import may take.
[[nodiscard]] std::uint64_t import_memory(const LoadLimits& limits);

/// Throws Error(limit) where documents of so many bytes together are more than an import's memory can hold.
void check_memory(const std::filesystem::path& path, std::uint64_t bytes, const LoadLimits& limits);

/// Throws Error(io) where the path is no readable file, and Error(limit) where it is larger than allowed.
void check_file(const std::filesystem::path& path, const LoadLimits& limits);

/// The whole document. Throws Error: io, malformed, out_of_host_memory.
[[nodiscard]] std::string read_file(const std::filesystem::path& path);

/// What gzip packed into the file. Throws Error: io, malformed, limit (text_bytes, expansion, memory).
[[nodiscard]] std::string read_gzip(const std::filesystem::path& path, const LoadLimits& limits);

struct ZaeDocument {
  std::string text;
  std::string entry;  ///< its path in the archive
};
/// The document in a .zae archive: the one that its manifest names, else the first .dae. Throws Error as above.
[[nodiscard]] ZaeDocument read_zae(const std::filesystem::path& path, const LoadLimits& limits);
/// Another document in it. Throws Error as above.
[[nodiscard]] std::string read_zae_entry(const std::filesystem::path& path, const std::string& entry,
                                         const LoadLimits& limits);

/// An entry of any zip archive, as it lies there; nothing where it is not there. Throws Error as above, and as
/// check_file().
[[nodiscard]] std::optional<std::string> read_zip_entry(const std::filesystem::path& path, const std::string& entry,
                                                        const LoadLimits& limits);

}  // namespace raylift
