// SPDX-License-Identifier: Apache-2.0
// Binned surface area heuristic, top-down; after Wald, "On fast Construction of SAH-based Bounding Volume Hierarchies"
// (2007), with the task structure and the depth bound of our own.
#include "bvh_sah.h"
#include "bvh_bins.h"
#include "large_vector.h"

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_reduce.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>

namespace raylift::inline v0_1::bvh {
namespace {

constexpr std::size_t kFew = 32, kVeryFew = 4;
constexpr std::size_t kParallelTask = 4096;     // below: one task
constexpr std::size_t kParallelLoop = 1 << 15;  // above: a node's own loops run in parallel
static_assert(kParallelLoop >= kLargeSide);

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

class Builder {
 public:
  Builder(RawVector<Primitive>& primitives, BinaryNode* nodes, std::uint32_t leaf_pairs)
      : primitives_(primitives.data()),
        nodes_(nodes),
        spare_(make_large<Primitive>(primitives.size())),
        leaf_pairs_(leaf_pairs) {}

  void build(std::size_t count, int max_depth) {
    const Bounds2 bounds = count > kParallelLoop
                               ? tbb::parallel_reduce(
                                     tbb::blocked_range<std::size_t>(0, count, kBlock), Bounds2(),
                                     [&](const auto& range, Bounds2 sum) {
                                       sum.add(measure(primitives_ + range.begin(), primitives_ + range.end()));
                                       return sum;
                                     },
                                     [](Bounds2 a, const Bounds2& b) {
                                       a.add(b);
                                       return a;
                                     })
                               : measure(primitives_, primitives_ + count);
    large_sides_cost_less_ = count > kLargeSide && !overlap({primitives_, count}, bounds.box);
    (void)build(0, 0, count, bounds, max_depth, false);
  }

 private:
  static constexpr std::size_t kBlock = 1 << 12;

  // What a node's primitives became: those before `middle`, and the others.
  struct Halves {
    std::size_t middle;
    Bounds2 left, right;
  };

  // The node over [begin, end), which lies in spare_ or in primitives_. Few lie in primitives_ from then on.
  WideCost build(std::uint32_t index, std::size_t begin, std::size_t end, const Bounds2& bounds, int levels,
                 bool in_spare) {
    const std::size_t n = end - begin;
    BinaryNode& node = nodes_[index];
    for (int a = 0; a < 3; ++a) {
      node.lower[a] = bounds.box.lower[a];
      node.upper[a] = bounds.box.upper[a];
    }
    node.count = static_cast<std::uint32_t>(n);
    node.choice.bits = 0;
    const float area = bounds.box.half_area();
    if (in_spare && n < kFew) {
      std::copy(spare_.get() + begin, spare_.get() + end, primitives_ + begin);
      in_spare = false;
    }
    if (n == 1) {
      node.choice.set_leaf();
      return WideCost::of_pair(area);
    }
    const Halves halves = split(begin, end, bounds.centers, levels, in_spare);
    const std::size_t middle = halves.middle;
    const auto left = index + 1, right = index + static_cast<std::uint32_t>(2 * (middle - begin));
    WideCost left_cost, right_cost;
    const auto build_left = [&] { left_cost = build(left, begin, middle, halves.left, levels - 1, in_spare); };
    const auto build_right = [&] { right_cost = build(right, middle, end, halves.right, levels - 1, in_spare); };
    if (n < kParallelTask) {
      build_left();
      build_right();
    } else {
      tbb::parallel_invoke(build_left, build_right);
    }
    return WideCost::join(area, node.count, leaf_pairs_, left_cost, right_cost, node.choice);
  }

  [[nodiscard]] Primitive* source(bool in_spare) const { return in_spare ? spare_.get() : primitives_; }

  static Bounds2 measure(const Primitive* first, const Primitive* last) {
    Bounds2 sum;
    for (; first != last; ++first) sum.add(*first);
    return sum;
  }

  static Halves halves_of(const Primitive* all, std::size_t begin, std::size_t middle, std::size_t end) {
    return {middle, measure(all + begin, all + middle), measure(all + middle, all + end)};
  }

