// SPDX-License-Identifier: Apache-2.0
// Caps: outlines are filled by the even-odd rule, and a point of a clipping plane is on the cap of a solid where the
// solid is around it, by its solid angle as seen from the point.
#include "meshes/caps.h"

#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/optics/find_solids.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <random>
#include <set>

#include "support/boxes.h"
#include "support/effort.h"
#include "support/images.h"
#include "support/paths.h"
#include "viewer/with_context.h"

namespace raylift::viewer {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;

std::vector<CutLine> loop(const std::vector<Vector2d>& corners) {
  std::vector<CutLine> lines;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    lines.push_back({corners[i], corners[(i + 1) % corners.size()]});
    if (i % 3 == 0) std::swap(lines.back().from, lines.back().to);
  }
  return lines;
}

std::vector<Vector2d> circle(double radius, int corners, Vector2d center = {0, 0}) {
  std::vector<Vector2d> points;
  for (int i = 0; i < corners; ++i) {
    const double a = 2 * std::numbers::pi * (i + 0.3) / corners;
    points.push_back(center + radius * Vector2d(std::cos(a), std::sin(a)));
  }
  return points;
}

double circle_area(double radius, int corners) {
  return 0.5 * corners * radius * radius * std::sin(2 * std::numbers::pi / corners);
}

struct Filled {
  double area = 0;
  int faces = 0;
};
Filled fill(const std::vector<CutLine>& lines) {
  Filled filled;
  fill_outlines(lines, [&](const CutFace& face) {
    EXPECT_EQ(face[0].y(), face[1].y());
    EXPECT_EQ(face[2].y(), face[3].y());
    EXPECT_LT(face[0].y(), face[3].y());
    EXPECT_LE(face[0].x(), face[1].x() + 1e-12);
    EXPECT_LE(face[3].x(), face[2].x() + 1e-12);
    filled.area += 0.5 * (face[1].x() - face[0].x() + face[2].x() - face[3].x()) * (face[3].y() - face[0].y());
    ++filled.faces;
  });
  return filled;
}

