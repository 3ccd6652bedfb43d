// SPDX-License-Identifier: Apache-2.0
// The clipping box: its text, what it hides and what it cuts away, drawn and cast; its handles; what keeps it.
#include "model/solids/clip_box.h"

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/eigen.h>

#include <memory>
#include <string>
#include <vector>

#include "model/solids/reveal.h"
#include "rays/ray_caster.h"
#include "state/options/view_options.h"
#include "support/boxes.h"
#include "support/paths.h"
#include "viewer/rays/with_rays.h"
#include "viewer/remote/with_outside.h"
#include "viewer/window/typed.h"
#include "window/controls/controls.h"

namespace raylift::viewer {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;

Bounds box(const Vector3d& low, const Vector3d& high) {
  Bounds bounds;
  bounds.add(low);
  bounds.add(high);
  return bounds;
}

TEST(ClipBox, IsReadAsItIsWritten) {
  const Bounds some = box({-1.0 / 3, -802110.25, 1e-7}, {2, -3, 1e12});
  const auto again = parse_box(box_text(some));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->min, some.min);
  EXPECT_EQ(again->max, some.max);
  for (const char* other : {"", "pmt_1", "1,2,3", "1,2,3,4,5", "1,2,3,4,5,6,7", "1,2,3,4,5,x", "a,b,c,d,e,f"})
    EXPECT_FALSE(parse_box(other)) << other;
  for (const char* empty : {"1,2,3,4,5,3", "1,2,3,0,5,6"}) EXPECT_THROW((void)parse_box(empty), Error) << empty;
}

TEST(ClipBox, ItsPlanesLeaveWhatIsInside) {
  const ClipBox clip{box({1, 2, 3}, {4, 6, 8}), false};
  const std::vector<ClipPlane> planes = clip.planes();
  ASSERT_EQ(planes.size(), kMaxPlanes);
  const auto left = [&](const Vector3d& p) {
    for (const ClipPlane& plane : planes)
      if (plane.normal.dot(p) > *plane.offset) return false;
    return true;
  };
  for (const double x : {0.5, 2.0, 4.5})
    for (const double y : {1.5, 3.0, 6.5})
      for (const double z : {2.5, 5.0, 8.5}) EXPECT_EQ(left({x, y, z}), x == 2 && y == 3 && z == 5);
  Settings settings;
  settings.clip = parse_clip("x");
  settings.more_clips = {parse_clip("y")};
  settings.set_clip_box(clip);
  EXPECT_EQ(settings.planes(), planes);
  EXPECT_FALSE(settings.clip) << "the box takes all planes";
  settings.set_planes(std::vector{parse_clip("z")});
  EXPECT_EQ(settings.planes().size(), 1U);
  EXPECT_FALSE(settings.clip_box);
}

TEST(ClipBox, IsFoundAroundSolids) {
  const Scene scene = test::drawn_boxes({{{0, 0, 0}, 10}, {{100, 0, 0}, 20}, {{0, 50, 0}, 2}});
  const Solids solids(scene);
  const Bounds found = box_around(solids, std::vector<std::uint32_t>{1, 2});
  const Vector3d low(-1, -10, -10), high(110, 51, 10);
  const double margin = 0.01 * (high - low).norm();
  EXPECT_LT((to_eigen(found.min) - (low - Vector3d::Constant(margin))).norm(), 1e-9);
  EXPECT_LT((to_eigen(found.max) - (high + Vector3d::Constant(margin))).norm(), 1e-9);
  EXPECT_EQ(find_box(solids, "-1,-2,-3,1,2,3").max, Vector3d(1, 2, 3));
  EXPECT_THROW((void)find_box(solids, "missing"), Error);
  EXPECT_TRUE(box_around(solids, {}).empty());
}

TEST(ClipBox, ARayEntersWhatIsLeft) {
  Settings settings;
  settings.set_clip_box({box({-1, -1, -1}, {1, 1, 1}), false});
  const Vector3d from(-5, 0.2, 0.3), along(1, 0, 0);
  EXPECT_LT((clip_entry(settings, {}, from, along) - Vector3d(-1, 0.2, 0.3)).norm(), 1e-12);
  settings.clip_box->away = true;
  EXPECT_LT((clip_entry(settings, {}, from, along) - Vector3d(1, 0.2, 0.3)).norm(), 1e-12) << "behind the box";
}

