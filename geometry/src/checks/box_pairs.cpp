// SPDX-License-Identifier: Apache-2.0
#include "box_pairs.h"

#include <raylift/geometry/scene/eigen.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <numeric>

namespace raylift {
namespace {

bool meet(const Bounds& a, const Bounds& b) {
  return a.min.x <= b.max.x && a.min.y <= b.max.y && a.min.z <= b.max.z &&  //
         b.min.x <= a.max.x && b.min.y <= a.max.y && b.min.z <= a.max.z;
}

/// A binary tree, in which a node's children are the halves of its boxes along the axis on which they spread most.
class BoxTree {
 public:
  explicit BoxTree(std::span<const Bounds> boxes) : boxes_(boxes), order_(boxes.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
    if (!boxes.empty()) build(0, static_cast<std::uint32_t>(boxes.size()));
  }

  /// Calls `function` for the boxes that meet `box`.
  template <class Function>
  void for_each_meeting(const Bounds& box, const Function& function) const {
    std::uint32_t next = 0;
    while (next < nodes_.size()) {
      const Node& node = nodes_[next];
      if (!meet(node.box, box)) {
        next = node.after;
        continue;
      }
      if (node.leaf)
        for (std::uint32_t i = node.begin; i != node.end; ++i)
          if (meet(boxes_[order_[i]], box)) function(order_[i]);
      ++next;
    }
  }

 private:
  struct Node {
    Bounds box;
    std::uint32_t begin, end;  // in order_
    std::uint32_t after = 0;   // the node that follows all those below this one
    bool leaf = false;
  };

  void build(std::uint32_t begin, std::uint32_t end) {
    constexpr std::uint32_t kLeaf = 4;
    const std::size_t here = nodes_.size();
    Node node{{}, begin, end};
    Bounds middles;
    for (std::uint32_t i = begin; i != end; ++i) {
      node.box.add(boxes_[order_[i]]);
      middles.add(boxes_[order_[i]].center());
    }
    node.leaf = end - begin <= kLeaf;
    nodes_.push_back(node);
    if (!node.leaf) {
      int axis = 0;
      to_eigen(middles.size()).maxCoeff(&axis);
      const std::uint32_t half = begin + (end - begin) / 2;
      std::nth_element(order_.begin() + begin, order_.begin() + half, order_.begin() + end,
                       [&](std::uint32_t a, std::uint32_t b) {
                         return std::pair(boxes_[a].center()[axis], a) < std::pair(boxes_[b].center()[axis], b);
                       });
      build(begin, half);
      build(half, end);
    }
    nodes_[here].after = static_cast<std::uint32_t>(nodes_.size());
  }

  std::span<const Bounds> boxes_;
  std::vector<std::uint32_t> order_;
  std::vector<Node> nodes_;
};

}  // namespace

std::vector<std::pair<std::uint32_t, std::uint32_t>> meeting_boxes(std::span<const Bounds> boxes) {
  const BoxTree tree(boxes);
  std::vector<std::vector<std::uint32_t>> meeting(boxes.size());
  tbb::parallel_for(tbb::blocked_range<std::uint32_t>(0, static_cast<std::uint32_t>(boxes.size()), 64),
                    [&](const auto& range) {
                      for (std::uint32_t i = range.begin(); i != range.end(); ++i) {
                        tree.for_each_meeting(boxes[i], [&](std::uint32_t k) {
                          if (i < k) meeting[i].push_back(k);
                        });
                        std::sort(meeting[i].begin(), meeting[i].end());
                      }
                    });
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t i = 0; i != meeting.size(); ++i)
    for (const std::uint32_t k : meeting[i]) pairs.emplace_back(i, k);
  return pairs;
}

}  // namespace raylift
