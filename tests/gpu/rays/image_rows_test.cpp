// SPDX-License-Identifier: Apache-2.0
// Rays that are an image's pixels, row by row: what trace() finds out about them, and that each is in one group.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include "image_rays.h"
#include "rays/one_thread.h"
#include "support/effort.h"
#include "support/triangles_and_rays.h"

namespace raylift {
namespace {

using rows::Groups;
using test::image_of;
using test::Lens;

/// Searches with one thread, through all groups that it is given.
using Alone = rows::OneThread<256>;

std::uint32_t width_of(const std::vector<Ray>& rays) {
  EXPECT_GE(rays.size(), rows::kFewestRays);
  return rows::find_width(rays.data(), rays.size(), Alone());
}

/// Rows of `width` pixels, as many as are looked at.
std::vector<Ray> rows_of(std::size_t width, Lens lens, double field = 0.7) {
  return image_of(width, rows::kFewestRays / width + 3, lens, field);
}

TEST(ImageRows, FindsTheWidth) {
  for (const Lens lens : {Lens::perspective, Lens::unit, Lens::parallel, Lens::thick})
    for (const std::uint32_t width :
         test::some_of({32U, 48U, 64U, 72U, 77U, 100U, 640U, 997U, 1000U, 1366U, 1920U, 4096U, 8191U, 16384U}))
      EXPECT_EQ(width_of(rows_of(width, lens)), width) << "lens " << static_cast<int>(lens);
}

TEST(ImageRows, FindsItForAnyField) {
  for (const double field : {1e-3, 0.02, 0.3, 3.0, 10.0})
    EXPECT_EQ(width_of(rows_of(1280, Lens::perspective, field)), 1280U) << field;
  // Steps of less than a float's precision at the image's rim.
  EXPECT_EQ(width_of(rows_of(1280, Lens::unit, 1e-3)), 1280U);
}

TEST(ImageRows, FindsItFromTheOtherEnd) {
  std::vector<Ray> rays = rows_of(1366, Lens::unit);
  std::reverse(rays.begin(), rays.end());
  EXPECT_EQ(width_of(rays), 1366U);
}

TEST(ImageRows, FindsItAmongRaysThatAreNone) {
  std::vector<Ray> rays = rows_of(1000, Lens::unit);
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i != 3000; ++i) rays[i].direction.x = nan;
  for (std::size_t i = rays.size() / 2 - 40; i != rays.size() / 2 + 40; ++i) rays[i].direction.y = inf;
  for (std::size_t i = 7; i < rays.size(); i += 1999) rays[i].origin.z = i % 2 == 0 ? nan : inf;
  EXPECT_EQ(width_of(rays), 1000U);
}

// Then no packets are tried.
TEST(ImageRows, FindsWhetherRaysThatFollowEachOtherPart) {
  const auto part = [](const std::vector<Ray>& rays) { return rows::none_together(rays.data(), rays.size(), Alone()); };
  std::vector<Ray> rays = rows_of(1000, Lens::unit);
  EXPECT_FALSE(part(rays));
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  const auto scatter = [&](Ray& ray) { ray.direction = {normal(random), normal(random), normal(random)}; };
  // The first half, and then all.
  std::for_each(rays.begin(), rays.begin() + static_cast<std::ptrdiff_t>(rays.size() / 2), scatter);
  EXPECT_FALSE(part(rays));
  std::for_each(rays.begin(), rays.end(), scatter);
  EXPECT_TRUE(part(rays));
  // A twentieth in groups of 32 that go the same way.
  for (std::size_t i = 0; i != rays.size(); ++i)
    if (i / 32 % 20 == 0) rays[i].direction = {1, 2, -3};
  EXPECT_FALSE(part(rays));
}

TEST(ImageRows, LeavesOtherOrdersAlone) {
  const std::size_t width = 1024;
  const std::vector<Ray> image = rows_of(width, Lens::unit);
  const std::size_t height = image.size() / width / 32 * 32;
  const auto in_blocks = [&](std::size_t block_width, std::size_t block_height) {
    std::vector<Ray> rays;
    for (std::size_t y = 0; y != height; y += block_height)
      for (std::size_t x = 0; x != width; x += block_width)
        for (std::size_t i = 0; i != block_width * block_height; ++i)
          rays.push_back(image[(y + i / block_width) * width + x + i % block_width]);
    return rays;
  };
  EXPECT_EQ(width_of(in_blocks(8, 4)), 0U);
  EXPECT_EQ(width_of(in_blocks(4, 8)), 0U);
  EXPECT_EQ(width_of(in_blocks(8, 8)), 0U);
  EXPECT_EQ(width_of(in_blocks(16, 16)), 0U);
  EXPECT_EQ(width_of(in_blocks(32, 32)), 32U);
  std::vector<Ray> rays = image;
  std::shuffle(rays.begin(), rays.end(), std::mt19937(1));
  EXPECT_EQ(width_of(rays), 0U) << "in random order";
  rays = image_of(width * height, 1, Lens::unit);
  EXPECT_EQ(width_of(rays), 0U) << "one row";
  EXPECT_EQ(width_of(rows_of(20'000, Lens::unit)), 0U) << "too wide";
  rays.assign(rays.size(), rays[5]);
  EXPECT_EQ(width_of(rays), 0U) << "all the same";
  rays.assign(rays.size(), Ray{LocalPoint(0, 0, 0), 0, {std::numeric_limits<float>::quiet_NaN(), 0, 1}});
  EXPECT_EQ(width_of(rays), 0U) << "none is one";
  std::generate(rays.begin(), rays.end(), test::RandomRays(1000, 3));
  EXPECT_EQ(width_of(rays), 0U) << "in all directions";
}

// Tiles of one would be far apart in the other.
TEST(ImageRows, LeavesImagesOfDifferentWidthsAlone) {
  std::vector<Ray> rays = image_of(800, 500, Lens::unit);
  const std::vector<Ray> other = image_of(640, 500, Lens::unit);
  rays.insert(rays.end(), other.begin(), other.end());
  EXPECT_EQ(width_of(rays), 0U);
}

TEST(ImageRows, HaveEachRayInOneGroup) {
  for (const auto& [width, count] : std::vector<std::tuple<std::uint32_t, std::uint64_t>>{
           {0, 1},         {0, 31},        {0, 32},      {0, 1000},      {64, 64 * 40}, {64, 64 * 41 + 1},
           {77, 77 * 50},  {77, 77 * 47},  {100, 5'001}, {65, 5'002},    {66, 5'003},   {67, 5'004},
           {68, 5'005},    {69, 5'006},    {70, 5'007},  {71, 5'008},    {1000, 9'999}, {1000, 10'004},
           {1001, 20'000}, {4'096, 4'096}, {4'097, 100}, {1366, 50'001}, {333, 20'011}, {64, 1},
           {64, 4},        {64, 5},        {64, 8}}) {
    const Groups groups{count, width};
    std::vector<int> times(count);
    for (std::uint64_t group = 0; group != groups.size(); ++group)
      for (std::uint32_t lane = 0; lane != rows::kGroup; ++lane) {
        const std::uint64_t ray = groups.ray(group, lane);
        if (ray >= count) continue;
        ++times[ray];
        // Runs of eight from a multiple of 8 on, each of one group.
        EXPECT_EQ(ray % rows::kTileWidth, lane % rows::kTileWidth) << width;
      }
    EXPECT_EQ(std::count(times.begin(), times.end(), 1), static_cast<std::ptrdiff_t>(count)) << width << ", " << count;
    EXPECT_EQ(groups.ray(0, 0), 0U) << "which kernels count on";
    EXPECT_LE(groups.size(), count / 24 + width / 8 + 1) << width << ", " << count;
  }
}

TEST(ImageRows, TilesAreCompact) {
  for (const std::uint32_t width : {640U, 1000U, 1366U, 997U}) {
    const Groups groups{std::uint64_t{width} * 400, width};
    std::int64_t widest = 0;
    for (std::uint64_t group = 0; group != groups.size(); ++group) {
      std::int64_t left = width, right = -1, top = 400, bottom = -1;
      for (std::uint32_t lane = 0; lane != rows::kGroup; ++lane) {
        const std::uint64_t ray = groups.ray(group, lane);
        if (ray >= groups.count) continue;
        // What is shifted across a row's end counts to it.
        const auto row =
                       static_cast<std::int64_t>(group / groups.tiles() * rows::kTileHeight + lane / rows::kTileWidth),
                   column = static_cast<std::int64_t>(ray) - row * width;
        left = std::min(left, column);
        right = std::max(right, column);
        top = std::min(top, row);
        bottom = std::max(bottom, row);
      }
      widest = std::max(widest, right - left + 1);
      EXPECT_LE(bottom - top + 1, rows::kTileHeight);
    }
    EXPECT_EQ(widest, width % 8 == 0 ? 8 : widest);
    EXPECT_LE(widest, 15);
  }
}

}  // namespace
}  // namespace raylift