TEST(ClipBox, IsAnOption) {
  const auto scene = three_boxes();
  const Solids solids(*scene);
  const auto opened = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"a.dae", "--no-config"});
    return open_view(typed(std::move(arguments)), solids, {}, 1).settings;
  };
  EXPECT_FALSE(opened({}).clip_box);
  const Settings corners = opened({"--clip-box=-1,-2,-3,4,5,6"});
  ASSERT_TRUE(corners.clip_box);
  EXPECT_EQ(corners.clip_box->box.min, Vector3d(-1, -2, -3));
  EXPECT_EQ(corners.clip_box->box.max, Vector3d(4, 5, 6));
  EXPECT_FALSE(corners.cuts_away());
  const Settings pattern = opened({"--clip-box", "pmt_1", "--clip-box-away"});
  ASSERT_TRUE(pattern.clip_box);
  EXPECT_EQ(pattern.clip_box->box.min, box_around(solids, std::vector<std::uint32_t>{1}).min);
  EXPECT_TRUE(pattern.cuts_away());
  EXPECT_THROW((void)opened({"--clip-box", "missing"}), Error);
  EXPECT_THROW((void)opened({"--clip-box", "1,2,3,1,2,3"}), Error);
  EXPECT_THROW((void)opened({"--clip-box", "pmt_1", "--clip", "x"}), Error) << "it takes all planes";
}

TEST(ClipBox, TheCommandLineWinsOverTheConfiguration) {
  const test::TemporaryFolder folder;
  const auto scene = three_boxes();
  const Solids solids(*scene);
  const auto opened = [&](const char* text, std::vector<std::string> arguments) {
    const std::string file = folder.write("view.json", text);
    arguments.insert(arguments.begin(), {"a.dae", "--config", file});
    return open_view(typed(std::move(arguments)), solids, {}, 1);
  };
  const char* boxed = R"({"clip-box": "pmt_2"})";
  EXPECT_TRUE(opened(boxed, {}).settings.clip_box);
  EXPECT_FALSE(opened(boxed, {"--clip-box", "off"}).settings.clip_box);
  const Settings plane = opened(boxed, {"--clip", "x"}).settings;
  EXPECT_FALSE(plane.clip_box);
  EXPECT_EQ(plane.planes().size(), 1U);
  EXPECT_TRUE(opened(R"({"clip": "facing"})", {"--clip-box", "pmt_2"}).settings.clip_box);
  EXPECT_EQ(opened(R"({"clip-box": "missing"})", {}).notes.warnings.size(), 1U) << "for any scene";
}

class BoxHandles : public testing::Test {
 protected:
  BoxHandles() {
    camera_.look(Vector3d(1, 2, -0.7), Vector3d(0, 0, 1));
    camera_.target = {5, 5, 5};
    camera_.distance = 60;
  }
  [[nodiscard]] Cursor at(const Vector2d& place) const { return {place.x(), place.y(), window_}; }

  Camera camera_;
  Bounds box_ = box({0, 0, 0}, {10, 10, 10});
  Resolution window_{800, 600};
};

TEST_F(BoxHandles, AreWhereTheFacesAreSeen) {
  for (const bool orthographic : {false, true}) {
    camera_.orthographic = orthographic;
    const auto handles = box_handles(camera_, box_, window_);
    for (std::size_t face = 0; face != handles.size(); ++face) {
      Vector3d middle(5, 5, 5);
      middle[static_cast<Eigen::Index>(face / 2)] = face % 2 == 0 ? 0 : 10;
      const auto [origin, direction] = cursor_ray(camera_, at(handles[face].place));
      EXPECT_LT((middle - origin).cross(direction).norm(), 1e-9) << "the ray through it meets the middle of its face";
      EXPECT_TRUE(handles[face].movable);
      EXPECT_EQ(handle_under(camera_, box_, at(handles[face].place + Vector2d(3, -4))), face);
    }
    EXPECT_FALSE(handle_under(camera_, box_, {10, 10, window_}));
  }
}

