// SPDX-License-Identifier: Apache-2.0
// Counter-based numbers: known answers, Random123's own implementation where it is installed, and distributions.
#include <gtest/gtest.h>
#include <raylift/photon/detail/random.h>

#include <numbers>
#include <random>
#include <vector>

#include "statistics.h"
#if __has_include(<Random123/philox.h>)
#include <Random123/philox.h>
#endif

namespace raylift::photon {
namespace {

constexpr std::uint64_t kSeed = 20261122;
constexpr std::uint64_t kDrawn = 300'000;

// kat_vectors of Random123.
TEST(Philox, HasTheKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, 0), (Bits4{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0U, ~0U, ~0U, ~0U}, ~0ULL), (Bits4{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822ULL),
            (Bits4{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

#if __has_include(<Random123/philox.h>)
TEST(Philox, IsThatOfRandom123) {
  std::mt19937 random(1);
  for (int i = 0; i != 10000; ++i) {
    const r123::Philox4x32::ctr_type counter{
        {static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random()),
         static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())}};
    const r123::Philox4x32::key_type key{{static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())}};
    const auto theirs = r123::Philox4x32()(counter, key);
    const Bits4 ours = philox({counter[0], counter[1], counter[2], counter[3]}, std::uint64_t{key[1]} << 32 | key[0]);
    ASSERT_EQ(ours, (Bits4{theirs[0], theirs[1], theirs[2], theirs[3]}));
  }
}
#endif

TEST(RandomStream, GoesOnWhereItStopped) {
  RandomStream all(kSeed, 7);
  std::vector<std::uint32_t> bits;
  for (int i = 0; i != 20; ++i) bits.push_back(all.bits());
  for (std::uint32_t first = 0; first != 20; ++first) {
    RandomStream rest(kSeed, 7, first);
    for (std::uint32_t i = first; i != 20; ++i) ASSERT_EQ(rest.bits(), bits[i]) << first << ' ' << i;
    EXPECT_EQ(rest.drawn(), 20U);
  }
}

TEST(RandomStream, IsTheBlocksOfItsPhoton) {
  constexpr std::uint64_t kPhoton = 5ULL << 32 | 9;
  RandomStream random(kSeed, kPhoton);
  for (std::uint32_t block = 0; block != 3; ++block) {
    const Bits4 wanted = philox({block, 0, 9, 5}, kSeed);
    for (const std::uint32_t bits : {wanted.x, wanted.y, wanted.z, wanted.w}) EXPECT_EQ(random.bits(), bits);
  }
}

TEST(RandomStream, DiffersBySeedAndPhoton) {
  const std::uint32_t one = RandomStream(1, 1).bits();
  EXPECT_NE(one, RandomStream(2, 1).bits());
  EXPECT_NE(one, RandomStream(1, 2).bits());
  EXPECT_NE(one, RandomStream(1ULL << 32 | 1, 1).bits());
  EXPECT_NE(one, RandomStream(1, 1ULL << 32 | 1).bits());
}

TEST(RandomStream, IsUniformAcrossPhotons) {
  Mean mean, square, product;
  float least = 1, most = 0;
  for (std::uint64_t photon = 0; photon != kDrawn; ++photon) {
    RandomStream random(kSeed, photon);
    const float u = random.uniform(), v = random.uniform();
    mean.add(u);
    square.add(u * u);
    product.add((u - 0.5) * (v - 0.5));
    least = std::min(least, u);
    most = std::max(most, u);
  }
  expect_mean(mean, 0.5, 0.5);
  expect_mean(square, 1.0 / 3, 1.0 / 3);
  EXPECT_LT(product.off(0), 4);
  EXPECT_GT(least, 0);
  EXPECT_LT(most, 1);
}

TEST(RandomStream, HasExponentialAndNormalNumbers) {
  Mean mean, variance, tail, normal, normal_variance, beyond;
  for (std::uint64_t photon = 0; photon != kDrawn; ++photon) {
    RandomStream random(kSeed, photon);
    const double x = random.exponential(), n = random.normal();
    mean.add(x);
    variance.add((x - 1) * (x - 1));
    tail.add(x > 3 ? 1 : 0);
    normal.add(n);
    normal_variance.add(n * n);
    beyond.add(std::abs(n) > 2 ? 1 : 0);
  }
  expect_mean(mean, 1, 1);
  EXPECT_LT(variance.off(1), 4);
  EXPECT_LT(tail.off(std::exp(-3.0)), 4);
  EXPECT_LT(normal.off(0), 4);
  expect_mean(normal_variance, 1, 1);
  EXPECT_LT(beyond.off(std::erfc(std::numbers::sqrt2)), 4);
}

// A free path of zero would let light end in a medium that does not absorb.
TEST(RandomStream, HasExponentialNumbersNearZero) {
  Mean near;
  float least = 1;
  for (std::uint64_t photon = 0; photon != 4'000'000; ++photon) {
    const float x = RandomStream(kSeed, photon).exponential();
    ASSERT_GT(x, 0);
    least = std::min(least, x);
    near.add(x < 0.002F ? 1 : 0);
  }
  EXPECT_LT(near.off(1 - std::exp(-0.002)), 4);
  EXPECT_LT(least, 2e-6);
}

TEST(RandomStream, HasDirectionsOfAllKinds) {
  Mean x, y, z, xx, zz, xy;
  for (std::uint64_t photon = 0; photon != kDrawn; ++photon) {
    const Vector d = RandomStream(kSeed, photon).direction();
    EXPECT_NEAR(dot(d, d), 1, 1e-6);
    x.add(d.x);
    y.add(d.y);
    z.add(d.z);
    xx.add(d.x * d.x);
    zz.add(d.z * d.z);
    xy.add(d.x * d.y);
  }
  for (const Mean& mean : {x, y, z, xy}) EXPECT_LT(mean.off(0), 4);
  expect_mean(xx, 1.0 / 3, 1.0 / 3);
  expect_mean(zz, 1.0 / 3, 1.0 / 3);
}

}  // namespace
}  // namespace raylift::photon
