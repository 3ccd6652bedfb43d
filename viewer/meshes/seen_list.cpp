// SPDX-License-Identifier: Apache-2.0
#include "meshes/seen_list.h"

#include <raylift/geometry/scene/eigen.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>

namespace raylift::viewer {

SeenList::SeenList(const Scene& scene, const MeshOffsets& offsets, const Levels& levels, const DrawList& list)
    : levels_(&levels), scene_triangles_(offsets.triangles), all_slots_(list.slots) {
  for (std::size_t c = 0; c != list.commands.size(); ++c) {
    const DrawCommand& command = list.commands[c];
    for (std::uint32_t p = levels.first_piece[list.parts[c]]; p != levels.first_piece[list.parts[c] + 1]; ++p) {
      const Piece& piece = levels.pieces[p];
      const Eigen::Vector3d center(piece.ball.center.x, piece.ball.center.y, piece.ball.center.z);
      groups_.push_back({static_cast<std::uint32_t>(items_.size()), command.instance_count, piece.first_level,
                         piece.level_count, piece.ball, piece.round});
      for (std::uint32_t slot = command.base_instance; slot != command.base_instance + command.instance_count; ++slot) {
        const Transform& transform = scene.instances[list.slots[slot].instance].transform;
        const double scale = largest_scale(transform);
        items_.push_back({to_eigen(transform) * center, scale * static_cast<double>(piece.ball.radius), scale, slot});
      }
    }
  }
  chosen_.resize(items_.size());
  extents_.resize(items_.size());
}

std::optional<SeenList::Extent> SeenList::extent_of(const Item& item, const SeenGroup& group,
                                                    const Sight& sight) const {
  const Eigen::Vector3d center = item.center - sight.eye;
  for (const auto& planes : {std::cref(sight.sides), std::cref(sight.clips)})
    for (const Eigen::Vector4d& plane : planes.get())
      if (plane.head<3>().dot(center) + plane[3] < -item.radius) return std::nullopt;
  // The depth of its nearest point, where lengths are largest in the image.
  const double depth = sight.orthographic ? 1 : sight.forward.dot(center) - item.radius;
  if (depth <= 0) return Extent{0, std::numeric_limits<float>::infinity()};
  const double pixel = depth / (sight.pixels * item.scale);  // mm in the mesh's frame
  return Extent{static_cast<float>(pixel), static_cast<float>(2 * static_cast<double>(group.round) / pixel)};
}

std::uint8_t SeenList::level_of(const SeenGroup& group, float error) const {
  std::uint8_t level = 0;
  while (error > 0 && level + 1U < group.level_count && levels_->levels[group.first_level + level + 1].error <= error)
    ++level;
  return level;
}

void SeenList::add_commands(const SeenGroup& group) {
  const auto begin = chosen_.begin() + group.first_item;
  const auto end = begin + group.item_count;
  for (std::uint32_t l = 0; l != group.level_count; ++l)
    if (std::find(begin, end, l) != end) add_level(group, l);
  for (auto at = std::find(begin, end, kPoint); at != end; at = std::find(at + 1, end, kPoint)) {
    const Item& item = items_[static_cast<std::size_t>(at - chosen_.begin())];
    points_.push_back(
        {group.ball.center, static_cast<float>(item.scale * static_cast<double>(group.round)), all_slots_[item.slot]});
  }
}

void SeenList::add_level(const SeenGroup& group, std::uint32_t number) {
  const auto begin = chosen_.begin() + group.first_item;
  const auto end = begin + group.item_count;
  const Level& level = levels_->levels[group.first_level + number];
  // Large ones in runs of triangles, and many small ones in runs of instances: no command takes long. Of one that is
  // too large, short runs are drawn that are spread evenly.
  constexpr std::uint32_t kShortRun = 256;
  const bool sparse = share_ < 1 && level.triangle_count > 2 * kShortRun;
  const std::uint32_t longest = sparse ? kShortRun : kMaxTriangles;
  const auto step = sparse ? static_cast<std::uint32_t>(std::min(kShortRun / share_, 1e9)) : kMaxTriangles;
  for (std::uint32_t done = 0; done < level.triangle_count; done += step) {
    const std::uint32_t run = std::min(longest, level.triangle_count - done);
    const auto first_slot = static_cast<std::uint32_t>(slots_.size());
    for (auto at = std::find(begin, end, number); at != end; at = std::find(at + 1, end, number)) {
      slots_.push_back(all_slots_[items_[static_cast<std::size_t>(at - chosen_.begin())].slot]);
      slots_.back().first_triangle = level.first_triangle + done;
    }
    add_commands(level.first_triangle + done, run, first_slot);
  }
}

void SeenList::add_commands(std::uint32_t first_triangle, std::uint32_t triangles, std::uint32_t first_slot) {
  const auto end = static_cast<std::uint32_t>(slots_.size());
  const std::uint32_t at_once = std::max(1U, kMaxTriangles / triangles);
  const bool of_scene = first_triangle < scene_triangles_;
  const auto first = static_cast<std::uint32_t>(first_triangle - (of_scene ? 0 : scene_triangles_));
  for (std::uint32_t slot = first_slot; slot < end; slot += at_once)
    (of_scene ? from_scene_ : from_levels_)
        .push_back({triangles * 3, std::min(at_once, end - slot), first * 3, 0, slot});
  triangles_ += std::uint64_t{triangles} * (end - first_slot);
}

template <class Change>
void SeenList::choose(const Change& change) {
  using Range = tbb::blocked_range<std::size_t>;
  tbb::parallel_for(Range(0, groups_.size()), [&](const Range& groups) {
    for (std::size_t g = groups.begin(); g != groups.end(); ++g) {
      const SeenGroup& group = groups_[g];
      tbb::parallel_for(Range(group.first_item, group.first_item + group.item_count, 4096), [&](const Range& items) {
        for (std::size_t i = items.begin(); i != items.end(); ++i) chosen_[i] = change(group, i);
      });
    }
  });
}

std::uint64_t SeenList::chosen_triangles() const {
  std::uint64_t count = 0;
  for (const SeenGroup& group : groups_)
    for (std::size_t i = group.first_item; i != group.first_item + group.item_count; ++i)
      if (chosen_[i] < group.level_count) count += levels_->levels[group.first_level + chosen_[i]].triangle_count;
  return count;
}

void SeenList::thin_out(const Sight& sight) {
  const auto choose_within = [&](float pixels) {
    choose([&](const SeenGroup& group, std::size_t i) {
      return chosen_[i] == kUnseen ? kUnseen : level_of(group, pixels * extents_[i].error);
    });
  };
  choose_within(std::numeric_limits<float>::infinity());
  if (const std::uint64_t least = chosen_triangles(); least > sight.most) return points_for_small(sight.most);
  // Coarser all over, but not more than needed.
  constexpr float kCoarsest = 100;  // pixels
  for (float pixels = std::max(0.5F, 2 * static_cast<float>(sight.tolerance)); pixels < kCoarsest; pixels *= 2) {
    choose_within(pixels);
    if (chosen_triangles() <= sight.most) return;
  }
  choose_within(std::numeric_limits<float>::infinity());
}

void SeenList::points_for_small(std::uint64_t most) {
  // The largest are drawn first. A histogram of sizes is as good as sorting, and much quicker.
  constexpr float kLargestPoint = 24;  // pixels
  constexpr std::size_t kSizes = 64;
  const auto size_of = [](float pixels) {
    return static_cast<std::size_t>(std::clamp(8 * std::log2(std::max(pixels, 0.1F) * 10), 0.0F, kSizes - 1.0F));
  };
  std::array<std::uint64_t, kSizes> triangles{};
  std::uint64_t large = 0;
  for (const SeenGroup& group : groups_)
    for (std::size_t i = group.first_item; i != group.first_item + group.item_count; ++i) {
      if (chosen_[i] == kUnseen) continue;
      const std::uint64_t count = levels_->levels[group.first_level + chosen_[i]].triangle_count;
      (extents_[i].pixels > kLargestPoint ? large : triangles[size_of(extents_[i].pixels)]) += count;
    }
  std::size_t least = kSizes;
  std::uint64_t sum = large;
  while (least != 0 && sum + triangles[least - 1] <= most) sum += triangles[--least];
  choose([&](const SeenGroup&, std::size_t i) {
    const bool small = chosen_[i] != kUnseen && extents_[i].pixels <= kLargestPoint;
    return small && size_of(extents_[i].pixels) < least ? kPoint : chosen_[i];
  });
  if (large > most) share_ = static_cast<double>(most) / static_cast<double>(large);
}

void SeenList::look(const Sight& sight, std::span<const std::uint8_t> hidden) {
  choose([&](const SeenGroup& group, std::size_t i) {
    const bool is_hidden = !hidden.empty() && hidden[all_slots_[items_[i].slot].instance] != 0;
    const auto extent = is_hidden ? std::nullopt : extent_of(items_[i], group, sight);
    if (!extent) return kUnseen;
    extents_[i] = *extent;
    return level_of(group, static_cast<float>(sight.tolerance) * extent->error);
  });
  share_ = 1;
  const bool limited = sight.most != kAllTriangles;
  if (limited) all_triangles_ = chosen_triangles();
  if (limited && all_triangles_ > sight.most) thin_out(sight);
  slots_.clear();
  points_.clear();
  from_scene_.clear();
  from_levels_.clear();
  triangles_ = 0;
  for (const SeenGroup& group : groups_) add_commands(group);
  if (!limited) all_triangles_ = triangles_;
}

}  // namespace raylift::viewer
