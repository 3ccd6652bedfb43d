// SPDX-License-Identifier: Apache-2.0
#include "convert_mesh.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/flatten.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>

#include "base/atomics.h"
#include "base/huge_pages.h"
#include "scene/weld.h"

namespace raylift {
namespace {

using Range = tbb::blocked_range<std::size_t>;
constexpr std::size_t kGrain = 1U << 14;
constexpr std::uint64_t kMaxVertices = 0xFFFFFFFEU;
constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

// Stands for a vertex that repair has taken away.
constexpr std::uint32_t kGone = 0xFFFFFFFFU;

/// The first index for which `bad` holds, or kNowhere. The same for any number of threads.
template <class Predicate>
std::size_t find_first(std::size_t count, const Predicate& bad) {
  return tbb::parallel_reduce(
      Range(0, count, kGrain), kNowhere,
      [&](const Range& range, std::size_t found) {
        for (std::size_t i = range.begin(); i != range.end() && i < found; ++i)
          if (bad(i)) return i;
        return found;
      },
      [](std::size_t a, std::size_t b) { return std::min(a, b); });
}

bool finite(const Float3& v) {
  return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
}

class Converter {
 public:
  Converter(Mesh& mesh, const std::string& file, const LoadOptions& options, LoadReport& report)
      : mesh_(mesh), file_(file), options_(options), report_(report) {}

  void add(aiMesh& part) {
    const std::size_t base = mesh_.vertices.size();
    const std::size_t first = mesh_.triangles.size();
    take_vertices(part);
    take_faces(part, base, mesh_.vertices.size() - base);
    end_part(first);
  }

  /// Adds the primitives of a geometry; their corners are the vertices of its triangles.
  void add(imported::Geometry& geometry, std::span<aiMesh* const> cut) {
    const std::vector<float>& numbers = geometry.positions.numbers;
    const bool sound =
        find_first(numbers.size(), [&](std::size_t i) { return !std::isfinite(numbers[i]); }) == kNowhere;
    std::vector<std::uint32_t> corners;  // the position of each
    for (std::size_t i = 0; i != geometry.primitives.size(); ++i) {
      const std::size_t base = corners.size();
      const std::size_t first = mesh_.triangles.size();
      std::vector<std::uint32_t> own = std::move(geometry.primitives[i].corners);
      check_vertices(base, own.size(), [&](std::size_t k) { return sound || finite(geometry.positions[own[k]]); });
      if (cut[i] != nullptr)
        take_faces(*cut[i], base, own.size());
      else
        add_triangles(base, own.size() / 3);
      if (base == 0)
        corners = std::move(own);
      else
        corners.insert(corners.end(), own.begin(), own.end());
      end_part(first);
    }
    if (options_.weld.enabled && (sound || !options_.repair))
      keep_used(geometry.positions, corners);
    else
      keep_corners(geometry.positions, corners);
  }

 private:
  [[noreturn]] void fail(ErrorKind kind, const std::string& problem, const std::string& element,
                         std::string_view advice) const {
    throw Error(kind, problem, {file_, "mesh '" + mesh_.name + "'" + (element.empty() ? "" : ", " + element)}, advice);
  }

  void end_part(std::size_t first) {
    mesh_.parts.push_back(
        {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(mesh_.triangles.size() - first)});
  }

  /// `sound(i)` is whether vertex i of a part's `count` is finite; `base` are before them.
  template <class Sound>
  void check_vertices(std::size_t base, std::size_t count, const Sound& sound) const {
    if (base + count > kMaxVertices)
      fail(ErrorKind::limit, "more vertices than 32-bit indices can number", "", "split the mesh");
    const std::size_t bad = find_first(count, [&](std::size_t i) { return !sound(i); });
    if (bad != kNowhere && !options_.repair)
      fail(ErrorKind::malformed, "a coordinate is NaN or infinite", "vertex " + std::to_string(bad),
           "correct the file, or drop the triangles that use it with LoadOptions::repair");
  }

