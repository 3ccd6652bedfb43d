// SPDX-License-Identifier: Apache-2.0
// Measured points snap to the vertices, edges and centres near the cursor, whose coordinates are known.
#include "state/shown/snapping.h"

#include <gtest/gtest.h>

#include "viewer/remote/outside_scene.h"

namespace raylift::viewer {
namespace {

constexpr Resolution kWindow{640, 480};
constexpr double kTolerance = 0.05;  // mm: a fifteenth of a pixel

/// The box "pmt_1" from (-350, -50, -50) to (-250, 50, 50), seen from the front: its face y = -50 has triangles 4
/// and 5.
class SnappingTest : public testing::Test {
 protected:
  SnappingTest() : shown_(Settings(), kWindow) {
    shown_.set_scene(three_boxes());
    shown_.camera.look(StandardView::front);
    shown_.camera.target = {-300, 0, 0};
    shown_.camera.distance = 500;
  }
  /// The cursor so many pixels right of and below a point of the world.
  [[nodiscard]] Cursor beside(const Eigen::Vector3d& p, double right, double below) const {
    const Eigen::Vector3d at = shown_.camera.project(p, shown_.aspect());
    return {0.5 * (1 + at.x()) * kWindow.width + right, 0.5 * (1 - at.y()) * kWindow.height + below, kWindow};
  }
  std::optional<SnapPoint> snapped(const Cursor& cursor, std::uint32_t triangle = 4, bool at_cursor = true) {
    const std::array picked{Picked{1, triangle}};
    return snapping_.find(shown_, picked, at_cursor, cursor);
  }
  using To = SnapPoint::To;
  static void expect(const std::optional<SnapPoint>& found, To to, const Eigen::Vector3d& point) {
    ASSERT_TRUE(found);
    EXPECT_EQ(found->to, to);
    EXPECT_LT((found->point - point).norm(), kTolerance) << found->point.transpose();
  }

  ShownScene shown_;
  Snapping snapping_;
};

TEST_F(SnappingTest, TakesTheVertexThatIsCloseInTheImage) {
  const Eigen::Vector3d corner(-350, -50, 50);
  expect(snapped(beside(corner, 5, 4)), To::vertex, corner);
  expect(snapped(beside(corner, -4, -4), 4, false), To::vertex, corner);  // from outside of the box
  // Along the edge, out of the vertex's reach.
  const auto edge = snapped(beside({-320, -50, 50}, 0, 5));
  expect(edge, To::edge, {-320, -50, 50});
}

TEST_F(SnappingTest, TakesThePointOfTheEdgeThatIsNearestToTheCursor) {
  for (const double z : {-31.25, 0.0, 17.5}) expect(snapped(beside({-250, -50, z}, -6, 0)), To::edge, {-250, -50, z});
  shown_.camera.orthographic = true;
  expect(snapped(beside({-250, -50, 12}, -6, 0)), To::edge, {-250, -50, 12});
}

TEST_F(SnappingTest, LeavesThePointOfTheFaceElse) {
  // The face's diagonal is no edge: both triangles lie in one plane.
  expect(snapped(beside({-290, -50, 20}, 0, 0)), To::face, {-290, -50, 20});
  expect(snapped(beside({-270, -50, 20}, 0, 0), 5), To::face, {-270, -50, 20});
  EXPECT_FALSE(snapped(beside({-290, -50, 20}, 0, 0), 4, false)) << "nothing is under the cursor";
}

TEST_F(SnappingTest, TakesTheCentreOfASolidBehindItsSurface) {
  const Eigen::Vector3d centre(-300, 0, 0);
  expect(snapped(beside(centre, 5, -5)), To::centre, centre);
  const auto beyond = snapped(beside(centre, 5, -9));
  EXPECT_TRUE(beyond && beyond->to == To::face);
  shown_.camera.look({0.3, 1, 0.2}, {0, 0, 1});
  shown_.settings.clip = parse_clip("y=-10");
  expect(snapped(beside(centre, -4, 4)), To::centre, centre);
}

TEST_F(SnappingTest, LeavesWhatAPlaneCutsAwayAndWhatLiesBehind) {
  const Eigen::Vector3d corner(-350, -50, 50);
  shown_.settings.clip = parse_clip("z=40");
  expect(snapped(beside(corner, 5, 20)), To::edge, {-350, -50, corner.z() - 20 * shown_.camera.pixel_size(480) * 0.9});
  const auto above = snapped(beside(corner, 5, 4));
  EXPECT_TRUE(above && above->to == To::face) << "the corner is cut away";
  shown_.settings.clip.reset();
  // The back edge x = -350, y = 50 is seen 30 mm beside the front one in this oblique parallel view.
  shown_.camera.orthographic = true;
  shown_.camera.look({0.3, 1, 0}, {0, 0, 1});
  shown_.camera.distance = 20;  // a pixel is so small that the back is far behind
  shown_.camera.target = {-350, 50, 0};
  EXPECT_FALSE(snapped({320, 240, kWindow}, 4, false));
}

}  // namespace
}  // namespace raylift::viewer
