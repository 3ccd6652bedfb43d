// SPDX-License-Identifier: Apache-2.0
// The test of a node's boxes on each device, against intervals in long double: no box that a ray meets is missed, and
// few are met that it passes by.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "gpu/asking.h"
#include "support/devices.h"

namespace raylift {
namespace {

using test::BoxQuery;
using BoxReal = long double;

constexpr std::size_t kBoxRays = 100'000;

float as_step(int exponent) {
  return std::ldexp(1.0f, exponent - 127);
}

// The stretch of the ray within a slot's box, whose planes are moved outward by `slack` of each axis.
struct BoxStretch {
  BoxReal enter, leave;
};
BoxStretch stretch_in(const bvh_detail::BvhNode& node, const Ray& ray, int slot, const std::array<BoxReal, 3>& slack) {
  BoxStretch all{ray.tmin, ray.tmax};
  const float origin[3] = {ray.origin.x, ray.origin.y, ray.origin.z};
  const float direction[3] = {ray.direction.x, ray.direction.y, ray.direction.z};
  for (int a = 0; a < 3; ++a) {
    const BoxReal step = as_step(node.exponent[a]), from = BoxReal(node.origin[a]) - origin[a];
    const BoxReal low = from + node.lower[a][slot] * step - slack[a],
                  high = from + node.upper[a][slot] * step + slack[a];
    if (direction[a] == 0) {
      if (low > 0 || high < 0) return {1, 0};
      continue;
    }
    const BoxReal s = low / direction[a], t = high / direction[a];
    all.enter = std::max(all.enter, std::min(s, t));
    all.leave = std::min(all.leave, std::max(s, t));
  }
  return all;
}

class BoxRays {
 public:
  explicit BoxRays(unsigned seed) : random_(seed) {}
  float uniform(float low, float high) { return std::uniform_real_distribution<float>(low, high)(random_); }
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  bvh_detail::BvhNode node() {
    bvh_detail::BvhNode node{};
    const int size = integer(110, 140), flat = integer(0, 11);
    const float away = std::ldexp(1.0f, integer(0, 14));
    for (int a = 0; a < 3; ++a) {
      // One axis may be flat, in part or wholly.
      node.exponent[a] = static_cast<std::uint8_t>(a == flat ? (integer(0, 1) == 0 ? 1 : size - integer(5, 30))
                                                             : size + integer(-2, 2));
      node.origin[a] = uniform(-1, 1) * away * as_step(size) * 256;
      for (int slot = 0; slot < 8; ++slot) {
        const int from = integer(0, 192), to = std::min(255, from + integer(0, 200));
        node.lower[a][slot] = static_cast<std::uint8_t>(from);
        node.upper[a][slot] = static_cast<std::uint8_t>(to);
      }
    }
    return node;
  }

  // Towards the node, from near it, from within, or from afar; along axes, or nearly.
  Ray ray(const bvh_detail::BvhNode& node) {
    const float distance =
        std::ldexp(256.0f, integer(-3, 12)) * as_step(*std::max_element(node.exponent, node.exponent + 3));
    float origin[3], direction[3];
    const int kind = integer(0, 5);
    for (int a = 0; a < 3; ++a) {
      const float span = 256 * as_step(node.exponent[a]);
      const float at = node.origin[a] + uniform(0, 1) * span;
      direction[a] = std::normal_distribution<float>()(random_);
      if (kind == 0 && integer(0, 1) == 0) direction[a] = 0;
      if (kind == 1) direction[a] *= std::ldexp(1.0f, -integer(0, 30));
      origin[a] = at - direction[a] * distance;
    }
    if (direction[0] == 0 && direction[1] == 0 && direction[2] == 0) direction[integer(0, 2)] = 1;
    const float length = std::hypot(direction[0], direction[1], direction[2]);
    for (float& d : direction) d *= std::ldexp(1.0f, integer(-8, 8)) / length;
    Ray ray{LocalPoint(origin[0], origin[1], origin[2]), 0, {direction[0], direction[1], direction[2]}};
    // Ends that cut the node, at times.
    const BoxStretch whole = through(node, ray);
    if (whole.leave > whole.enter && integer(0, 2) == 0) {
      const auto between = [&] {
        return float(whole.enter + (whole.leave - whole.enter) * BoxReal(uniform(-0.2f, 1.2f)));
      };
      const float s = between(), t = between();
      if (integer(0, 1) == 0) ray.tmin = std::min(s, t);
      ray.tmax = std::max(s, t);
    }
    return ray;
  }

