// SPDX-License-Identifier: Apache-2.0
#include "overlap_mesh.h"

#include <raylift/geometry/scene/eigen.h>
#include <Eigen/Eigenvalues>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

#include "disjoint_sets.h"
#include "scene/weld.h"

namespace raylift::overlap {

namespace {

/// In a walk that goes to the last child first: the siblings on each level.
constexpr std::size_t kMaxOpenCells = 8 * (kBvhMaxDepth + 1);

/// Fixed, and parallel to nothing that a design tool makes.
const std::array<Vector, 6> kDirections{
    Vector(0.5362817, 0.6184935, 0.5743021).normalized(),    Vector(-0.7315193, 0.2917411, 0.6161307).normalized(),
    Vector(0.1739187, -0.8361273, 0.5202719).normalized(),   Vector(0.9127351, 0.1271993, -0.3882617).normalized(),
    Vector(-0.3319471, -0.4817239, -0.8109743).normalized(), Vector(0.0713629, 0.9431177, -0.3247193).normalized()};

}  // namespace

/// What a ray met.
struct MeshTree::Crossings {
  int winding = 0;                // outward crossings less inward ones
  double first = kInfinity;       // the distance of the nearest one
  std::uint32_t ignored = kNone;  // a triangle that is not looked at
};

MeshTree::MeshTree(const Mesh& mesh) {
  Mesh welded;
  welded.vertices = mesh.vertices;
  welded.triangles = mesh.triangles;
  weld(welded);
  const Bvh bvh = build_bvh(welded.vertices, welded.triangles);
  vertices_ = std::move(welded.vertices);
  triangles_ = std::move(welded.triangles);
  for (const Float3& v : vertices_)
    for (const float c : {v.x, v.y, v.z}) largest_coordinate_ = std::max(largest_coordinate_, std::abs(double{c}));
  make_cells(bvh);
  make_edges();
  make_shells();
}

void MeshTree::make_cells(const Bvh& bvh) {
  // What the walks round must not move a point out of its box.
  const float margin = static_cast<float>(1e-6 * largest_coordinate_) + std::numeric_limits<float>::min();
  const auto add_cell = [&](const Vector& low, const Vector& high) {
    Cell& cell = cells_.emplace_back();
    for (std::size_t a = 0; a != 3; ++a) {
      cell.low[a] = static_cast<float>(low[static_cast<int>(a)]) - margin;
      cell.high[a] = static_cast<float>(high[static_cast<int>(a)]) + margin;
    }
  };
  Bounds all;
  for (std::uint32_t i = 0; i != vertices_.size(); ++i) all.add(vertex(i));
  add_cell(to_eigen(all.min), to_eigen(all.max));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open;  // nodes and their cells
  if (!bvh.nodes.empty()) open.emplace_back(0, 0);
  for (std::size_t next = 0; next != open.size(); ++next) {
    const bvh_detail::BvhNode& node = bvh.nodes[open[next].first];
    cells_[open[next].second].first = static_cast<std::uint32_t>(cells_.size());
    for (int slot = 0; slot != 8; ++slot) {
      if (node.is_empty(slot)) continue;
      ++cells_[open[next].second].count;
      Vector low, high;
      for (int a = 0; a != 3; ++a) {
        const double step = std::ldexp(1.0, node.exponent[a] - 127);
        low[a] = node.origin[a] + node.lower[a][slot] * step;
        high[a] = node.origin[a] + node.upper[a][slot] * step;
      }
      add_cell(low, high);
      const std::uint32_t below = (1U << (4 * slot)) - 1;
      if (node.is_inner(slot)) {
        open.emplace_back(node.first_child + static_cast<std::uint32_t>(std::popcount(node.inner & below)),
                          static_cast<std::uint32_t>(cells_.size() - 1));
        continue;
      }
      Cell& leaf = cells_.back();
      leaf.leaf = true;
      leaf.first = static_cast<std::uint32_t>(leaf_triangles_.size());
      const std::uint32_t first = node.first_pair + static_cast<std::uint32_t>(std::popcount(node.pairs & below));
      const auto pairs = static_cast<std::uint32_t>(std::popcount(node.pair_bits(slot)));
      for (std::uint32_t pair = first; pair != first + pairs; ++pair)
        for (const std::uint32_t id : bvh.ids[pair].triangle)
          if (id != kNoTriangle) leaf_triangles_.push_back(id >> 2);
      leaf.count = static_cast<std::uint32_t>(leaf_triangles_.size()) - leaf.first;
    }
  }
}

void MeshTree::make_edges() {
  const auto edge = [](std::uint32_t a, std::uint32_t b) { return std::pair(std::min(a, b), std::max(a, b)); };
  const auto for_each = [&](const auto& function) {
    for (std::size_t i = 0; i != triangles_.size(); ++i) {
      const UInt3& t = triangles_[i];
      function(i, 0U, edge(t.x, t.y));
      function(i, 1U, edge(t.y, t.z));
      function(i, 2U, edge(t.z, t.x));
    }
  };
  edges_.reserve(3 * triangles_.size());
  for_each([&](std::size_t, std::size_t, const auto& e) {
    if (e.first != e.second) edges_.push_back(e);
  });
  std::sort(edges_.begin(), edges_.end());
  edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
  edges_.shrink_to_fit();
  triangle_edges_.resize(triangles_.size());
  for_each([&](std::size_t i, std::size_t k, const auto& e) {
    const auto found = std::lower_bound(edges_.begin(), edges_.end(), e);
    triangle_edges_[i][k] = e.first == e.second ? kNone : static_cast<std::uint32_t>(found - edges_.begin());
  });
}

void MeshTree::make_shells() {
  DisjointSets sets(vertices_.size());
  for (const auto& [a, b] : edges_) sets.join(a, b);
  std::vector<std::pair<double, std::uint32_t>> largest(vertices_.size(), {-1, kNone});  // by the set's root
  for (std::uint32_t i = 0; i != triangles_.size(); ++i) {
    const UInt3& t = triangles_[i];
    const double area = (vertex(t.y) - vertex(t.x)).cross(vertex(t.z) - vertex(t.x)).norm();
    auto& best = largest[sets.find(t.x)];
    if (area > best.first) best = {area, i};
  }
  for (std::uint32_t root = 0; root != largest.size(); ++root) {
    const auto [area, triangle] = largest[root];
    if (triangle == kNone) continue;
    shells_.push_back(root);
    if (area <= 0) continue;
    const UInt3& t = triangles_[triangle];
    const Vector a = vertex(t.x);
    const Vector middle = (a + vertex(t.y) + vertex(t.z)) / 3;
    const Vector inward = -(vertex(t.y) - a).cross(vertex(t.z) - a).normalized();
    // Not quite along the normal, so that the ray hits no edge of a regular mesh.
    const Vector direction = (inward + Vector(1.31e-3, 0.73e-3, 1.07e-3)).normalized();
    Crossings crossings;
    crossings.ignored = triangle;
    (void)cast(middle, direction, crossings);
    if (crossings.first == kInfinity) continue;
    const Vector point = middle + crossings.first / 2 * direction;
    if (inside(point)) inner_points_.push_back(point);
  }
}

namespace {

bool ray_meets(const Cell& cell, const Vector& origin, const Vector& inverse) {
  double enter = 0;
  double leave = kInfinity;
  for (int a = 0; a != 3; ++a) {
    const auto axis = static_cast<std::size_t>(a);
    const double low = (cell.low[axis] - origin[a]) * inverse[a];
    const double high = (cell.high[axis] - origin[a]) * inverse[a];
    enter = std::max(enter, std::min(low, high));
    leave = std::min(leave, std::max(low, high));
  }
  return enter <= leave;
}

}  // namespace

/// False if the ray comes so near to an edge that a crossing could be missed or counted twice.
bool MeshTree::cast(const Vector& origin, const Vector& direction, Crossings& crossings) const {
  bool clear = true;
  const Vector inverse =
      direction.unaryExpr([](double d) { return 1 / (std::abs(d) < 1e-30 ? std::copysign(1e-30, d) : d); });
  const auto look_at = [&](std::uint32_t i) {
    if (i == crossings.ignored) return;
    const UInt3& t = triangles_[i];
    const Vector a = vertex(t.x) - origin;
    const Vector b = vertex(t.y) - origin;
    const Vector c = vertex(t.z) - origin;
    // Volumes that the ray spans with the edges: all of one sign where it goes through.
    const double x = direction.dot(b.cross(c));
    const double y = direction.dot(c.cross(a));
    const double z = direction.dot(a.cross(b));
    constexpr double kRounding = 4e-15;
    const double nx = kRounding * b.norm() * c.norm();
    const double ny = kRounding * c.norm() * a.norm();
    const double nz = kRounding * a.norm() * b.norm();
    const bool out = (x > nx || y > ny || z > nz) && (x < -nx || y < -ny || z < -nz);
    if (out) return;
    const bool through = (x > nx && y > ny && z > nz) || (x < -nx && y < -ny && z < -nz);
    if (!through) {
      clear = false;
      return;
    }
    const Vector normal = (b - a).cross(c - a);
    const double t_hit = a.dot(normal) / (x + y + z);
    if (t_hit < 0) return;
    crossings.winding += x > 0 ? 1 : -1;
    crossings.first = std::min(crossings.first, t_hit);
  };
  std::array<std::uint32_t, kMaxOpenCells> stack{0};
  for (std::size_t open = 1; open != 0;) {
    const Cell& cell = cells_[stack[--open]];
    if (!ray_meets(cell, origin, inverse)) continue;
    for (std::uint32_t i = cell.first; i != cell.first + cell.count; ++i)
      if (cell.leaf)
        look_at(leaf_triangles_[i]);
      else
        stack[open++] = i;
  }
  return clear;
}

bool MeshTree::inside(const Vector& point) const {
  const Cell& root = cells_.front();
  if ((point.array() < root.min().array()).any() || (point.array() > root.max().array()).any()) return false;
  for (const Vector& direction : kDirections) {
    Crossings crossings;
    if (cast(point, direction, crossings)) return crossings.winding > 0;
  }
  return winding_by_angles(point) > 0.5;
}

/// By the solid angles of all triangles: Van Oosterom and Strackee (1983).
double MeshTree::winding_by_angles(const Vector& point) const {
  double sum = 0;
  for (const UInt3& t : triangles_) {
    const Vector a = vertex(t.x) - point;
    const Vector b = vertex(t.y) - point;
    const Vector c = vertex(t.z) - point;
    const double la = a.norm(), lb = b.norm(), lc = c.norm();
    sum += 2 * std::atan2(a.dot(b.cross(c)), la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb);
  }
  return sum / (4 * std::numbers::pi);
}

PlacedMesh::PlacedMesh(const MeshTree& tree, const EigenTransform& to_pair)
    : tree_(&tree), linear_(to_pair.linear()), inverse_(linear_.inverse()), shift_(to_pair.translation()) {
  least_scale_ = scales(linear_).first;
}

Corners PlacedMesh::corners(std::uint32_t triangle) const {
  const UInt3& t = tree_->triangle(triangle);
  return {vertex(t.x), vertex(t.y), vertex(t.z)};
}

Nearest PlacedMesh::nearest(const Vector& point, double limit) const {
  Nearest best;
  double bound = std::nextafter(limit, kInfinity);
  const Vector in_mesh = to_mesh(point);
  const std::vector<Cell>& cells = tree_->cells();
  const auto far = [&](const Cell& cell) {
    return least_scale_ * (cell.min() - in_mesh).cwiseMax(in_mesh - cell.max()).cwiseMax(0).norm();
  };
  using Entry = std::pair<double, std::uint32_t>;
  std::array<Entry, kMaxOpenCells> stack;
  std::size_t open = 0;
  stack[open++] = {far(cells.front()), 0};
  while (open != 0) {
    const auto [least, index] = stack[--open];
    if (least >= bound) continue;
    const Cell& cell = cells[index];
    const std::size_t old = open;
    for (std::uint32_t i = cell.first; i != cell.first + cell.count; ++i) {
      if (!cell.leaf) {
        const double there = far(cells[i]);
        if (there < bound) stack[open++] = {there, i};
        continue;
      }
      const std::uint32_t triangle = tree_->leaf_triangle(i);
      const double here = distance(point, corners(triangle));
      if (here >= bound) continue;
      bound = here;
      best = {here, triangle};
    }
    // The nearest box is looked at first.
    std::sort(stack.begin() + old, stack.begin() + open, [](const Entry& a, const Entry& b) { return a > b; });
  }
  return best;
}

double PlacedMesh::depth(const Vector& point) const {
  const double away = nearest(point).distance;
  return inside(point) ? away : -away;
}

std::pair<double, double> scales(const Eigen::Matrix3d& linear) {
  const Vector squares =
      Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(linear.transpose() * linear, Eigen::EigenvaluesOnly).eigenvalues();
  const double largest = squares.maxCoeff();
  const double least = squares.minCoeff() - 1e-14 * largest;  // rounded down
  return {std::sqrt(std::max(0.0, least)), std::sqrt(largest * (1 + 1e-14))};
}

double distance(const Vector& point, const Vector& from, const Vector& to) {
  const Vector along = to - from;
  const double square = along.squaredNorm();
  const double t = square > 0 ? std::clamp((point - from).dot(along) / square, 0.0, 1.0) : 0;
  return (point - (from + t * along)).norm();
}

double distance(const Vector& point, const Corners& triangle) {
  const auto& [a, b, c] = triangle;
  const Vector normal = (b - a).cross(c - a);
  const double length = normal.norm();
  if (length > 0 && normal.cross(b - a).dot(point - a) >= 0 && normal.cross(c - b).dot(point - b) >= 0 &&
      normal.cross(a - c).dot(point - c) >= 0)
    return std::abs(normal.dot(point - a)) / length;
  return std::min({distance(point, a, b), distance(point, b, c), distance(point, c, a)});
}

}  // namespace raylift::overlap