  // Divides [begin, end) and orders it accordingly; `in_spare` says where it lies, before and after. `levels` of nodes
  // are left below this one.
  Halves split(std::size_t begin, std::size_t end, const Box& centers, int levels, bool& in_spare) {
    const std::size_t n = end - begin;
    const bool tight = static_cast<int>(std::bit_width(n - 1)) >= levels;  // only halves fit any more
    if (n > 2 && n <= kVeryFew && !tight) {
      if (const std::uint32_t left = best_division(primitives_ + begin, n); left != 0)
        if (const Halves halves = divide(begin, end, left); fits(begin, halves.middle, end, levels)) return halves;
    } else if (n > 2 && !tight) {
      const Binning binning(centers, n < kFew ? kFewBins : kBins);
      const Split best = n < kFew             ? bin_and_split<kFewBins>(primitives_ + begin, n, binning)
                         : n <= kParallelLoop ? bin_and_split<kBins>(source(in_spare) + begin, n, binning)
                                              : best_split_of(fill_in_parallel(begin, end, binning, in_spare), n);
      if (best.axis >= 0) {
        const Halves halves = n > kParallelLoop ? partition_in_parallel(begin, end, binning, best, in_spare)
                              : n < kFew        ? partition_few(begin, end, binning, best)
                                                : partition(begin, end, binning, best, in_spare);
        if (fits(begin, halves.middle, end, levels)) return halves;
      }
    }
    if (in_spare) {  // seldom: the median of all
      std::copy(spare_.get() + begin, spare_.get() + end, primitives_ + begin);
      in_spare = false;
    }
    return halve(begin, end, centers);
  }

  // Whether both sides hold something, and have levels enough below a node that has `levels` below it.
  static bool fits(std::size_t begin, std::size_t middle, std::size_t end, int levels) {
    const std::size_t larger = std::max(middle - begin, end - middle);
    return larger < end - begin && static_cast<int>(std::bit_width(larger - 1)) <= levels - 1;
  }

  // Puts those first whose bit is set.
  Halves divide(std::size_t begin, std::size_t end, std::uint32_t left) {
    Halves result{};
    std::array<Primitive, kVeryFew> others;
    std::size_t to = begin, n = 0;
    for (std::size_t i = begin; i < end; ++i, left >>= 1) {
      const Primitive p = primitives_[i];
      if ((left & 1u) != 0) {
        result.left.add(p);
        primitives_[to++] = p;
      } else {
        result.right.add(p);
        others[n++] = p;
      }
    }
    result.middle = to;
    std::copy(others.begin(), others.begin() + n, primitives_ + to);
    return result;
  }

  template <int N>
  [[nodiscard]] Split best_split_of(const Bins<N>& bins, std::size_t n) const {
    return N == kBins && n > kLargeSide && large_sides_cost_less_ ? best_split<true>(bins) : best_split<false>(bins);
  }

  template <int N>
  [[nodiscard]] Split bin_and_split(const Primitive* first, std::size_t n, const Binning& binning) const {
    Bins<N> bins;
    bins.add(first, first + n, binning);
    return best_split_of(bins, n);
  }

  Bins<kBins> fill_in_parallel(std::size_t begin, std::size_t end, const Binning& binning, bool in_spare) const {
    const Primitive* const from = source(in_spare);
    tbb::enumerable_thread_specific<Bins<kBins>> parts;
    tbb::parallel_for(tbb::blocked_range<std::size_t>(begin, end, kBlock),
                      [&](const auto& range) { parts.local().add(from + range.begin(), from + range.end(), binning); });
    Bins<kBins> bins;
    for (const Bins<kBins>& part : parts) bins.add(part);
    return bins;
  }

  // Stable, and without a branch on which side a primitive goes to, which would be mispredicted. Into the other array.
  Halves partition(std::size_t begin, std::size_t end, const Binning& binning, const Split& best, bool& in_spare) {
    const Primitive* const from = source(in_spare);
    in_spare = !in_spare;
    Primitive* const to = source(in_spare);
    const std::size_t middle = begin + best.left;
    std::size_t next[2] = {middle, begin};
    for (std::size_t i = begin; i < end; ++i) to[next[best.is_left(binning(from[i])) ? 1 : 0]++] = from[i];
    return halves_of(to, begin, middle, end);
  }

  // Likewise, and they stay where they are.
  Halves partition_few(std::size_t begin, std::size_t end, const Binning& binning, const Split& best) {
    std::array<Primitive, kFew> others;
    std::size_t middle = begin, right = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Primitive p = primitives_[i];
      const std::size_t left = best.is_left(binning(p)) ? 1 : 0;
      primitives_[middle] = p;
      others[right] = p;
      middle += left;
      right += 1 - left;
    }
    std::copy(others.begin(), others.begin() + right, primitives_ + middle);
    return halves_of(primitives_, begin, middle, end);
  }

