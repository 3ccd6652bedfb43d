// SPDX-License-Identifier: Apache-2.0
// A loop on all of TBB's threads.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <cstddef>

namespace raylift::base {

/// Calls one(i) for all below `count`. A thread takes no fewer than about `few` of them at a time.
template <class One>
void for_all(std::size_t count, std::size_t few, const One& one) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, few), [&](const auto& range) {
    for (std::size_t i = range.begin(); i != range.end(); ++i) one(i);
  });
}

}  // namespace raylift::base
