// SPDX-License-Identifier: Apache-2.0
// Scenes with thin layers keep what floats lack to their file's numbers; others don't.
#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/pack.h>
#include "geometry/src/scene/weld.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "geometry/src/scene/thin_layers.h"
#include "support/meshes.h"
#include "support/paths.h"
#include "support/thin_scene.h"

namespace raylift {
namespace {

class ThinScenes : public testing::Test {
 protected:
  [[nodiscard]] Scene load_film(double thickness, bool optics = true, LoadOptions options = {}) {
    options.optics_beside = false;
    if (optics) options.optics = root_.write("film.optics.json", test::kThinOptics);
    return load(root_.write("film.dae", test::thin_film(thickness)), options);
  }
  [[nodiscard]] Scene load_slabs(double thickness) {
    return load(root_.write("slabs.dae", test::thin_film(thickness, 3)));
  }

 private:
  test::TemporaryFolder root_;
};

/// Half the film's thickness, as its vertices have it.
void expect_half(const Scene& scene, double half) {
  const Mesh& film = scene.meshes[1].name == "f" ? scene.meshes[1] : scene.meshes[0];
  ASSERT_EQ(film.rests.size(), film.vertices.size());
  for (std::size_t i = 0; i != film.vertices.size(); ++i) {
    const double x = static_cast<double>(film.vertices[i].x) + static_cast<double>(film.rests[i].x);
    EXPECT_NEAR(std::abs(x), half, half * 0x1p-46);
  }
}

TEST_F(ThinScenes, KeepTheNumbersOfTheFile) {
  const double thickness = 0.0020246;
  expect_half(load_film(thickness), thickness / 2);
  LoadOptions isolated;
  isolated.isolate = true;
  expect_half(load_film(thickness, true, isolated), thickness / 2);
  const Scene scene = load_film(thickness);
  expect_half(unpack(pack(scene)), thickness / 2);
  for (const Mesh& mesh : scene.meshes) EXPECT_EQ(mesh.vertices.size(), 8U);
}

TEST_F(ThinScenes, AreThoseWithLayersBelowALimit) {
  EXPECT_FALSE(has_rests(load_film(0.0020246, false)));
  EXPECT_FALSE(has_rests(load_film(5.1)));
  LoadOptions always;
  always.rests = true;
  EXPECT_TRUE(has_rests(load_film(5.1, false, always)));
  // The largest coordinate is 10 m.
  const double limit = 10'000 * kThinLayer;
  for (const double factor : {0.9, 1.1}) {
    const Scene scene = load_film(factor * limit);
    EXPECT_EQ(has_thin_layers(scene), factor < 1) << factor;
    EXPECT_EQ(has_rests(scene), factor < 1) << factor;
  }
}

TEST_F(ThinScenes, AreThoseWithThinGapsBetweenDaughters) {
  // Slabs at every 100 mm, in a box of 20 m.
  const auto with_gap = [this](double gap) { return has_thin_layers(load_slabs(100 - gap)); };
  EXPECT_TRUE(with_gap(0.05));
  EXPECT_TRUE(with_gap(0.001));
  EXPECT_FALSE(with_gap(0.06)) << "wide enough for floats";
  EXPECT_FALSE(with_gap(0.00004)) << "in touch, for files with six digits";
  EXPECT_FALSE(with_gap(0));
  EXPECT_FALSE(with_gap(-0.05)) << "an overlap";
}

/// Two daughters of a box of 20 m, of 200 mm each, whose boxes are `gap` apart along an axis, all in mm; the second one
/// is moved along the next axis. The mother is scaled, and the daughters are as large in the world nevertheless.
struct Pair {
  double gap, along;
  int axis = 0;
  double scale = 1;
};
Scene two_daughters(const Mesh& one, const Mesh& other, const Pair& pair) {
  Scene scene;
  Mesh world = test::cube();
  for (Float3& v : world.vertices) v = {20'000 * v.x - 10'000, 20'000 * v.y - 10'000, 20'000 * v.z - 10'000};
  scene.meshes = {world, one, other};
  for (Mesh& mesh : scene.meshes)
    for (Float3& v : mesh.vertices) {
      const auto by = static_cast<float>(1 / pair.scale);
      v = {by * v.x, by * v.y, by * v.z};
    }
  scene.materials = {{"material", {}}};
  scene.bindings = {{0}};
  scene.nodes = {{"world", kNone, {}, kNone}, {"a", 0, {}, kNone}, {"b", 0, {}, kNone}};
  for (std::uint32_t i = 0; i != 3; ++i) {
    Instance instance;
    instance.mesh = instance.node = i;
    instance.binding = 0;
    instance.outside = i == 0 ? kNone : 0;
    Eigen::Vector3d place = Eigen::Vector3d::Zero();
    if (i == 2) {
      place[pair.axis] = 200 + pair.gap;
      place[(pair.axis + 1) % 3] = pair.along;
    }
    instance.transform = EigenTransform(Eigen::Translation3d(place) * Eigen::Scaling(pair.scale));
    scene.instances.push_back(instance);
  }
  scene.bounds = world_bounds(scene);
  return scene;
}

TEST(ThinGaps, AreThoseOfWhatFacesEachOther) {
  Mesh ball = test::sphere(4), box = test::cube();
  for (Float3& v : ball.vertices) v = {100 * v.x, 100 * v.y, 100 * v.z};
  for (Float3& v : box.vertices) v = {200 * v.x - 100, 200 * v.y - 100, 200 * v.z - 100};
  // Where their boxes face each other, balls are far apart but for their poles.
  for (int axis = 0; axis != 3; ++axis)
    for (const auto& [along, faces] : {std::pair{0.0, true}, {1.0, true}, {30.0, false}, {150.0, false}}) {
      EXPECT_EQ(has_thin_layers(two_daughters(ball, ball, {0.04, along, axis})), faces) << along;
      EXPECT_EQ(has_thin_layers(two_daughters(ball, ball, {-200.04 - 200, along, axis})), faces) << along;
      EXPECT_TRUE(has_thin_layers(two_daughters(box, box, {0.04, along, axis}))) << along;
      // The pole of the ball faces the box, as long as it is beside it.
      EXPECT_EQ(has_thin_layers(two_daughters(ball, box, {0.04, along, axis})), along < 100) << along;
      EXPECT_EQ(has_thin_layers(two_daughters(box, ball, {0.04, along, axis})), along < 100) << along;
    }
  EXPECT_FALSE(has_thin_layers(two_daughters(box, box, {0.04, 250})));
  EXPECT_FALSE(has_thin_layers(two_daughters(ball, ball, {0.06, 0}))) << "wide enough for floats";
}

TEST(ThinGaps, CountWhereverMeshesLieInTheirFrame) {
  Mesh ball = test::sphere(4), away = ball;
  for (Float3& v : ball.vertices) v = {100 * v.x, 100 * v.y, 100 * v.z};
  for (Float3& v : away.vertices) v = {100 * v.x, 100 * v.y + 1000, 100 * v.z};
  EXPECT_TRUE(has_thin_layers(two_daughters(ball, away, {0.04, -1000})));
  EXPECT_FALSE(has_thin_layers(two_daughters(ball, away, {0.04, -970})));
  EXPECT_FALSE(has_thin_layers(two_daughters(ball, away, {0.04, 0})));
  EXPECT_TRUE(has_thin_layers(two_daughters(away, ball, {0.04, 1000})));
}

TEST(ThinGaps, AreAsWideAsInTheWorld) {
  Mesh box = test::cube();
  for (Float3& v : box.vertices) v = {200 * v.x - 100, 200 * v.y - 100, 200 * v.z - 100};
  for (const double scale : {0.1, 10.0}) {
    EXPECT_TRUE(has_thin_layers(two_daughters(box, box, {0.04, 0, 0, scale}))) << scale;
    EXPECT_FALSE(has_thin_layers(two_daughters(box, box, {0.06, 0, 0, scale}))) << scale;
  }
}

TEST(Weld, KeepsVerticesApartThatOnlyTheirRestsTellApart) {
  Mesh mesh;
  mesh.vertices = {{1, 2, 3}, {1, 2, 3}, {1, 2, 3}, {4, 5, 6}};
  mesh.triangles = {{0, 1, 3}, {1, 2, 3}};
  mesh.rests = {{1e-9F, 0, 0}, {-1e-9F, 0, 0}, {1e-9F, 0, 0}, {0, 0, 0}};
  weld(mesh);
  EXPECT_EQ(mesh.vertices.size(), 3U);
  EXPECT_EQ(mesh.rests.size(), 3U);
  EXPECT_EQ(mesh.triangles[0], (UInt3{0, 1, 2}));
  EXPECT_EQ(mesh.triangles[1], (UInt3{1, 0, 2}));
  EXPECT_EQ(mesh.rests[1].x, -1e-9F);
}

}  // namespace
}  // namespace raylift
