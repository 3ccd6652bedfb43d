// SPDX-License-Identifier: Apache-2.0
// A mesh as the search for overlaps needs it: welded, with its edges and its BVH; and such a mesh put into a
// frame.
#pragma once

#include <raylift/geometry/bvh/bvh.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/scene.h>

#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace raylift::overlap {

using Vector = Eigen::Vector3d;
using Corners = std::array<Vector, 3>;
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A box of the BVH: over child boxes, or over triangles. Boxes are a little larger than what is in them.
struct Cell {
  std::array<float, 3> low;
  std::array<float, 3> high;
  std::uint32_t first = 0;  // in cells(), or in leaf_triangles()
  std::uint32_t count = 0;
  bool leaf = false;

  [[nodiscard]] Vector min() const { return {low[0], low[1], low[2]}; }
  [[nodiscard]] Vector max() const { return {high[0], high[1], high[2]}; }
};

class MeshTree {
 public:
  explicit MeshTree(const Mesh& mesh);

  [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }  // the root first
  [[nodiscard]] std::uint32_t leaf_triangle(std::uint32_t i) const { return leaf_triangles_[i]; }
  [[nodiscard]] std::size_t vertex_count() const { return vertices_.size(); }
  [[nodiscard]] Vector vertex(std::uint32_t i) const { return {vertices_[i].x, vertices_[i].y, vertices_[i].z}; }
  [[nodiscard]] const UInt3& triangle(std::uint32_t i) const { return triangles_[i]; }
  /// Edge k runs from corner k to the next one; kNone where these are equal.
  [[nodiscard]] const std::array<std::uint32_t, 3>& edges_of(std::uint32_t triangle) const {
    return triangle_edges_[triangle];
  }
  [[nodiscard]] const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges() const { return edges_; }
  /// A vertex of each piece that hangs together.
  [[nodiscard]] const std::vector<std::uint32_t>& shells() const { return shells_; }
  /// For each such piece, where it could be found, a point inside of the mesh near to the piece's largest triangle.
  [[nodiscard]] const std::vector<Vector>& inner_points() const { return inner_points_; }
  /// The largest absolute value of a coordinate.
  [[nodiscard]] double largest_coordinate() const { return largest_coordinate_; }

  /// Whether the winding number at a point, in the mesh's frame, is above 0. On the surface it may be either.
  [[nodiscard]] bool inside(const Vector& point) const;

 private:
  struct Crossings;

  void make_cells(const Bvh& bvh);
  void make_edges();
  void make_shells();
  [[nodiscard]] bool cast(const Vector& origin, const Vector& direction, Crossings& crossings) const;
  [[nodiscard]] double winding_by_angles(const Vector& point) const;

  std::vector<Float3> vertices_;
  std::vector<UInt3> triangles_;
  std::vector<Cell> cells_;
  std::vector<std::uint32_t> leaf_triangles_;
  std::vector<std::array<std::uint32_t, 3>> triangle_edges_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
  std::vector<std::uint32_t> shells_;
  std::vector<Vector> inner_points_;
  double largest_coordinate_ = 0;
};

/// The triangle of a mesh that is nearest to a point; kNone if there is none within the limit.
struct Nearest {
  double distance = kInfinity;
  std::uint32_t triangle = kNone;
};

/// A mesh in the frame of a pair, in which lengths are millimetres.
class PlacedMesh {
 public:
  /// `to_pair` must not be singular.
  PlacedMesh(const MeshTree& tree, const EigenTransform& to_pair);

  [[nodiscard]] const MeshTree& tree() const { return *tree_; }
  [[nodiscard]] Vector place(const Vector& in_mesh) const { return linear_ * in_mesh + shift_; }
  [[nodiscard]] Vector vertex(std::uint32_t i) const { return place(tree_->vertex(i)); }
  [[nodiscard]] Corners corners(std::uint32_t triangle) const;
  [[nodiscard]] Vector to_mesh(const Vector& point) const { return inverse_ * (point - shift_); }
  [[nodiscard]] bool inside(const Vector& point) const { return tree_->inside(to_mesh(point)); }
  /// The nearest triangle that is no farther than `limit`.
  [[nodiscard]] Nearest nearest(const Vector& point, double limit = kInfinity) const;
  /// The distance to the surface: positive inside, negative outside.
  [[nodiscard]] double depth(const Vector& point) const;
  [[nodiscard]] const Eigen::Matrix3d& linear() const { return linear_; }
  /// A length in the mesh's frame is at least this many times as long in the pair's.
  [[nodiscard]] double least_scale() const { return least_scale_; }

 private:
  const MeshTree* tree_;
  Eigen::Matrix3d linear_;
  Eigen::Matrix3d inverse_;
  Vector shift_;
  double least_scale_ = 1;
};

/// The least and the most by which a map stretches lengths, as bounds.
[[nodiscard]] std::pair<double, double> scales(const Eigen::Matrix3d& linear);
[[nodiscard]] double distance(const Vector& point, const Vector& from, const Vector& to);
[[nodiscard]] double distance(const Vector& point, const Corners& triangle);

}  // namespace raylift::overlap
