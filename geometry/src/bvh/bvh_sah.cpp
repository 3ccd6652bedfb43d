// SPDX-License-Identifier: Apache-2.0
// Binned surface area heuristic, top-down; after Wald, "On fast Construction of SAH-based Bounding Volume Hierarchies"
// (2007), with the task structure and the depth bound of our own.
#include "bvh_sah.h"
#include "large_vector.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_reduce.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace raylift::inline v0_1::bvh {
namespace {

constexpr int kBins = 16, kFewBins = 8;  // of a node, and of one with few primitives
constexpr std::size_t kFew = 32, kVeryFew = 4;
constexpr std::size_t kParallelTask = 4096;     // below: one task
constexpr std::size_t kParallelLoop = 1 << 15;  // above: a node's own loops run in parallel

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

template <int N>
struct Bins {
  Box boxes[3][N];
  std::uint32_t counts[3][N] = {};

  void add(const Primitive& p, IntLanes bin) {
    for (int a = 0; a < 3; ++a) {
      boxes[a][bin[a]].add(p.lower, p.upper);
      ++counts[a][bin[a]];
    }
  }
  void add(const Bins& other) {
    for (int a = 0; a < 3; ++a)
      for (int k = 0; k < N; ++k) {
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

template <int N>
Split best_split(const Bins<N>& bins) {
  Split best;
  for (int a = 0; a < 3; ++a) {
    float right_cost[N];
    Box box;
    std::uint32_t n = 0;
    for (int k = N - 1; k > 0; --k) {
      box.add(bins.boxes[a][k]);
      n += bins.counts[a][k];
      right_cost[k] = box.half_area() * static_cast<float>(n);  // NaN of none, which no cost below is less than
    }
    box = Box();
    n = 0;
    for (int k = 1; k < N; ++k) {
      box.add(bins.boxes[a][k - 1]);
      n += bins.counts[a][k - 1];
      const float cost = box.half_area() * static_cast<float>(n) + right_cost[k];
      if (cost < best.cost) best = {a, k, cost};
    }
  }
  return best;
}

// Which of three or four primitives go left, a bit each, at the least cost of all divisions: without bins, which would
// take longer.
std::uint32_t best_division(const Primitive* first, std::size_t n) {
  const auto box = [first](std::size_t i) { return Box{first[i].lower, first[i].upper}; };
  const auto both = [](Box a, const Box& b) {
    a.add(b);
    return a;
  };
  std::uint32_t best = 0;
  float least = Box::kInfinity;
  const auto look = [&](std::uint32_t left, float cost) {
    if (!(cost < least)) return;
    least = cost;
    best = left;
  };
  const Box a = box(0), b = box(1), c = box(2), ab = both(a, b), ac = both(a, c), bc = both(b, c);
  if (n == 3) {
    look(0b001, a.half_area() + 2 * bc.half_area());
    look(0b010, b.half_area() + 2 * ac.half_area());
    look(0b100, c.half_area() + 2 * ab.half_area());
    return best;
  }
  const Box d = box(3), ad = both(a, d), bd = both(b, d), cd = both(c, d);
  look(0b0011, 2 * (ab.half_area() + cd.half_area()));
  look(0b0101, 2 * (ac.half_area() + bd.half_area()));
  look(0b1001, 2 * (ad.half_area() + bc.half_area()));
  look(0b0001, a.half_area() + 3 * both(b, cd).half_area());
  look(0b0010, b.half_area() + 3 * both(a, cd).half_area());
  look(0b0100, c.half_area() + 3 * both(d, ab).half_area());
  look(0b1000, d.half_area() + 3 * both(c, ab).half_area());
  return best;
}

class Builder {
 public:
  Builder(RawVector<Primitive>& primitives, BinaryNode* nodes, std::uint32_t leaf_pairs)
      : primitives_(primitives.data()),
        nodes_(nodes),
        spare_(make_large<Primitive>(primitives.size())),
        leaf_pairs_(leaf_pairs) {}

  void build(std::size_t count, int max_depth) {
    const Bounds2 bounds =
        count > kParallelLoop
            ? tbb::parallel_reduce(
                  tbb::blocked_range<std::size_t>(0, count, kBlock), Bounds2(),
                  [&](const auto& range, const Bounds2& sum) { return measure(range.begin(), range.end(), sum); },
                  [](Bounds2 a, const Bounds2& b) {
                    a.add(b);
                    return a;
                  })
            : measure(0, count, {});
    (void)build(0, 0, count, bounds, max_depth, false);
  }

 private:
  static constexpr std::size_t kBlock = 1 << 12;

  // What a node's primitives became: those before `middle`, and the others.
  struct Halves {
    std::size_t middle;
    Bounds2 left, right;
  };

  // The node over [begin, end), which lies in spare_ or in primitives_.
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
    if (in_spare && n <= kParallelLoop) {
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

  Bounds2 measure(std::size_t begin, std::size_t end, Bounds2 sum) const {
    for (std::size_t i = begin; i < end; ++i) sum.add(primitives_[i]);
    return sum;
  }

  [[nodiscard]] Halves halves_at(std::size_t begin, std::size_t middle, std::size_t end) const {
    return {middle, measure(begin, middle, {}), measure(middle, end, {})};
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
      const Split best = n < kFew             ? best_split(fill<kFewBins>(primitives_ + begin, n, binning))
                         : n <= kParallelLoop ? best_split(fill<kBins>(primitives_ + begin, n, binning))
                                              : best_split(fill_in_parallel(begin, end, binning, in_spare));
      if (best.axis >= 0) {
        const Halves halves = n > kParallelLoop ? partition_in_parallel(begin, end, binning, best, in_spare)
                                                : partition(begin, end, binning, best);
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
  static Bins<N> fill(const Primitive* first, std::size_t n, const Binning& binning, Bins<N> bins = {}) {
    for (std::size_t i = 0; i < n; ++i) bins.add(first[i], binning(first[i]));
    return bins;
  }

  Bins<kBins> fill_in_parallel(std::size_t begin, std::size_t end, const Binning& binning, bool in_spare) const {
    const Primitive* const source = in_spare ? spare_.get() : primitives_;
    return tbb::parallel_reduce(
        tbb::blocked_range<std::size_t>(begin, end, kBlock), Bins<kBins>(),
        [&](const auto& range, const Bins<kBins>& bins) {
          return fill<kBins>(source + range.begin(), range.size(), binning, bins);
        },
        [](Bins<kBins> a, const Bins<kBins>& b) {
          a.add(b);
          return a;
        });
  }

  // Stable, and without a branch on which side a primitive goes to, which would be mispredicted.
  Halves partition(std::size_t begin, std::size_t end, const Binning& binning, const Split& best) {
    Primitive* const others = spare_.get() + begin;
    std::size_t middle = begin, right = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Primitive p = primitives_[i];
      const std::size_t left = binning(p)[best.axis] < best.bin ? 1 : 0;
      primitives_[middle] = p;
      others[right] = p;
      middle += left;
      right += 1 - left;
    }
    std::copy(others, others + right, primitives_ + middle);
    return halves_at(begin, middle, end);
  }

  // Stable, by blocks of a fixed size: count, then scatter into the other array.
  Halves partition_in_parallel(std::size_t begin, std::size_t end, const Binning& binning, const Split& best,
                               bool& in_spare) {
    const Primitive* const source = in_spare ? spare_.get() : primitives_;
    Primitive* const target = in_spare ? primitives_ : spare_.get();
    in_spare = !in_spare;
    const auto is_left = [&](const Primitive& p) { return binning(p)[best.axis] < best.bin; };
    const std::size_t blocks = (end - begin + kBlock - 1) / kBlock;
    std::vector<std::size_t> lefts(blocks);
    std::vector<Halves> halves(blocks);
    const auto block_begin = [&](std::size_t b) { return begin + b * kBlock; };
    const auto block_end = [&](std::size_t b) { return std::min(end, begin + (b + 1) * kBlock); };
    tbb::parallel_for(std::size_t{0}, blocks, [&](std::size_t b) {
      std::size_t n = 0;
      for (std::size_t i = block_begin(b); i < block_end(b); ++i) n += is_left(source[i]) ? 1u : 0u;
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
        const bool left = is_left(source[i]);
        (left ? sum.left : sum.right).add(source[i]);
        target[left ? l++ : r++] = source[i];
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
    return halves_at(begin, middle, end);
  }

  Primitive* primitives_;
  BinaryNode* nodes_;
  std::unique_ptr<Primitive[]> spare_;
  std::uint32_t leaf_pairs_;
};

}  // namespace

std::unique_ptr<BinaryNode[]> build_binary(RawVector<Primitive>& primitives, int max_depth, std::uint32_t leaf_pairs) {
  if (primitives.empty()) return nullptr;
  auto nodes = make_large<BinaryNode>(2 * primitives.size() - 1);
  Builder(primitives, nodes.get(), leaf_pairs).build(primitives.size(), max_depth);
  return nodes;
}

}  // namespace raylift::inline v0_1::bvh
