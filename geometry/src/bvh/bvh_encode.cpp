// SPDX-License-Identifier: Apache-2.0
#include "bvh_encode.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace raylift::bvh {
namespace {

// a - b = rounded + error, exactly: Knuth's TwoSum. T is float or Lanes.
template <class T>
struct Difference {
  T rounded, error;

  Difference(const T& a, const T& b) : rounded(a - b) {
    const T back = rounded - a;
    error = (a - (rounded - back)) - (b + back);
  }
};

// The smallest power of two whose 255 steps span [lower, upper], as a biased exponent. At least 1: a denormal step
// would not do.
std::uint8_t grid_exponent(float lower, float upper) {
  const Difference<float> extent(upper, lower);
  // 255 is 2^7 times the mantissa kMax: what is above it needs one step more. Extents are not negative, so the next
  // float's bits are one more.
  constexpr std::uint32_t kOne = 1u << 23, kMax = 0x7F0000u;
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(extent.rounded) + (extent.error > 0 ? 1u : 0u);
  const auto exponent = static_cast<int>((bits + (kOne - 1 - kMax)) >> 23) - 7;
  return static_cast<std::uint8_t>(std::max(exponent, 1));
}

// The grid of a node on one axis.
struct Grid {
  float origin, step, steps_per_unit;  // both powers of two

  Grid(float lower, std::uint8_t exponent)
      : origin(lower),
        step(std::bit_cast<float>(static_cast<std::uint32_t>(exponent) << 23)),
        steps_per_unit(std::bit_cast<float>((254u - exponent) << 23)) {}

  // In steps above the origin, rounded down or up; planes are not below the origin, so cutting off rounds down. A
  // product with a power of two is exact, other than of a difference so small that it is 0, which comparing in units
  // takes care of.
  [[nodiscard]] IntLanes down(Lanes plane) const {
    const Difference<Lanes> d(plane, Lanes{} + origin);
    const IntLanes steps = __builtin_convertvector(d.rounded * steps_per_unit, IntLanes);
    const Lanes reached = __builtin_convertvector(steps, Lanes) * step;
    return steps + ((reached == d.rounded) & (d.error < 0));  // a mask's lane is -1
  }
  [[nodiscard]] IntLanes up(Lanes plane) const {
    const Difference<Lanes> d(plane, Lanes{} + origin);
    const IntLanes steps = __builtin_convertvector(d.rounded * steps_per_unit, IntLanes);
    const Lanes reached = __builtin_convertvector(steps, Lanes) * step;
    return steps - ((reached < d.rounded) | ((reached == d.rounded) & (d.error > 0)));
  }
};

Lanes four(const float* from) {
  Lanes lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

void store_bytes(IntLanes values, std::uint8_t* to) {
  using Bytes = std::uint8_t __attribute__((vector_size(4)));
  const Bytes bytes = __builtin_convertvector(values, Bytes);
  std::memcpy(to, &bytes, sizeof bytes);
}

}  // namespace

bvh_detail::BvhNode encode(const BinaryTree& tree, Subtree root, const Children& children) {
  bvh_detail::BvhNode node{};
  const Box whole = tree.box(root);
  // Planes by axis and slot. An empty slot has the node's own, until it gets those of none.
  float lower[3][kWide], upper[3][kWide];
  std::uint32_t empty = 0;
  for (int s = 0; s < kWide; ++s) {
    const Subtree child = children[s];
    const Box box = child.node == kNone ? whole : tree.box(child);
    for (int a = 0; a < 3; ++a) {
      lower[a][s] = box.lower[a];
      upper[a][s] = box.upper[a];
    }
    if (child.node == kNone) {
      empty |= 1u << s;
    } else if (!tree.is_leaf(child)) {
      node.inner |= 1u << (4 * s);
    } else {
      node.pairs |= ((1u << tree.count(child)) - 1u) << (4 * s);
    }
  }
  for (int a = 0; a < 3; ++a) {
    node.origin[a] = whole.lower[a];
    node.exponent[a] = grid_exponent(whole.lower[a], whole.upper[a]);
    const Grid grid(whole.lower[a], node.exponent[a]);
    for (int half = 0; half < kWide; half += 4) {
      store_bytes(grid.down(four(lower[a] + half)), node.lower[a] + half);
      store_bytes(grid.up(four(upper[a] + half)), node.upper[a] + half);
    }
  }
  for (; empty != 0; empty &= empty - 1) {
    const int s = std::countr_zero(empty);
    for (int a = 0; a < 3; ++a) {
      node.lower[a][s] = 255;
      node.upper[a][s] = 0;
    }
  }
  return node;
}

}  // namespace raylift::bvh