TEST_F(BoxHandles, AFaceFollowsTheCursorAndPassesNoOther) {
  for (const bool orthographic : {false, true}) {
    camera_.orthographic = orthographic;
    for (std::size_t face = 0; face != kMaxPlanes; ++face) {
      // Where the handle of a box with that face would be.
      const auto axis = static_cast<int>(face / 2);
      Bounds wanted = box_;
      (face % 2 == 0 ? wanted.min : wanted.max)[axis] += face % 2 == 0 ? -2.5 : 3.5;
      const auto to = box_handles(camera_, wanted, window_)[face].place;
      const Bounds moved = with_face_at(camera_, box_, face, at(to), 0.1);
      EXPECT_LT(
          (to_eigen(moved.min) - to_eigen(wanted.min)).norm() + (to_eigen(moved.max) - to_eigen(wanted.max)).norm(),
          1e-9)
          << face;
      Bounds beyond = box_;
      (face % 2 == 0 ? beyond.min : beyond.max)[axis] += face % 2 == 0 ? 14 : -14;
      const auto far = box_handles(camera_, beyond, window_)[face].place;
      EXPECT_NEAR(with_face_at(camera_, box_, face, at(far), 0.1).size()[axis], 0.1, 1e-9);
    }
  }
}

TEST_F(BoxHandles, AreFixedWhereTheCameraLooksAlongTheirWay) {
  camera_.look(StandardView::front);
  camera_.orthographic = true;
  const auto handles = box_handles(camera_, box_, window_);
  for (std::size_t face = 0; face != handles.size(); ++face) EXPECT_EQ(handles[face].movable, face / 2 != 1) << face;
  const Bounds same = with_face_at(camera_, box_, 2, at(handles[2].place + Vector2d(50, 50)), 0.1);
  EXPECT_EQ(same.min, box_.min);
  EXPECT_EQ(same.max, box_.max);
  camera_.orthographic = false;
  camera_.target = {5, 100, 5};
  camera_.distance = 10;
  for (const BoxHandle& handle : box_handles(camera_, box_, window_)) EXPECT_FALSE(handle.movable) << "behind the eye";
}

class ClipBoxState : public Outside {
 protected:
  void press(const char* key, bool control = false) {
    find_control(Control::Kind::key, key, control, false)->act(target_, {});
  }
};

TEST_F(ClipBoxState, IsPutAroundWhatIsSelectedOrShown) {
  const Bounds shown = box_around(*state_.solids(), shown_solid(state_.appearance().looks()));
  press("X", true);
  ASSERT_TRUE(state_.settings().clip_box);
  EXPECT_EQ(state_.settings().clip_box->box.min, shown.min);
  press("X", true);
  EXPECT_TRUE(state_.settings().planes().empty());
  state_.selection().select(2);
  press("X", true);
  const Bounds around = box_around(*state_.solids(), std::vector<std::uint32_t>{2});
  EXPECT_EQ(state_.settings().clip_box->box.min, around.min);
  EXPECT_EQ(state_.appearance().looks()[0], static_cast<std::uint8_t>(Look::faint))
      << "what encloses all would hide it";
  press("X");
  EXPECT_TRUE(state_.settings().planes().empty()) << "X takes it away too";
  press("X", true);
  const ControlEvent dragged = [&] {
    ControlEvent event;
    event.face = 5;
    Bounds higher = around;
    higher.max.z += 30;
    const Resolution window{640, 480};
    const auto place = box_handles(state_.camera(), higher, window)[5].place;
    event.cursor = {place.x(), place.y(), window};
    return event;
  }();
  const std::uint64_t revision = state_.revision();
  find_control(Control::Kind::drag, "drag of a handle", true, false)->act(target_, dragged);
  EXPECT_NEAR(state_.settings().clip_box->box.max.z, around.max.z + 30, 1e-6);
  EXPECT_GT(state_.revision(), revision);
  EXPECT_TRUE(state_.viewpoint().moving()) << "slow images are drawn with fewer pixels meanwhile";
}