  void take_vertices(aiMesh& part) {
    const std::size_t base = mesh_.vertices.size();
    const std::size_t count = part.mVertices != nullptr ? part.mNumVertices : 0;
    check_vertices(base, count, [&](std::size_t i) {
      return finite({part.mVertices[i].x, part.mVertices[i].y, part.mVertices[i].z});
    });
    if (base == 0) base::reserve_huge(mesh_.vertices, count);
    mesh_.vertices.resize(base + count);
    tbb::parallel_for(Range(0, count, kGrain), [&](const Range& range) {
      for (std::size_t i = range.begin(); i != range.end(); ++i)
        mesh_.vertices[base + i] = {part.mVertices[i].x, part.mVertices[i].y, part.mVertices[i].z};
    });
    delete[] part.mVertices;
    part.mVertices = nullptr;
  }

  /// Makes room for more triangles, and returns the number of those that are there.
  std::size_t grow(std::size_t count) {
    const std::size_t first = mesh_.triangles.size();
    if (first + count > options_.limits.triangles)
      fail(ErrorKind::limit, "more than " + std::to_string(options_.limits.triangles) + " triangles", "",
           "raise the limit with LoadLimits::triangles");
    if (first == 0) base::reserve_huge(mesh_.triangles, count);
    mesh_.triangles.resize(first + count);
    return first;
  }

  /// Triangles of three corners each, in order.
  void add_triangles(std::size_t base, std::size_t count) {
    const std::size_t first = grow(count);
    tbb::parallel_for(Range(0, count, kGrain), [&](const Range& range) {
      for (std::size_t i = range.begin(); i != range.end(); ++i) {
        const auto corner = static_cast<std::uint32_t>(base + 3 * i);
        mesh_.triangles[first + i] = {corner, corner + 1, corner + 2};
      }
    });
  }

  /// The faces of a part with `vertices` vertices, `before` others before them.
  void take_faces(aiMesh& part, std::size_t before, std::size_t vertices) {
    const auto base = static_cast<std::uint32_t>(before);
    const std::size_t count = part.mNumFaces;
    const std::size_t first = grow(count);
    std::atomic<bool> all_sound{true};
    tbb::parallel_for(Range(0, count, kGrain), [&](const Range& range) {
      bool sound = true;
      for (std::size_t i = range.begin(); i != range.end(); ++i) {
        aiFace& face = part.mFaces[i];
        UInt3& triangle = mesh_.triangles[first + i];
        if (face.mNumIndices == 3 && face.mIndices[0] < vertices && face.mIndices[1] < vertices &&
            face.mIndices[2] < vertices) {
          triangle = {base + face.mIndices[0], base + face.mIndices[1], base + face.mIndices[2]};
        } else {
          triangle = {kGone, face.mNumIndices, 0};
          sound = false;
        }
      }
      if (!sound) all_sound = false;
    });
    if (!all_sound) remove_unsound(part, first);
    delete[] part.mFaces;
    part.mFaces = nullptr;
    part.mNumFaces = 0;
  }

  /// Removes polygons that are no triangles; refuses or removes triangles whose indices are out of range.
  void remove_unsound(const aiMesh& part, std::size_t first) {
    std::size_t kept = first;
    for (std::size_t i = first; i != mesh_.triangles.size(); ++i) {
      const UInt3 triangle = mesh_.triangles[i];
      if (triangle.x != kGone) {
        mesh_.triangles[kept++] = triangle;
        continue;
      }
      const std::uint32_t corners = triangle.y;
      if (corners < 3) {
        ++report_.ignored_primitives;
        continue;
      }
      const std::string element = "triangle " + std::to_string(i - first);
      if (corners > 3)
        fail(ErrorKind::malformed,
             "a polygon of " + std::to_string(corners) + " corners could not be cut into triangles", element,
             "triangulate the mesh before exporting it");
      if (!options_.repair)
        fail(ErrorKind::malformed,
             "a vertex index is out of range: the mesh has " + std::to_string(part.mNumVertices) + " vertices", element,
             "correct the file, or drop such triangles with LoadOptions::repair");
      ++report_.dropped_triangles;
    }
    mesh_.triangles.resize(kept);
  }

