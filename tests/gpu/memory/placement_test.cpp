// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "gpu/src/memory/plan_placement.h"

namespace raylift {
namespace {

constexpr std::uint64_t kPage = std::uint64_t{2} << 20;

PlacementInput input_of(const std::vector<ArraySize>& arrays, std::uint64_t free, bool split = true) {
  PlacementInput input;
  input.arrays = arrays;
  input.free_bytes = free;
  input.reserve = 0;
  input.can_split = split;
  input.page_bytes = split ? kPage : 0;
  return input;
}

TEST(Placement, PutsEverythingOnTheDeviceThatHasRoom) {
  const std::vector<ArraySize> arrays{{"v", 100, ArrayRank::vertices}, {"t", 200, ArrayRank::triangles}};
  for (const ArrayPlacement& placement : plan_placement(input_of(arrays, 1000)))
    EXPECT_EQ(placement.where, Residency::device);
}

TEST(Placement, ComparesStrictlyAsChromaDoes) {
  const std::vector<ArraySize> arrays{{"v", 100, ArrayRank::vertices}};
  EXPECT_EQ(plan_placement(input_of(arrays, 101, false))[0].where, Residency::device);
  EXPECT_EQ(plan_placement(input_of(arrays, 100, false))[0].where, Residency::mapped);
}

TEST(Placement, LeavesTheReserveFree) {
  const std::vector<ArraySize> arrays{{"v", 100, ArrayRank::vertices}};
  PlacementInput input = input_of(arrays, kDefaultReserve + 100, false);
  input.reserve = kDefaultReserve;
  EXPECT_EQ(plan_placement(input)[0].where, Residency::mapped);
  ++input.free_bytes;
  EXPECT_EQ(plan_placement(input)[0].where, Residency::device);
  input.free_bytes = 5;  // less than the reserve
  EXPECT_EQ(plan_placement(input)[0].where, Residency::mapped);
}

TEST(Placement, ServesNodesThenTrianglesThenVerticesThenAttributes) {
  const std::vector<ArraySize> arrays{{"colors", 60, ArrayRank::attributes},
                                      {"vertices", 60, ArrayRank::vertices},
                                      {"triangles", 60, ArrayRank::triangles},
                                      {"nodes", 60, ArrayRank::nodes}};
  const auto where = [&](std::uint64_t free) {
    std::string text;
    for (const ArrayPlacement& placement : plan_placement(input_of(arrays, free, false)))
      text += placement.where == Residency::device ? 'D' : 'm';
    return text;
  };
  EXPECT_EQ(where(61), "mmmD");
  EXPECT_EQ(where(121), "mmDD");
  EXPECT_EQ(where(181), "mDDD");
  EXPECT_EQ(where(241), "DDDD");
}

TEST(Placement, SplitsAtAWholePage) {
  const std::vector<ArraySize> arrays{{"v", 10 * kPage + 7, ArrayRank::vertices}};
  const ArrayPlacement placement = plan_placement(input_of(arrays, 3 * kPage + 5))[0];
  EXPECT_EQ(placement.where, Residency::split);
  EXPECT_EQ(placement.device_bytes, 3 * kPage);
  EXPECT_EQ(placement.host_bytes, 7 * kPage + 7);
  EXPECT_EQ(plan_placement(input_of(arrays, kPage - 1))[0].where, Residency::mapped) << "less than a page fits";
}

TEST(Placement, NeverPutsAllPagesOfASplitOnTheDevice) {
  // bytes == room: not strictly less, so not whole; a split must leave something for the host.
  const std::vector<ArraySize> arrays{{"v", 4 * kPage, ArrayRank::vertices}};
  const ArrayPlacement placement = plan_placement(input_of(arrays, 4 * kPage))[0];
  EXPECT_EQ(placement.where, Residency::split);
  EXPECT_EQ(placement.device_bytes, 3 * kPage);
}

TEST(Placement, ByChromasRuleServesAttributesFirstAndSplitsNothing) {
  const std::vector<ArraySize> arrays{{"t", 10 * kPage, ArrayRank::triangles}, {"ids", kPage, ArrayRank::attributes}};
  PlacementInput input = input_of(arrays, 10 * kPage + 1);
  input.policy = PlacementPolicy::chroma;
  const auto placements = plan_placement(input);
  EXPECT_EQ(placements[0].where, Residency::mapped);
  EXPECT_EQ(placements[1].where, Residency::device);
}

TEST(Placement, UnderThePolicyDeviceTakesAllOrSaysWhatIsMissing) {
  const std::vector<ArraySize> arrays{{"t", 70, ArrayRank::triangles}, {"v", 40, ArrayRank::vertices}};
  PlacementInput input = input_of(arrays, 110);
  input.policy = PlacementPolicy::device;
  EXPECT_EQ(plan_placement(input)[1].where, Residency::device);
  input.free_bytes = 109;
  try {
    (void)plan_placement(input);
    FAIL() << "109 bytes held 110";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_device_memory);
    EXPECT_NE(std::string(error.what()).find("'v' of 40 B"), std::string::npos) << error.what();
  }
}

TEST(Placement, MapsEverythingWhenAsked) {
  const std::vector<ArraySize> arrays{{"t", 70, ArrayRank::triangles}};
  PlacementInput input = input_of(arrays, 1 << 20);
  input.policy = PlacementPolicy::mapped;
  EXPECT_EQ(plan_placement(input)[0].where, Residency::mapped);
}

TEST(Placement, StepsDownOneByOne) {
  const ArrayPlacement device{Residency::device, 8 * kPage, 0, ""};
  const ArrayPlacement split = fallback(device, 8 * kPage, 5, kPage);
  EXPECT_EQ(split.where, Residency::split);
  EXPECT_EQ(split.device_bytes, 5 * kPage);
  EXPECT_EQ(split.host_bytes, 3 * kPage);
  EXPECT_EQ(fallback(split, 8 * kPage, 5, kPage).where, Residency::mapped);
  EXPECT_EQ(fallback(device, 8 * kPage, 0, kPage).where, Residency::mapped);
  EXPECT_EQ(fallback(device, 8 * kPage, 100, kPage).device_bytes, 7 * kPage) << "a split leaves a page to the host";
  EXPECT_EQ(fallback(device, 8 * kPage, 3, 0).where, Residency::mapped) << "no pages, no split";
}

TEST(Placement, KnowsPoliciesByTheirNames) {
  for (const PlacementPolicy policy :
       {PlacementPolicy::automatic, PlacementPolicy::chroma, PlacementPolicy::mapped, PlacementPolicy::device})
    EXPECT_EQ(placement_policy(to_string(policy)), policy);
  EXPECT_THROW((void)placement_policy("gpu"), Error);
}

/// Random inputs, the same in every run.
class RandomPlacement : public testing::Test {
 protected:
  std::mt19937_64 random{20261121};