TEST_F(ClipBoxState, IsAskedForByTheVerb) {
  const Json reply = call("clip", {{"box", "-1,-2,-3,4,5,6"}});
  EXPECT_EQ(reply, Json::parse(R"({"planes": [], "box": {"min": [-1.0, -2.0, -3.0], "max": [4.0, 5.0, 6.0],
                                                        "away": false}})"));
  EXPECT_EQ(call("state")["box"], reply["box"]);
  EXPECT_EQ(call("clip", {{"away", true}})["box"]["away"], true);
  EXPECT_EQ(call("clip", {{"box", "pmt_1"}})["box"]["away"], true) << "what is left out stays";
  EXPECT_EQ(state_.settings().clip_box->box.max, box_around(*state_.solids(), std::vector<std::uint32_t>{1}).max);
  const std::uint64_t revision = state_.revision();
  for (const char* wrong : {R"({})", R"({"box": "missing"})", R"({"box": "1,2,3,1,2,3"})",
                            R"({"box": "pmt_1", "planes": "x"})", R"({"planes": "x", "away": true})"})
    EXPECT_EQ(code(ask(request("clip", Json::parse(wrong)))), kRaylift) << wrong;
  EXPECT_EQ(state_.revision(), revision);
  EXPECT_TRUE(call("clip", {{"planes", "off"}})["box"].is_null());
  EXPECT_EQ(code(ask(request("clip", {{"away", true}}))), kRaylift) << "there is no box any more";
}

TEST_F(ClipBoxState, IsKeptByBookmarks) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "bookmarks.json";
  Bookmark kept;
  kept.name = "boxed";
  kept.settings.set_clip_box({box({-1.0 / 3, 2, 3}, {4, 5, 6}), true});
  Bookmarks(file, "a.dae").add(kept);
  const Bookmarks again(file, "a.dae");
  ASSERT_EQ(again.all().size(), 1U);
  EXPECT_EQ(again.all()[0].settings.clip_box, kept.settings.clip_box);
  state_.change_settings([](Settings& s) { s.clip = parse_clip("x"); });
  state_.go_to(again.all()[0]);
  EXPECT_EQ(state_.settings().clip_box, kept.settings.clip_box);
  state_.go_to(Bookmark());
  EXPECT_FALSE(state_.settings().clip_box);
}

class ClipBoxImage : public WithRays {
 protected:
  void show(Scene scene, const Vector3d& along) {
    WithRays::show(std::move(scene));
    camera_.look(along, Vector3d(0, 0, 1));
    frame_scene();
  }
  /// Solid + 1 under a point of the world, drawn and cast.
  std::uint32_t seen_at(const Vector3d& p) {
    const Vector3d at = camera_.project(p, static_cast<double>(kSize.width) / kSize.height);
    const auto x = static_cast<int>(0.5 * (1 + at.x()) * kSize.width);
    const auto y = static_cast<int>(0.5 * (1 - at.y()) * kSize.height);
    const IdImage drawn = renderer_->ids(camera_, settings_);
    const std::uint32_t solid = drawn.ids[static_cast<std::size_t>(y * kSize.width + x)][0];
    settings_.ray_cast = RayMode::solid;
    cast();
    EXPECT_EQ(caster_->solids()[static_cast<std::size_t>(y * kSize.width + x)], solid) << p.transpose();
    return solid;
  }
};

