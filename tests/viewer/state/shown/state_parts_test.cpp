// SPDX-License-Identifier: Apache-2.0
// The parts of the viewer's state, each by itself. No GL.
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/photon/parse_source.h>

#include <memory>
#include <vector>

#include "state/shown/appearance.h"
#include "state/shown/clipping.h"
#include "state/shown/light_state.h"
#include "state/shown/measuring.h"
#include "state/shown/messages.h"
#include "state/shown/remembered.h"
#include "state/shown/selection.h"
#include "state/shown/viewpoint.h"
#include "viewer/remote/outside_scene.h"

namespace raylift::viewer {
namespace {

using Solid = std::vector<std::uint32_t>;

/// Three boxes, the first of which encloses the others.
class StateParts : public testing::Test {
 protected:
  StateParts() { shown_.set_scene(three_boxes()); }
  [[nodiscard]] Look look(std::size_t solid) const { return static_cast<Look>(appearance_.looks()[solid]); }
  /// Whether work raises the revision.
  template <class Work>
  bool changes(const Work& work) {
    const std::uint64_t before = shown_.revision;
    work();
    return shown_.revision != before;
  }

  ShownScene shown_{Settings(), {640, 480}};
  Selection selection_{shown_};
  Appearance appearance_{shown_, selection_};
  Viewpoint viewpoint_{shown_, selection_, appearance_};
};

TEST(StateMessages, AMessageReplacesAnErrorAndCancelledWorkHasNone) {
  Messages messages;
  messages.attempt([] { throw Error(ErrorKind::cancelled, "stopped"); });
  EXPECT_EQ(messages.failures(), 0U);
  messages.attempt([] { throw Error(ErrorKind::io, "no file"); });
  messages.attempt([] { throw std::bad_alloc(); });
  EXPECT_EQ(messages.failures(), 2U);
  EXPECT_EQ(messages.failure()->kind(), ErrorKind::out_of_host_memory);
  EXPECT_NE(messages.error().find("no memory left"), std::string::npos);
  messages.show("done");
  EXPECT_EQ(messages.error(), "");
  EXPECT_EQ(messages.text(), "done");
}

TEST_F(StateParts, SelectionOfAGroupHasTheSolidsBelowIt) {
  EXPECT_FALSE(selection_);
  EXPECT_TRUE(changes([&] { selection_.select_group(0); }));
  EXPECT_EQ(selection_->solids, Solid({0, 1, 2}));
  EXPECT_EQ(selection_->instance, kNone);
  const std::uint64_t group = selection_.version();
  selection_.select(2);
  EXPECT_EQ((*selection_).name, "pmt_2");
  EXPECT_FALSE(selection_->clicked);
  EXPECT_EQ(selection_->inside, "Glass");
  EXPECT_GT(selection_.version(), group);
  ASSERT_TRUE(selection_.facts_request(nullptr));
  EXPECT_EQ(selection_.facts_request(nullptr)->solids, Solid{2});
  selection_.set_facts(group, {});
  EXPECT_FALSE(selection_.facts()) << "of an earlier selection";
  selection_.set_facts(selection_.version(), {});
  EXPECT_FALSE(selection_.facts_request(nullptr)) << "all that is known without the check";
  EXPECT_TRUE(selection_.facts_request(std::make_shared<const SceneCheck>())) << "volumes";
}

TEST_F(StateParts, SelectionByAClickHasTheTriangle) {
  selection_.select(Picked{1, 4}, Cursor{0, 0, {640, 480}});
  EXPECT_EQ(selection_->triangle, 4U);
  EXPECT_TRUE(selection_->clicked);
  selection_.select(std::optional<Picked>(), Cursor{});
  EXPECT_FALSE(selection_);
}

TEST_F(StateParts, AppearanceHidesStylesAndUndoes) {
  appearance_.set_style(Style::glass);
  EXPECT_FALSE(shown_.solids->has_styles()) << "nothing is selected";
  selection_.select(1);
  const std::uint64_t before = appearance_.version();
  appearance_.set_style(Style::glass);
  EXPECT_EQ(look(1), Look::glass);
  EXPECT_GT(appearance_.version(), before);
  appearance_.ghost_others();
  EXPECT_FALSE(shown_.solids->has_styles()) << "there were styles: none is left";
  appearance_.ghost_others();
  EXPECT_EQ(look(2), Look::faint);
  appearance_.undo();
  EXPECT_EQ(look(2), Look::solid);
  appearance_.hide_selection();
  EXPECT_EQ(look(1), Look::hidden);
  EXPECT_FALSE(selection_);
  EXPECT_NE(shown_.messages.text().find("Ctrl+Z"), std::string::npos) << "a newcomer reads how it comes back";
  while (shown_.solids->can_undo()) {
    appearance_.undo();
    EXPECT_EQ(shown_.messages.text(),
              shown_.solids->can_undo() ? "undone; Ctrl+Z again undoes the change before" : "undone");
  }
  appearance_.undo();
  EXPECT_EQ(shown_.messages.text(), "nothing to undo");
  selection_.select(2);
  appearance_.hide_selection(true);
  EXPECT_EQ(look(2), Look::hidden);
  EXPECT_TRUE(selection_);
  appearance_.undo();
  appearance_.set_in_the_way({2});
  EXPECT_EQ(look(2), Look::faint);
  appearance_.set_in_the_way({});
  EXPECT_EQ(look(2), Look::solid);
}

TEST_F(StateParts, ViewpointFramesAnewUntilItIsMoved) {
  viewpoint_.frame_all();
  const double all = shown_.camera.distance;
  selection_.select(1);
  viewpoint_.focus_selection();
  EXPECT_LT(shown_.camera.distance, 0.5 * all);
  EXPECT_TRUE(viewpoint_.moving());
  viewpoint_.focus_alone(Solid{1});
  EXPECT_EQ(look(2), Look::faint);
  const double wide = shown_.camera.distance;
  EXPECT_TRUE(changes([&] { viewpoint_.set_framebuffer({160, 480}); }));
  EXPECT_GT(shown_.camera.distance, wide) << "framed anew in a narrow image";
  EXPECT_FALSE(changes([&] { viewpoint_.set_framebuffer({160, 480}); }));
  viewpoint_.move([](Camera& camera) { camera.distance = 7; });
  viewpoint_.set_free_part({0.5, 0}, {1, 1});
  EXPECT_EQ(shown_.camera.distance, 7) << "moved by hand";
  viewpoint_.set(Camera());
  EXPECT_EQ(shown_.camera.free_share.x(), 0.5) << "panels stay where they are";
}

TEST_F(StateParts, ViewpointGoesHomeToExactlyTheFirstView) {
  viewpoint_.look(StandardView::iso);
  viewpoint_.frame_all();
  viewpoint_.set_home();
  const Camera first = shown_.camera;
  viewpoint_.go_home();
  EXPECT_EQ(shown_.camera, first);
  // Clipping opens what was faint, and cuts what was framed.
  shown_.settings.clip = parse_clip("x=-250");
  viewpoint_.look(StandardView::front);
  EXPECT_NE(shown_.camera, first);
  selection_.select(2);
  viewpoint_.focus_selection();
  appearance_.hide_selection();
  viewpoint_.go_home();
  EXPECT_EQ(shown_.camera, first);
  EXPECT_NE(look(1), Look::faint) << "nothing is in the way";
  viewpoint_.set_framebuffer({160, 480});
  EXPECT_NE(shown_.camera, first);
  viewpoint_.set_framebuffer({640, 480});
  EXPECT_EQ(shown_.camera, first) << "framed anew, as it was";
  viewpoint_.set_orthographic(true);
  viewpoint_.go_home();
  EXPECT_TRUE(shown_.camera.orthographic) << "the projection is no part of the view";
}

TEST_F(StateParts, ViewpointFliesWithinLimits) {
  viewpoint_.change_fly_speed(1);
  EXPECT_EQ(viewpoint_.fly_speed(), 1.25);
  viewpoint_.change_fly_speed(-1);
  EXPECT_EQ(viewpoint_.fly_speed(), 1);
  viewpoint_.change_fly_speed(1000);
  EXPECT_EQ(viewpoint_.fly_speed(), kFastestFly);
}

TEST_F(StateParts, ClippingFitsTheBoxToTheSelection) {
  Clipping clipping(shown_, selection_, appearance_);
  EXPECT_TRUE(changes([&] { clipping.toggle_box(); }));
  const double all = to_eigen(shown_.settings.clip_box->box.size()).norm();
  clipping.toggle_box();
  EXPECT_FALSE(shown_.settings.clip_box);
  shown_.settings.set_clip_box({Bounds(), true});
  selection_.select(1);
  clipping.fit_box();
  EXPECT_LT(to_eigen(shown_.settings.clip_box->box.size()).norm(), 0.5 * all);
  EXPECT_TRUE(shown_.settings.clip_box->away) << "it still cuts what is inside";
  shown_.solids->set_visible(Solid{0, 1, 2}, false);
  selection_.select(std::nullopt);
  EXPECT_FALSE(changes([&] { clipping.fit_box(); })) << "nothing is shown";
  EXPECT_NE(shown_.messages.text().find("nothing"), std::string::npos);
}

TEST_F(StateParts, MeasuringBeginsAndEndsWithoutPoints) {
  Measuring measuring(shown_);
  measuring.set_points({{1, 2, 3}});
  measuring.set_active(true);
  EXPECT_TRUE(measuring.active());
  EXPECT_TRUE(shown_.settings.measured.empty());
  viewpoint_.look(StandardView::front);
  const Cursor middle{320, 240, {640, 480}};
  for (std::size_t i = 0; i != kMaxMeasured + 1; ++i) measuring.add({{{1, 4}}, true}, middle, false);
  EXPECT_EQ(shown_.settings.measured.size(), 1U) << "after the last point it is the first";
  EXPECT_NEAR(shown_.settings.measured[0].y(), -50, 1e-6) << "on the triangle";
  EXPECT_FALSE(changes([&] { measuring.add({}, middle, false); }));
  measuring.set_active(false);
  EXPECT_TRUE(shown_.settings.measured.empty());
}

TEST_F(StateParts, LightIsOfAFileOrOfASource) {
  ViewOptions options;
  LightState light(shown_, options);
  EXPECT_TRUE(light.origin().empty());
  EXPECT_THROW(light.set_source("nowhere"), Error);
  light.set_source("point:0,0,50");
  ASSERT_TRUE(light.request());
  light.move_source(10, 0, {640, 480});
  EXPECT_GT(light.request()->moved.norm(), 0);
  ASSERT_TRUE(light.source_position());
  EXPECT_EQ(*light.source_position(), Eigen::Vector3d(0, 0, 50) + light.request()->moved);
  EXPECT_EQ(shown_.settings.source, light.source_position()) << "it is marked";
  EXPECT_NE(light.source_text(), "point:0,0,50");
  EXPECT_LT((to_eigen(photon::parse_source(light.source_text()).center) - *light.source_position()).norm(), 2e-3);
  light.open_photons("/run", "/other");
  EXPECT_FALSE(light.request());
  EXPECT_FALSE(shown_.settings.source);
  EXPECT_EQ(light.origin().photons, "/run");
  const std::uint64_t requests = light.photon_requests();
  light.go_to(light.origin());
  EXPECT_EQ(light.photon_requests(), requests) << "they are shown already";
  light.go_to({"", "", "point:0,0,50", {0, 0, 5}});
  EXPECT_EQ(light.request()->moved, Eigen::Vector3d(0, 0, 5));
}

TEST_F(StateParts, LightPlaysItsTimes) {
  ViewOptions options;
  LightState light(shown_, options);
  light.play(true);
  EXPECT_FALSE(light.playing()) << "there are no photons";
  auto set = std::make_shared<PhotonSet>();
  set->times.add(2);
  set->times.add(12);
  light.set_photons(set);
  light.play(true);
  EXPECT_EQ(shown_.settings.photons.time, 2);
  shown_.settings.photons.speed = 1;
  light.advance(0.5);
  EXPECT_EQ(shown_.settings.photons.time, 2.5);
  shown_.settings.photons.loop = false;
  light.advance(100);
  EXPECT_FALSE(light.playing());
  EXPECT_EQ(shown_.settings.photons.time, 12);
  light.step_time(-0.1);
  ASSERT_TRUE(shown_.settings.photons.time);
  EXPECT_NEAR(*shown_.settings.photons.time, 11, 1e-6);
}

}  // namespace
}  // namespace raylift::viewer