  // Stable, by blocks of a fixed size: count, then scatter into the other array.
  Halves partition_in_parallel(std::size_t begin, std::size_t end, const Binning& binning, const Split& best,
                               bool& in_spare) {
    const Primitive* const from = source(in_spare);
    in_spare = !in_spare;
    Primitive* const target = source(in_spare);
    const auto is_left = [&](const Primitive& p) { return best.is_left(binning(p)); };
    const std::size_t blocks = (end - begin + kBlock - 1) / kBlock;
    std::vector<std::size_t> lefts(blocks);
    std::vector<Halves> halves(blocks);
    const auto block_begin = [&](std::size_t b) { return begin + b * kBlock; };
    const auto block_end = [&](std::size_t b) { return std::min(end, begin + (b + 1) * kBlock); };
    tbb::parallel_for(std::size_t{0}, blocks, [&](std::size_t b) {
      std::size_t n = 0;
      for (std::size_t i = block_begin(b); i < block_end(b); ++i) n += is_left(from[i]) ? 1u : 0u;
      lefts[b] = n;
    });
    std::size_t middle = begin;
    for (std::size_t& n : lefts) {
      const std::size_t count = n;
      n = middle;
      middle += count;
    }
    tbb::parallel_for(std::size_t{0}, blocks, [&](std::size_t b) {
      std::size_t l = lefts[b], r = middle + (block_begin(b) - begin) - (lefts[b] - begin);
      Halves sum{};
      for (std::size_t i = block_begin(b); i < block_end(b); ++i) {
        const bool left = is_left(from[i]);
        (left ? sum.left : sum.right).add(from[i]);
        target[left ? l++ : r++] = from[i];
      }
      halves[b] = sum;
    });
    Halves result{};
    for (const Halves& h : halves) {
      result.left.add(h.left);
      result.right.add(h.right);
    }
    result.middle = middle;
    return result;
  }

  // Equal halves along the longest axis of the centers.
  Halves halve(std::size_t begin, std::size_t end, const Box& centers) {
    const std::size_t middle = begin + (end - begin) / 2;
    if (end - begin > 2) {
      const Lanes extent = centers.upper - centers.lower;
      const int axis = extent[0] > extent[1] ? (extent[0] > extent[2] ? 0 : 2) : (extent[1] > extent[2] ? 1 : 2);
      std::nth_element(primitives_ + begin, primitives_ + middle, primitives_ + end,
                       [axis](const Primitive& a, const Primitive& b) {
                         const float ca = a.lower[axis] + a.upper[axis], cb = b.lower[axis] + b.upper[axis];
                         if (ca != cb) return ca < cb;
                         return a.number() < b.number();
                       });
    }
    return halves_of(primitives_, begin, middle, end);
  }

  Primitive* primitives_;
  BinaryNode* nodes_;
  std::unique_ptr<Primitive[]> spare_;
  std::uint32_t leaf_pairs_;
  bool large_sides_cost_less_ = false;
};

}  // namespace

bool overlap(std::span<const Primitive> primitives, const Box& around) {
  constexpr double kMost = 32;  // surfaces have less than 10, long thin triangles hundreds
  const double sum = tbb::parallel_deterministic_reduce(
      tbb::blocked_range<std::size_t>(0, primitives.size(), kParallelTask), 0.0,
      [&](const auto& range, double areas) {
        for (std::size_t i = range.begin(); i < range.end(); ++i)
          areas += static_cast<double>(Box{primitives[i].lower, primitives[i].upper}.half_area());
        return areas;
      },
      std::plus<>());
  return sum > kMost * static_cast<double>(around.half_area());
}

std::unique_ptr<BinaryNode[]> build_binary(RawVector<Primitive>& primitives, int max_depth, std::uint32_t leaf_pairs) {
  if (primitives.empty()) return nullptr;
  auto nodes = make_large<BinaryNode>(2 * primitives.size() - 1);
  Builder(primitives, nodes.get(), leaf_pairs).build(primitives.size(), max_depth);
  return nodes;
}

}  // namespace raylift::inline v0_1::bvh
