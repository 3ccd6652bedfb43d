// SPDX-License-Identifier: Apache-2.0
// The links between a BVH's nodes. Builders put nodes level by level, and children in the order of their parents. So
// where a node's children begin follows from how many children the nodes before it have, and a tree that holds to that
// has no cycle, no shared child, and levels that can be counted. A byte a node is kept for it.
#include <raylift/geometry/bvh/bvh_format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>

#include "base/atomics.h"
#include "cache_check.h"
#include "geometry/src/bvh/instance_level.h"
#include "upload/bvh_links.h"

namespace raylift::detail {
namespace {

constexpr std::uint8_t kChildren = 15;   // how many, 0 to 8
constexpr std::uint8_t kPairs = 16;      // it has leaves
constexpr std::uint8_t kInstance = 128;  // an InstanceNode

class NodeCheck : public ArrayCheck {
 public:
  NodeCheck(const ArrayCounts& counts, Fail fail)
      : ArrayCheck(sizeof(bvh_detail::BvhNode), counts[ViewArray::nodes], std::move(fail)),
        scene_(!counts.flattened),
        pairs_(counts[ViewArray::pairs]),
        instances_(counts[ViewArray::instances]),
        nodes_(counts[ViewArray::nodes]),
        runs_(runs()) {}

 private:
  /// From node `at` on, children begin at `first` plus the number of those of the run's nodes before.
  struct Begin {
    std::uint64_t at;
    std::uint32_t first;
  };
  /// In one run that changes once at most: where the meshes' trees follow on the one over instances.
  struct NodeRun {
    std::uint64_t begin = 0;
    std::array<Begin, 2> begins{};
    std::size_t count = 0;
  };

  void elements(std::uint64_t number, std::uint64_t first, std::uint64_t count, const std::byte* bytes) override;
  void whole() override;
  void instance(const bvh_detail::InstanceNode& node);
  [[nodiscard]] std::uint64_t children(std::uint64_t begin, std::uint64_t end) const {
    return std::accumulate(nodes_.begin() + static_cast<std::ptrdiff_t>(begin),
                           nodes_.begin() + static_cast<std::ptrdiff_t>(end), std::uint64_t{0},
                           [](std::uint64_t sum, std::uint8_t node) { return sum + (node & kChildren); });
  }
  [[nodiscard]] bool any(std::uint64_t begin, std::uint64_t end, std::uint8_t flag) const {
    return std::any_of(nodes_.begin() + static_cast<std::ptrdiff_t>(begin),
                       nodes_.begin() + static_cast<std::ptrdiff_t>(end),
                       [flag](std::uint8_t node) { return (node & flag) != 0; });
  }
  [[nodiscard]] std::uint64_t end_of_levels(std::uint64_t begin, std::uint64_t end, int most) const;

  bool scene_;
  std::uint64_t pairs_;
  std::uint64_t instances_;
  std::vector<std::uint8_t> nodes_;
  std::vector<NodeRun> runs_;
  std::atomic<std::uint32_t> lowest_root_{0xFFFFFFFFu};
};

void NodeCheck::instance(const bvh_detail::InstanceNode& node) {
  if (node.root >= nodes_.size() || node.instance >= instances_) fail("an instance's link leads nowhere");
  // A ray that it makes a NaN of would miss no box.
  if (!std::all_of(std::begin(node.to_mesh.m), std::end(node.to_mesh.m), [](float x) { return std::isfinite(x); }))
    fail("an instance's transform is not finite");
  base::atomic_min(lowest_root_, node.root);
}

void NodeCheck::elements(std::uint64_t number, std::uint64_t first, std::uint64_t count, const std::byte* bytes) {
  NodeRun run{first, {}, 0};
  std::uint32_t before = 0;
  for (std::uint64_t i = 0; i != count; ++i) {
    bvh_detail::BvhNode node;
    std::memcpy(&node, bytes + i * sizeof node, sizeof node);
    if (const auto placed = std::bit_cast<bvh_detail::InstanceNode>(node); scene_ && placed.zero == 0) {
      instance(placed);
      nodes_[first + i] = kInstance;
      continue;
    }
    const NodeLinks links(node, pairs_);
    if (!links.slots_sound) fail("a node's slots make no sense");
    if (!links.pairs_there) fail("a node's pairs are not there");
    nodes_[first + i] = static_cast<std::uint8_t>(links.children | (links.pairs != 0 ? kPairs : 0));
    if (links.children == 0) continue;
    const Begin begin{first + i, node.first_child - before};
    if (run.count == 0 || run.begins[run.count - 1].first != begin.first) {
      if (run.count == run.begins.size()) fail("a node's link leads out of its order");
      run.begins[run.count++] = begin;
    }
    before += links.children;
  }
  runs_[number] = run;
}

/// Where the levels end that begin with nodes [begin, end); these count as one.
std::uint64_t NodeCheck::end_of_levels(std::uint64_t begin, std::uint64_t end, int most) const {
  for (int level = 1; begin != end; ++level) {
    if (level > most) fail("the tree has more than " + std::to_string(most) + " levels");
    const std::uint64_t next = end + children(begin, end);
    if (next > nodes_.size()) fail("a node's link leads behind the last node");
    begin = std::exchange(end, next);
  }
  return end;
}

void NodeCheck::whole() {
  const std::uint64_t count = nodes_.size();
  if (count == 0) return;
  // What is over instances has these as a level of its own.
  const std::uint64_t top = scene_ ? end_of_levels(0, 1, kBvhMaxDepth + 1) : 0;
  const std::uint64_t linked = children(0, count);
  if (linked >= count) fail("a node's link leads behind the last node");
  // All nodes but nodes[0] and the meshes' roots are a child of another node.
  const std::uint64_t roots = count - linked - (scene_ ? 1 : 0);
  if (top + roots > count || (!scene_ && roots != 1)) fail("the meshes' trees are not there");
  if (end_of_levels(top, top + roots, kBvhMaxDepth) != count) fail("nodes belong to no tree");
  if (any(0, top, kPairs) || any(top, count, kInstance)) fail("instances and triangles are mixed");
  if (lowest_root_ < top) fail("an instance's link leads to no mesh");
  // Another level over the same instances is built there.
  const std::uint64_t room = bvh::instance_room(
      static_cast<std::size_t>(std::count_if(nodes_.begin(), nodes_.begin() + static_cast<std::ptrdiff_t>(top),
                                             [](std::uint8_t node) { return (node & kInstance) != 0; })));
  if (scene_ && (room > count || (room > top && any(top, room, kChildren | kPairs | kInstance))))
    fail("there is no room behind the tree over instances");

  std::uint64_t at = 0;
  std::uint64_t before = 0;
  for (const NodeRun& run : runs_) {
    if (run.count == 0) continue;
    before += children(at, run.begin);
    at = run.begin;
    for (std::size_t i = 0; i != run.count; ++i) {
      const std::uint64_t first = before + 1 + (scene_ && run.begins[i].at >= top ? roots : 0);
      if (run.begins[i].first != static_cast<std::uint32_t>(first)) fail("a node's link leads out of its order");
    }
  }
}

}  // namespace

std::unique_ptr<ArrayCheck> make_node_check(const ArrayCounts& counts, ArrayCheck::Fail fail) {
  return std::make_unique<NodeCheck>(counts, std::move(fail));
}

}  // namespace raylift::detail
