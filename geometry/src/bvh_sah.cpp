// SPDX-License-Identifier: Apache-2.0
// Binned surface area heuristic, top-down; after Wald, "On fast Construction of SAH-based Bounding Volume Hierarchies"
// (2007), with the task structure and the depth bound of our own.
#include "bvh_sah.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_reduce.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace raylift::bvh {
namespace {

constexpr int kBins = 16;
constexpr std::size_t kParallelTask = 4096;     // below: one task
constexpr std::size_t kParallelLoop = 1 << 17;  // above: a node's own loops run in parallel

using IntLanes = std::int32_t __attribute__((vector_size(16)));

struct Bounds2 {
  Box box, centers;  // of primitives; of their lower + upper

  void add(const Primitive& p) {
    box.add(p.lower, p.upper);
    const Lanes center = p.lower + p.upper;
    centers.add(center, center);
  }
  void add(const Bounds2& other) {
    box.add(other.box);
    centers.add(other.centers);
  }
};

// Which bin a primitive falls into, per axis.
struct Binning {
  Lanes origin, scale;

  Binning(const Box& centers, int bins) : origin(centers.lower) {
    for (int a = 0; a < 4; ++a) {
      const float extent = a < 3 ? centers.upper[a] - centers.lower[a] : 0.0f;
      const float s = 0.99f * static_cast<float>(bins) / extent;
      scale[a] = extent > 0 && std::isfinite(s) ? s : 0.0f;
    }
    origin[3] = 0;
  }
  [[nodiscard]] IntLanes operator()(const Primitive& p) const {
    Lanes offset = (p.lower + p.upper - origin) * scale;
    offset[3] = 0;
    return __builtin_convertvector(offset, IntLanes);
  }
};

struct Bins {
  Box boxes[3][kBins];
  std::uint32_t counts[3][kBins] = {};

  void add(const Primitive& p, IntLanes bin) {
    for (int a = 0; a < 3; ++a) {
      boxes[a][bin[a]].add(p.lower, p.upper);
      ++counts[a][bin[a]];
    }
  }
  void add(const Bins& other, int bins) {
    for (int a = 0; a < 3; ++a)
      for (int k = 0; k < bins; ++k) {
        boxes[a][k].add(other.boxes[a][k]);
        counts[a][k] += other.counts[a][k];
      }
  }
};

struct Split {
  int axis = -1;
  int bin = 0;  // the first of the right side
  float cost = Box::kInfinity;
};

Split best_split(const Bins& bins, int count) {
  Split best;
  for (int a = 0; a < 3; ++a) {
    float right_cost[kBins];
    Box box;
    std::uint32_t n = 0;
    for (int k = count - 1; k > 0; --k) {
      box.add(bins.boxes[a][k]);
      n += bins.counts[a][k];
      right_cost[k] = n == 0 ? Box::kInfinity : box.half_area() * static_cast<float>(n);
    }
    box = Box();
    n = 0;
    for (int k = 1; k < count; ++k) {
      box.add(bins.boxes[a][k - 1]);
      n += bins.counts[a][k - 1];
      if (n == 0) continue;
      const float cost = box.half_area() * static_cast<float>(n) + right_cost[k];
      if (cost < best.cost) best = {a, k, cost};
    }
  }
  return best;
}

class Builder {
 public:
  Builder(std::vector<Primitive>& primitives, std::vector<BinaryNode>& nodes, std::uint32_t leaf_pairs)
      : primitives_(primitives),
        nodes_(nodes),
        spare_(primitives.size() > kParallelLoop ? primitives.size() : 0),
        leaf_pairs_(leaf_pairs) {}

  WideCost build(std::uint32_t index, std::size_t begin, std::size_t end, int levels) {
    const std::size_t n = end - begin;
    const Bounds2 bounds = measure(begin, end);
    BinaryNode& node = nodes_[index];
    for (int a = 0; a < 3; ++a) {
      node.lower[a] = bounds.box.lower[a];
      node.upper[a] = bounds.box.upper[a];
    }
    node.count = static_cast<std::uint32_t>(n);
    const float area = bounds.box.half_area();
    if (n == 1) {
      node.choice.set_leaf();
      return WideCost::of_pair(area);
    }
    const std::size_t middle = split(begin, end, bounds.centers, levels);
    const auto left = index + 1, right = index + static_cast<std::uint32_t>(2 * (middle - begin));
    WideCost left_cost, right_cost;
    const auto build_left = [&] { left_cost = build(left, begin, middle, levels - 1); };
    const auto build_right = [&] { right_cost = build(right, middle, end, levels - 1); };
    if (n < kParallelTask) {
      build_left();
      build_right();
    } else {
      tbb::parallel_invoke(build_left, build_right);
    }
    return WideCost::join(area, node.count, leaf_pairs_, left_cost, right_cost, node.choice);
  }

 private:
  Bounds2 measure(std::size_t begin, std::size_t end) const {
    const auto loop = [this](std::size_t from, std::size_t to, Bounds2 sum) {
      for (std::size_t i = from; i < to; ++i) sum.add(primitives_[i]);
      return sum;
    };
    if (end - begin <= kParallelLoop) return loop(begin, end, {});
    // Minima and maxima don't depend on the order.
    return tbb::parallel_reduce(
        tbb::blocked_range<std::size_t>(begin, end, 1 << 14), Bounds2(),
        [&](const auto& range, const Bounds2& sum) { return loop(range.begin(), range.end(), sum); },
        [](Bounds2 a, const Bounds2& b) {
          a.add(b);
          return a;
        });
  }

