// SPDX-License-Identifier: Apache-2.0
#include "meshes/seen_list.h"

#include <raylift/geometry/scene/eigen.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <functional>

namespace raylift::viewer {

SeenList::SeenList(const Scene& scene, const MeshOffsets& offsets, const Levels& levels, const DrawList& list)
    : levels_(&levels), scene_triangles_(offsets.triangles), all_slots_(list.slots) {
  for (std::size_t c = 0; c != list.commands.size(); ++c) {
    const DrawCommand& command = list.commands[c];
    for (std::uint32_t p = levels.first_piece[list.parts[c]]; p != levels.first_piece[list.parts[c] + 1]; ++p) {
      const Piece& piece = levels.pieces[p];
      const Eigen::Vector3d center(piece.ball.center.x, piece.ball.center.y, piece.ball.center.z);
      groups_.push_back(
          {static_cast<std::uint32_t>(items_.size()), command.instance_count, piece.first_level, piece.level_count});
      for (std::uint32_t slot = command.base_instance; slot != command.base_instance + command.instance_count; ++slot) {
        const Transform& transform = scene.instances[list.slots[slot].instance].transform;
        const double scale = largest_scale(transform);
        items_.push_back({to_eigen(transform) * center, scale * static_cast<double>(piece.ball.radius), scale, slot});
      }
    }
  }
  chosen_.resize(items_.size());
}

std::uint8_t SeenList::level_of(const Item& item, const SeenGroup& group, const Sight& sight) const {
  const Eigen::Vector3d center = item.center - sight.eye;
  for (const auto& planes : {std::cref(sight.sides), std::cref(sight.clips)})
    for (const Eigen::Vector4d& plane : planes.get())
      if (plane.head<3>().dot(center) + plane[3] < -item.radius) return kUnseen;
  if (group.level_count == 1 || sight.tolerance <= 0) return 0;
  // The depth of its nearest point, where lengths are largest in the image.
  const double depth = sight.orthographic ? 1 : sight.forward.dot(center) - item.radius;
  if (depth <= 0) return 0;
  const double largest = sight.tolerance * depth / (sight.pixels * item.scale);  // mm in the mesh's frame
  std::uint8_t level = 0;
  while (level + 1U < group.level_count &&
         static_cast<double>(levels_->levels[group.first_level + level + 1].error) <= largest)
    ++level;
  return level;
}

void SeenList::add_commands(const SeenGroup& group) {
  const auto begin = chosen_.begin() + group.first_item;
  const auto end = begin + group.item_count;
  for (std::uint32_t l = 0; l != group.level_count; ++l) {
    if (std::find(begin, end, l) == end) continue;
    const Level& level = levels_->levels[group.first_level + l];
    // Large ones in runs of triangles, and many small ones in runs of instances: no command takes long.
    for (std::uint32_t done = 0; done < level.triangle_count; done += kMaxTriangles) {
      const std::uint32_t run = std::min(kMaxTriangles, level.triangle_count - done);
      const auto first_slot = static_cast<std::uint32_t>(slots_.size());
      for (auto at = std::find(begin, end, l); at != end; at = std::find(at + 1, end, l)) {
        slots_.push_back(all_slots_[items_[static_cast<std::size_t>(at - chosen_.begin())].slot]);
        slots_.back().first_triangle = level.first_triangle + done;
      }
      add_commands(level.first_triangle + done, run, first_slot);
    }
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

void SeenList::look(const Sight& sight, std::span<const std::uint8_t> hidden) {
  using Range = tbb::blocked_range<std::size_t>;
  tbb::parallel_for(Range(0, groups_.size()), [&](const Range& groups) {
    for (std::size_t g = groups.begin(); g != groups.end(); ++g) {
      const SeenGroup& group = groups_[g];
      tbb::parallel_for(Range(group.first_item, group.first_item + group.item_count, 4096), [&](const Range& items) {
        for (std::size_t i = items.begin(); i != items.end(); ++i) {
          const bool seen = hidden.empty() || hidden[all_slots_[items_[i].slot].instance] == 0;
          chosen_[i] = seen ? level_of(items_[i], group, sight) : kUnseen;
        }
      });
    }
  });
  slots_.clear();
  from_scene_.clear();
  from_levels_.clear();
  triangles_ = 0;
  for (const SeenGroup& group : groups_) add_commands(group);
}

}  // namespace raylift::viewer
