// SPDX-License-Identifier: Apache-2.0
// Binned surface area heuristic, top-down; after Wald, "On fast Construction of SAH-based Bounding Volume Hierarchies"
// (2007), with the task structure and the depth bound of our own.
#include "bvh_sah.h"
#include "bvh_bins.h"
#include "bvh_cells.h"
#include "large_vector.h"

#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace raylift::bvh {
namespace {

constexpr std::size_t kFew = 32, kVeryFew = 4;
constexpr std::size_t kParallelTask = 4096;  // below: one task
constexpr std::size_t kMany = 8192;          // from here on: divided by cells
static_assert(kMany <= kLargeSide, "bins of primitives count large sides in full");

class Builder {
 public:
  Builder(RawVector<Primitive>& primitives, BinaryNode* nodes, std::uint32_t leaf_pairs)
      : primitives_(primitives.data()),
        nodes_(nodes),
        spare_(make_large<Primitive>(primitives.size())),
        leaf_pairs_(leaf_pairs) {}

  void build(std::size_t count, int max_depth) {
    const Extent extent({primitives_, count});
    large_sides_cost_less_ = !extent.overlap();
    (void)build(0, 0, count, extent.bounds, max_depth, false);
  }

 private:
  // What a node's primitives became: those before `middle`, and the others.
  struct Halves {
    std::size_t middle;
    Bounds2 left, right;
  };

  // The node over [begin, end), which lies in spare_ or in primitives_. Few lie in primitives_ from then on.
  WideCost build(std::uint32_t index, std::size_t begin, std::size_t end, const Bounds2& bounds, int levels,
                 bool in_spare) {
    const std::size_t n = end - begin;
    if (in_spare && n < kFew) {
      std::copy(spare_.get() + begin, spare_.get() + end, primitives_ + begin);
      in_spare = false;
    }
    if (n == 1) return WideCost::of_pair(bounds.box.half_area());
    if (n >= kMany) {
      const UpperLevels upper({source(in_spare) + begin, n}, bounds, levels, large_sides_cost_less_);
      if (!upper.root().is_part()) {
        upper.sort(source(!in_spare) + begin);
        return build(upper.root(), index, begin, levels, !in_spare);
      }
    }
    const Halves halves = split(begin, end, bounds.centers, levels, in_spare);
    const std::size_t middle = halves.middle;
    return join(
        index, bounds.box, middle - begin, end - middle,
        [&](std::uint32_t left) { return build(left, begin, middle, halves.left, levels - 1, in_spare); },
        [&](std::uint32_t right) { return build(right, middle, end, halves.right, levels - 1, in_spare); });
  }

  // The node over the primitives from `begin` on, which are sorted by parts.
  WideCost build(const UpperNode& upper, std::uint32_t index, std::size_t begin, int levels, bool in_spare) {
    if (upper.is_part()) return build(index, begin, begin + upper.count, upper.bounds, levels, in_spare);
    const UpperNode &l = *upper.left, &r = *upper.right;
    return join(
        index, upper.bounds.box, l.count, r.count,
        [&](std::uint32_t left) { return build(l, left, begin, levels - 1, in_spare); },
        [&](std::uint32_t right) { return build(r, right, begin + l.count, levels - 1, in_spare); });
  }

  // The node over two sides of so many primitives, which are built by functions of the sides' nodes.
  template <class Left, class Right>
  WideCost join(std::uint32_t index, const Box& box, std::size_t left_count, std::size_t right_count,
                const Left& build_left, const Right& build_right) {
    BinaryNode& node = nodes_[index];
    for (int a = 0; a < 3; ++a) {
      // -0 becomes 0: which of both a box has depends on the threads.
      node.lower[a] = box.lower[a] + 0.0f;
      node.upper[a] = box.upper[a] + 0.0f;
    }
    node.count = static_cast<std::uint32_t>(left_count + right_count);
    node.choice.bits = 0;
    if (left_count == 1) node.choice.set_left_single();
    const std::uint32_t left = index + 1, right = index + static_cast<std::uint32_t>(left_count);
    WideCost left_cost, right_cost;
    if (node.count < kParallelTask) {
      left_cost = build_left(left);
      right_cost = build_right(right);
    } else {
      tbb::parallel_invoke([&] { left_cost = build_left(left); }, [&] { right_cost = build_right(right); });
    }
    return WideCost::join(box.half_area(), node.count, leaf_pairs_, left_cost, right_cost, node.choice);
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
    } else if (n > 2 && n < kMany && !tight) {
      const Binning binning(centers, n < kFew ? kFewBins : kBins);
      const Split best = n < kFew ? bin_and_split<kFewBins>(primitives_ + begin, n, binning)
                                  : bin_and_split<kBins>(source(in_spare) + begin, n, binning);
      if (best.axis >= 0) {
        const Halves halves =
            n < kFew ? partition_few(begin, end, binning, best) : partition(begin, end, binning, best, in_spare);
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
  static Split bin_and_split(const Primitive* first, std::size_t n, const Binning& binning) {
    Bins<N> bins;
    bins.add(first, first + n, binning);
    return best_split<false>(bins);
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

Extent::Extent(std::span<const Primitive> primitives) {
  constexpr std::size_t kBlock = 1 << 13;
  struct Block {
    Bounds2 bounds;
    double areas = 0;
  };
  std::vector<Block> blocks((primitives.size() + kBlock - 1) / kBlock);
  tbb::parallel_for(std::size_t{0}, blocks.size(), [&](std::size_t b) {
    Block block;
    for (const Primitive& p : primitives.subspan(b * kBlock, std::min(kBlock, primitives.size() - b * kBlock))) {
      block.bounds.add(p);
      block.areas += static_cast<double>(Box{p.lower, p.upper}.half_area());
    }
    blocks[b] = block;
  });
  for (const Block& block : blocks) {
    bounds.add(block.bounds);
    areas += block.areas;
  }
}

bool Extent::overlap() const {
  constexpr double kMax = 32;  // surfaces have less than 10, long thin triangles hundreds
  return areas > kMax * static_cast<double>(bounds.box.half_area());
}

std::unique_ptr<BinaryNode[]> build_binary(RawVector<Primitive>& primitives, int max_depth, std::uint32_t leaf_pairs) {
  if (primitives.empty()) return nullptr;
  auto nodes = make_large<BinaryNode>(primitives.size() - 1);
  Builder(primitives, nodes.get(), leaf_pairs).build(primitives.size(), max_depth);
  return nodes;
}

}  // namespace raylift::bvh
