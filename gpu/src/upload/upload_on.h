// SPDX-License-Identifier: Apache-2.0
// upload() and upload_async() in one.
#pragma once

#include <raylift/gpu/upload/upload.h>

#include <optional>
#include <span>

namespace raylift::detail {

/// In the order of a stream; or, without one, on a stream of its own, which it waits for.
[[nodiscard]] ResidentArrays upload_on(std::optional<StreamRef> stream, std::span<const ArraySource> sources,
                                       const Device& device, const UploadOptions& options, const Progress& progress);

}  // namespace raylift::detail
