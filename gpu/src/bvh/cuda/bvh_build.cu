// SPDX-License-Identifier: Apache-2.0
// The BVH built on the device, phase by phase: pairs of neighbouring triangles, sorted along a Morton curve, merged
// bottom-up into a binary tree, gathered top-down into wide nodes. The same result each time: ties are broken by
// position.
#include <cmath>

#include "bvh_phases.h"

namespace raylift::cuda {

namespace {

// Scratch memory of a triangle: its mate, and what counts pairs. Of a pair: its numbers, its box, and its key in both
// buffers of the sort (56), who arrived (4), an inner node with its costs, and a kept cluster (96), its share of wide
// nodes (49 at most), the order (4), and CUB's. And whatever comes of alignment.
constexpr std::size_t kBytesATriangle = 2, kBytesAPair = 216, kBytesMore = std::size_t{1} << 20;

}  // namespace

BuildOutcome build_bvh_on_device(const BuildInput& input, void* on, BuildMemory& memory,
                                 std::vector<std::uint32_t>& level_ends) {
  const auto stream = static_cast<cudaStream_t>(on);
  const std::size_t triangles = input.triangle_count;
  const bool early =
      triangles <= input.few_triangles && memory.reserve(triangles * (kBytesATriangle + kBytesAPair) + 2 * kBytesMore);
  if (!early) (void)memory.reserve(triangles * kBytesATriangle + kBytesMore);
  const Build build{input, stream, memory, static_cast<BuildState*>(memory.scratch(sizeof(BuildState)))};
  check(cudaMemsetAsync(build.state, 0, sizeof(BuildState), stream), "clearing memory");
  auto* const copied = static_cast<BuildState*>(memory.looked_at(sizeof(BuildState)));
  const BuildState* const seen = copied;
  // What is launched meanwhile keeps the device busy until the host has seen it.
  const auto look = [&](const auto& meanwhile) {
    check(cudaMemcpyAsync(copied, build.state, sizeof(BuildState), cudaMemcpyDeviceToHost, stream), "building a BVH");
    memory.mark();
    meanwhile();
    check(cudaGetLastError(), "building a BVH");
    memory.wait();
  };

  const Matches matches = match_triangles(build);
  std::uint32_t room = input.triangle_count;
  PlacedPairs placed{};
  SortScratch to_sort{};
  ClearedQueue cleared{};
  const auto go_on = [&] {
    placed = place_pairs(build, matches, room);
    to_sort = scratch_to_sort_pairs(build, room);
    cleared = clear_queue(build, room);
  };
  look([&] {
    if (early) go_on();
  });
  // Input that the host's builder refuses, with the reason.
  float extent = 0;
  for (int a = 0; a < 3; ++a) extent = std::fmax(extent, seen->bounds.upper(a) - seen->bounds.lower(a));
  if (seen->bounds.bad != 0 || seen->bad != 0 || (extent > 0 && extent < 0x1p-49f)) return BuildOutcome::bad_input;
  const std::uint32_t count = seen->pairs;
  if (count > input.most_pairs) return BuildOutcome::too_large;

  if (!early) {
    room = count;
    (void)memory.reserve(room * kBytesAPair + kBytesMore);
    go_on();
  }
  const SortedPairs pairs = sort_pairs(build, placed, to_sort, room, count);
  const BinaryNodes inner = build_binary_tree(build, pairs);
  const WideNodes wide = gather_wide_nodes(build, pairs, inner, cleared);
  bvh_detail::TrianglePair* const leaves = memory.pairs(count);  // while the device is busy
  bvh_detail::PairIds* const ids = memory.ids(count);
  look([&] { write_pairs(build, pairs, wide.order, leaves, ids); });
  if (seen->levels > kBvhMaxDepth) return BuildOutcome::too_deep;
  level_ends.assign(seen->level_ends, seen->level_ends + seen->levels);
  const std::size_t nodes = level_ends.back();
  check(cudaMemcpyAsync(memory.nodes(nodes), wide.nodes, nodes * sizeof(bvh_detail::BvhNode), cudaMemcpyDeviceToDevice,
                        stream),
        "building a BVH");
  return BuildOutcome::built;
}

}  // namespace raylift::cuda
