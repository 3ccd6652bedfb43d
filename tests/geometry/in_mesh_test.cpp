// SPDX-License-Identifier: Apache-2.0
// Rays on their way into a mesh's frame: where it is only moved, a sum of floats has to be what double gives.
#include <gtest/gtest.h>
#include <raylift/geometry/bvh/ray.h>

#include <cmath>
#include <limits>
#include <random>

namespace raylift {
namespace {

using bvh_detail::in_mesh;
using bvh_detail::only_moves;

// Rounded to double at each sum, and to float in the end.
Float3 by_doubles(const Affine& to_mesh, Float3 v, double of_shift) {
  const auto row = [&](const float* r) {
    volatile double sum = double{r[0]} * v.x + double{r[1]} * v.y;
    sum = sum + double{r[2]} * v.z;
    return static_cast<float>(sum + of_shift * r[3]);
  };
  return {row(to_mesh.m), row(to_mesh.m + 4), row(to_mesh.m + 8)};
}

void expect_same(Float3 a, Float3 b) {
  EXPECT_EQ(a.x, b.x);
  EXPECT_EQ(a.y, b.y);
  EXPECT_EQ(a.z, b.z);
}

InstanceNode placed_by(const Affine& to_mesh) {
  InstanceNode placed{};
  placed.to_mesh = to_mesh;
  return placed;
}

TEST(InMesh, AMovedMeshGetsWhatDoubleGives) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> unit(-1, 1);
  std::uniform_int_distribution<int> power(-70, 60), sign(0, 1), near(-3, 3);
  const auto zero = [&] { return sign(random) == 0 ? 0.0f : -0.0f; };
  for (int i = 0; i != 200'000; ++i) {
    // Of any sizes, of about the same, and nearly opposite.
    const auto at = [&] { return std::ldexp(unit(random), power(random)); };
    Float3 origin{at(), at(), at()};
    const auto shift = [&](float from) {
      switch (i % 3) {
        case 0:
          return at();
        case 1:
          return std::ldexp(from, near(random)) * unit(random);
        default:
          return -from * (1 + std::ldexp(unit(random), -20));
      }
    };
    // Where the smaller one is half an ulp of the larger one, and a little: double rounding would be felt.
    if (i % 7 == 0) origin.x = std::ldexp(1 + 0x1p-23f, -24 + near(random) / 3);
    const Affine to_mesh{{1, zero(), zero(), i % 7 == 0 ? 1 + 0x1p-23f : shift(origin.x), zero(), 1, zero(),
                          shift(origin.y), zero(), zero(), 1, shift(origin.z)}};
    ASSERT_TRUE(only_moves(placed_by(to_mesh)));
    const Ray ray{origin, 0.5f, {at(), zero(), at()}, 7};
    const Ray in = in_mesh(placed_by(to_mesh), ray);
    expect_same(in.origin, by_doubles(to_mesh, ray.origin, 1));
    expect_same(in.direction, by_doubles(to_mesh, ray.direction, 0));
    EXPECT_EQ(in.tmin, ray.tmin);
    EXPECT_EQ(in.tmax, ray.tmax);
    if (HasFailure()) FAIL() << "ray " << i;
  }
}

TEST(InMesh, WhatTurnsOrScalesALittleDoesNotOnlyMove) {
  const Affine moves{{1, 0, -0.0f, 5, 0, 1, 0, -3, -0.0f, 0, 1, 1e30f}};
  EXPECT_TRUE(only_moves(placed_by(moves)));
  for (const int k : {0, 5, 10})
    for (const float value : {-1.0f, 0.0f, 1 + 0x1p-23f, 1 - 0x1p-24f}) {
      Affine other = moves;
      other.m[k] = value;
      EXPECT_FALSE(only_moves(placed_by(other))) << value << " at " << k;
    }
  for (const int k : {1, 2, 4, 6, 8, 9})
    for (const float value : {1.0f, -1.0f, std::numeric_limits<float>::denorm_min(),
                              -std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::quiet_NaN()}) {
      Affine other = moves;
      other.m[k] = value;
      EXPECT_FALSE(only_moves(placed_by(other))) << value << " at " << k;
    }
}

}  // namespace
}  // namespace raylift
