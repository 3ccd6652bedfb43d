// SPDX-License-Identifier: Apache-2.0
#include "meshes/feature_edges.h"

#include <raylift/geometry/error.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

namespace raylift::viewer {
namespace {

constexpr float kSmooth = 0.766F;  // cosine of 40 degrees

/// A triangle's edge, with both ends in one number, the lesser one in its upper half.
struct Side {
  std::uint64_t ends;
  std::uint32_t triangle;
};

/// For each vertex, the first vertex with the same position.
std::vector<std::uint32_t> least_of_position(const std::vector<Float3>& vertices) {
  std::vector<std::uint32_t> order(vertices.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto key = [&](std::uint32_t v) { return std::tie(vertices[v].x, vertices[v].y, vertices[v].z); };
  tbb::parallel_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b) || (key(a) == key(b) && a < b); });
  std::vector<std::uint32_t> least(vertices.size());
  for (std::size_t i = 0; i != order.size(); ++i)
    least[order[i]] = i != 0 && key(order[i - 1]) == key(order[i]) ? least[order[i - 1]] : order[i];
  return least;
}

std::vector<Side> sides_of(const Mesh& mesh) {
  const std::vector<std::uint32_t> point = least_of_position(mesh.vertices);
  std::vector<Side> sides(3 * mesh.triangles.size());
  tbb::parallel_for(std::size_t{0}, mesh.triangles.size(), [&](std::size_t i) {
    const UInt3& t = mesh.triangles[i];
    std::size_t next = 3 * i;
    for (const auto& [a, b] : {std::pair(point[t.x], point[t.y]), {point[t.y], point[t.z]}, {point[t.z], point[t.x]}})
      sides[next++] = {std::uint64_t{std::min(a, b)} << 32 | std::max(a, b), static_cast<std::uint32_t>(i)};
  });
  tbb::parallel_sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return std::tie(a.ends, a.triangle) < std::tie(b.ends, b.triangle);
  });
  return sides;
}

std::vector<Eigen::Vector3f> normals_of(const Mesh& mesh) {
  std::vector<Eigen::Vector3f> normals(mesh.triangles.size());
  const auto point = [&](std::uint32_t v) {
    return Eigen::Vector3f(mesh.vertices[v].x, mesh.vertices[v].y, mesh.vertices[v].z);
  };
  tbb::parallel_for(std::size_t{0}, normals.size(), [&](std::size_t i) {
    const UInt3& t = mesh.triangles[i];
    normals[i] = (point(t.y) - point(t.x)).cross(point(t.z) - point(t.x)).stableNormalized();
  });
  return normals;
}

}  // namespace

std::vector<MeshEdge> mesh_edges(const Mesh& mesh) {
  const std::vector<Side> sides = sides_of(mesh);
  const std::vector<Eigen::Vector3f> normals = normals_of(mesh);
  std::vector<MeshEdge> edges;
  for (std::size_t first = 0, last = 0; first != sides.size(); first = last) {
    bool meets_smoothly = false;
    for (last = first + 1; last != sides.size() && sides[last].ends == sides[first].ends; ++last)
      meets_smoothly = meets_smoothly || normals[sides[first].triangle].dot(normals[sides[last].triangle]) > kSmooth;
    const Side& one = sides[first];
    edges.push_back({static_cast<std::uint32_t>(one.ends >> 32), static_cast<std::uint32_t>(one.ends), one.triangle,
                     last - first == 2 ? sides[first + 1].triangle : kNone, !meets_smoothly});
  }
  return edges;
}

std::vector<FeatureEdge> feature_edges(const Mesh& mesh) {
  std::vector<FeatureEdge> edges;
  for (const MeshEdge& edge : mesh_edges(mesh))
    if (edge.feature) edges.push_back({edge.from, edge.to, edge.first});
  // Stable: the edges of a triangle are in order already.
  std::stable_sort(edges.begin(), edges.end(),
                   [](const FeatureEdge& a, const FeatureEdge& b) { return a.triangle < b.triangle; });
  return edges;
}

FeatureEdges::FeatureEdges(const Scene& scene) : added_(scene.meshes.size()) {
  std::uint32_t parts = 0;
  for (const Mesh& mesh : scene.meshes) {
    first_part_.push_back(parts);
    parts += static_cast<std::uint32_t>(mesh.parts.size());
  }
  runs_.resize(parts);
}

void FeatureEdges::add(const Scene& scene, const MeshOffsets& offsets, std::span<const std::uint32_t> meshes) {
  std::vector<std::uint32_t> fresh;
  for (const std::uint32_t m : meshes) {
    if (added_[m]) continue;
    added_[m] = true;
    fresh.push_back(m);
  }
  std::vector<std::vector<FeatureEdge>> found(fresh.size());
  tbb::parallel_for(std::size_t{0}, fresh.size(),
                    [&](std::size_t i) { found[i] = feature_edges(scene.meshes[fresh[i]]); });
  std::size_t count = triangles_.size();
  for (const std::vector<FeatureEdge>& edges : found) count += edges.size();
  if (count >= kNone / 2)
    throw Error(ErrorKind::limit,
                "the scene has more feature edges than 32-bit indices can address: " + std::to_string(count),
                {scene.source, ""}, "draw without feature edges, or split the scene into several files");
  vertices_.reserve(2 * count);
  triangles_.reserve(count);
  for (std::size_t i = 0; i != fresh.size(); ++i) {
    const std::uint32_t m = fresh[i];
    const std::vector<FeatureEdge>& edges = found[i];
    const std::vector<Mesh::Part>& parts = scene.meshes[m].parts;
    for (std::size_t p = 0; p != parts.size(); ++p) {
      const auto at = [&](std::uint32_t triangle) {
        return std::partition_point(edges.begin(), edges.end(),
                                    [&](const FeatureEdge& edge) { return edge.triangle < triangle; });
      };
      const auto begin = at(parts[p].first_triangle), end = at(parts[p].first_triangle + parts[p].triangle_count);
      runs_[first_part_[m] + p] = {static_cast<std::uint32_t>(triangles_.size()),
                                   static_cast<std::uint32_t>(end - begin)};
      for (auto edge = begin; edge != end; ++edge) {
        vertices_.push_back(offsets.first_vertex[m] + edge->from);
        vertices_.push_back(offsets.first_vertex[m] + edge->to);
        triangles_.push_back(offsets.first_triangle[m] + edge->triangle);
      }
    }
  }
}

LineList line_list(const FeatureEdges& edges, const DrawList& list) {
  LineList lines;
  for (std::size_t c = 0; c != list.commands.size(); ++c) {
    const DrawCommand& command = list.commands[c];
    const FeatureEdges::EdgeRun& run = edges.run(list.parts[c]);
    // Many edges in runs of edges, and many instances in runs of instances: no command takes long.
    for (std::uint32_t done = 0; done < run.count; done += LineList::kMaxLines) {
      const std::uint32_t count = std::min(LineList::kMaxLines, run.count - done);
      const std::uint32_t at_once = std::max(1U, LineList::kMaxLines / count);
      for (std::uint32_t i = 0; i < command.instance_count; i += at_once) {
        lines.commands.push_back({2 * count, std::min(at_once, command.instance_count - i), 2 * (run.first + done), 0,
                                  static_cast<std::uint32_t>(lines.slots.size())});
        for (std::uint32_t s = i; s != i + lines.commands.back().instance_count; ++s) {
          lines.slots.push_back(list.slots[command.base_instance + s]);
          lines.slots.back().first_triangle = run.first + done;
        }
      }
    }
  }
  return lines;
}

}  // namespace raylift::viewer
