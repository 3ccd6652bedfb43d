// SPDX-License-Identifier: Apache-2.0
#include "meshes/levels.h"

#include <meshoptimizer.h>
#include <tbb/parallel_for.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <optional>
#include <utility>

#include "geometry/src/stage.h"
#include "meshes/enclosed.h"

namespace raylift::viewer {
namespace {

constexpr std::uint32_t kFewInstances = 16;  // fewer are drawn as they are
constexpr std::uint32_t kFewTriangles = 64;  // likewise
constexpr std::uint32_t kMinTriangles = 8;   // of a level
// Quadric errors are root mean squares: on spheres, the farthest point lies 1.2 to 1.6 times as far off.
constexpr float kErrorMargin = 1.6F;
constexpr double kMinGain = 0.85;  // a level has fewer than this share of the triangles before

/// The triangles of a piece, and what is made of them.
struct PieceWork {
  std::uint32_t mesh;
  std::span<const UInt3> triangles;
  std::optional<std::uint32_t> first;  // over all meshes, where they are a whole part
  bool simplified;
  // The result: the piece, its coarser levels, and their triangles, which index the vertices of the mesh.
  Piece piece{};
  std::vector<Level> levels{};
  std::vector<UInt3> coarser{};
};

Eigen::Vector3f point(const Float3& v) {
  return {v.x, v.y, v.z};
}

/// The vertices of some triangles by themselves, since the simplifier's time goes by all that it is given.
struct Excerpt {
  std::vector<Float3> vertices;
  std::vector<std::uint32_t> of_mesh;  // index of each in the mesh
  std::vector<std::uint32_t> indices;

