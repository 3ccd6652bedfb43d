// SPDX-License-Identifier: Apache-2.0
// A scene opens so that what is in it is seen: what encloses everything is faint, a focus is free, and what is framed
// stands in the middle of the part that panels leave free.
#include "model/solids/reveal.h"

#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/optics/find_solids.h>
#include <raylift/geometry/scene/eigen.h>

#include <map>
#include <numbers>
#include <set>

#include "meshes/feature_edges.h"
#include "state/options/view_options.h"
#include "state/viewer_state.h"
#include "support/boxes.h"
#include "support/images.h"
#include "support/paths.h"
#include "viewer/with_context.h"

namespace raylift::viewer {
namespace {

std::set<std::string> names(const Scene& scene, const std::vector<std::uint32_t>& solids) {
  std::set<std::string> result;
  for (const std::uint32_t i : solids) {
    const std::string& name = scene.solid_name(scene.instances[i]);
    result.insert(name.substr(0, name.find('_')));
  }
  return result;
}

TEST(Reveal, WhatHoldsNearlyAllOthersEncloses) {
  const Eigen::Vector3d o(0, 0, 0);
  const auto found = [](const Scene& scene) { return enclosing(Solids(scene)); };
  using List = std::vector<std::uint32_t>;
  EXPECT_EQ(found(test::boxes({{o, 1}})), List{}) << "there are no others";
  EXPECT_EQ(found(test::boxes({{o, 1}, {o, 1}})), List{}) << "neither is larger";
  EXPECT_EQ(found(test::boxes({{o, 1}, {o, 4}, {o, 2}})), (List{1, 2}));
  EXPECT_EQ(found(test::boxes({{o, 1}, {{3, 0, 0}, 1}, {o, 4}})), List{}) << "one of two is outside";
  EXPECT_EQ(found(test::boxes({{o, 10}, {{3, 0, 0}, 1}, {{-3, 0, 0}, 1}, {o, 1.5}})), (List{0}));
}

TEST(Reveal, TheShellsOfADetectorAreThoseAroundItsSensors) {
  const Scene scene = load(test::data("detector.dae"));
  Solids solids(scene);
  const std::set<std::string> shells = names(scene, enclosing(solids));
  EXPECT_TRUE(shells.contains("Pool")) << "the pool";
  EXPECT_TRUE(shells.contains("Buffer"));
  EXPECT_FALSE(shells.contains("Sensor"));
  EXPECT_FALSE(shells.contains("Vessel")) << "the sensors are outside of it";
  // Only what is visible counts.
  solids.show_only(find_solids(scene, "Pool*"));
  EXPECT_TRUE(enclosing(solids).empty());
}

TEST(Reveal, LooksFollowTheSettings) {
  const Scene scene = test::boxes({{{0, 0, 0}, 10}, {{0, 0, 0}, 8}, {{1, 0, 0}, 1}, {{-1, 0, 0}, 1}});
  Solids solids(scene);
  Settings settings;
  using List = std::vector<std::uint8_t>;
  EXPECT_EQ(looks(solids, settings), (List{2, 2, 1, 1}));
  settings.shells = Shells::hidden;
  EXPECT_EQ(looks(solids, settings), (List{0, 0, 1, 1}));
  settings.shells = Shells::faint;
  settings.clip = parse_clip("x");
  EXPECT_EQ(looks(solids, settings), (List{2, 3, 1, 1})) << "the plane opens them, but the largest is the ground";
  settings.set_clip_box({{{-3, -3, -3}, {3, 3, 3}}, false});
  EXPECT_EQ(looks(solids, settings), (List{2, 2, 1, 1})) << "what a box leaves is still enclosed";
  settings.clip_box->away = true;
  EXPECT_EQ(looks(solids, settings), (List{2, 3, 1, 1})) << "a notch is cut open";
  settings.shells = Shells::solid;
  EXPECT_EQ(looks(solids, settings, std::vector<std::uint32_t>{3}), (List{1, 1, 1, 2}));
  solids.set_visible(std::vector<std::uint32_t>{3}, false);
  EXPECT_EQ(looks(solids, settings, std::vector<std::uint32_t>{3}), (List{1, 1, 1, 0})) << "hidden stays hidden";
}

TEST(Reveal, WhatStandsBeforeATargetIsFound) {
  // Along y: the eye, 1, the target 0, 2 behind it; 3 beside it.
  const Scene scene = test::boxes({{{0, 0, 0}, 1}, {{0, -3, 0}, 1}, {{0, 3, 0}, 1}, {{4, -3, 0}, 1}, {{0, 0, 0}, 20}});
  const Solids solids(scene);
  Camera camera;
  camera.look(StandardView::front);
  camera.frame(scene.bounds, 1);
  EXPECT_EQ(standing_before(solids, std::vector<std::uint32_t>{0}, camera, 1), (std::vector<std::uint32_t>{1, 4}));
  camera.orthographic = true;
  EXPECT_EQ(standing_before(solids, std::vector<std::uint32_t>{0}, camera, 1), (std::vector<std::uint32_t>{1, 4}));
}

TEST(Reveal, ClippingCutsTheHalfThatFacesTheCamera) {
  for (const StandardView view : {StandardView::front, StandardView::back, StandardView::left, StandardView::right,
                                  StandardView::top, StandardView::bottom, StandardView::iso}) {
    Camera camera;
    camera.look(view);
    const ClipPlane plane = facing_plane(camera.forward());
    EXPECT_LT(plane.normal.dot(camera.forward()), -0.5) << static_cast<int>(view);
    for (int axis = 0; axis != 3; ++axis)
      EXPECT_LE(facing_plane(camera.forward(), axis).normal.dot(camera.forward()), 0);
  }
}

TEST(Reveal, ABoxHasTwelveEdgesAndASphereNone) {
  const Scene box = test::boxes({{{0, 0, 0}, 1}});
  EXPECT_EQ(feature_edges(box.meshes[0]).size(), 12U);
  Mesh open = box.meshes[0];
  open.triangles.resize(10);  // without one side
  EXPECT_EQ(feature_edges(open).size(), 12U);
  const Scene sphere = load(test::data("water_sphere.dae"));
  std::size_t round = 0;
  for (const Mesh& mesh : sphere.meshes) round += feature_edges(mesh).empty() && mesh.triangles.size() > 100;
  EXPECT_GT(round, 0U);
}

TEST(Framing, TheFreePartOfTheImageIsOneForDrawingAndForRays) {
  Camera camera;
  camera.look(StandardView::iso);
  camera.target = {1, 2, 3};
  camera.distance = 50;
  camera.free_middle = {0.2, -0.1};
  for (const bool orthographic : {false, true}) {
    camera.orthographic = orthographic;
    EXPECT_LT((camera.project(camera.target, 1.5).head<2>() - camera.free_middle).norm(), 1e-12);
    const Eigen::Vector3d point(4, -3, 9);
    const Eigen::Vector3d seen = camera.project(point, 1.5);
    const auto [origin, direction] = camera.rays(1.5).ray(seen.x(), seen.y());
    EXPECT_LT((point - origin).normalized().cross(direction.normalized()).norm(), 1e-9);
    Eigen::Vector4d eye_space;
    eye_space << camera.rotation() * (point - camera.eye()), 1;
    const Eigen::Vector4d clip = camera.projection(1.5, {}) * eye_space;
    EXPECT_LT((clip.head<2>() / clip.w() - seen.head<2>()).norm(), 1e-9);
  }
}

TEST(Framing, KnowsThePanels) {
  const Scene scene = test::boxes({{{0, 0, 0}, 1}, {{5, 0, 0}, 1}});
  ViewOptions options;
  options.files = {"boxes.dae"};
  ViewerState state(options, {1000, 500});
  state.show(std::make_shared<const Scene>(scene));
  const auto extent = [&] {
    Bounds seen;
    for (const std::uint32_t i : {0U, 1U})
      for (const Float3& v : scene.meshes[0].vertices)
        seen.add(state.camera().project(to_eigen(scene.instances[i].transform) * Eigen::Vector3d(v.x, v.y, v.z), 2));
    return seen;
  };
  EXPECT_NEAR(extent().min.x + extent().max.x, 0, 0.02);
  EXPECT_GT(std::max(extent().max.x, extent().max.y), 0.85) << "all of the width, or of the height";
  state.viewpoint().set_free_part({0.4, 0}, {0.8, 1});  // from -0.2 to 0.6
  EXPECT_NEAR(extent().min.x, -0.2, 0.05);
  EXPECT_NEAR(extent().max.x, 0.6, 0.05);
  EXPECT_GE(extent().min.x, -0.2);
  EXPECT_LE(extent().max.x, 0.6);
  EXPECT_NEAR(extent().min.y + extent().max.y, 0, 0.02);
  const double distance = state.camera().distance;
  state.viewpoint().move([](Camera& camera) { camera.orbit(0.1, 0); });
  state.viewpoint().set_free_part({0, 0}, {1, 1});
  EXPECT_EQ(state.camera().distance, distance) << "what was moved by hand stays";
}

/// A ball of unit radius by stacks and slices, somewhere.
Scene ball(const Eigen::Vector3d& center) {
  constexpr std::uint32_t kStacks = 24, kSlices = 48;
  Scene scene;
  scene.meshes.emplace_back();
  Mesh& mesh = scene.meshes[0];
  for (std::uint32_t i = 0; i <= kStacks; ++i)
    for (std::uint32_t k = 0; k < kSlices; ++k) {
      const double polar = std::numbers::pi * i / kStacks, around = 2 * std::numbers::pi * k / kSlices;
      mesh.vertices.push_back({static_cast<float>(std::sin(polar) * std::cos(around)),
                               static_cast<float>(std::sin(polar) * std::sin(around)),
                               static_cast<float>(std::cos(polar))});
    }
  for (std::uint32_t i = 0; i < kStacks; ++i)
    for (std::uint32_t k = 0; k < kSlices; ++k) {
      const std::uint32_t a = i * kSlices + k, b = i * kSlices + (k + 1) % kSlices;
      mesh.triangles.push_back({a, a + kSlices, b + kSlices});
      mesh.triangles.push_back({a, b + kSlices, b});
    }
  mesh.parts.push_back({0, static_cast<std::uint32_t>(mesh.triangles.size())});
  scene.materials.emplace_back();
  scene.bindings = {{0}};
  scene.instances.emplace_back();
  scene.instances[0].transform = Transform::Translation(center);
  scene.bounds.add(center - Eigen::Vector3d(1, 1, 1));
  scene.bounds.add(center + Eigen::Vector3d(1, 1, 1));
  return scene;
}

class RevealOffscreen : public WithContext {
 protected:
  /// Pixels of each solid.
  std::map<std::uint32_t, int> open(const Scene& scene, ViewOptions options, const char* hide = "") {
    Solids solids(scene);
    if (*hide != 0) solids.set_visible(find_solids(scene, hide), false);
    const Opening view = open_view(options, solids, {}, static_cast<double>(kSize.width) / kSize.height);
    renderer_->set_scene(scene);
    renderer_->set_looks(looks(solids, view.settings, view.in_the_way));
    renderer_->draw(view.camera, view.settings);
    image_ = renderer_->read();
    ids_ = renderer_->ids(view.camera, view.settings);
    std::map<std::uint32_t, int> pixels;
    for (const auto& id : ids_.ids)
      if (id[0] != 0) ++pixels[id[0] - 1];
    return pixels;
  }
  Image image_;
  IdImage ids_;
};

TEST_F(RevealOffscreen, ASphereStandsInTheMiddle) {
  for (const bool orthographic : {false, true}) {
    ViewOptions options;
    options.camera.orthographic = orthographic;
    (void)open(ball({30, -20, 10}), options);
    int low_x = 1000, high_x = -1, low_y = 1000, high_y = -1;
    for (int y = 0; y < ids_.height; ++y)
      for (int x = 0; x < ids_.width; ++x) {
        if (ids_.ids[static_cast<std::size_t>(y * ids_.width + x)][0] == 0) continue;
        low_x = std::min(low_x, x), high_x = std::max(high_x, x);
        low_y = std::min(low_y, y), high_y = std::max(high_y, y);
      }
    EXPECT_NEAR(0.5 * (low_x + high_x), 0.5 * (kSize.width - 1), 0.01 * kSize.width);
    EXPECT_NEAR(0.5 * (low_y + high_y), 0.5 * (kSize.height - 1), 0.01 * kSize.height);
    EXPECT_GT(high_y - low_y, 0.85 * kSize.height);
  }
}

TEST_F(RevealOffscreen, ADetectorOpensSoThatItsSensorsAreSeen) {
  const Scene scene = load(test::data("detector.dae"));
  int sensors = 0, seen = 0;
  for (const auto& [solid, pixels] : open(scene, {}))
    if (scene.solid_name(scene.instances[solid]).starts_with("Sensor")) {
      sensors += pixels > 3;
      seen += pixels;
    }
  EXPECT_GT(sensors, 60) << "of a hundred";
  EXPECT_GT(seen, kSize.width * kSize.height / 20);
  // The shells are hardly seen, and seen all the same.
  ViewOptions without;
  without.settings.shells = Shells::hidden;
  const Image faint = image_;
  (void)open(scene, without);
  const Difference difference = compare(faint, image_, 2);
  EXPECT_GT(difference.share, 0.1);
  EXPECT_LT(difference.mean, 0.15);
}

TEST_F(RevealOffscreen, AClippingBoxHidesNothingThatItIsPutAround) {
  const Scene scene = load(test::data("detector.dae"));
  ViewOptions boxed;
  boxed.solids.clip_box = "Sensor_*";
  const auto sensors = [&](const ViewOptions& options) {
    std::size_t seen = 0;
    for (const auto& [solid, pixels] : open(scene, options))
      seen += scene.solid_name(scene.instances[solid]).starts_with("Sensor") && pixels > 3;
    return seen;
  };
  EXPECT_GE(sensors(boxed), sensors({}));
}

TEST_F(RevealOffscreen, AFocusShowsAllOfItsTargets) {
  const Scene scene = load(test::data("detector.dae"));
  ViewOptions options;
  options.solids.focus = "Sensor_12*";
  const auto pixels = open(scene, options);
  const std::vector<std::uint32_t> targets = find_solids(scene, options.solids.focus);
  ASSERT_GT(targets.size(), 0U);
  for (const std::uint32_t i : targets) EXPECT_TRUE(pixels.contains(i)) << scene.path(scene.instances[i]);
}

}  // namespace
}  // namespace raylift::viewer