  std::uint64_t size() {
    // From bytes to gigabytes, with exact multiples of a page among them.
    const std::uint64_t magnitude = std::uint64_t{1} << random() % 34;
    const std::uint64_t bytes = random() % (2 * magnitude);
    return random() % 4 == 0 ? bytes / kPage * kPage : bytes;
  }
  std::vector<ArraySize> arrays() {
    std::vector<ArraySize> result;
    const std::size_t count = random() % 9;
    for (std::size_t i = 0; i != count; ++i)
      result.push_back({"a" + std::to_string(i), size(), static_cast<ArrayRank>(random() % 4)});
    return result;
  }
  static std::vector<std::size_t> by_rank(const std::vector<ArraySize>& arrays) {
    std::vector<std::size_t> order(arrays.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return arrays[a].rank < arrays[b].rank; });
    return order;
  }
};

TEST_F(RandomPlacement, NeverExceedsTheRoomAndAccountsForEveryByte) {
  for (int round = 0; round != 20000; ++round) {
    const std::vector<ArraySize> sizes = arrays();
    PlacementInput input = input_of(sizes, size(), random() % 2 == 0);
    input.reserve = random() % 3 == 0 ? size() : 0;
    input.budget = random() % 3 == 0 ? size() : UINT64_MAX;
    input.policy = random() % 4 == 0 ? PlacementPolicy::chroma : PlacementPolicy::automatic;
    const std::uint64_t free = input.free_bytes > input.reserve ? input.free_bytes - input.reserve : 0;
    std::uint64_t used = 0;
    const auto placements = plan_placement(input);
    ASSERT_EQ(placements.size(), sizes.size());
    for (std::size_t i = 0; i != sizes.size(); ++i) {
      const ArrayPlacement& p = placements[i];
      ASSERT_EQ(p.device_bytes + p.host_bytes, sizes[i].bytes);
      ASSERT_EQ(p.where == Residency::mapped, p.device_bytes == 0 && sizes[i].bytes != 0);
      ASSERT_EQ(p.where == Residency::split, p.device_bytes != 0 && p.host_bytes != 0);
      if (p.where == Residency::split) {
        ASSERT_TRUE(input.can_split && input.policy == PlacementPolicy::automatic);
        ASSERT_EQ(p.device_bytes % kPage, 0U);
      }
      used += p.device_bytes;
    }
    ASSERT_LE(used, std::min(free, input.budget));
  }
}

TEST_F(RandomPlacement, KeepsWholeOnTheDeviceWhatFitsAfterTheArraysBeforeIt) {
  for (int round = 0; round != 20000; ++round) {
    const std::vector<ArraySize> sizes = arrays();
    const PlacementInput input = input_of(sizes, size(), random() % 2 == 0);
    const auto placements = plan_placement(input);
    std::uint64_t room = input.free_bytes;
    for (const std::size_t i : by_rank(sizes)) {
      if (sizes[i].bytes < room) {
        ASSERT_EQ(placements[i].where, Residency::device);
      }
      // And no array passes room by that it could have used.
      if (placements[i].where == Residency::mapped && sizes[i].bytes != 0) {
        // The last byte of an array that would just fill the room stays on the host.
        ASSERT_TRUE(!input.can_split || std::min(room, sizes[i].bytes - 1) < kPage);
      }
      room -= placements[i].device_bytes;
    }
  }
}

TEST_F(RandomPlacement, GivesTheFirstArrayThatChangesMoreWhenMoreIsFree) {
  for (int round = 0; round != 20000; ++round) {
    const std::vector<ArraySize> sizes = arrays();
    PlacementInput input = input_of(sizes, size(), random() % 2 == 0);
    const auto before = plan_placement(input);
    input.free_bytes += random() % 2 == 0 ? kPage : size();
    const auto after = plan_placement(input);
    for (const std::size_t i : by_rank(sizes)) {
      if (before[i].device_bytes == after[i].device_bytes) continue;
      ASSERT_GT(after[i].device_bytes, before[i].device_bytes);
      break;
    }
  }
}

}  // namespace
}  // namespace raylift