TEST_F(ClipBoxImage, ShowsWhatIsInsideOrOutside) {
  // A row along x, seen from the front: a large one with one inside, and one beside them.
  show(test::drawn_boxes({{{0, 0, 0}, 10}, {{0, 0, 0}, 4}, {{20, 0, 0}, 4}}), Vector3d(0, 1, 0));
  EXPECT_EQ(seen_at({0, 0, 0}), 1U);
  EXPECT_EQ(seen_at({20, 0, 0}), 3U);
  // Half of the large one is in the box, and the box reaches beyond its front.
  settings_.set_clip_box({box({-20, -20, -20}, {0.5, 0.5, 20}), false});
  EXPECT_EQ(seen_at({-1, 0, 0}), 1U);
  EXPECT_EQ(seen_at({3, 0, 0}), 0U);
  EXPECT_EQ(seen_at({20, 0, 0}), 0U);
  settings_.clip_box->away = true;
  EXPECT_EQ(seen_at({-1, 0, 0}), 2U) << "the cap of the one inside, at the far face of the box";
  EXPECT_EQ(seen_at({-4, 0, 0}), 1U) << "the cap of the large one";
  EXPECT_EQ(seen_at({3, 0, 0}), 1U);
  EXPECT_EQ(seen_at({20, 0, 0}), 3U);
  settings_.caps = false;
  EXPECT_EQ(seen_at({-1, 0, 0}), 2U) << "the far side of the one inside";
  settings_.clip_box->box.max.y = 20;
  EXPECT_EQ(seen_at({-1, 0, 0}), 0U) << "all of it is cut away";
  EXPECT_EQ(seen_at({3, 0, 0}), 1U);
}

TEST_F(ClipBoxImage, TheCameraMayStandInWhatIsCutAway) {
  show(test::drawn_boxes({{{0, 0, 0}, 100}, {{0, 20, 0}, 4}}), Vector3d(0, 1, 0));
  camera_.target = {0, 10, 0};
  camera_.distance = 10;
  settings_.set_clip_box({box({-30, -30, -30}, {30, 30, 30}), true});
  EXPECT_EQ(seen_at({0, 10, 0}), 1U) << "the cap behind the small one, which is cut away";
  settings_.clip_box->box.max.y = 15;
  EXPECT_EQ(seen_at({0, 10, 0}), 1U);
  settings_.clip_box->box.max.y = 20;
  EXPECT_EQ(seen_at({0, 15, 0}), 2U) << "its cap";
}

TEST_F(ClipBoxImage, RaysAgreeWithWhatIsDrawn) {
  show(load(test::data("detector.dae")), Vector3d(1, 2, -0.8));
  const Vector3d center = to_eigen(scene_->bounds.center()), size = to_eigen(scene_->bounds.size());
  for (const bool away : {false, true})
    for (const bool caps : {true, false})
      for (const bool orthographic : {false, true}) {
        settings_.caps = caps;
        camera_.orthographic = orthographic;
        settings_.set_clip_box({box(center - Vector3d(0.3, 0.6, 0.4).cwiseProduct(size),
                                    center + Vector3d(0.2, 0.1, 0.35).cwiseProduct(size)),
                                away});
        EXPECT_GE(agreement(), 0.995) << away << caps << orthographic;
      }
}

TEST_F(ClipBoxImage, WhatIsCutAwayCanNotBePickedNorHidesAnything) {
  show(test::drawn_boxes({{{0, -20, 0}, 10}, {{0, 0, 0}, 4}}), Vector3d(0, 1, 0));
  EXPECT_EQ(renderer_->pick(camera_, settings_, kSize.width / 2, kSize.height / 2)->instance, 0U);
  settings_.set_clip_box({box({-50, -50, -50}, {50, -10, 50}), true});
  EXPECT_EQ(renderer_->pick(camera_, settings_, kSize.width / 2, kSize.height / 2)->instance, 1U);
  // Every way to draw leaves it out: edges, lines, transparency.
  settings_.axes = settings_.scale_bar = false;
  settings_.clip_box->box.max.y = 50;
  settings_.background = parse_background("black");
  for (const auto& change :
       {+[](Settings&) {}, +[](Settings& s) { s.edges = true; }, +[](Settings& s) { s.set_feature_edges(true); },
        +[](Settings& s) { s.wireframe = true; }, +[](Settings& s) { s.opacity = 0.5F; }}) {
    Settings changed = settings_;
    change(changed);
    renderer_->draw(camera_, changed);
    int light = 0;
    for (const Pixel& pixel : renderer_->read().pixels) light += pixel[0] + pixel[1] + pixel[2];
    EXPECT_EQ(light, 0);
    changed.clip_box.reset();
    renderer_->draw(camera_, changed);
    for (const Pixel& pixel : renderer_->read().pixels) light += pixel[0] + pixel[1] + pixel[2];
    EXPECT_GT(light, 0);
  }
}

}  // namespace
}  // namespace raylift::viewer
