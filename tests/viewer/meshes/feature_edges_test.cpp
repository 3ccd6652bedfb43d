// SPDX-License-Identifier: Apache-2.0
// Feature edges: against a comparison of all pairs of triangles in double precision, as lines over draw lists, and in
// images.
#include "meshes/feature_edges.h"

#include <gtest/gtest.h>
#include <raylift/geometry/scene/eigen.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numbers>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/settings/setting_table.h"
#include "round_solids.h"
#include "support/boxes.h"
#include "viewer/window/typed.h"
#include "viewer/with_context.h"

namespace raylift::viewer {
namespace {

using Eigen::Vector3d;
using Point = std::array<float, 3>;

Point position(const Mesh& mesh, std::uint32_t v) {
  return {mesh.vertices[v].x, mesh.vertices[v].y, mesh.vertices[v].z};
}

std::array<Point, 3> corners(const Mesh& mesh, const UInt3& t) {
  return {position(mesh, t.x), position(mesh, t.y), position(mesh, t.z)};
}

Vector3d normal_of(const std::array<Point, 3>& t) {
  const auto at = [&](std::size_t i) { return Vector3d(t[i][0], t[i][1], t[i][2]); };
  return (at(1) - at(0)).cross(at(2) - at(0)).normalized();
}

using Ends = std::pair<Point, Point>;
Ends ordered(const Point& a, const Point& b) {
  return {std::min(a, b), std::max(a, b)};
}

/// The first triangle of each edge where no two triangles meet at less than 40 degrees: angles without ambiguity.
std::map<Ends, std::uint32_t> by_all_pairs(const Mesh& mesh) {
  std::map<Ends, std::uint32_t> edges;
  std::set<Ends> smooth;
  for (std::uint32_t i = 0; i != mesh.triangles.size(); ++i) {
    const auto one = corners(mesh, mesh.triangles[i]);
    for (std::size_t side = 0; side != 3; ++side) edges.try_emplace(ordered(one[side], one[(side + 1) % 3]), i);
    for (std::uint32_t j = 0; j != i; ++j) {
      const auto other = corners(mesh, mesh.triangles[j]);
      const double angle =
          std::acos(std::clamp(normal_of(one).dot(normal_of(other)), -1.0, 1.0)) * 180 / std::numbers::pi;
      for (std::size_t a = 0; a != 3; ++a)
        for (std::size_t b = 0; b != 3; ++b) {
          const Ends ends = ordered(one[a], one[(a + 1) % 3]);
          if (ends != ordered(other[b], other[(b + 1) % 3])) continue;
          EXPECT_GT(std::abs(angle - 40), 0.01) << "the test's own scene";
          if (angle < 40) smooth.insert(ends);
        }
    }
  }
  for (const Ends& ends : smooth) edges.erase(ends);
  return edges;
}

/// A grid of hills, in two parts. Vertices of every third triangle are its own, at the same positions.
Mesh hills(int size) {
  Mesh mesh;
  std::mt19937 random(7);
  std::uniform_real_distribution<float> height(0, 1.2F);
  for (int y = 0; y <= size; ++y)
    for (int x = 0; x <= size; ++x)
      mesh.vertices.push_back({static_cast<float>(x), static_cast<float>(y), height(random)});
  const auto at = [&](int x, int y) { return static_cast<std::uint32_t>(y * (size + 1) + x); };
  for (int y = 0; y != size; ++y)
    for (int x = 0; x != size; ++x) {
      mesh.triangles.push_back({at(x, y), at(x + 1, y), at(x, y + 1)});
      mesh.triangles.push_back({at(x + 1, y), at(x + 1, y + 1), at(x, y + 1)});
    }
  for (std::size_t i = 0; i < mesh.triangles.size(); i += 3)
    for (std::uint32_t* v : {&mesh.triangles[i].x, &mesh.triangles[i].y, &mesh.triangles[i].z}) {
      const Float3 own = mesh.vertices[*v];
      mesh.vertices.push_back(own);
      *v = static_cast<std::uint32_t>(mesh.vertices.size()) - 1;
    }
  const auto count = static_cast<std::uint32_t>(mesh.triangles.size());
  mesh.parts = {{0, count / 3}, {count / 3, count - count / 3}};
  return mesh;
}

TEST(FeatureEdges, AreThoseOfAllPairsOfTriangles) {
  const Mesh mesh = hills(12);
  const std::map<Ends, std::uint32_t> expected = by_all_pairs(mesh);
  ASSERT_GT(expected.size(), 100U);
  ASSERT_LT(expected.size(), 400U);
  const std::vector<FeatureEdge> edges = feature_edges(mesh);
  std::map<Ends, std::uint32_t> found;
  for (const FeatureEdge& e : edges) found.emplace(ordered(position(mesh, e.from), position(mesh, e.to)), e.triangle);
  EXPECT_EQ(edges.size(), found.size()) << "each of them once";
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(std::is_sorted(edges.begin(), edges.end(),
                             [](const FeatureEdge& a, const FeatureEdge& b) { return a.triangle < b.triangle; }));
}

TEST(FeatureEdges, OfASceneAreEachPartsAndNoOther) {
  Scene scene;
  scene.meshes = {sphere_mesh(8), hills(5), test::drawn_boxes({{{0, 0, 0}, 1}}).meshes[0]};
  const MeshOffsets offsets = mesh_offsets(scene);
  FeatureEdges edges(scene);
  // In turns, in any order, and some twice.
  edges.add(scene, offsets, std::vector<std::uint32_t>{2});
  edges.add(scene, offsets, std::vector<std::uint32_t>{1, 1, 2, 0});
  std::uint32_t part = 0, next = 0;
  for (std::uint32_t m = 0; m != scene.meshes.size(); ++m) {
    const std::vector<FeatureEdge> own = feature_edges(scene.meshes[m]);
    std::size_t at = 0;
    for (const Mesh::Part& triangles : scene.meshes[m].parts) {
      const FeatureEdges::EdgeRun& run = edges.run(part++);
      for (std::uint32_t e = run.first; e != run.first + run.count; ++e, ++at) {
        ASSERT_LT(at, own.size());
        EXPECT_LT(own[at].triangle - triangles.first_triangle, triangles.triangle_count);
        EXPECT_EQ(edges.triangles()[e], offsets.first_triangle[m] + own[at].triangle);
        EXPECT_EQ(edges.vertices()[std::size_t{2} * e], offsets.first_vertex[m] + own[at].from);
        EXPECT_EQ(edges.vertices()[std::size_t{2} * e + 1], offsets.first_vertex[m] + own[at].to);
      }
      next += run.count;
    }
    EXPECT_EQ(at, own.size());
  }
  EXPECT_EQ(edges.triangles().size(), next);
  EXPECT_EQ(edges.vertices().size(), 2 * next);
}

TEST(FeatureEdges, OfADrawListAreDrawnOnceForEachInstance) {
  Scene scene;
  scene.meshes = {test::drawn_boxes({{{0, 0, 0}, 1}}).meshes[0],
                  hills(150)};  // the second has more than a command takes
  scene.bindings = {{kNone}, {kNone, kNone}};
  for (std::uint32_t i = 0; i != 5000; ++i) {
    Instance placed;
    placed.mesh = i % 2500 == 7 ? 1 : 0;
    placed.binding = placed.mesh;
    scene.instances.push_back(placed);
  }
  const MeshOffsets offsets = mesh_offsets(scene);
  FeatureEdges edges(scene);
  edges.add(scene, offsets, std::vector<std::uint32_t>{0, 1});
  const LineList lines = line_list(edges, draw_list(scene, offsets, {}));
  std::map<std::uint32_t, std::vector<std::uint32_t>> drawn;  // edges by instance
  for (const DrawCommand& command : lines.commands) {
    EXPECT_LE(std::uint64_t{command.index_count} / 2 * command.instance_count, LineList::kMaxLines);
    for (std::uint32_t s = 0; s != command.instance_count; ++s) {
      const DrawSlot& slot = lines.slots[command.base_instance + s];
      EXPECT_EQ(slot.first_triangle, command.first_index / 2);
      for (std::uint32_t e = 0; e != command.index_count / 2; ++e)
        drawn[slot.instance].push_back(command.first_index / 2 + e);
    }
  }
  ASSERT_EQ(drawn.size(), scene.instances.size());
  const std::size_t of_box = feature_edges(scene.meshes[0]).size(), of_hills = feature_edges(scene.meshes[1]).size();
  ASSERT_EQ(of_box, 12U);
  ASSERT_GT(of_hills, LineList::kMaxLines);
  for (auto& [instance, all] : drawn) {
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
    const bool hilly = scene.instances[instance].mesh == 1;
    EXPECT_EQ(all.size(), hilly ? of_hills : of_box);
    EXPECT_EQ(all.front(), hilly ? of_box : 0);
  }
}

TEST(FeatureEdges, ImplyEdgesUnlessSomethingElseHasSome) {
  const auto settings = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"a.dae", "--no-config"});
    return typed(arguments).settings;
  };
  EXPECT_TRUE(settings({"--feature-edges"}).feature_edges);
  EXPECT_TRUE(settings({"--feature-edges"}).edges);
  EXPECT_FALSE(settings({"--feature-edges", "--wireframe"}).edges);
  EXPECT_FALSE(settings({"--feature-edges", "--edges-of", "a"}).edges);
  EXPECT_FALSE(settings({"--feature-edges", "--wireframe-of", "a"}).edges);
  EXPECT_TRUE(settings({"--feature-edges", "--wireframe-of", "a", "--edges"}).edges);
  EXPECT_FALSE(settings({"--feature-edges", "--all-edges"}).edges);
  EXPECT_FALSE(settings({}).feature_edges);
  Settings s;
  EXPECT_TRUE(same_scene(s, s));
  Settings other = s;
  other.feature_edges = true;
  EXPECT_FALSE(same_scene(s, other)) << "or a kept image would show";
}

