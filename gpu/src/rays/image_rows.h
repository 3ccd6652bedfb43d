// SPDX-License-Identifier: Apache-2.0
// Rays that are the pixels of an image, row by row: their detection, and groups of 32 that are tiles of it.
//
// Rays are traced together, 32 that follow each other at a time. In an image's rows these are 32 pixels wide and one
// high, which meet more triangles than 8 x 4 do. The caller does not state an image: the rays are examined. Whatever is
// found, the groups hold each ray once: hits do not depend on it.
#pragma once

#include <raylift/geometry/bvh/ray.h>
#include <raylift/geometry/detail/arithmetic.h>

#include <cstddef>
#include <cstdint>

namespace raylift::rows {

inline constexpr std::uint32_t kGroup = 32, kTileWidth = 8, kTileHeight = 4;
static_assert(kTileWidth * kTileHeight == kGroup);

/// Which rays make up a group. In tiles, rows begin at the multiple of 8 that is the nearest: so each tile has whole
/// runs of 8 rays from a multiple of 8 on, whatever an image's width, and its rows are shifted by at most 4 pixels.
struct Groups {
  std::uint64_t count;      // of rays
  std::uint32_t width = 0;  // of an image's rows; 0: there is none, groups are 32 rays that follow each other

  /// The tiles of a band, which lie beside each other.
  [[nodiscard]] RAYLIFT_HD std::uint32_t tiles() const { return (width + kTileWidth - 1) / kTileWidth; }
  [[nodiscard]] RAYLIFT_HD std::uint64_t size() const {
    if (width == 0) return (count + kGroup - 1) / kGroup;
    // As many rows as reach the last ray, with their ends so rounded.
    const std::uint64_t reach = (count + kTileWidth - 1) / kTileWidth * kTileWidth - kTileWidth / 2,
                        rows = (reach + width - 1) / width;
    return (rows + kTileHeight - 1) / kTileHeight * tiles();
  }
  /// The ray of a lane, or what is no less than `count`: it has none.
  [[nodiscard]] RAYLIFT_HD std::uint64_t ray(std::uint64_t band, std::uint32_t tile, std::uint32_t lane) const {
    const std::uint64_t row = band * kTileHeight + lane / kTileWidth;
    const std::uint64_t run = first_run(row) + tile;
    return run < first_run(row + 1) ? run * kTileWidth + lane % kTileWidth : count;
  }
  [[nodiscard]] RAYLIFT_HD std::uint64_t ray(std::uint64_t group, std::uint32_t lane) const {
    if (width == 0) return group * kGroup + lane;
    return ray(group / tiles(), static_cast<std::uint32_t>(group % tiles()), lane);
  }

