// SPDX-License-Identifier: Apache-2.0
// Photons on the host's threads.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <cstddef>

namespace raylift::photon {

/// Calls work(i) for all below `count`.
template <class Work>
void for_each(std::size_t count, const Work& work) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 64), [&](const auto& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i) work(i);
  });
}

}  // namespace raylift::photon