  Excerpt(const Mesh& mesh, std::span<const UInt3> triangles) {
    indices.reserve(triangles.size() * 3);
    for (const UInt3& t : triangles) indices.insert(indices.end(), {t.x, t.y, t.z});
    of_mesh = indices;
    std::sort(of_mesh.begin(), of_mesh.end());
    of_mesh.erase(std::unique(of_mesh.begin(), of_mesh.end()), of_mesh.end());
    vertices.reserve(of_mesh.size());
    for (const std::uint32_t v : of_mesh) vertices.push_back(mesh.vertices[v]);
    for (std::uint32_t& v : indices)
      v = static_cast<std::uint32_t>(std::lower_bound(of_mesh.begin(), of_mesh.end(), v) - of_mesh.begin());
  }
};

/// The radius of the sphere that has the area of these triangles.
float radius_of_area(const Excerpt& excerpt) {
  double area = 0;
  for (std::size_t i = 0; i != excerpt.indices.size(); i += 3) {
    const auto corner = [&](std::size_t k) { return point(excerpt.vertices[excerpt.indices[i + k]]); };
    area += 0.5 * static_cast<double>((corner(1) - corner(0)).cross(corner(2) - corner(0)).norm());
  }
  return static_cast<float>(std::sqrt(area / (4 * std::numbers::pi)));
}

/// The number of indices of the next level: close enough that few solids are drawn finer than needed, and far enough
/// that there are few levels to make.
std::size_t next_target(std::size_t count) {
  return count * 7 / 10 / 3 * 3;
}

/// Adds ever coarser levels. The borders of pieces stay, so that no gaps open between them.
void simplify(const Excerpt& excerpt, PieceWork& work) {
  const auto* positions = reinterpret_cast<const float*>(excerpt.vertices.data());
  const std::size_t vertices = excerpt.vertices.size();
  const float scale = meshopt_simplifyScale(positions, vertices, sizeof(Float3));
  std::vector<std::uint32_t> result(excerpt.indices.size());
  float error = 0;
  for (std::size_t before = result.size(), target = next_target(before); target >= 3 * kMinTriangles;
       target = next_target(target)) {
    float relative = 0;
    // Each from the original, so that errors don't add up.
    const std::size_t count =
        meshopt_simplify(result.data(), excerpt.indices.data(), excerpt.indices.size(), positions, vertices,
                         sizeof(Float3), target, 1.0F, work.first ? 0 : meshopt_SimplifyLockBorder, &relative);
    if (count == 0 || static_cast<double>(count) > kMinGain * static_cast<double>(before)) break;
    before = count;
    error = std::max(error, kErrorMargin * relative * scale);
    work.levels.push_back(
        {error, static_cast<std::uint32_t>(work.coarser.size()), static_cast<std::uint32_t>(count / 3)});
    meshopt_optimizeVertexCache(result.data(), result.data(), count, vertices);
    for (std::size_t i = 0; i != count; i += 3)
      work.coarser.push_back(
          {excerpt.of_mesh[result[i]], excerpt.of_mesh[result[i + 1]], excerpt.of_mesh[result[i + 2]]});
  }
}

/// The triangles of a part in the order of a Morton curve through their first vertices.
std::vector<UInt3> along_curve(const Mesh& mesh, std::span<const UInt3> triangles) {
  const BallAround ball = ball_around(mesh.vertices);
  const auto spread = [](std::uint32_t bits) {  // ten bits, each third one
    bits = (bits | bits << 16) & 0x030000FFU;
    bits = (bits | bits << 8) & 0x0300F00FU;
    bits = (bits | bits << 4) & 0x030C30C3U;
    return (bits | bits << 2) & 0x09249249U;
  };
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order(triangles.size());
  for (std::uint32_t i = 0; i != order.size(); ++i) {
    const Eigen::Vector3f p = (point(mesh.vertices[triangles[i].x]) - point(ball.center)) / (2 * ball.radius) +
                              Eigen::Vector3f::Constant(0.5F);
    std::uint32_t code = 0;
    for (int axis = 0; axis < 3; ++axis)
      code |= spread(static_cast<std::uint32_t>(std::clamp(p[axis] * 1024, 0.0F, 1023.0F))) << axis;
    order[i] = {code, i};
  }
  std::sort(order.begin(), order.end());
  std::vector<UInt3> sorted(triangles.size());
  for (std::size_t i = 0; i != order.size(); ++i) sorted[i] = triangles[order[i].second];
  return sorted;
}

void make_piece(const Scene& scene, PieceWork& work) {
  const Excerpt excerpt(scene.meshes[work.mesh], work.triangles);
  work.piece.ball = ball_around(excerpt.vertices);
  work.piece.round = std::min(work.piece.ball.radius, radius_of_area(excerpt));
  if (work.simplified && work.triangles.size() >= kFewTriangles) simplify(excerpt, work);
}

/// Adds a finished piece to all.
void append(const PieceWork& work, const MeshOffsets& offsets, Levels& all) {
  const std::uint32_t shift = offsets.first_vertex[work.mesh];
  const auto add = [&](std::span<const UInt3> triangles) {
    const auto first = static_cast<std::uint32_t>(offsets.triangles + all.triangles.size());
    for (const UInt3& t : triangles) all.triangles.push_back({t.x + shift, t.y + shift, t.z + shift});
    return first;
  };
  Piece piece = work.piece;
  piece.first_level = static_cast<std::uint32_t>(all.levels.size());
  piece.level_count = static_cast<std::uint32_t>(work.levels.size()) + 1;
  all.pieces.push_back(piece);
  all.levels.push_back(
      {0, work.first ? *work.first : add(work.triangles), static_cast<std::uint32_t>(work.triangles.size())});
  const std::uint32_t first = add(work.coarser);
  for (Level level : work.levels) {
    level.first_triangle += first;
    all.levels.push_back(level);
  }
  all.triangle_meshes.resize(all.triangles.size(), work.mesh);
}

}  // namespace

BallAround ball_around(std::span<const Float3> vertices) {
  Eigen::Vector3f low = Eigen::Vector3f::Constant(INFINITY), high = -low;
  for (const Float3& v : vertices) {
    low = low.cwiseMin(point(v));
    high = high.cwiseMax(point(v));
  }
  BallAround ball;
  if (vertices.empty()) return ball;
  const Eigen::Vector3f center = 0.5F * (low + high);
  float square = 0;
  for (const Float3& v : vertices) square = std::max(square, (point(v) - center).squaredNorm());
  ball.center = {center.x(), center.y(), center.z()};
  ball.radius = std::sqrt(square) * 1.00001F;
  return ball;
}

MeshChoice often_placed(const Scene& scene) {
  std::vector<std::uint32_t> instances(scene.meshes.size(), 0);
  for (const Instance& instance : scene.instances) ++instances[instance.mesh];
  return [instances = std::move(instances)](std::uint32_t mesh) { return instances[mesh] >= kFewInstances; };
}

Levels make_levels(const Scene& scene, const MeshOffsets& offsets, const MeshChoice& choice, const Progress& progress) {
  Levels all;
  std::vector<PieceWork> works;
  std::vector<std::vector<UInt3>> sorted;  // of parts in pieces
  for (std::uint32_t m = 0; m != scene.meshes.size(); ++m) {
    const Mesh& mesh = scene.meshes[m];
    for (const Mesh::Part& part : mesh.parts) {
      all.first_piece.push_back(static_cast<std::uint32_t>(works.size()));
      const std::span<const UInt3> triangles(mesh.triangles.data() + part.first_triangle, part.triangle_count);
      if (!choice(m) || triangles.size() <= kLargestPiece) {
        works.push_back({m, triangles, offsets.first_triangle[m] + part.first_triangle, choice(m)});
        continue;
      }
      sorted.push_back(along_curve(mesh, triangles));
      const std::size_t pieces = (triangles.size() + kLargestPiece - 1) / kLargestPiece;
      for (std::size_t i = 0; i != pieces; ++i) {
        const std::size_t begin = triangles.size() * i / pieces, end = triangles.size() * (i + 1) / pieces;
        works.push_back({m, std::span(sorted.back()).subspan(begin, end - begin), std::nullopt, true});
      }
    }
  }
  all.first_piece.push_back(static_cast<std::uint32_t>(works.size()));

  constexpr std::size_t kBatch = 256;  // this thread alone reports progress, between batches
  const Stage stage(progress, "levels of detail", works.size());
  for (std::size_t begin = 0; begin < works.size(); begin += kBatch) {
    tbb::parallel_for(begin, std::min(begin + kBatch, works.size()),
                      [&](std::size_t i) { make_piece(scene, works[i]); });
    stage.advance(std::min(begin + kBatch, works.size()));
  }
  for (PieceWork& work : works) {
    append(work, offsets, all);
    work.coarser = {};
  }
  return all;
}

Detail make_detail(const Scene& scene, const SceneCheck& check, const Progress& progress) {
  Detail detail;
  detail.enclosing = enclosing_solids(scene, check, progress);
  const MeshOffsets offsets = mesh_offsets(scene);
  const MeshChoice all = [](std::uint32_t) { return true; };
  detail.levels = make_levels(scene, offsets, all, progress);
  detail.normals = smooth_normals(scene, offsets);
  add_smooth_triangles(scene, offsets, detail.levels.triangles, detail.levels.triangle_meshes, detail.normals);
  return detail;
}

}  // namespace raylift::viewer
