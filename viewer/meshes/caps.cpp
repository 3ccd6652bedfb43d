// SPDX-License-Identifier: Apache-2.0
#include "meshes/caps.h"

#include <raylift/geometry/detail/arithmetic.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/solids.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "model/solids/solids.h"

namespace raylift::viewer {
namespace {

constexpr double kHeights = 8192;
constexpr std::size_t kTrianglesAtOnce = std::size_t{1} << 16;  // triangles
constexpr std::size_t kMaxNested = 16384;                       // solids whose boxes are compared in pairs

/// A line that rises.
struct Edge {
  Eigen::Vector2d low, high;

  [[nodiscard]] double x(double y) const {
    if (y == low.y()) return low.x();
    if (y == high.y()) return high.x();
    return low.x() + (y - low.y()) * ((high.x() - low.x()) / (high.y() - low.y()));
  }
};

/// The heights of all ends, each once. Where they are very many, the ends are moved to fewer.
std::vector<double> heights_of(std::vector<CutLine>& lines) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
  std::vector<double> heights;
  heights.reserve(2 * lines.size());
  for (const CutLine& line : lines)
    for (const double y : {line.from.y(), line.to.y()}) {
      least = std::min(least, y);
      most = std::max(most, y);
      heights.push_back(y);
    }
  std::sort(heights.begin(), heights.end());
  heights.erase(std::unique(heights.begin(), heights.end()), heights.end());
  if (static_cast<double>(heights.size()) <= kHeights || !(most > least)) return heights;
  const double step = (most - least) / (kHeights - 1);
  const auto moved = [&](double y) { return least + step * std::round((y - least) / step); };
  for (CutLine& line : lines) {
    line.from.y() = moved(line.from.y());
    line.to.y() = moved(line.to.y());
  }
  for (double& y : heights) y = moved(y);
  heights.erase(std::unique(heights.begin(), heights.end()), heights.end());
  return heights;
}

std::vector<Edge> rising(const std::vector<CutLine>& lines) {
  std::vector<Edge> edges;
  edges.reserve(lines.size());
  for (const CutLine& line : lines) {
    if (line.from.y() == line.to.y()) continue;
    edges.push_back(line.from.y() < line.to.y() ? Edge{line.from, line.to} : Edge{line.to, line.from});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.low.y() < b.low.y(); });
  return edges;
}

/// A trapezoid that is not complete: between these edges, from this height on.
struct Open {
  const Edge *left, *right;
  double from;
};

void finish(const Open& open, double to, const std::function<void(const CutFace&)>& face) {
  face({Eigen::Vector2d(open.left->x(open.from), open.from), Eigen::Vector2d(open.right->x(open.from), open.from),
        Eigen::Vector2d(open.right->x(to), to), Eigen::Vector2d(open.left->x(to), to)});
}

/// A plane and its own two axes, about a point of it.
struct PlaneFrame {
  Eigen::Vector3d origin, right, up, normal;

  PlaneFrame(const Eigen::Vector3d& unit_normal, double offset, const Eigen::Vector3d& near) : normal(unit_normal) {
    origin = near - (normal.dot(near) - offset) * normal;
    int least = 0;
    normal.cwiseAbs().minCoeff(&least);
    right = normal.cross(Eigen::Vector3d::Unit(least)).normalized();
    up = normal.cross(right);
  }
  [[nodiscard]] Eigen::Vector2d within(const Eigen::Vector3d& p) const {
    return {right.dot(p - origin), up.dot(p - origin)};
  }
  [[nodiscard]] Eigen::Vector3d world(const Eigen::Vector2d& p) const { return origin + p.x() * right + p.y() * up; }
};

/// A point of an edge of the mesh, always worked out from the end below the plane: triangles that share the edge get
/// the same.
Eigen::Vector3d crossing(const Eigen::Vector3d& a, double above_a, const Eigen::Vector3d& b, double above_b) {
  if (above_a > above_b) return crossing(b, above_b, a, above_a);
  return a + (above_a / (above_a - above_b)) * (b - a);
}

