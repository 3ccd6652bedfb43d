// SPDX-License-Identifier: Apache-2.0
// The camera: where things come to lie in the image, and how it moves.
#include "cli/camera.h"

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>

#include <numbers>

namespace raylift {
namespace {

Bounds box(const Eigen::Vector3d& min, const Eigen::Vector3d& max) {
  Bounds bounds;
  bounds.add(min);
  bounds.add(max);
  return bounds;
}

/// The outline of a box in the image: least and greatest x and y.
struct Outline {
  Eigen::Vector2d low{1e9, 1e9}, high{-1e9, -1e9};
};
Outline outline(const Camera& camera, const Bounds& bounds, double aspect) {
  Outline result;
  for (int i = 0; i < 8; ++i) {
    const Eigen::Vector3d corner((i & 1 ? bounds.max : bounds.min).x, (i & 2 ? bounds.max : bounds.min).y,
                                 (i & 4 ? bounds.max : bounds.min).z);
    const Eigen::Vector3d p = camera.project(corner, aspect);
    result.low = result.low.cwiseMin(p.head<2>());
    result.high = result.high.cwiseMax(p.head<2>());
  }
  return result;
}

TEST(Camera, FramesScenesOfAnySize) {
  for (const double size : {1e-7, 1.0, 1e17}) {
    Camera camera;
    camera.look(StandardView::iso);
    const Bounds bounds = box({0, 0, 0}, {size, size, size});
    camera.frame(bounds, 1.5);
    const Outline seen = outline(camera, bounds, 1.5);
    EXPECT_GT(seen.high.y() - seen.low.y(), 1.5) << size;
    EXPECT_LT(seen.high.maxCoeff(), 1) << size;
    EXPECT_GT(seen.low.minCoeff(), -1) << size;
  }
}

TEST(Camera, StandardViewsLookAlongTheirAxes) {
  Camera camera;
  camera.up = {0, 0, 1};
  const auto expect = [&](StandardView view, const Eigen::Vector3d& forward, const Eigen::Vector3d& above) {
    camera.look(view);
    EXPECT_LT((camera.forward() - forward).norm(), 1e-12) << static_cast<int>(view);
    EXPECT_LT((camera.above() - above).norm(), 1e-12) << static_cast<int>(view);
    EXPECT_LT((camera.right() - forward.cross(above)).norm(), 1e-12) << static_cast<int>(view);
  };
  expect(StandardView::front, {0, 1, 0}, {0, 0, 1});
  expect(StandardView::back, {0, -1, 0}, {0, 0, 1});
  expect(StandardView::left, {1, 0, 0}, {0, 0, 1});
  expect(StandardView::right, {-1, 0, 0}, {0, 0, 1});
  expect(StandardView::top, {0, 0, -1}, {0, 1, 0});
  expect(StandardView::bottom, {0, 0, 1}, {0, 1, 0});
}

TEST(Camera, ViewNamesAreReadAndMistakesAnswered) {
  EXPECT_EQ(standard_view("top"), StandardView::top);
  try {
    (void)standard_view("tpo");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("did you mean 'top'"), std::string::npos) << error.what();
  }
}

TEST(Camera, FramesABoxCentredAndFilling) {
  for (const bool orthographic : {false, true})
    for (const double aspect : {0.5, 1.0, 16.0 / 9})
      for (const Bounds& bounds : {box({-1, -2, -3}, {4, 5, 6}), box({1e6, 1e6, 1e6}, {1e6 + 10, 1e6 + 1, 1e6 + 30})}) {
        Camera camera;
        camera.orthographic = orthographic;
        camera.look(StandardView::iso);
        camera.frame(bounds, aspect);
        const Outline seen = outline(camera, bounds, aspect);
        EXPECT_LT((seen.low + seen.high).norm(), 0.03);
        const double largest = std::max(seen.high.x(), seen.high.y());
        EXPECT_LT(largest, 1.0);
        EXPECT_GT(largest, 0.88);
      }
}

TEST(Camera, FramesAPointAndNothing) {
  Camera camera;
  camera.frame(box({5, 5, 5}, {5, 5, 5}), 1);
  EXPECT_EQ(camera.target, Eigen::Vector3d(5, 5, 5));
  EXPECT_GT(camera.distance, 0);
  camera.frame(Bounds(), 1);
  EXPECT_EQ(camera.target, Eigen::Vector3d(5, 5, 5));
}

TEST(Camera, OrbitKeepsTheTargetAndStopsAtThePoles) {
  Camera camera;
  camera.look(StandardView::front);
  camera.target = {1, 2, 3};
  camera.distance = 10;
  camera.orbit(0.5 * std::numbers::pi, 0);
  EXPECT_LT((camera.forward() - Eigen::Vector3d(-1, 0, 0)).norm(), 1e-12);
  EXPECT_NEAR((camera.eye() - camera.target).norm(), 10, 1e-9);
  for (int i = 0; i < 50; ++i) camera.orbit(0.1, -0.2);
  EXPECT_GT(camera.above().dot(camera.up), 0) << "upside down";
  EXPECT_LT(camera.forward().z(), -0.99);
}

TEST(Camera, ZoomKeepsThePointUnderTheCursor) {
  Camera camera;
  camera.look(StandardView::iso);
  camera.distance = 100;
  const Eigen::Vector3d point = camera.target + 8 * camera.right() + 5 * camera.above();
  const Eigen::Vector3d before = camera.project(point, 1.5);
  camera.zoom(0.5, point);
  EXPECT_LT((camera.project(point, 1.5) - before).head<2>().norm(), 1e-9);
  EXPECT_DOUBLE_EQ(camera.distance, 50);
}

TEST(Camera, ProjectionsAgreeWithProject) {
  Camera camera;
  camera.look(StandardView::iso);
  camera.distance = 50;
  const Bounds scene = box({-10, -10, -10}, {10, 10, 10});
  const Eigen::Vector3d point(3, -2, 4);
  for (const bool orthographic : {false, true}) {
    camera.orthographic = orthographic;
    const Eigen::Vector3d in_camera = camera.rotation() * (point - camera.eye());
    const Eigen::Vector4d clip = camera.projection(1.6, scene) * in_camera.homogeneous();
    const Eigen::Vector3d expected = camera.project(point, 1.6);
    EXPECT_NEAR(clip.x() / clip.w(), expected.x(), 1e-12);
    EXPECT_NEAR(clip.y() / clip.w(), expected.y(), 1e-12);
    EXPECT_GT(clip.z() / clip.w(), 0);
    EXPECT_LT(clip.z() / clip.w(), 1);
  }
}

TEST(Camera, NearerIsGreaterInReversedDepth) {
  Camera camera;
  camera.look(StandardView::front);
  camera.distance = 50;
  const Bounds scene = box({-10, -10, -10}, {10, 10, 10});
  for (const bool orthographic : {false, true}) {
    camera.orthographic = orthographic;
    const auto depth = [&](const Eigen::Vector3d& point) {
      const Eigen::Vector3d in_camera = camera.rotation() * (point - camera.eye());
      const Eigen::Vector4d clip = camera.projection(1, scene) * in_camera.homogeneous();
      return clip.z() / clip.w();
    };
    EXPECT_GT(depth({0, -9, 0}), depth({0, 9, 0}));
  }
}

TEST(Camera, LookingFromTheTargetIsAMistake) {
  Camera camera;
  EXPECT_THROW(camera.look_from({1, 2, 3}, {1, 2, 3}, {0, 0, 1}), Error);
}

TEST(Camera, CutsALineToThePartBeforeTheEye) {
  Camera camera;
  camera.distance = 10;
  camera.look_from({0, -10, 0}, {0, 0, 0}, {0, 0, 1});
  Eigen::Vector3d a(0, -20, 0), b(6, 10, 0);  // from 10 mm behind the eye to 20 mm before it
  ASSERT_TRUE(camera.cut_before_eye(a, b, 5));
  EXPECT_DOUBLE_EQ(camera.depth(a), 20);
  EXPECT_NEAR((b - Eigen::Vector3d(3, -5, 0)).norm(), 0, 1e-12);
  Eigen::Vector3d behind(0, -20, 0), near(0, -6, 0);
  EXPECT_FALSE(camera.cut_before_eye(behind, near, 5));
  camera.orthographic = true;
  EXPECT_TRUE(camera.cut_before_eye(behind, near, 5));
}

TEST(Camera, PixelsGrowWithTheDepthOfAPerspective) {
  Camera camera;
  camera.distance = 10;
  EXPECT_DOUBLE_EQ(camera.pixel_size(100, 20), 2 * camera.pixel_size(100));
  camera.orthographic = true;
  EXPECT_DOUBLE_EQ(camera.pixel_size(100, 20), camera.pixel_size(100));
}

}  // namespace
}  // namespace raylift
