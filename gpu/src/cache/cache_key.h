// SPDX-License-Identifier: Apache-2.0
// The part of a cache key that the source's contents have nothing to do with.
#pragma once

#include "cache_files.h"

namespace raylift::detail {

/// The options that are not those of `raylift cache` by default, as "unit=25.4 flatten=1"; for people.
[[nodiscard]] std::string changed_options(const std::filesystem::path& source, const LoadOptions& load,
                                          const UploadOptions& upload);

/// SourceHash::stamp of a file as it is now; all zero where there is none.
[[nodiscard]] std::array<std::int64_t, 7> stamp_of(const std::filesystem::path& path);

/// Whether the source is cached at all: load() refuses others, or more than the file decides what it makes of it.
[[nodiscard]] bool is_hashed(const std::filesystem::path& source, const LoadOptions& load);

[[nodiscard]] Hash128 options_hash(const std::filesystem::path& source, const LoadOptions& load,
                                   const UploadOptions& upload);

}  // namespace raylift::detail
