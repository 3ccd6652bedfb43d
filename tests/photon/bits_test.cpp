// SPDX-License-Identifier: Apache-2.0
// The same bits on host and device, of every function of a photon's physics.
#include "bits.h"

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/device/device.h>

#include <array>
#include <set>
#include <vector>

namespace raylift {
namespace {

// Otherwise a comparison of both would see little.
TEST(PhotonBits, DependOnTheNumber) {
  std::array<std::set<std::uint32_t>, test::kBitsCount> seen;
  std::array<std::uint32_t, test::kBitsCount> bits{};
  constexpr std::uint64_t kNumbers = 1000;
  for (std::uint64_t number = 0; number != kNumbers; ++number) {
    test::bits_of_physics(number, bits.data());
    for (std::size_t i = 0; i != bits.size(); ++i) seen[i].insert(bits[i]);
  }
  for (std::size_t i = 0; i != seen.size(); ++i) EXPECT_GT(seen[i].size(), kNumbers / 3) << test::kBitsOf[i];
}

TEST(PhotonBitsCuda, AreThoseOfTheHost) {
#ifdef RAYLIFT_WITH_CUDA
  try {
    (void)Device::cuda(0);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  constexpr std::uint64_t kNumbers = 1'000'000;
  std::vector<std::uint32_t> device(kNumbers * test::kBitsCount);
  ASSERT_EQ(test::bits_on_gpu(kNumbers, device.data()), 0);
  std::array<std::uint64_t, test::kBitsCount> different{};
  std::array<std::uint32_t, test::kBitsCount> host{};
  for (std::uint64_t number = 0; number != kNumbers; ++number) {
    test::bits_of_physics(number, host.data());
    for (std::size_t i = 0; i != host.size(); ++i)
      different[i] += host[i] != device[number * test::kBitsCount + i] ? 1U : 0U;
  }
  for (std::size_t i = 0; i != different.size(); ++i) EXPECT_EQ(different[i], 0U) << test::kBitsOf[i];
#else
  GTEST_SKIP() << "cuda:0 can't be used: raylift was built without CUDA";
#endif
}

}  // namespace
}  // namespace raylift