  // Where to divide [begin, end), which is ordered accordingly. `levels` of nodes are left below this one.
  std::size_t split(std::size_t begin, std::size_t end, const Box& centers, int levels) {
    const std::size_t n = end - begin;
    const int bins_used = n < 32 ? 8 : kBins;
    const bool tight = std::bit_width(n - 1) >= static_cast<unsigned>(levels);  // only halves fit any more
    if (n > 2 && !tight) {
      const Binning binning(centers, bins_used);
      const Split best = best_split(fill(begin, end, binning, bins_used), bins_used);
      if (best.axis >= 0) {
        const std::size_t middle = partition(begin, end, binning, best);
        const std::size_t larger = std::max(middle - begin, end - middle);
        if (larger < n && std::bit_width(larger - 1) <= static_cast<unsigned>(levels - 1)) return middle;
      }
    }
    return halve(begin, end, centers);
  }

  Bins fill(std::size_t begin, std::size_t end, const Binning& binning, int bins_used) const {
    const auto loop = [&](std::size_t from, std::size_t to, Bins& bins) {
      for (std::size_t i = from; i < to; ++i) bins.add(primitives_[i], binning(primitives_[i]));
    };
    if (end - begin <= kParallelLoop) {
      Bins bins;
      loop(begin, end, bins);
      return bins;
    }
    return tbb::parallel_reduce(
        tbb::blocked_range<std::size_t>(begin, end, 1 << 14), Bins(),
        [&](const auto& range, Bins bins) {
          loop(range.begin(), range.end(), bins);
          return bins;
        },
        [&](Bins a, const Bins& b) {
          a.add(b, bins_used);
          return a;
        });
  }

  std::size_t partition(std::size_t begin, std::size_t end, const Binning& binning, const Split& best) {
    const auto left = [&](const Primitive& p) { return binning(p)[best.axis] < best.bin; };
    const auto first = primitives_.begin();
    if (end - begin <= kParallelLoop)
      return static_cast<std::size_t>(
          std::partition(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end), left) -
          first);
    // Stable, by blocks of a fixed size: count, then scatter into the spare array and back.
    constexpr std::size_t kBlock = 1 << 14;
    const std::size_t blocks = (end - begin + kBlock - 1) / kBlock;
    std::vector<std::size_t> lefts(blocks);
    const auto block_end = [&](std::size_t b) { return std::min(end, begin + (b + 1) * kBlock); };
    tbb::parallel_for(std::size_t{0}, blocks, [&](std::size_t b) {
      std::size_t n = 0;
      for (std::size_t i = begin + b * kBlock; i < block_end(b); ++i) n += left(primitives_[i]) ? 1u : 0u;
      lefts[b] = n;
    });
    std::size_t middle = begin;
    for (std::size_t& n : lefts) {
      const std::size_t count = n;
      n = middle;
      middle += count;
    }
    tbb::parallel_for(std::size_t{0}, blocks, [&](std::size_t b) {
      std::size_t l = lefts[b], r = middle + (begin + b * kBlock - begin) - (lefts[b] - begin);
      for (std::size_t i = begin + b * kBlock; i < block_end(b); ++i)
        spare_[left(primitives_[i]) ? l++ : r++] = primitives_[i];
    });
    tbb::parallel_for(std::size_t{0}, blocks, [&](std::size_t b) {
      const std::size_t from = begin + b * kBlock;
      std::copy(spare_.begin() + static_cast<std::ptrdiff_t>(from),
                spare_.begin() + static_cast<std::ptrdiff_t>(block_end(b)),
                primitives_.begin() + static_cast<std::ptrdiff_t>(from));
    });
    return middle;
  }

  // Equal halves along the longest axis of the centers.
  std::size_t halve(std::size_t begin, std::size_t end, const Box& centers) {
    const Lanes extent = centers.upper - centers.lower;
    const int axis = extent[0] > extent[1] ? (extent[0] > extent[2] ? 0 : 2) : (extent[1] > extent[2] ? 1 : 2);
    const std::size_t middle = begin + (end - begin) / 2;
    const auto at = [&](std::size_t i) { return primitives_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(begin), at(middle), at(end), [axis](const Primitive& a, const Primitive& b) {
      const float ca = a.lower[axis] + a.upper[axis], cb = b.lower[axis] + b.upper[axis];
      if (ca != cb) return ca < cb;
      return a.number() < b.number();
    });
    return middle;
  }

  std::vector<Primitive>& primitives_;
  std::vector<BinaryNode>& nodes_;
  std::vector<Primitive> spare_;
  std::uint32_t leaf_pairs_;
};

}  // namespace

std::vector<BinaryNode> build_binary(std::vector<Primitive>& primitives, int max_depth, std::uint32_t leaf_pairs) {
  std::vector<BinaryNode> nodes(primitives.empty() ? 0 : 2 * primitives.size() - 1);
  if (!primitives.empty()) Builder(primitives, nodes, leaf_pairs).build(0, 0, primitives.size(), max_depth);
  return nodes;
}

}  // namespace raylift::bvh