 private:
  static BoxStretch through(bvh_detail::BvhNode node, const Ray& ray) {
    for (int a = 0; a < 3; ++a) {
      node.lower[a][0] = 0;
      node.upper[a][0] = 255;
    }
    BoxStretch all = stretch_in(node, ray, 0, {});
    if (!(all.leave < 1e30L)) all.leave = all.enter;
    return all;
  }
  std::mt19937 random_;
};

class NodeBoxes : public test::OnDevice {
 protected:
  std::vector<BoxQuery> queries(unsigned seed) {
    BoxRays rays(seed);
    std::vector<BoxQuery> all(kBoxRays);
    for (BoxQuery& query : all) {
      query.node = rays.node();
      query.ray = rays.ray(query.node);
    }
    return all;
  }
  std::vector<std::uint32_t> met(const std::vector<BoxQuery>& queries) {
    return test::ask_view<std::uint32_t>(device(), test::OneNode{}, queries);
  }
};
RAYLIFT_ON_BOTH_DEVICES(NodeBoxes);

TEST_P(NodeBoxes, ThatARayMeetsAreNeverMissed) {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const std::vector<BoxQuery> all = queries(seed);
    const std::vector<std::uint32_t> slots = met(all);
    std::size_t some = 0, missed = 0;
    for (std::size_t i = 0; i != all.size(); ++i)
      for (int slot = 0; slot < 8; ++slot) {
        const BoxStretch stretch = stretch_in(all[i].node, all[i].ray, slot, {});
        if (!(stretch.enter <= stretch.leave)) continue;
        ++some;
        if ((slots[i] >> (4 * slot) & 0xFu) != 0xFu) ++missed;
      }
    EXPECT_GT(some, kBoxRays / 8);
    EXPECT_EQ(missed, 0u) << "of " << some;
  }
}

// By more than two steps of the grid, and than what rounding to float does to coordinates.
TEST_P(NodeBoxes, ThatARayPassesByAreRarelyMet) {
  const std::vector<BoxQuery> all = queries(4);
  const std::vector<std::uint32_t> slots = met(all);
  std::size_t some = 0, met = 0;
  for (std::size_t i = 0; i != all.size(); ++i) {
    const BoxQuery& query = all[i];
    const float origin[3] = {query.ray.origin.x, query.ray.origin.y, query.ray.origin.z};
    BoxReal reach = 0;
    for (int a = 0; a < 3; ++a)
      reach = std::max({reach, std::abs(BoxReal(query.node.origin[a])), std::abs(BoxReal(origin[a]))});
    std::array<BoxReal, 3> slack{};
    for (int a = 0; a < 3; ++a) slack[a] = 2 * BoxReal(as_step(query.node.exponent[a])) + reach * 0x1p-15L;
    for (int slot = 0; slot < 8; ++slot) {
      const BoxStretch stretch = stretch_in(query.node, query.ray, slot, slack);
      if (stretch.enter <= stretch.leave) continue;
      ++some;
      if ((slots[i] >> (4 * slot) & 0xFu) != 0) ++met;
    }
  }
  EXPECT_GT(some, kBoxRays);
  EXPECT_LT(met, some / 500) << "of " << some;
}

}  // namespace
}  // namespace raylift
