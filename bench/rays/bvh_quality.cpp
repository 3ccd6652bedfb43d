// SPDX-License-Identifier: Apache-2.0
// Counts visits per ray in a traversal of its own, with the same tests in the same order.
#include "bvh_quality.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

namespace raylift::bench {
namespace {

struct Visits {
  std::uint64_t nodes = 0, pairs = 0;
  void node(std::uint32_t) { ++nodes; }
  void pair(std::uint32_t) { ++pairs; }
};

struct SharedTouches {
  Touches& touches;
  void node(std::uint32_t i) { std::atomic_ref(touches.nodes[i]).fetch_add(1, std::memory_order_relaxed); }
  void pair(std::uint32_t i) { std::atomic_ref(touches.pairs[i]).fetch_add(1, std::memory_order_relaxed); }
};

template <class Counts>
void follow(const BvhView& bvh, const Ray& ray, Counts& visits) {
  using namespace bvh_detail;
  const PreparedRay prepared(ray);
  Stack<false> stack;
  Nearest<Any> query(ray, stack.cold(), {});
  int depth = 0;
  NodeGroup nodes = only_child(0);
  while (true) {
    const std::uint32_t child = next_child(nodes, prepared.order());
    if (any_child(nodes)) stack.push(depth, nodes);
    NodeHits hits = intersect_node(load_node(bvh.nodes + child), prepared, ray.tmin, query.farthest());
    visits.node(child);
    while (hits.leaves.pairs != 0) {
      const std::uint32_t pair = next_pair(hits.leaves);
      decide_pair(bvh, pair, intersect_pair(bvh, pair, prepared, kNoInstance, query), ray, kNoInstance, query);
      visits.pair(pair);
    }
    nodes = hits.children;
    if (!any_child(nodes)) {
      if (depth == 0) return;
      nodes = stack.pop(depth);
    }
  }
}

double half_area(double x, double y, double z) {
  return x * y + y * z + z * x;
}

}  // namespace

BvhQuality measure_quality(const Bvh& bvh, std::span<const Ray> rays) {
  BvhQuality result;
  if (bvh.nodes.empty()) return result;
  const Visits visits = tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, rays.size(), 1024), Visits(),
      [&](const auto& range, Visits sum) {
        for (std::size_t i = range.begin(); i < range.end(); ++i) follow(bvh.view(), rays[i], sum);
        return sum;
      },
      [](Visits a, const Visits& b) {
        return Visits{a.nodes + b.nodes, a.pairs + b.pairs};
      });
  const auto count = static_cast<double>(std::max<std::size_t>(rays.size(), 1));
  result.nodes = static_cast<double>(visits.nodes) / count;
  result.pairs = static_cast<double>(visits.pairs) / count;

  double root_area = 0;
  std::uint64_t inner = 0, leaves = 0, pairs = 0;
  for (const bvh_detail::BvhNode& node : bvh.nodes) {
    double step[3], extent[3] = {0, 0, 0};
    for (int a = 0; a < 3; ++a) step[a] = std::ldexp(1.0, node.exponent[a] - 127);
    for (int s = 0; s < 8; ++s) {
      if (node.is_empty(s)) continue;
      double d[3];
      for (int a = 0; a < 3; ++a) {
        d[a] = step[a] * (node.upper[a][s] - node.lower[a][s]);
        extent[a] = std::max(extent[a], step[a] * node.upper[a][s]);
      }
      const double area = half_area(d[0], d[1], d[2]);
      if (node.is_inner(s)) {
        ++inner;
        result.sah_nodes += area;
      } else {
        const int n = std::popcount(node.pair_bits(s));
        ++leaves;
        pairs += static_cast<unsigned>(n);
        result.sah_pairs += area * n;
      }
    }
    if (root_area == 0) root_area = half_area(extent[0], extent[1], extent[2]);
  }
  const auto nodes = static_cast<double>(bvh.nodes.size());
  result.sah_nodes = 1 + result.sah_nodes / root_area;
  result.sah_pairs /= root_area;
  result.inner_slots = static_cast<double>(inner) / nodes;
  result.leaf_slots = static_cast<double>(leaves) / nodes;
  result.pairs_per_leaf = static_cast<double>(pairs) / static_cast<double>(leaves);
  return result;
}

Touches count_touches(const Bvh& bvh, std::span<const Ray> rays) {
  Touches touches;
  touches.nodes.resize(bvh.nodes.size());
  touches.pairs.resize(bvh.pairs.size());
  if (bvh.nodes.empty()) return touches;
  SharedTouches shared{touches};
  tbb::parallel_for(std::size_t{0}, rays.size(), [&](std::size_t i) { follow(bvh.view(), rays[i], shared); });
  return touches;
}

}  // namespace raylift::bench