/// Where a plane cuts a mesh.
Cut cut_of(const Mesh& mesh, const EigenTransform& transform, const PlaneFrame& frame) {
  // The plane in the mesh's frame.
  const Eigen::Vector3d normal = transform.linear().transpose() * frame.normal;
  const double offset = frame.normal.dot(frame.origin - transform.translation());
  const auto cut = [&](std::size_t first, std::size_t last, Cut& found) {
    for (std::size_t i = first; i != last; ++i) {
      const UInt3& t = mesh.triangles[i];
      Eigen::Vector3d p[3];
      double above[3];
      int count = 0, k = 0;
      for (const std::uint32_t v : {t.x, t.y, t.z}) {
        p[k] = {mesh.vertices[v].x, mesh.vertices[v].y, mesh.vertices[v].z};
        above[k] = normal.dot(p[k]) - offset;
        count += above[k++] > 0 ? 1 : 0;
      }
      if (count == 0 || count == 3) continue;
      // The corner that lies on the other side than both others.
      const int lone = (above[0] > 0) == (above[1] > 0) ? 2 : (above[0] > 0) == (above[2] > 0) ? 1 : 0;
      const int b = (lone + 1) % 3, c = (lone + 2) % 3;
      found.add({frame.within(transform * crossing(p[lone], above[lone], p[b], above[b])),
                 frame.within(transform * crossing(p[lone], above[lone], p[c], above[c]))});
      if (found.triangle == kNone) found.triangle = static_cast<std::uint32_t>(i);
    }
  };
  const std::size_t count = mesh.triangles.size(), pieces = (count + kTrianglesAtOnce - 1) / kTrianglesAtOnce;
  std::vector<Cut> found(pieces);
  tbb::parallel_for(std::size_t{0}, pieces, [&](std::size_t k) {
    cut(k * kTrianglesAtOnce, std::min(count, (k + 1) * kTrianglesAtOnce), found[k]);
  });
  Cut all = pieces == 1 ? std::move(found[0]) : Cut();
  for (std::size_t k = 0; pieces != 1 && k != pieces; ++k) {
    if (all.triangle == kNone) all.triangle = found[k].triangle;
    for (const CutLine& line : found[k].lines) all.add(line);
  }
  return all;
}

void add(std::vector<CapVertex>& vertices, CapVertex vertex, const Eigen::Vector3d& p) {
  for (int i = 0; i < 3; ++i) {
    const auto [high, low] = arithmetic_detail::split(p[i]);
    vertex.high[static_cast<std::size_t>(i)] = high;
    vertex.low[static_cast<std::size_t>(i)] = low;
  }
  vertices.push_back(vertex);
}

}  // namespace

void fill_outlines(std::vector<CutLine> lines, const std::function<void(const CutFace&)>& face) {
  // By a horizontal line that sweeps upwards and stops at each end: between two stops the edges that it meets keep
  // their order, and every second gap between them is inside.
  const std::vector<double> heights = heights_of(lines);
  const std::vector<Edge> edges = rising(lines);
  std::vector<std::pair<double, const Edge*>> met;  // by x
  std::vector<Open> open, next;
  std::size_t first = 0;
  for (std::size_t h = 0; h + 1 < heights.size(); ++h) {
    const double y = heights[h], middle = 0.5 * (y + heights[h + 1]);
    std::erase_if(met, [&](const auto& one) { return one.second->high.y() <= y; });
    for (; first != edges.size() && edges[first].low.y() <= y; ++first) met.emplace_back(0, &edges[first]);
    for (auto& [x, edge] : met) x = edge->x(middle);
    std::sort(met.begin(), met.end());
    next.clear();
    for (std::size_t i = 0; i + 1 < met.size(); i += 2) next.push_back({met[i].second, met[i + 1].second, y});
    // What goes on between the same edges stays one trapezoid. Both lists are in the order of x.
    std::size_t from = 0;
    for (Open& one : next)
      for (std::size_t k = from; k != open.size(); ++k)
        if (open[k].left == one.left && open[k].right == one.right) {
          for (; from != k; ++from) finish(open[from], y, face);
          one.from = open[k].from;
          from = k + 1;
          break;
        }
    for (; from < open.size(); ++from) finish(open[from], y, face);
    open.swap(next);
  }
  for (const Open& one : open) finish(one, heights.back(), face);
}

std::vector<std::pair<Eigen::Vector3d, Eigen::Vector3d>> section_of(const Scene& scene, std::uint32_t solid,
                                                                    const ClipPlane& plane) {
  const Instance& placed = scene.instances[solid];
  const PlaneFrame frame(plane.normal, plane.offset_in(scene.bounds), to_eigen(scene.bounds.center()));
  std::vector<std::pair<Eigen::Vector3d, Eigen::Vector3d>> lines;
  for (const CutLine& line : cut_of(scene.meshes[placed.mesh], to_eigen(placed.transform), frame).lines)
    lines.emplace_back(frame.world(line.from), frame.world(line.to));
  return lines;
}

