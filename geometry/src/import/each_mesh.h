// SPDX-License-Identifier: Apache-2.0
// Work on all meshes of a scene, in parallel: with the same outcome for any number of threads.
#pragma once

#include <raylift/geometry/progress.h>
#include <raylift/geometry/scene/scene.h>
#include <tbb/parallel_for.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace raylift::inline v0_1 {

/// Calls work(i, report) for each i below `count`, and adds the reports' counts to `report`. Throws what the first i
/// has thrown that has thrown anything. The stage advances from the calling thread alone.
template <class Work>
void for_each_mesh(std::size_t count, const Stage& stage, LoadReport& report, const Work& work) {
  std::vector<LoadReport> reports(count);
  std::vector<std::exception_ptr> failures(count);
  std::atomic<std::size_t> done{0};
  const std::thread::id caller = std::this_thread::get_id();
  tbb::parallel_for(std::size_t{0}, count, [&](std::size_t i) {
    try {
      work(i, reports[i]);
    } catch (...) {
      failures[i] = std::current_exception();
    }
    const std::size_t now = done.fetch_add(1, std::memory_order_relaxed) + 1;
    if (std::this_thread::get_id() == caller) stage.advance(now);
  });
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  for (const LoadReport& one : reports) {
    report.degenerate_triangles += one.degenerate_triangles;
    report.dropped_triangles += one.dropped_triangles;
    report.repaired_vertices += one.repaired_vertices;
    report.ignored_primitives += one.ignored_primitives;
    report.vertices_before_weld += one.vertices_before_weld;
  }
}

}  // namespace raylift::inline v0_1