/// A cube, seen from its front: its face is a square with a diagonal.
class FeatureEdgesImage : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    if (IsSkipped()) return;
    scene_ = test::drawn_boxes({{{0, 0, 0}, 100}});
    camera_.look(StandardView::front);
    camera_.orthographic = true;
    camera_.frame(scene_.bounds, 320.0 / 240);
    settings_.axes = settings_.scale_bar = false;
    settings_.background = {{0, 0, 0}, {0, 0, 0}, true};
    renderer_->resize({320, 240}, 1);
    renderer_->set_scene(scene_);
  }
  void set_look(Look look) { renderer_->set_looks(std::vector<std::uint8_t>(1, static_cast<std::uint8_t>(look))); }
  Image draw() {
    renderer_->draw(camera_, settings_);
    return renderer_->read();
  }
  /// Pixels unlike another image's, away from the square's own edges, and those along them.
  struct Changed {
    int inside = 0, along = 0;
  };
  Changed changed(const Image& before) {
    const Image now = draw();
    Changed count;
    for (int y = 0; y != 240; ++y)
      for (int x = 0; x != 320; ++x) {
        if (now.at(x, y) == before.at(x, y)) continue;
        // From the middle, as a share of half the face, by the projection.
        const Vector3d corner = camera_.project(to_eigen(scene_.bounds.max), 320.0 / 240);
        const double u = std::abs((x + 0.5) / 160 - 1) / std::abs(corner.x());
        const double v = std::abs((y + 0.5) / 120 - 1) / std::abs(corner.y());
        ++(std::max(u, v) < 0.95 ? count.inside : count.along);
      }
    return count;
  }

  Scene scene_;
  Camera camera_;
  Settings settings_;
};