std::vector<CutLine> joined(std::vector<CutLine> all, const std::vector<CutLine>& more) {
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(FillOutlines, FillsPolygonsAndLeavesHoles) {
  const Filled square = fill(loop({{0, 0}, {2, 0}, {2, 3}, {0, 3}}));
  EXPECT_EQ(square.area, 6);
  EXPECT_EQ(square.faces, 1);
  EXPECT_NEAR(fill(loop({{0, 0}, {4, 1}, {1, 3}})).area, 5.5, 1e-12) << "a triangle, by its corners";
  EXPECT_NEAR(fill(loop({{0, 0}, {4, 0}, {4, 3}, {3, 3}, {3, 1}, {1, 1}, {1, 3}, {0, 3}})).area, 8, 1e-12) << "a U";
  EXPECT_NEAR(fill(loop(circle(5, 48))).area, circle_area(5, 48), 1e-9);
  EXPECT_NEAR(fill(joined(loop(circle(5, 48)), loop(circle(3, 31)))).area, circle_area(5, 48) - circle_area(3, 31),
              1e-9);
  EXPECT_NEAR(fill(joined(joined(loop(circle(5, 48)), loop(circle(3, 31))), loop(circle(1, 7, {0.5, -1})))).area,
              circle_area(5, 48) - circle_area(3, 31) + circle_area(1, 7), 1e-9)
      << "an island in the hole";
}

TEST(FillOutlines, TakesLinesInAnyOrder) {
  std::vector<CutLine> lines = joined(loop(circle(5, 200)), loop(circle(2, 91, {1, 1})));
  std::mt19937 random(1);
  std::shuffle(lines.begin(), lines.end(), random);
  EXPECT_NEAR(fill(lines).area, circle_area(5, 200) - circle_area(2, 91), 1e-9);
}

TEST(FillOutlines, EndsOnAnything) {
  EXPECT_EQ(fill({}).faces, 0);
  EXPECT_EQ(fill({{{0, 1}, {5, 1}}}).faces, 0) << "no height";
  EXPECT_EQ(fill({{{0, 0}, {0, 1}}}).faces, 0) << "no other side";
  EXPECT_EQ(fill({{{2, 2}, {2, 2}}, {{2, 2}, {2, 2}}}).faces, 0) << "a point";
  // A gap of a hundredth in one side.
  EXPECT_NEAR(fill({{{0, 0}, {0, 1}}, {{1, 0}, {1, 0.495}}, {{1, 0.505}, {1, 1}}}).area, 0.99, 1e-12);
}

TEST(FillOutlines, VeryManyLinesTakeFewHeights) {
  const Filled filled = fill(loop(circle(100, 300'000)));
  EXPECT_NEAR(filled.area, circle_area(100, 300'000), 3);
  EXPECT_LE(filled.faces, 8192);
}

// How much of the sphere of directions about p a closed mesh covers: 1 inside, 0 outside, each up to its sign. By Van
// Oosterom and Strackee, "The Solid Angle of a Plane Triangle" (1983).
double turns(const Mesh& mesh, const EigenTransform& transform, const Vector3d& p) {
  double sum = 0;
  for (const UInt3& t : mesh.triangles) {
    Vector3d r[3];
    int i = 0;
    for (const std::uint32_t v : {t.x, t.y, t.z})
      r[i++] = transform * Vector3d(mesh.vertices[v].x, mesh.vertices[v].y, mesh.vertices[v].z) - p;
    const double a = r[0].norm(), b = r[1].norm(), c = r[2].norm();
    sum += 2 * std::atan2(r[0].dot(r[1].cross(r[2])),
                          a * b * c + r[0].dot(r[1]) * c + r[0].dot(r[2]) * b + r[1].dot(r[2]) * a);
  }
  return std::abs(sum) / (4 * std::numbers::pi);
}

Vector3d position(const CapVertex& v) {
  return {double{v.high[0]} + v.low[0], double{v.high[1]} + v.low[1], double{v.high[2]} + v.low[2]};
}

// Whether a point of its plane is in a triangle.
bool covers(const Vector3d* corners, const Vector3d& normal, const Vector3d& p) {
  bool left = true, right = true;
  for (int i = 0; i < 3; ++i) {
    const double side = normal.dot((corners[(i + 1) % 3] - corners[i]).cross(p - corners[i]));
    left = left && side >= 0;
    right = right && side <= 0;
  }
  return left || right;
}

// The solids that have a cap at a point, with their levels.
std::map<std::uint32_t, std::uint32_t> caps_at(const std::vector<CapVertex>& caps, const Vector3d& normal,
                                               const Vector3d& p) {
  std::map<std::uint32_t, std::uint32_t> solids;
  for (std::size_t i = 0; i < caps.size(); i += 3) {
    const Vector3d corners[] = {position(caps[i]), position(caps[i + 1]), position(caps[i + 2])};
    if (covers(corners, normal, p)) solids[caps[i].solid] = caps[i].plane_and_level >> 8;
  }
  return solids;
}

TEST(Caps, AreWhereSolidsAreAroundThePlane) {
  const Scene scene = load(test::data("detector.dae"));
  const CapMaker maker(scene, mesh_offsets(scene));
  std::vector<Bounds> boxes(scene.instances.size());  // nothing is in a solid that is not in its box
  for (std::size_t i = 0; i != boxes.size(); ++i)
    for (const Float3& v : scene.meshes[scene.instances[i].mesh].vertices)
      boxes[i].add(Vector3d(to_eigen(scene.instances[i].transform) * to_eigen(v)));
  const auto sensors = find_solids(scene, "Sensor*");
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(-1, 1);
  std::size_t around = 0, nested = 0;
  for (int turn = 0; turn < 12; ++turn) {
    // Through a sensor, obliquely, and once along the axes.
    const Vector3d at = to_eigen(scene.instances[sensors[random() % sensors.size()]].transform).translation();
    ClipPlane plane;
    plane.normal =
        turn < 3 ? Vector3d(Vector3d::Unit(turn)) : Vector3d{unit(random), unit(random), unit(random)}.normalized();
    plane.offset = plane.normal.dot(at) + 3 * unit(random);
    const std::vector<CapVertex> caps = maker.make(std::vector{plane}, {});
    ASSERT_EQ(caps.size() % 3, 0u);
    for (const CapVertex& v : caps) ASSERT_NEAR(plane.normal.dot(position(v)), *plane.offset, 1e-6);
    const Vector3d side = plane.normal.unitOrthogonal(), up = plane.normal.cross(side);
    for (int k = 0; k < test::effort(30); ++k) {
      const double reach = k % 3 == 0 ? 4000 : 300;
      Vector3d p = at + reach * unit(random) * side + reach * unit(random) * up;
      p -= (plane.normal.dot(p) - *plane.offset) * plane.normal;
      std::set<std::uint32_t> wanted, found;
      for (std::uint32_t i = 0; i != scene.instances.size(); ++i)
        if (boxes[i].contains({p, p}) &&
            turns(scene.meshes[scene.instances[i].mesh], to_eigen(scene.instances[i].transform), p) > 0.5)
          wanted.insert(i);
      const auto have = caps_at(caps, plane.normal, p);
      for (const auto& [solid, level] : have) found.insert(solid);
      ASSERT_EQ(found, wanted) << plane.normal.transpose() << " = " << *plane.offset << " at " << p.transpose();
      around += wanted.empty() ? 0 : 1;
      // The innermost one lies over all others: those of the detector are nested, each with a name of its own.
      std::set<std::uint32_t> levels;
      for (const auto& [solid, level] : have) levels.insert(level);
      ASSERT_EQ(levels.size(), have.size());
      nested += have.size() > 2 ? 1 : 0;
    }
  }
  EXPECT_GT(around, test::effort(150U));
  EXPECT_GT(nested, test::effort(50U));
}

TEST(Caps, InnerSolidsLieOverOuterOnes) {
  // Also where a turned box needs more room than its mother's.
  Scene scene = test::boxes({{{0, 0, 0}, 10}, {{0, 0, 0}, 9}, {{1, 0, 0}, 2}, {{1, 0, 0}, 1}, {{-3, 0, 0}, 1}});
  Transform& turned = scene.instances[1].transform;
  turned = to_eigen(turned).rotate(Eigen::AngleAxisd(0.4, Vector3d::UnitX())).scale(0.79);
  const std::vector<CapVertex> caps = CapMaker(scene, mesh_offsets(scene)).make(std::vector{parse_clip("z=0.1")}, {});
  const auto found = caps_at(caps, Vector3d::UnitZ(), {1.1, 0.1, 0.1});
  ASSERT_EQ(found.size(), 4u);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_LT(found.at(i), found.at(i + 1)) << i;
  EXPECT_EQ(caps_at(caps, Vector3d::UnitZ(), {-3.1, 0.1, 0.1}).at(4), 2u);
}

TEST(Caps, AreOfTheSolidsThatAreClosed) {
  const Scene scene = test::boxes({{{0, 0, 0}, 4}, {{0, 0, 0}, 2}, {{9, 0, 0}, 2}});
  const CapMaker maker(scene, mesh_offsets(scene));
  const auto solids = [&](const std::vector<std::uint8_t>& looks, const char* plane) {
    std::set<std::uint32_t> result;
    for (const CapVertex& v : maker.make(std::vector{parse_clip(plane)}, looks)) result.insert(v.solid);
    return result;
  };
  using Set = std::set<std::uint32_t>;
  EXPECT_EQ(solids({}, "y=0.5"), (Set{0, 1, 2}));
  EXPECT_EQ(solids({3, 1, 2}, "y=0.5"), (Set{1})) << "neither open nor faint ones";
  EXPECT_EQ(solids({}, "y=1.5"), (Set{0}));
  EXPECT_EQ(solids({}, "y=2"), Set{}) << "a face in the plane is no cut";
  EXPECT_EQ(solids({}, "x=8.5"), (Set{2}));
  EXPECT_TRUE(maker.make({}, {}).empty());
}

TEST(Caps, OfMirroredSolidsAndOfEachPlane) {
  Scene scene = test::boxes({{{0, 0, 0}, 2}});
  scene.instances[0].transform = to_eigen(scene.instances[0].transform).scale(Vector3d(-1, 3, 2));
  scene.bounds = {};
  scene.bounds.add(Vector3d(-1, -3, -2));
  scene.bounds.add(Vector3d(1, 3, 2));
  const std::vector<CapVertex> caps =
      CapMaker(scene, mesh_offsets(scene)).make(std::vector{parse_clip("x"), parse_clip("-z=0.5")}, {});
  double area[2] = {};
  for (std::size_t i = 0; i < caps.size(); i += 3)
    area[caps[i].plane_and_level & 255U] +=
        0.5 * (position(caps[i + 1]) - position(caps[i])).cross(position(caps[i + 2]) - position(caps[i])).norm();
  EXPECT_NEAR(area[0], 6 * 4, 1e-5);
  EXPECT_NEAR(area[1], 2 * 6, 1e-5);
}

/// On the images.
class CapImages : public WithContext {
 protected:
  void show(const char* file, const char* plane) {
    scene_ = std::make_unique<Scene>(load(test::data(file)));
    renderer_->set_scene(*scene_);
    camera_ = Camera();
    camera_.up = Vector3d::Unit(static_cast<int>(scene_->up_axis));
    camera_.look(StandardView::front);
    camera_.frame(scene_->bounds, 4.0 / 3);
    settings_.clip = parse_clip(plane);
    settings_.axes = settings_.scale_bar = false;
  }
  Image draw() {
    renderer_->draw(camera_, settings_);
    return renderer_->read();
  }

  std::unique_ptr<Scene> scene_;
  Camera camera_;
  Settings settings_;
};

TEST_F(CapImages, ACapIsPickedAsItsSolid) {
  show("cube.dae", "-y");
  const auto cap = renderer_->pick(camera_, settings_, 160, 120);
  ASSERT_TRUE(cap);
  EXPECT_EQ(cap->instance, 0u);
  EXPECT_EQ(cap->triangle, kNone);
  settings_.caps = false;
  const auto wall = renderer_->pick(camera_, settings_, 160, 120);
  ASSERT_TRUE(wall);
  EXPECT_NE(wall->triangle, kNone);
}

TEST_F(CapImages, FollowThePlaneTheLooksAndTheSwitch) {
  show("cube.dae", "-y");
  const Image capped = draw();
  settings_.caps = false;
  EXPECT_GT(compare(capped, draw(), 4).share, 0.05);
  settings_.caps = true;
  EXPECT_EQ(compare(capped, draw(), 0).share, 0);
  renderer_->set_looks(std::vector<std::uint8_t>{static_cast<std::uint8_t>(Look::open)});
  EXPECT_GT(compare(capped, draw(), 4).share, 0.05);
  renderer_->set_looks({});
  EXPECT_EQ(compare(capped, draw(), 0).share, 0);
  settings_.clip = parse_clip("-1,-3,0");
  EXPECT_GT(compare(capped, draw(), 4).share, 0.01);
  settings_.wireframe = true;
  const Image lines = draw();
  settings_.caps = false;
  EXPECT_EQ(compare(lines, draw(), 0).share, 0) << "wires have nothing to close";
}

TEST_F(CapImages, AreSeenThroughWhereAllIs) {
  show("cube.dae", "-y");
  settings_.opacity = 0.3F;
  settings_.background = parse_background("none");
  const Image capped = draw();
  settings_.caps = false;
  EXPECT_GT(compare(capped, draw(), 4).share, 0.05);
  EXPECT_LT(capped.at(160, 120)[3], 255) << "the background is seen";
}

}  // namespace
}  // namespace raylift::viewer
