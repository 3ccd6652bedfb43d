// SPDX-License-Identifier: Apache-2.0
// Photons on the host's threads.
#pragma once

#include <cstddef>

#include "base/for_all.h"

namespace raylift::photon {

/// Calls work(i) for all below `count`.
template <class Work>
void for_each(std::size_t count, const Work& work) {
  base::for_all(count, 64, work);
}

}  // namespace raylift::photon
