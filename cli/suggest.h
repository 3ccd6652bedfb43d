// SPDX-License-Identifier: Apache-2.0
// Suggestions for mistyped words: the library's, for the programs.
#pragma once

#include <raylift/geometry/detail/suggest.h>

namespace raylift::cli {

using detail::did_you_mean;
using detail::edit_distance;
using detail::nearest;

}  // namespace raylift::cli
