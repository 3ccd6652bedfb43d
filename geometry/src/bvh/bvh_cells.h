// SPDX-License-Identifier: Apache-2.0
// The levels below a node of many primitives, divided by what lies in the cells of a grid. Primitives are
// read twice and moved once for many levels together, not for each level.
#pragma once

#include <raylift/geometry/detail/raw_vector.h>

#include "bvh_sah.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace raylift::bvh {

/// A grid over the centers of primitives. Its cells are cubes, or nearly so.
class CellGrid {
 public:
  CellGrid(const Box& centers, std::uint32_t most_cells);

  [[nodiscard]] std::uint32_t cells() const { return size_[0] * size_[1] * size_[2]; }
  /// In which cell a primitive is.
  [[nodiscard]] std::uint32_t operator()(const Primitive& p) const {
    const IntLanes at = __builtin_convertvector((p.lower + p.upper - origin_) * scale_, IntLanes);
    return static_cast<std::uint32_t>(at[0]) +
           size_[0] * (static_cast<std::uint32_t>(at[1]) + size_[1] * static_cast<std::uint32_t>(at[2]));
  }
  /// Where a cell is, in cells along each axis.
  [[nodiscard]] Lanes place(std::uint32_t cell) const;

 private:
  Lanes origin_;
  Lanes scale_{};
  std::uint32_t size_[3];
};

/// A node of these levels. One without children is a part: what is below it is built over its primitives.
struct UpperNode {
  Bounds2 bounds;
  std::size_t count = 0;
  std::unique_ptr<UpperNode> left, right;

  [[nodiscard]] bool is_part() const { return left == nullptr; }
};

/// How primitives are divided into parts: the same for any number of threads.
class UpperLevels {
 public:
  /// `bounds` are those of the primitives, which the tree may have `levels` below.
  UpperLevels(std::span<const Primitive> primitives, const Bounds2& bounds, int levels, bool large_sides_cost_less);

  /// A part itself where cells don't divide it.
  [[nodiscard]] const UpperNode& root() const { return root_; }

  /// Copies the primitives to `to`, part by part in order. Stable.
  void sort(Primitive* to) const;

 private:
  // What lies in a cell that is not empty.
  struct Cell {
    Bounds2 bounds;
    Lanes place;
    std::uint32_t number, count;
  };

  void fill();
  void divide(UpperNode& node, std::span<Cell> cells, int levels);
  void number_parts(const UpperNode& node, const Cell*& at);
  void sort_in_parallel(Primitive* to) const;

  std::span<const Primitive> primitives_;
  bool large_sides_cost_less_;
  CellGrid grid_;
  RawVector<std::uint32_t> cell_of_;  // of primitives, where they are sorted in parallel
  std::vector<Cell> cells_;
  UpperNode root_;
  std::vector<std::uint32_t> part_of_;  // of cells, empty ones too
  std::vector<std::size_t> part_ends_;
};

}  // namespace raylift::bvh
