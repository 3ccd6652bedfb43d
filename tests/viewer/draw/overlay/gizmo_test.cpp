// SPDX-License-Identifier: Apache-2.0
// The ends of the axes in the corner are where they are drawn, and a click looks along one. What lies under the cursor
// is said in words.
#include <gtest/gtest.h>

#include "draw/overlay/overlay.h"
#include "state/shown/hover.h"
#include "viewer/remote/with_outside.h"
#include "window/controls/controls.h"

namespace raylift::viewer {
namespace {

constexpr Resolution kImage{800, 600};

TEST(Gizmo, HasAnEndForEachSignOfEachAxis) {
  Camera camera;
  camera.look(StandardView::front);  // x to the right, z upwards, y away
  const auto ends = gizmo_ends(camera, kImage);
  Settings settings;
  int found = 0;
  for (const GizmoEnd& end : ends) {
    const auto hit = gizmo_end_at(camera, settings, kImage, end.at);
    ASSERT_TRUE(hit);
    if (end.axis.y() != 0) {
      EXPECT_EQ(hit->axis, -Eigen::Vector3d::UnitY()) << "the nearer one hides the other";
    } else {
      EXPECT_EQ(hit->axis, end.axis);
      ++found;
    }
  }
  EXPECT_EQ(found, 4);
  EXPECT_FALSE(gizmo_end_at(camera, settings, kImage, {400, 300}));
  settings.axes = false;
  EXPECT_FALSE(gizmo_end_at(camera, settings, kImage, ends[0].at));
  EXPECT_FALSE(gizmo_end_at(camera, Settings(), {64, 48}, ends[0].at)) << "a thumbnail has none";
}

TEST(Gizmo, IsDrawnWhereItsEndsAre) {
  Camera camera;
  camera.look(StandardView::iso);
  Settings settings;
  settings.scale_bar = false;
  const Overlay overlay = make_overlay(camera, settings, kImage.width, kImage.height);
  for (const GizmoEnd& end : gizmo_ends(camera, kImage)) {
    const bool drawn = std::any_of(overlay.begin(), overlay.end(), [&](const OverlayItem& item) {
      return item.kind == OverlayItem::Kind::disc && (item.from - end.at).norm() < 0.5F &&
             std::abs(item.size - end.radius) < 2;
    });
    EXPECT_TRUE(drawn) << end.axis.transpose();
  }
}

class GizmoClick : public Outside {};

TEST_F(GizmoClick, LooksAlongTheAxisAtTheSameTarget) {
  state_.viewpoint().move([](Camera& camera) { camera.target = {1, 2, 3}; });
  const Control* click = find_control(Control::Kind::click, "click on an axis of the gizmo", false, false);
  ASSERT_NE(click, nullptr);
  for (int i = 0; i != 6; ++i) {
    ControlEvent event;
    event.axis = (i % 2 == 0 ? 1 : -1) * Eigen::Vector3d::Unit(i / 2);
    click->act(target_, event);
    EXPECT_LT((state_.camera().forward() + event.axis).norm(), 1e-6) << i;
    EXPECT_EQ(state_.camera().target, Eigen::Vector3d(1, 2, 3));
  }
}

TEST_F(GizmoClick, WhatLiesUnderTheCursorIsSaidWithTheDigitsThatAPixelHas) {
  ShownScene shown(Settings(), kImage);
  shown.set_scene(three_boxes());
  shown.camera.look(StandardView::front);
  shown.camera.target = {-300.0, 0, 20.0};
  shown.camera.distance = 1000;
  const HoverText text = hover_text(shown, {1, 4}, {400, 300, kImage});
  EXPECT_EQ(text.name, "pmt_1");
  EXPECT_EQ(text.material, "Glass");
  EXPECT_EQ(text.position, "-300.0  -50.0  20.0 mm");
  shown.camera.distance = 51;  // a pixel is a micrometre
  EXPECT_EQ(hover_text(shown, {1, 4}, {400, 300, kImage}).position, "-300.0000  -50.0000  20.0000 mm");
}

}  // namespace
}  // namespace raylift::viewer
