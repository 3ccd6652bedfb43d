// SPDX-License-Identifier: Apache-2.0
#include "box_grid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "import/gdml/shapes/closed_surface.h"

namespace raylift::gdml {
namespace {

using Layer = std::vector<std::uint8_t>;

bool along_axes(const CsgNode& node) {
  if (!std::holds_alternative<Box>(*node.shape)) return false;
  for (int row = 0; row < 3; ++row) {
    int used = 0;
    for (int column = 0; column < 3; ++column)
      if (std::abs(node.placed(row, column)) > 1e-12) ++used;
    if (used != 1) return false;
  }
  return true;
}

class Grid {
 public:
  Grid(const Csg& csg, const std::vector<std::uint32_t>& boxes, double same) : csg_(csg) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::vector<double> all;
      for (const std::uint32_t box : boxes)
        for (const Double3& end : {csg.nodes[box].bounds.min, csg.nodes[box].bounds.max})
          all.push_back(end[static_cast<int>(axis)]);
      std::ranges::sort(all);
      for (const double plane : all)
        if (planes_[axis].empty() || plane - planes_[axis].back() > same) planes_[axis].push_back(plane);
    }
  }

  [[nodiscard]] std::uint64_t cells() const {
    std::uint64_t product = 1;
    for (std::size_t axis = 0; axis < 3; ++axis) product *= count(axis);
    return product;
  }

  Surface surface() {
    if (cells() == 0) return {};
    full_.reserve(cells());
    for (std::size_t z = 0; z < count(2); ++z) {
      const Layer layer = of(csg_.root, z);
      full_.insert(full_.end(), layer.begin(), layer.end());
    }
    for (std::size_t axis = 0; axis < 3; ++axis) leave_out_planes(axis);
    for (std::size_t axis = 0; axis < 3; ++axis) add_faces(axis);
    return std::move(surface_);
  }

 private:
  [[nodiscard]] std::size_t count(std::size_t axis) const {
    return planes_[axis].empty() ? 0 : planes_[axis].size() - 1;
  }

