// SPDX-License-Identifier: Apache-2.0
// Work on many meshes at a time, each of which may fail and may itself run in parallel.
#pragma once

#include <tbb/parallel_for.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>

namespace raylift::detail {

/// Calls function(i) for begin <= i < end, in parallel. Throws what the first mesh threw that failed; those behind it
/// may be left out. An exception that left tbb::parallel_for() would cancel the loops inside the other calls too, and
/// these would go on with arrays that were filled in part.
template <class Function>
void for_each_mesh(std::size_t begin, std::size_t end, const Function& function) {
  std::atomic<std::size_t> first{end};
  std::mutex mutex;
  std::exception_ptr error;
  tbb::parallel_for(begin, end, [&](std::size_t i) {
    if (i > first) return;
    try {
      function(i);
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (i > first) return;
      first = i;
      error = std::current_exception();
    }
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace raylift::detail