TEST_F(FeatureEdgesImage, LeaveOutTheDiagonals) {
  const Image surface = draw();
  settings_.edges = true;
  const Changed all = changed(surface);
  EXPECT_GT(all.inside, 50) << "a diagonal";
  EXPECT_GT(all.along, 100);
  settings_.feature_edges = true;
  const Changed features = changed(surface);
  EXPECT_EQ(features.inside, 0);
  EXPECT_GT(features.along, 100);
}

TEST_F(FeatureEdgesImage, AreAllThatAWireframeShows) {
  set_look(Look::hidden);
  const Image empty = draw();
  for (const bool styled : {false, true}) {
    set_look(styled ? Look::lines : Look::solid);
    settings_.wireframe = !styled;
    settings_.feature_edges = false;
    EXPECT_GT(changed(empty).inside, 50);
    settings_.feature_edges = true;
    const Changed features = changed(empty);
    EXPECT_EQ(features.inside, 0) << styled;
    EXPECT_GT(features.along, 300) << styled;
    settings_.color = ColorBy::residency;  // of the triangles that have them
    EXPECT_EQ(changed(empty).along, features.along);
    settings_.color = ColorBy::material;
  }
}

TEST_F(FeatureEdgesImage, AreWhatAClickOnLinesMeets) {
  set_look(Look::lines);
  std::set<std::uint32_t> triangles;
  const auto picked = [&] {
    triangles.clear();
    int inside = 0;
    const IdImage image = renderer_->ids(camera_, settings_);
    for (int y = 0; y != 240; ++y)
      for (int x = 0; x != 320; ++x) {
        const auto& id = image.ids[static_cast<std::size_t>(y) * 320 + static_cast<std::size_t>(x)];
        if (id[0] == 0) continue;
        triangles.insert(id[1]);
        inside += std::abs(x - 160) < 80 && std::abs(y - 120) < 80;
      }
    return inside;
  };
  EXPECT_GT(picked(), 50);
  settings_.feature_edges = true;
  EXPECT_EQ(picked(), 0) << "a diagonal that is not drawn";
  std::set<std::uint32_t> with_edges;
  for (const FeatureEdge& edge : feature_edges(scene_.meshes[0])) with_edges.insert(edge.triangle);
  ASSERT_LT(with_edges.size(), 12U) << "or edges could pass for triangles";
  EXPECT_GE(triangles.size(), 2U);
  EXPECT_TRUE(std::includes(with_edges.begin(), with_edges.end(), triangles.begin(), triangles.end()));
}

TEST_F(FeatureEdgesImage, FollowTheLooks) {
  settings_.wireframe = true;
  settings_.feature_edges = true;
  const Image lines = draw();
  set_look(Look::hidden);
  const Image none = draw();
  EXPECT_NE(lines.pixels, none.pixels);
  set_look(Look::solid);
  EXPECT_EQ(draw().pixels, lines.pixels);
  Scene other = test::drawn_boxes({{{0, 0, 0}, 50}});
  other.bounds = scene_.bounds;
  renderer_->set_scene(other);
  EXPECT_NE(draw().pixels, lines.pixels);
  renderer_->set_scene(scene_);
  EXPECT_EQ(draw().pixels, lines.pixels) << "nothing is left of the scene before";
}

}  // namespace
}  // namespace raylift::viewer
