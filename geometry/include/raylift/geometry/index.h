// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <raylift/geometry/detail/standard.h>

namespace raylift {

/// An index that points nowhere: no material outside, no parent node, no surface.
inline constexpr std::uint32_t kNone = 0xFFFFFFFFu;

}  // namespace raylift
