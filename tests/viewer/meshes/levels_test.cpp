// SPDX-License-Identifier: Apache-2.0
// Levels of detail: they lie as near to the original as they say, stay closed, and fit together.
#include "meshes/levels.h"

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <random>
#include <utility>

#include "round_solids.h"

namespace raylift::viewer {
namespace {

using Eigen::Vector3d;

const MeshChoice kAll = [](std::uint32_t) { return true; };

std::vector<UInt3> triangles_of(const Scene& scene, const Levels& levels, const MeshOffsets& offsets,
                                const Level& level) {
  std::vector<UInt3> result;
  for (std::uint32_t t = level.first_triangle; t != level.first_triangle + level.triangle_count; ++t)
    result.push_back(t < offsets.triangles ? scene.meshes[0].triangles[t] : levels.triangles[t - offsets.triangles]);
  return result;
}

/// Edges that triangles run along more often in one direction than in the other.
std::map<std::pair<std::uint32_t, std::uint32_t>, int> border(const std::vector<UInt3>& triangles) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> edges;
  for (const UInt3& t : triangles)
    for (const auto& [a, b] : {std::pair(t.x, t.y), {t.y, t.z}, {t.z, t.x}}) edges[std::minmax(a, b)] += a < b ? 1 : -1;
  std::erase_if(edges, [](const auto& edge) { return edge.second == 0; });
  return edges;
}

Vector3d place(const Mesh& mesh, std::uint32_t v) {
  return {mesh.vertices[v].x, mesh.vertices[v].y, mesh.vertices[v].z};
}

TEST(Levels, OfASphereHaveEverFewerTrianglesAndSayHowFarOffTheyAre) {
  const Scene scene = round_solids({{Vector3d::Zero(), 100}}, 48);
  const Mesh& mesh = scene.meshes[0];
  const MeshOffsets offsets = mesh_offsets(scene);
  const Levels levels = make_levels(scene, offsets, kAll);
  ASSERT_EQ(levels.pieces.size(), 1U);
  const Piece& piece = levels.pieces[0];
  ASSERT_GE(piece.level_count, 6U);
  EXPECT_EQ(levels.levels[0].error, 0);
  EXPECT_EQ(levels.levels[0].triangle_count, mesh.triangles.size());
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform;
  for (std::uint32_t l = 1; l != piece.level_count; ++l) {
    const Level& level = levels.levels[l];
    const Level& before = levels.levels[l - 1];
    EXPECT_LE(level.triangle_count, 0.85 * before.triangle_count);
    EXPECT_GE(level.triangle_count, 0.6 * before.triangle_count - 1);
    EXPECT_GT(level.error, before.error);
    double farthest = 0;  // from the sphere
    for (const UInt3& t : triangles_of(scene, levels, offsets, level))
      for (int i = 0; i != 20; ++i) {
        double a = uniform(random), b = uniform(random);
        if (a + b > 1) a = 1 - a, b = 1 - b;
        const Vector3d p =
            place(mesh, t.x) + a * (place(mesh, t.y) - place(mesh, t.x)) + b * (place(mesh, t.z) - place(mesh, t.x));
        farthest = std::max(farthest, std::abs(1 - p.norm()));
      }
    const double original = 1 - std::pow(std::cos(std::numbers::pi / 48), 2);  // the solid's own distance, at most
    EXPECT_LE(farthest, level.error + original) << "level " << l << " of " << level.triangle_count;
    EXPECT_GE(farthest, 0.3 * level.error) << "level " << l << ": it says too much";
  }
}

TEST(Levels, OfAClosedSolidAreClosed) {
  const Scene scene = round_solids({{Vector3d::Zero(), 100}}, 32);
  const MeshOffsets offsets = mesh_offsets(scene);
  const Levels levels = make_levels(scene, offsets, kAll);
  for (const Level& level : levels.levels)
    EXPECT_TRUE(border(triangles_of(scene, levels, offsets, level)).empty()) << level.triangle_count;
}

TEST(Levels, OfPiecesFitTogetherWhateverLevelEachHas) {
  const Scene scene = round_solids({{Vector3d::Zero(), 100}}, 240);  // 229,440 triangles
  const MeshOffsets offsets = mesh_offsets(scene);
  const Levels levels = make_levels(scene, offsets, kAll);
  ASSERT_GE(levels.pieces.size(), 7U);
  std::vector<UInt3> originals;
  for (const Piece& piece : levels.pieces) {
    const std::vector<UInt3> own = triangles_of(scene, levels, offsets, levels.levels[piece.first_level]);
    EXPECT_LE(own.size(), kLargestPiece);
    originals.insert(originals.end(), own.begin(), own.end());
    EXPECT_LT(levels.levels[piece.first_level + piece.level_count - 1].triangle_count, own.size() / 8);
  }
  const auto key = [](const UInt3& t) { return std::array{t.x, t.y, t.z}; };
  const auto less = [&](const UInt3& a, const UInt3& b) { return key(a) < key(b); };
  std::vector<UInt3> given = scene.meshes[0].triangles;
  std::sort(given.begin(), given.end(), less);
  std::sort(originals.begin(), originals.end(), less);
  ASSERT_EQ(originals.size(), given.size());
  for (std::size_t i = 0; i != given.size(); ++i) ASSERT_EQ(key(originals[i]), key(given[i]));

  std::mt19937 random(7);
  for (int round = 0; round != 5; ++round) {
    std::vector<UInt3> all;
    for (const Piece& piece : levels.pieces) {
      const std::vector<UInt3> own =
          triangles_of(scene, levels, offsets, levels.levels[piece.first_level + random() % piece.level_count]);
      all.insert(all.end(), own.begin(), own.end());
    }
    EXPECT_TRUE(border(all).empty());
  }
}

TEST(Levels, BallsContainTheirPieces) {
  const Scene scene = round_solids({{Vector3d(5, 6, 7), 100}}, 160);
  const MeshOffsets offsets = mesh_offsets(scene);
  const Levels levels = make_levels(scene, offsets, kAll);
  ASSERT_GT(levels.pieces.size(), 1U);
  for (const Piece& piece : levels.pieces) {
    const Vector3d center(piece.ball.center.x, piece.ball.center.y, piece.ball.center.z);
    double farthest = 0;
    for (const UInt3& t : triangles_of(scene, levels, offsets, levels.levels[piece.first_level]))
      for (const std::uint32_t v : {t.x, t.y, t.z})
        farthest = std::max(farthest, (place(scene.meshes[0], v) - center).norm());
    EXPECT_LE(farthest, piece.ball.radius);
    EXPECT_GE(farthest, 0.999 * piece.ball.radius);
  }
}

TEST(Levels, AreMadeOfWhatIsChosenAndLargeEnough) {
  Scene scene = round_solids(std::vector(20, std::pair(Vector3d(0, 0, 0), 10.0)), 12);
  scene.meshes.push_back(scene.meshes[0]);
  scene.instances.back().mesh = 1;
  const MeshOffsets offsets = mesh_offsets(scene);
  const Levels levels = make_levels(scene, offsets, often_placed(scene));
  ASSERT_EQ(levels.pieces.size(), 2U);
  EXPECT_GT(levels.pieces[0].level_count, 1U) << "19 instances";
  EXPECT_EQ(levels.pieces[1].level_count, 1U) << "one instance";
  EXPECT_EQ(levels.levels[levels.pieces[1].first_level].first_triangle, offsets.first_triangle[1]);
  EXPECT_EQ(levels.first_piece, (std::vector<std::uint32_t>{0, 1, 2}));
  // Flat, without a volume, or with a single point: they end, and have their triangles.
  Scene degenerate = scene;
  for (Float3& v : degenerate.meshes[0].vertices) v.z = 0;
  for (Float3& v : degenerate.meshes[1].vertices) v = {1, 1, 1};
  const Levels flat = make_levels(degenerate, offsets, kAll);
  EXPECT_EQ(flat.levels[0].triangle_count, degenerate.meshes[0].triangles.size());
  for (const Level& level : flat.levels) EXPECT_TRUE(std::isfinite(level.error));
}

TEST(Levels, EndWhenTheyAreCancelled) {
  const Scene scene = round_solids({{Vector3d::Zero(), 100}}, 32);
  const Progress no([](std::string_view, std::uint64_t, std::uint64_t) { return false; });
  EXPECT_THROW((void)make_levels(scene, mesh_offsets(scene), kAll, no), Error);
}

}  // namespace
}  // namespace raylift::viewer
