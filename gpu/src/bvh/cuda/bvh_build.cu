// SPDX-License-Identifier: Apache-2.0
// The BVH built on the device, phase by phase: pairs of neighbouring triangles, sorted along a Morton curve, merged
// bottom-up into a binary tree, gathered top-down into wide nodes. The same result each time: ties are broken by
// position.
#include <cmath>

#include "bvh_phases.h"

namespace raylift::inline v0_1::cuda {

BuildOutcome build_bvh_on_device(const BuildInput& input, void* on, BuildMemory& memory,
                                 std::vector<std::uint32_t>& level_ends) {
  const auto stream = static_cast<cudaStream_t>(on);
  const Build build{input, stream, memory, static_cast<BuildState*>(memory.scratch(sizeof(BuildState)))};
  check(cudaMemsetAsync(build.state, 0, sizeof(BuildState), stream), "clearing memory");
  BuildState seen;
  const auto look = [&] {
    check(cudaGetLastError(), "building a BVH");
    check(cudaMemcpyAsync(&seen, build.state, sizeof seen, cudaMemcpyDeviceToHost, stream), "building a BVH");
    check(cudaStreamSynchronize(stream), "building a BVH");
  };

  bound_vertices(build);
  const Matches matches = match_triangles(build);
  look();
  // What the host's builder refuses, and says why.
  float extent = 0;
  for (int a = 0; a < 3; ++a) extent = std::fmax(extent, seen.bounds.upper(a) - seen.bounds.lower(a));
  if (seen.bounds.bad != 0 || seen.bad != 0 || (extent > 0 && extent < 0x1p-49f)) return BuildOutcome::bad_input;
  if (seen.pairs > input.most_pairs) return BuildOutcome::too_large;

  const SortedPairs pairs = sort_pairs(build, matches, seen.pairs);
  const Cluster* inner = build_binary_tree(build, pairs);
  const WideNodes wide = gather_wide_nodes(build, pairs, inner);
  auto* order = build.take<std::uint32_t>(pairs.count);
  TrianglePair* const leaves = memory.pairs(pairs.count);  // while the device is busy
  PairIds* const ids = memory.ids(pairs.count);
  look();
  if (seen.levels > kBvhMaxDepth) return BuildOutcome::too_deep;
  level_ends.assign(seen.level_ends, seen.level_ends + seen.levels);
  const std::size_t nodes = level_ends.back();
  write_wide_nodes(build, pairs, inner, wide, nodes, memory.nodes(nodes), order);
  write_pairs(build, pairs, order, leaves, ids);
  check(cudaGetLastError(), "building a BVH");
  return BuildOutcome::built;
}

}  // namespace raylift::inline v0_1::cuda