  /// Each corner becomes a vertex.
  void keep_corners(const imported::Positions& positions, const std::vector<std::uint32_t>& corners) {
    base::reserve_huge(mesh_.vertices, corners.size());
    mesh_.vertices.resize(corners.size());
    tbb::parallel_for(Range(0, corners.size(), kGrain), [&](const Range& range) {
      for (std::size_t i = range.begin(); i != range.end(); ++i) mesh_.vertices[i] = positions[corners[i]];
    });
    if (!positions.rests.empty()) {
      mesh_.rests.resize(corners.size());
      for (std::size_t i = 0; i != corners.size(); ++i) mesh_.rests[i] = positions.rest(corners[i]);
    }
    report_.vertices_before_weld += corners.size();
  }

  /// Each position in use becomes a vertex, in the order of the first corners: as if all corners were vertices, and
  /// those of one position welded.
  void keep_used(const imported::Positions& positions, const std::vector<std::uint32_t>& corners) {
    std::vector<std::uint32_t> first(positions.count, kGone);  // corner of each position
    tbb::parallel_for(Range(0, corners.size(), kGrain), [&](const Range& range) {
      for (std::size_t i = range.begin(); i != range.end(); ++i)
        base::atomic_min(std::atomic_ref(first[corners[i]]), static_cast<std::uint32_t>(i));
    });
    std::vector<std::uint32_t> rank(positions.count);
    const std::size_t used = tbb::parallel_scan(
        Range(0, corners.size(), kGrain), std::size_t{0},
        [&](const Range& range, std::size_t sum, bool final) {
          for (std::size_t i = range.begin(); i != range.end(); ++i) {
            if (first[corners[i]] != i) continue;
            if (final) rank[corners[i]] = static_cast<std::uint32_t>(sum);
            ++sum;
          }
          return sum;
        },
        std::plus<>());
    base::reserve_huge(mesh_.vertices, used);
    mesh_.vertices.resize(used);
    tbb::parallel_for(Range(0, positions.count, kGrain), [&](const Range& range) {
      for (std::size_t i = range.begin(); i != range.end(); ++i)
        if (first[i] != kGone) mesh_.vertices[rank[i]] = positions[i];
    });
    if (!positions.rests.empty()) {
      mesh_.rests.resize(used);
      for (std::size_t i = 0; i != positions.count; ++i)
        if (first[i] != kGone) mesh_.rests[rank[i]] = positions.rest(i);
    }
    tbb::parallel_for(Range(0, mesh_.triangles.size(), kGrain), [&](const Range& range) {
      for (std::size_t i = range.begin(); i != range.end(); ++i) {
        UInt3& t = mesh_.triangles[i];
        t = {rank[corners[t.x]], rank[corners[t.y]], rank[corners[t.z]]};
      }
    });
    report_.vertices_before_weld += corners.size();
  }

