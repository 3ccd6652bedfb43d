// SPDX-License-Identifier: Apache-2.0
// Whether a source makes sense.
#pragma once

#include <raylift/photon/source.h>

namespace raylift::photon {

/// Throws Error(usage) for a direction or normal that is not of unit length, and for numbers out of their range.
void check(const Source& source);

}  // namespace raylift::photon
