// SPDX-License-Identifier: Apache-2.0
// How the surface area heuristic divides primitives: by bins of their centers, or a few by looking at all divisions.
#pragma once

#include "bvh_sah.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace raylift::bvh {

inline constexpr int kBins = 16, kFewBins = 8;  ///< of a node, and of one with few primitives
inline constexpr int kLargeSide = 8192;         ///< primitives; a larger side costs sqrt(kLargeSide * primitives)

/// Which bin a primitive falls into, per axis.
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

struct Split {
  int axis = -1;
  int bin = 0;           ///< the first of the right side
  std::size_t left = 0;  ///< how many are on the left side
  float cost = Box::kInfinity;

  [[nodiscard]] bool is_left(IntLanes bins) const { return bins[axis] < bin; }
};

/// What lies in each bin of each axis.
template <int N>
struct Bins {
  Box boxes[N][3];
  IntLanes counts[N] = {};  ///< lanes are axes

  void add(const Primitive* first, const Primitive* last, const Binning& binning) {
    for (; first != last; ++first) {
      const IntLanes bin = binning(*first);
      for (int a = 0; a < 3; ++a) {
        boxes[bin[a]][a].add(first->lower, first->upper);
        ++counts[bin[a]][a];
      }
    }
  }
};

/// Half the surface areas of three boxes.
inline Lanes half_areas(const Box (&boxes)[3]) {
  const Lanes d0 = boxes[0].upper - boxes[0].lower, d1 = boxes[1].upper - boxes[1].lower,
              d2 = boxes[2].upper - boxes[2].lower;
  const Lanes x = {d0[0], d1[0], d2[0], 0}, y = {d0[1], d1[1], d2[1], 0}, z = {d0[2], d1[2], d2[2], 0};
  return x * y + y * z + z * x;
}

/// What a side of n primitives is expected to cost, per area of its box. For a large side not as much as n: a ray that
/// enters it visits few of its nodes. So parts that stick out, or are finely divided, are cut off sooner. The square
/// root was the best of the powers that were tried; see docs/lab_notes.md.
template <bool kLarge>
Lanes side_cost(IntLanes n) {
  const Lanes count = __builtin_convertvector(n, Lanes);
  if constexpr (!kLarge) return count;
  Lanes cost = count;
  for (int a = 0; a < 3; ++a)
    if (n[a] > kLargeSide) cost[a] = std::sqrt(count[a] * kLargeSide);
  return cost;
}

/// The division of least cost between two bins; no axis where all primitives are in one bin of each. Lanes are axes.
/// kLarge: sides may have more than kLargeSide primitives.
template <bool kLarge, int N>
Split best_split(const Bins<N>& bins) {
  Lanes right_cost[N];
  Box boxes[3];
  const auto add = [&boxes](const Box(&more)[3]) {
    for (int a = 0; a < 3; ++a) boxes[a].add(more[a]);
  };
  IntLanes n = {};
  for (int k = N - 1; k > 0; --k) {
    add(bins.boxes[k]);
    n += bins.counts[k];
    right_cost[k] = half_areas(boxes) * side_cost<kLarge>(n);  // NaN of none, less than no cost
  }
  for (Box& box : boxes) box = Box();
  n = IntLanes{};
  Lanes least = Lanes{} + Box::kInfinity;
  IntLanes bin = {}, left = {};
  for (int k = 1; k < N; ++k) {
    add(bins.boxes[k - 1]);
    n += bins.counts[k - 1];
    const Lanes cost = half_areas(boxes) * side_cost<kLarge>(n) + right_cost[k];
    const IntLanes less = cost < least;
    least = less ? cost : least;
    bin = less ? IntLanes{} + k : bin;
    left = less ? n : left;
  }
  Split best;
  for (int a = 0; a < 3; ++a)
    if (least[a] < best.cost) best = {a, bin[a], static_cast<std::size_t>(left[a]), least[a]};
  return best;
}

/// Which of three or four primitives go left, a bit each, at the least cost of all divisions: without bins, which would
/// take longer.
inline std::uint32_t best_division(const Primitive* first, std::size_t n) {
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

}  // namespace raylift::bvh
