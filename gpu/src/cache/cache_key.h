// SPDX-License-Identifier: Apache-2.0
// The part of a cache key that the source's contents have nothing to do with.
#pragma once

#include <raylift/gpu/cache/cache.h>

namespace raylift::inline v0_1::detail {

/// The options that are not those of `raylift cache` by default, as "unit=25.4 flatten=1"; for people.
[[nodiscard]] std::string changed_options(const std::filesystem::path& source, const LoadOptions& load,
                                          const UploadOptions& upload);

[[nodiscard]] Hash128 options_hash(const std::filesystem::path& source, const LoadOptions& load,
                                   const UploadOptions& upload);

}  // namespace raylift::inline v0_1::detail