  Mesh& mesh_;
  const std::string& file_;
  const LoadOptions& options_;
  LoadReport& report_;
};

/// Removes the triangles for which `drop` holds, in order, and keeps the parts right.
template <class Predicate>
std::uint64_t remove_triangles(Mesh& mesh, const Predicate& drop) {
  std::size_t kept = 0;
  for (Mesh::Part& part : mesh.parts) {
    const std::size_t begin = part.first_triangle;
    const std::size_t end = begin + part.triangle_count;
    part.first_triangle = static_cast<std::uint32_t>(kept);
    for (std::size_t i = begin; i != end; ++i) {
      if (drop(mesh.triangles[i])) continue;
      mesh.triangles[kept] = mesh.triangles[i];
      detail::for_each_triangle_attribute([&](const auto& attribute) {
        auto& values = mesh.*attribute.mesh;
        if (!values.empty()) values[kept] = values[i];
      });
      ++kept;
    }
    part.triangle_count = static_cast<std::uint32_t>(kept - part.first_triangle);
  }
  const std::uint64_t dropped = mesh.triangles.size() - kept;
  mesh.triangles.resize(kept);
  detail::for_each_triangle_attribute([&](const auto& attribute) {
    auto& values = mesh.*attribute.mesh;
    if (!values.empty()) values.resize(kept);
  });
  return dropped;
}

/// Removes vertices that are not finite, with the triangles that use them.
void remove_broken_vertices(Mesh& mesh, LoadReport& report) {
  if (find_first(mesh.vertices.size(), [&](std::size_t i) { return !finite(mesh.vertices[i]); }) == kNowhere) return;
  std::vector<std::uint32_t> moved(mesh.vertices.size(), kGone);
  std::uint32_t kept = 0;
  for (std::size_t i = 0; i != mesh.vertices.size(); ++i)
    if (finite(mesh.vertices[i])) {
      mesh.vertices[kept] = mesh.vertices[i];
      if (!mesh.rests.empty()) mesh.rests[kept] = mesh.rests[i];
      moved[i] = kept++;
    }
  report.repaired_vertices += mesh.vertices.size() - kept;
  mesh.vertices.resize(kept);
  if (!mesh.rests.empty()) mesh.rests.resize(kept);
  for (UInt3& t : mesh.triangles) t = {moved[t.x], moved[t.y], moved[t.z]};
  report.dropped_triangles +=
      remove_triangles(mesh, [](const UInt3& t) { return t.x == kGone || t.y == kGone || t.z == kGone; });
}

/// Two equal indices, or exactly no area.
bool degenerate(const Mesh& mesh, const UInt3& t) {
  if (t.x == t.y || t.y == t.z || t.z == t.x) return true;
  const auto vertex = [&](std::uint32_t i) {
    return Eigen::Vector3d(mesh.vertices[i].x, mesh.vertices[i].y, mesh.vertices[i].z);
  };
  const Eigen::Vector3d a = vertex(t.x);
  return (vertex(t.y) - a).cross(vertex(t.z) - a).isZero(0);
}

}  // namespace

Mesh convert_mesh(std::span<aiMesh* const> parts, std::string name, const std::string& file, const LoadOptions& options,
                  LoadReport& report) {
  Mesh mesh;
  mesh.name = std::move(name);
  Converter converter(mesh, file, options, report);
  for (aiMesh* part : parts) converter.add(*part);
  if (options.repair) remove_broken_vertices(mesh, report);
  report.vertices_before_weld += mesh.vertices.size();
  return mesh;
}

Mesh convert_geometry(imported::Geometry& geometry, std::span<aiMesh* const> cut, std::string name,
                      const std::string& file, const LoadOptions& options, LoadReport& report) {
  Mesh mesh;
  mesh.name = std::move(name);
  mesh.deviation = geometry.deviation;
  Converter(mesh, file, options, report).add(geometry, cut);
  const std::size_t vertices = mesh.vertices.size();
  if (options.repair) remove_broken_vertices(mesh, report);
  report.vertices_before_weld -= vertices - mesh.vertices.size();
  return mesh;
}

void finish_mesh(Mesh& mesh, const LoadOptions& options, LoadReport& report) {
  if (options.weld.enabled) weld(mesh, options.weld.tolerance);
  const std::uint64_t count = tbb::parallel_reduce(
      Range(0, mesh.triangles.size(), kGrain), std::uint64_t{0},
      [&](const Range& range, std::uint64_t sum) {
        for (std::size_t i = range.begin(); i != range.end(); ++i) sum += degenerate(mesh, mesh.triangles[i]) ? 1 : 0;
        return sum;
      },
      std::plus<>());
  report.degenerate_triangles += count;
  if (options.drop_degenerate && count != 0)
    report.dropped_triangles += remove_triangles(mesh, [&](const UInt3& t) { return degenerate(mesh, t); });
}

}  // namespace raylift