  /// The number of a plane.
  [[nodiscard]] std::size_t number(std::size_t axis, double value) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(planes_[axis], value) - planes_[axis].begin() - 1);
  }

  /// The cells of one layer that a node fills. flatten() limits the depth of trees.
  Layer of(std::uint32_t index, std::size_t z) const {  // NOLINT(misc-no-recursion)
    const CsgNode& node = csg_.nodes[index];
    Layer layer(count(0) * count(1), 0);
    if (node.kind == CsgKind::primitive) {
      fill(node, z, layer, 1);
      return layer;
    }
    bool first = true;
    for (const std::uint32_t child : node.children) {
      const bool take = !first && node.kind == CsgKind::subtract;
      if (csg_.nodes[child].kind == CsgKind::primitive && (node.kind != CsgKind::intersect || first)) {
        fill(csg_.nodes[child], z, layer, take ? 0 : 1);
      } else {
        const Layer other = of(child, z);
        for (std::size_t i = 0; i < layer.size(); ++i) {
          if (take)
            layer[i] = other[i] != 0 ? 0 : layer[i];
          else if (first || node.kind == CsgKind::add)
            layer[i] |= other[i];
          else
            layer[i] &= other[i];
        }
      }
      first = false;
    }
    return layer;
  }

  void fill(const CsgNode& box, std::size_t z, Layer& layer, std::uint8_t value) const {
    const Bounds& b = box.bounds;
    if (z < number(2, b.min.z) || z >= number(2, b.max.z)) return;
    const std::size_t x0 = number(0, b.min.x), x1 = number(0, b.max.x), y1 = number(1, b.max.y);
    for (std::size_t y = number(1, b.min.y); y < y1; ++y)
      std::fill_n(layer.begin() + static_cast<std::ptrdiff_t>(y * count(0) + x0), x1 - x0, value);
  }

  using Place = std::array<std::size_t, 3>;

  [[nodiscard]] std::uint8_t at(const Place& p) const { return full_[(p[2] * count(1) + p[1]) * count(0) + p[0]]; }

  /// Before the first and behind the last plane there is nothing. `p[axis]` is a plane's number.
  [[nodiscard]] std::array<bool, 2> sides(Place p, std::size_t axis) const {
    const bool after = p[axis] < count(axis) && at(p) != 0;
    if (p[axis] == 0) return {false, after};
    --p[axis];
    return {at(p) != 0, after};
  }

  /// Calls `visit` for all places on a plane.
  template <class Visit>
  void each(std::size_t axis, std::size_t plane, const Visit& visit) const {
    const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
    Place p{};
    p[axis] = plane;
    for (p[v] = 0; p[v] < count(v); ++p[v])
      for (p[u] = 0; p[u] < count(u); ++p[u]) visit(p);
  }

  /// Planes that separate nothing would only cut faces.
  void leave_out_planes(std::size_t axis) {
    std::vector<double> kept;
    std::vector<std::size_t> old;
    for (std::size_t plane = 0; plane < planes_[axis].size(); ++plane) {
      bool separates = false;
      each(axis, plane, [&](const Place& p) {
        const auto both = sides(p, axis);
        separates = separates || both[0] != both[1];
      });
      if (!separates) continue;
      kept.push_back(planes_[axis][plane]);
      old.push_back(plane);
    }
    std::array<std::size_t, 3> counts{count(0), count(1), count(2)};
    counts[axis] = kept.empty() ? 0 : kept.size() - 1;
    std::vector<std::uint8_t> full;
    for (std::size_t z = 0; z < counts[2]; ++z)
      for (std::size_t y = 0; y < counts[1]; ++y)
        for (std::size_t x = 0; x < counts[0]; ++x) {
          Place p{x, y, z};
          p[axis] = old[p[axis]];
          full.push_back(at(p));
        }
    full_ = std::move(full);
    planes_[axis] = std::move(kept);
  }

  /// A quad for each face of a cell between full and empty: vertices lie at the corners of cells alone.
  void add_faces(std::size_t axis) {
    const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (std::size_t plane = 0; plane < planes_[axis].size(); ++plane)
      each(axis, plane, [&](const Place& p) {
        const auto both = sides(p, axis);
        if (both[0] == both[1]) return;
        std::array<Place, 4> corners{p, p, p, p};
        ++corners[1][u];
        ++corners[2][u];
        ++corners[2][v];
        ++corners[3][v];
        if (both[1]) std::swap(corners[1], corners[3]);
        std::array<std::uint32_t, 4> ids{};
        for (std::size_t i = 0; i < 4; ++i) ids[i] = vertex(corners[i]);
        surface_.triangles.push_back({ids[0], ids[1], ids[2]});
        surface_.triangles.push_back({ids[0], ids[2], ids[3]});
      });
  }

  std::uint32_t vertex(const Place& p) {
    const std::uint64_t key = (std::uint64_t{p[2]} * planes_[1].size() + p[1]) * planes_[0].size() + p[0];
    const auto made = numbers_.emplace(key, static_cast<std::uint32_t>(surface_.vertices.size()));
    if (made.second) surface_.vertices.emplace_back(planes_[0][p[0]], planes_[1][p[1]], planes_[2][p[2]]);
    return made.first->second;
  }

  const Csg& csg_;
  std::array<std::vector<double>, 3> planes_;
  std::vector<std::uint8_t> full_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  Surface surface_;
};

}  // namespace

std::optional<Surface> box_grid(const Csg& csg, double same, std::uint64_t most_cells) {
  const std::vector<std::uint32_t> boxes = primitives(csg);
  if (!std::ranges::all_of(boxes, [&](std::uint32_t box) { return along_axes(csg.nodes[box]); })) return std::nullopt;
  Grid grid(csg, boxes, same);
  if (grid.cells() > most_cells) return std::nullopt;
  Surface surface = grid.surface();
  if (!surface.triangles.empty()) separate(surface);
  return surface;
}

}  // namespace raylift::gdml