 private:
  [[nodiscard]] RAYLIFT_HD std::uint64_t first_run(std::uint64_t row) const {
    return (row * width + kTileWidth / 2) / kTileWidth;
  }
};

/// Fewer rays would take longer to examine than is saved; the groups of more do not fit 32 bits.
inline constexpr std::uint64_t kFewestRays = std::uint64_t{1} << 19, kMaxRays = std::uint64_t{1} << 35;
/// What a row has, at least and at most.
inline constexpr std::uint32_t kNarrowest = 32, kWidest = 1 << 14;
inline constexpr std::uint32_t kNone = 0xFFFFFFFFu;

/// How far rays are from each other: squares.
struct Apart {
  float direction, origin;
};
RAYLIFT_HD inline float square_between(Float3 a, Float3 b) {
  const float x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
  return x * x + y * y + z * z;
}
RAYLIFT_HD inline Apart apart(const Ray& a, const Ray& b) {
  return {square_between(a.direction, b.direction), square_between(a.origin, b.origin)};
}
/// False for what is not finite.
RAYLIFT_HD inline bool within(const Apart& a, const Apart& limit) {
  return a.direction <= limit.direction && a.origin <= limit.origin && a.direction - a.direction == 0 &&
         a.origin - a.origin == 0;
}
RAYLIFT_HD inline Apart any_distance() {
  return {3e38f, 3e38f};
}
RAYLIFT_HD inline Apart larger(const Apart& a, const Apart& b) {
  return {a.direction < b.direction ? b.direction : a.direction, a.origin < b.origin ? b.origin : a.origin};
}

/// How far the rays before or after `base`, up to the eighth, are from it: those on one side are in its row. Not
/// finite: some ray is not.
RAYLIFT_HD inline Apart neighbours(const Ray* rays, std::uint64_t base) {
  const Ray middle = rays[base];
  const auto farthest = [&](const Ray& a, const Ray& b) { return larger(apart(a, middle), apart(b, middle)); };
  const Apart before = farthest(rays[base - kTileWidth / 2], rays[base - kTileWidth]),
              after = farthest(rays[base + kTileWidth / 2], rays[base + kTileWidth]);
  const bool first =
      before.direction != after.direction ? before.direction < after.direction : before.origin < after.origin;
  return first ? before : after;
}

/// Whether directions are in the same octant, as those of a packet have to be.
RAYLIFT_HD inline bool same_way(Float3 a, Float3 b) {
  return (a.x < 0) == (b.x < 0) && (a.y < 0) == (b.y < 0) && (a.z < 0) == (b.z < 0);
}

/// Whether the rays of a group may go the same way, by every fourth. In all directions one group in two million does.
RAYLIFT_HD inline bool may_be_together(const Ray* rays, std::uint64_t group) {
  const Ray* const at = rays + group * kGroup;
  Float3 directions[kGroup / 4];
  for (std::uint32_t i = 0; i != kGroup / 4; ++i) directions[i] = at[std::size_t{4} * i].direction;
  bool together = true;
  for (std::uint32_t i = 1; i != kGroup / 4; ++i) together = together && same_way(directions[0], directions[i]);
  return together;
}

/// Whether a group of rays that follow each other looks like part of a row: the first ones go the same way, as one in
/// 64 does in all directions, and the last one is as much farther off as in a line. In tiles it is not.
RAYLIFT_HD inline bool is_line(const Ray* rays, std::uint64_t group) {
  const Ray* const at = rays + group * kGroup;
  const Ray first = at[0], next = at[kTileWidth / 2], eighth = at[kTileWidth - 1], last = at[kGroup - 1];
  if (!same_way(first.direction, next.direction) || !same_way(first.direction, eighth.direction)) return false;
  const Apart near = apart(eighth, first), far = apart(last, first);
  // 31 / 7 in a line, 3 at least.
  return far.direction > 0 ? 9 * near.direction <= far.direction : far.origin > 0 && 9 * near.origin <= far.origin;
}

/// The extents of groups, added up over samples.
struct Sums {
  float tile_direction = 0, tile_origin = 0, line_direction = 0, line_origin = 0;
};

/// A tile somewhere in the image, and beside it the group of rays that follow each other from its first one on.
RAYLIFT_HD inline Sums sample_tile(const Ray* rays, std::uint64_t count, std::uint32_t width, std::uint32_t sample,
                                   std::uint32_t samples) {
  const Groups groups{count, width};
  // Not the last ones, whose rounded ends may lie behind the last ray.
  const std::uint64_t bands = count / (std::uint64_t{width} * kTileHeight) - 1, band = bands * sample / samples;
  // Spread over the columns by the golden ratio.
  const std::uint32_t tile =
      static_cast<std::uint32_t>(std::uint64_t{sample * 2654435769u} * (width / kTileWidth) >> 32);
  const auto corner = [&](std::uint32_t lane) { return rays[groups.ray(band, tile, lane)]; };
  const std::uint64_t first = groups.ray(band, tile, 0);
  const Ray ray = rays[first];
  // As many of both, as what is random would be farther apart among more.
  const auto most = [&](const Ray& a, const Ray& b, const Ray& c) {
    return larger(larger(apart(a, ray), apart(b, ray)), apart(c, ray));
  };
  const Apart in_tile = most(corner(kTileWidth - 1), corner(kGroup - kTileWidth), corner(kGroup - 1)),
              in_line = most(rays[first + kGroup / 3], rays[first + 2 * kGroup / 3], rays[first + kGroup - 1]);
  Sums sums;
  if (!within(in_tile, any_distance()) || !within(in_line, any_distance())) return sums;
  sums.tile_direction = sqrtf(in_tile.direction);
  sums.tile_origin = sqrtf(in_tile.origin);
  sums.line_direction = sqrtf(in_line.direction);
  sums.line_origin = sqrtf(in_line.origin);
  return sums;
}

/// Whether tiles hold rays that are closer together: by half at least in one respect, and in the other no farther.
RAYLIFT_HD inline bool are_closer(const Sums& sums) {
  const float direction = sums.tile_direction, origin = sums.tile_origin;
  return direction <= 1.05f * sums.line_direction && origin <= 1.05f * sums.line_origin &&
         (direction < 0.5f * sums.line_direction || origin < 0.5f * sums.line_origin);
}

/// Whether none of the groups looked at may be a packet; where others are, they are few. Team: see find_width.
template <class Team>
RAYLIFT_HD inline bool none_together(const Ray* rays, std::uint64_t count, const Team& team) {
  const std::uint32_t samples = team.size();
  const std::uint64_t groups = count / kGroup;
  return team.count(samples, [=](std::uint32_t i) { return may_be_together(rays, groups * i / samples); }) == 0;
}

/// The width of the image that the rays are, row by row, if tiles are the better groups; else 0. `count` is at least
/// kFewestRays. The team are those who look together:
///
///   size()             how many they are
///   count(n, is)       for how many i < n <= size() it is
///   first(n, is)       the first i < n for which it is, or kNone
///   least(n, value)    the least of value(i), i < n <= size()
///   sum(n, sums)       the sum of sums(i), i < n <= size()
template <class Team>
RAYLIFT_HD inline std::uint32_t find_width(const Ray* rays, std::uint64_t count, const Team& team) {
  const std::uint32_t samples = team.size();
  const std::uint64_t lines = count / kGroup;
  if (4 * team.count(samples, [=](std::uint32_t i) { return is_line(rays, lines * i / samples); }) < samples) return 0;
  // A ray with a row behind it, near the middle, whose neighbours are rays.
  const auto place = [=](std::uint32_t i) { return count / 2 + std::uint64_t{i} * (count / 256); };
  const std::uint32_t chosen =
      team.first(32, [=](std::uint32_t i) { return within(neighbours(rays, place(i)), any_distance()); });
  if (chosen == kNone) return 0;
  // In the next row the first that is no farther away than its neighbours are; and from there on, the closest.
  const Ray* const base = rays + place(chosen);
  const Ray middle = *base;
  Apart limit = neighbours(rays, place(chosen));
  if (limit.direction > 0) limit.origin *= 4;  // which may be anywhere in a lens
  const std::uint32_t begin =
      team.first(kWidest, [=](std::uint32_t i) { return within(apart(base[kNarrowest + i], middle), limit); });
  if (begin == kNone) return 0;
  const Ray* const next = base + kNarrowest + begin;
  const std::uint32_t closest = team.least(2 * kTileWidth, [=](std::uint32_t i) {
    const Apart from = apart(next[i], middle);
    // Floats that are not negative compare as their bits; NaN is more than others.
    return (arithmetic_detail::as_bits(limit.direction > 0 ? from.direction : from.origin) & ~(2 * kTileWidth - 1)) | i;
  });
  const std::uint32_t width = kNarrowest + begin + closest % (2 * kTileWidth);
  const Sums tiles = team.sum(samples, [=](std::uint32_t i) { return sample_tile(rays, count, width, i, samples); });
  return are_closer(tiles) ? width : 0;
}

}  // namespace raylift::rows
