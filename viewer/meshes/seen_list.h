// SPDX-License-Identifier: Apache-2.0
// The visible part of a draw list: instances outside of the frustum are culled, and small ones drawn at a coarser
// level. On the CPU, in the list's order: equal depths always give the same image. No GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "meshes/draw_list.h"
#include "meshes/levels.h"
#include "meshes/sight.h"

namespace raylift::viewer {

class SeenList {
 public:
  SeenList() = default;
  /// `list` is of this scene; its order is kept.
  SeenList(const Scene& scene, const MeshOffsets& offsets, const Levels& levels, const DrawList& list);

  /// The most triangles of a command.
  static constexpr std::uint32_t kMaxTriangles = 1U << 14;

  /// Selects what is drawn. `hidden` is Enclosed::hidden().
  void look(const Sight& sight, std::span<const std::uint8_t> hidden = {});
  /// The slots that are drawn; from MeshOffsets::triangles on, first_triangle is one of the levels'.
  [[nodiscard]] std::span<const DrawSlot> slots() const { return slots_; }
  /// The commands that draw triangles of the scene, and of Levels::triangles.
  [[nodiscard]] std::span<const DrawCommand> from_scene() const { return from_scene_; }
  [[nodiscard]] std::span<const DrawCommand> from_levels() const { return from_levels_; }
  [[nodiscard]] std::uint64_t triangles() const { return triangles_; }

 private:
  /// A piece of an instance, as a ball in the world.
  struct Item {
    Eigen::Vector3d center;
    double radius;
    double scale;  // by which the transform enlarges lengths at most
    std::uint32_t slot;
  };
  /// The instances of a piece, which may share commands.
  struct SeenGroup {
    std::uint32_t first_item, item_count;
    std::uint32_t first_level, level_count;
  };
  static constexpr std::uint8_t kUnseen = 255;
  [[nodiscard]] std::uint8_t level_of(const Item& item, const SeenGroup& group, const Sight& sight) const;
  void add_commands(const SeenGroup& group);
  void add_commands(std::uint32_t first_triangle, std::uint32_t triangles, std::uint32_t first_slot);

  const Levels* levels_ = nullptr;
  std::uint64_t scene_triangles_ = 0;
  std::vector<DrawSlot> all_slots_;
  std::vector<Item> items_;
  std::vector<SeenGroup> groups_;
  std::vector<std::uint8_t> chosen_;  // of each item: its level in the group, or kUnseen
  std::vector<DrawSlot> slots_;
  std::vector<DrawCommand> from_scene_, from_levels_;
  std::uint64_t triangles_ = 0;
};

}  // namespace raylift::viewer
