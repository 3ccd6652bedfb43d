// SPDX-License-Identifier: Apache-2.0
// The way of an upload's bytes: from their sources, through staging memory or straight, to where they were placed.
#pragma once

#include <span>
#include <vector>

#include "geometry/src/stage.h"
#include "placed_arrays.h"

namespace raylift::detail {

/// Fills all arrays, in the order of `stream`: returns when the last copy is enqueued. Reports to `stage` the bytes
/// that are enqueued, from the calling thread. Whatever it throws, no copy is under way any more then.
void fill_arrays(std::span<const Destination> arrays, const Device& device, StreamRef stream,
                 const UploadOptions& options, const Stage& stage);

/// The same for the arrays of several devices; `arrays` are those of each, from the same sources in the same order.
/// Returns when the last byte has arrived.
void fill_arrays(std::span<const std::vector<Destination>> arrays, std::span<const Device> devices,
                 const UploadOptions& options, const Stage& stage);

}  // namespace raylift::detail
