// SPDX-License-Identifier: Apache-2.0
// Work on all meshes of a scene, in parallel: with the same outcome for any number of threads.
#pragma once

#include <raylift/geometry/progress.h>
#include <raylift/geometry/scene/scene.h>

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "for_each_mesh.h"

#include "stage.h"

namespace raylift {

/// Calls work(i, report) for each i below `count`, and adds the reports' counts to `report`. Throws what the first i
/// has thrown that has thrown anything. The stage advances from the calling thread alone.
template <class Work>
void for_each_mesh(std::size_t count, const Stage& stage, LoadReport& report, const Work& work) {
  std::vector<LoadReport> reports(count);
  std::atomic<std::size_t> done{0};
  const std::thread::id caller = std::this_thread::get_id();
  detail::for_each_mesh(0, count, [&](std::size_t i) {
    work(i, reports[i]);
    const std::size_t now = done.fetch_add(1, std::memory_order_relaxed) + 1;
    if (std::this_thread::get_id() == caller) stage.advance(now);
  });
  for (const LoadReport& one : reports) {
    report.degenerate_triangles += one.degenerate_triangles;
    report.dropped_triangles += one.dropped_triangles;
    report.repaired_vertices += one.repaired_vertices;
    report.ignored_primitives += one.ignored_primitives;
    report.vertices_before_weld += one.vertices_before_weld;
  }
}

}  // namespace raylift
