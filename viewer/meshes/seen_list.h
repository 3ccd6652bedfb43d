// SPDX-License-Identifier: Apache-2.0
// The visible part of a draw list: instances outside of the frustum are culled, and small ones drawn at a coarser
// level. On the CPU, in the list's order: equal depths always give the same image. No GL.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <Eigen/Core>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "meshes/draw_list.h"
#include "meshes/levels.h"
#include "meshes/sight.h"

namespace raylift::viewer {

/// A solid that is drawn as a point: a disc that is lit like a sphere.
struct SeenPoint {
  Float3 center;  ///< in the mesh's frame
  float radius;   ///< in the world, mm
  DrawSlot slot;
};
static_assert(sizeof(SeenPoint) == 32);

class SeenList {
 public:
  SeenList() = default;
  /// `list` is of this scene; its order is kept.
  SeenList(const Scene& scene, const MeshOffsets& offsets, const Levels& levels, const DrawList& list);

  /// The most triangles of a command.
  static constexpr std::uint32_t kMaxTriangles = 1U << 14;

  /// Selects what is drawn. `hidden` is Enclosed::hidden(). Where the sight allows too few triangles, levels are
  /// coarser all over; then the smallest solids become points, and of what is still too much, evenly spread triangles
  /// are drawn.
  void look(const Sight& sight, std::span<const std::uint8_t> hidden = {});
  /// The slots that are drawn; from MeshOffsets::triangles on, first_triangle is one of the levels'.
  [[nodiscard]] std::span<const DrawSlot> slots() const { return slots_; }
  /// The commands that draw triangles of the scene, and of Levels::triangles.
  [[nodiscard]] std::span<const DrawCommand> from_scene() const { return from_scene_; }
  [[nodiscard]] std::span<const DrawCommand> from_levels() const { return from_levels_; }
  [[nodiscard]] std::span<const SeenPoint> points() const { return points_; }
  [[nodiscard]] std::uint64_t triangles() const { return triangles_; }
  /// The triangles that would be drawn without the sight's limit.
  [[nodiscard]] std::uint64_t all_triangles() const { return all_triangles_; }

 private:
  /// A piece of an instance, as a ball in the world.
  struct Item {
    Eigen::Vector3d center;
    double radius;
    double scale;  // by which the transform enlarges lengths at most
    std::uint32_t slot;
  };
  /// How large an item is seen.
  struct Extent {
    float error;   // of a level that lies off by a pixel, mm in the mesh's frame
    float pixels;  // the diameter of its point
  };
  /// The instances of a piece, which may share commands.
  struct SeenGroup {
    std::uint32_t first_item, item_count;
    std::uint32_t first_level, level_count;
    BallAround ball;
    float round;  // Piece::round
  };
  static constexpr std::uint8_t kUnseen = 255, kPoint = 254;
  /// Whether it can be seen, and how large.
  [[nodiscard]] std::optional<Extent> extent_of(const Item& item, const SeenGroup& group, const Sight& sight) const;
  /// The coarsest level of a group within this error.
  [[nodiscard]] std::uint8_t level_of(const SeenGroup& group, float error) const;
  template <class Change>  // std::uint8_t(group, item)
  void choose(const Change& change);
  [[nodiscard]] std::uint64_t chosen_triangles() const;
  void thin_out(const Sight& sight);
  void points_for_small(std::uint64_t most);
  void add_commands(const SeenGroup& group);
  void add_level(const SeenGroup& group, std::uint32_t level);
  void add_commands(std::uint32_t first_triangle, std::uint32_t triangles, std::uint32_t first_slot);

  const Levels* levels_ = nullptr;
  std::uint64_t scene_triangles_ = 0;
  std::vector<DrawSlot> all_slots_;
  std::vector<Item> items_;
  std::vector<SeenGroup> groups_;
  std::vector<std::uint8_t> chosen_;  // of each item: its level in the group, kUnseen or kPoint
  std::vector<Extent> extents_;       // of each item that is seen
  std::vector<SeenPoint> points_;
  double share_ = 1;  // of the triangles of large pieces that are drawn
  std::vector<DrawSlot> slots_;
  std::vector<DrawCommand> from_scene_, from_levels_;
  std::uint64_t triangles_ = 0, all_triangles_ = 0;
};

}  // namespace raylift::viewer