CapMaker::CapMaker(const Scene& scene, const MeshOffsets& offsets)
    : scene_(&scene),
      first_triangle_(offsets.first_triangle),
      mesh_bounds_(scene.meshes.size()),
      depth_(solid_tree(scene).depth) {
  tbb::parallel_for(std::size_t{0}, scene.meshes.size(),
                    [&](std::size_t m) { mesh_bounds_[m] = mesh_bounds(scene.meshes[m]); });
}

std::vector<std::uint32_t> CapMaker::near(const Eigen::Vector3d& normal, double offset,
                                          std::span<const std::uint8_t> looks) const {
  std::vector<std::uint32_t> solids;
  for (std::uint32_t i = 0; i != scene_->instances.size(); ++i) {
    if (!looks.empty() && static_cast<Look>(looks[i]) != Look::solid && static_cast<Look>(looks[i]) != Look::edged)
      continue;
    const Instance& placed = scene_->instances[i];
    if (meets(normal, offset, mesh_bounds_[placed.mesh], placed.transform)) solids.push_back(i);
  }
  return solids;
}

std::vector<std::uint32_t> CapMaker::levels_of(std::span<const Cut> cuts) const {
  // The outer ones first: the larger, and of equal ones the mother.
  std::vector<std::size_t> order(cuts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double of_a = cuts[a].area(), of_b = cuts[b].area();
    return of_a != of_b ? of_a > of_b : depth_[cuts[a].solid] < depth_[cuts[b].solid];
  });
  std::vector<std::uint32_t> levels(cuts.size());
  tbb::parallel_for(std::size_t{0}, order.size(), [&](std::size_t i) {
    if (order.size() > kMaxNested) {  // by rank alone: coarse, and quick
      levels[order[i]] = static_cast<std::uint32_t>(i * kMaxLevels / order.size());
      return;
    }
    std::uint32_t level = 0;
    for (std::size_t k = 0; k != i && level + 1 < kMaxLevels; ++k)
      level += cuts[order[k]].surrounds(cuts[order[i]]) ? 1U : 0U;
    levels[order[i]] = level;
  });
  return levels;
}

std::vector<CapVertex> CapMaker::make(std::span<const ClipPlane> planes, std::span<const std::uint8_t> looks,
                                      std::span<const SolidSurfaces> surfaces) const {
  std::vector<CapVertex> all;
  for (std::size_t plane = 0; plane != planes.size(); ++plane) {
    const PlaneFrame frame(planes[plane].normal, planes[plane].offset_in(scene_->bounds),
                           to_eigen(scene_->bounds.center()));
    const std::vector<std::uint32_t> solids = near(frame.normal, frame.normal.dot(frame.origin), looks);
    std::vector<Cut> cuts(solids.size());
    tbb::parallel_for(std::size_t{0}, cuts.size(), [&](std::size_t i) {
      const Instance& placed = scene_->instances[solids[i]];
      cuts[i] = cut_of(scene_->meshes[placed.mesh], to_eigen(placed.transform), frame);
      cuts[i].solid = solids[i];
    });
    std::erase_if(cuts, [](const Cut& cut) { return cut.lines.empty(); });
    const std::vector<std::uint32_t> levels = levels_of(cuts);
    std::vector<std::vector<CapVertex>> made(cuts.size());
    tbb::parallel_for(std::size_t{0}, cuts.size(), [&](std::size_t i) {
      const Cut& cut = cuts[i];
      const Instance& placed = scene_->instances[cut.solid];
      const Mesh& mesh = scene_->meshes[placed.mesh];
      CapVertex corner{};
      corner.solid = cut.solid;
      const std::optional<std::size_t> part = part_of(mesh, cut.triangle);
      corner.material = part ? scene_->material(placed, *part) : kNone;
      corner.triangle = first_triangle_[placed.mesh] + cut.triangle;
      corner.surfaces = surfaces.empty() ? kNone : surfaces[cut.solid].packed_cap();
      corner.mesh = placed.mesh;
      corner.plane_and_level = static_cast<std::uint32_t>(plane) | levels[i] << 8;
      fill_outlines(cut.lines, [&](const CutFace& face) {
        for (const std::array<std::size_t, 3>& three : {std::array<std::size_t, 3>{0, 1, 2}, {0, 2, 3}}) {
          if (face[three[0]] == face[three[1]] || face[three[1]] == face[three[2]] || face[three[2]] == face[three[0]])
            continue;  // the corner of a triangle
          for (const std::size_t k : three) add(made[i], corner, frame.world(face[k]));
        }
      });
    });
    for (const std::vector<CapVertex>& one : made) all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

}  // namespace raylift::viewer
