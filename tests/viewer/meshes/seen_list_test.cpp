// SPDX-License-Identifier: Apache-2.0
// What a camera sees of a scene: nothing that shows in the image is left out, and levels are as fine as they are seen.
#include "meshes/seen_list.h"

#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "meshes/enclosed.h"
#include "model/solids/solids.h"
#include "round_solids.h"
#include "support/effort.h"
#include "support/paths.h"
#include "viewer/with_context.h"

namespace raylift::viewer {
namespace {

using Eigen::Vector3d;

const MeshChoice kEveryMesh = [](std::uint32_t) { return true; };

/// Many spheres around the origin, by a fixed seed; some are stretched and sheared.
Scene many_spheres(int count, std::uint32_t rings) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<std::pair<Vector3d, double>> places;
  for (int i = 0; i != count; ++i) {
    const Vector3d place{uniform(random), uniform(random), uniform(random)};
    places.emplace_back(1000 * place, 20 + 15 * uniform(random));
  }
  Scene scene = round_solids(places, rings);
  for (std::size_t i = 0; i < scene.instances.size(); i += 3) {
    Eigen::Matrix3d shear = Eigen::Matrix3d::Identity();
    shear(0, 1) = 1.5;
    shear(2, 2) = 3;
    scene.instances[i].transform = to_eigen(scene.instances[i].transform) * Eigen::Affine3d(shear);
  }
  scene.bounds = world_bounds(scene);
  return scene;
}

Camera random_camera(std::mt19937& random, bool orthographic) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  Camera camera;
  camera.fov_degrees = 55 + 40 * uniform(random);
  camera.orthographic = orthographic;
  const Vector3d eye = 1500 * Vector3d{uniform(random), uniform(random), uniform(random)};
  camera.look_from(eye, 500 * Vector3d{uniform(random), uniform(random), uniform(random)}, {0, 0, 1});
  camera.free_middle = 0.2 * Eigen::Vector2d{uniform(random), uniform(random)};
  return camera;
}

class Seen : public testing::TestWithParam<bool> {
 protected:
  Seen() : list_(draw_list(scene_, offsets_, {})), levels_(make_levels(scene_, offsets_, kEveryMesh)) {}
  [[nodiscard]] SeenList seen(const Sight& sight) const {
    SeenList result(scene_, offsets_, levels_, list_);
    result.look(sight);
    return result;
  }
  /// Calls with the instance and the first triangle of all that is drawn.
  template <class Use>
  static void each(const SeenList& seen, const Use& use) {
    for (const auto& commands : {seen.from_scene(), seen.from_levels()})
      for (const DrawCommand& command : commands)
        for (std::uint32_t i = 0; i != command.instance_count; ++i)
          use(seen.slots()[command.base_instance + i], command.index_count / 3);
  }

  Scene scene_ = many_spheres(400, 10);
  MeshOffsets offsets_ = mesh_offsets(scene_);
  DrawList list_;
  Levels levels_;
  Settings settings_;
  static constexpr Resolution kImage{640, 480};
};

TEST_P(Seen, LeavesOutNothingThatTheImageShows) {
  std::mt19937 random(11);
  std::size_t shown = 0, drawn = 0, cut_away = 0;
  for (int round = 0; round != test::effort(30); ++round) {
    const Camera camera = random_camera(random, GetParam());
    settings_.clip = std::nullopt;
    if (round % 3 == 0) settings_.clip = ClipPlane{Vector3d(1, 0.5, 0.2).normalized(), 100};
    std::set<std::uint32_t> seen_instances;
    each(seen(sight_of(camera, settings_, scene_.bounds, kImage)),
         [&](const DrawSlot& slot, std::uint32_t) { seen_instances.insert(slot.instance); });
    drawn += seen_instances.size();
    for (std::uint32_t i = 0; i != scene_.instances.size(); ++i) {
      bool inside = false;  // a vertex is in the image
      for (const Float3& v : scene_.meshes[0].vertices) {
        const Vector3d p = to_eigen(scene_.instances[i].transform) * Vector3d(v.x, v.y, v.z);
        if (settings_.clip && settings_.clip->normal.dot(p) > 100) continue;
        const Vector3d place = camera.project(p, 640.0 / 480);
        inside = inside || ((GetParam() || place.z() > 0) && std::abs(place.x()) < 1 && std::abs(place.y()) < 1);
      }
      shown += inside ? 1 : 0;
      cut_away += seen_instances.contains(i) ? 0 : 1;
      EXPECT_TRUE(!inside || seen_instances.contains(i)) << "solid " << i << ", camera " << round;
    }
  }
  EXPECT_GT(cut_away, test::effort(3000U));
  EXPECT_LT(drawn, shown * 8 / 5) << "what is far from the image is drawn as well";
}

TEST_P(Seen, ChoosesTheCoarsestLevelWithinTheTolerance) {
  std::mt19937 random(12);
  std::map<std::uint32_t, std::uint32_t> level_at;  // by the first triangle
  for (std::uint32_t l = 0; l != levels_.levels.size(); ++l) level_at[levels_.levels[l].first_triangle] = l;
  std::set<std::uint32_t> used;
  int slots = 0;
  for (int round = 0; round != test::effort(30); ++round) {
    const Camera camera = random_camera(random, GetParam());
    settings_.detail = 0.5F;
    each(seen(sight_of(camera, settings_, scene_.bounds, kImage)), [&](const DrawSlot& slot, std::uint32_t triangles) {
      const std::uint32_t l = level_at.at(slot.first_triangle);
      used.insert(l);
      ASSERT_EQ(levels_.levels[l].triangle_count, triangles);
      if (slots++ % test::kStride != 0) return;
      // Pixels that a vertex moves by, where it moves by the error across the view.
      const EigenTransform transform = to_eigen(scene_.instances[slot.instance].transform);
      const double stretch = Eigen::JacobiSVD<Eigen::Matrix3d>(transform.linear()).singularValues()[0];
      const auto moved = [&](std::uint32_t level) {
        double most = 0;
        for (const Float3& v : scene_.meshes[0].vertices) {
          const Vector3d p = transform * Vector3d(v.x, v.y, v.z);
          if (!GetParam() && (p - camera.eye()).dot(camera.forward()) <= 0) return 1e9;
          const Vector3d q = p + stretch * static_cast<double>(levels_.levels[level].error) * camera.above();
          most = std::max(most, 240 * (camera.project(q, 4.0 / 3) - camera.project(p, 4.0 / 3)).norm());
        }
        return most;
      };
      EXPECT_TRUE(l == 0 || moved(l) <= 0.5 * 1.001);
      EXPECT_TRUE(l + 1 == levels_.levels.size() || moved(l + 1) > 0.5 * 0.35) << "a coarser one would do";
    });
  }
  EXPECT_GE(used.size(), 4U);
}

TEST_P(Seen, DrawsAllInOrderWhereNothingIsSimplifiedOrOutOfSight) {
  Camera camera;
  camera.orthographic = GetParam();
  camera.frame(scene_.bounds, 640.0 / 480);
  settings_.detail = 0;
  const SeenList all = seen(sight_of(camera, settings_, scene_.bounds, kImage));
  ASSERT_EQ(all.slots().size(), list_.slots.size());
  for (std::size_t i = 0; i != list_.slots.size(); ++i) EXPECT_EQ(all.slots()[i].instance, list_.slots[i].instance);
  EXPECT_EQ(all.from_levels().size(), 0U);
  EXPECT_EQ(all.triangles(), list_.triangles);
  settings_.detail = 0.5F;
  EXPECT_LT(seen(sight_of(camera, settings_, scene_.bounds, kImage)).triangles(), list_.triangles * 4 / 5);
  for (const auto& change : {+[](Settings& s) { s.edges = true; }, +[](Settings& s) { s.wireframe = true; },
                             +[](Settings& s) { s.color = ColorBy::residency; }}) {
    Settings settings = settings_;
    change(settings);
    EXPECT_EQ(seen(sight_of(camera, settings, scene_.bounds, kImage)).triangles(), list_.triangles);
  }
}

TEST_P(Seen, LeavesOutNoneWhereItMayDrawFewTriangles) {
  Camera camera;
  camera.orthographic = GetParam();
  camera.frame(scene_.bounds, 640.0 / 480);
  Sight sight = sight_of(camera, settings_, scene_.bounds, kImage);
  std::uint64_t before = 0;
  for (const std::uint64_t most : {20000, 6000, 2000}) {
    sight.most = most;
    const SeenList few = seen(sight);
    EXPECT_LE(few.triangles(), most);
    EXPECT_TRUE(most != 20000 || few.points().empty()) << "first all are coarser";
    EXPECT_TRUE(most != 2000 || !few.points().empty());
    EXPECT_TRUE(before == 0 || few.triangles() < before);
    before = few.triangles();
    const auto size = [&](std::uint32_t i) {
      const Instance& placed = scene_.instances[i];
      const Vector3d center = to_eigen(placed.transform) * to_eigen(levels_.pieces[0].ball.center);
      return largest_scale(placed.transform) / (GetParam() ? 1 : (center - camera.eye()).dot(camera.forward()));
    };
    std::map<std::uint32_t, int> drawn;
    double least = 1e9, most_of_points = 0;
    for (const DrawSlot& slot : few.slots()) ++drawn[slot.instance], least = std::min(least, size(slot.instance));
    for (const SeenPoint& point : few.points()) {
      ++drawn[point.slot.instance];
      most_of_points = std::max(most_of_points, size(point.slot.instance));
    }
    EXPECT_EQ(drawn.size(), scene_.instances.size()) << most;
    EXPECT_TRUE(std::all_of(drawn.begin(), drawn.end(), [](const auto& one) { return one.second == 1; }));
    EXPECT_LT(most_of_points, 1.15 * least) << "the largest have triangles";
  }
}

TEST(SeenList, DrawsEvenlySpreadTrianglesOfAMeshThatIsTooLarge) {
  const Scene scene = round_solids({{{0, 0, 0}, 100}}, 160);
  const MeshOffsets offsets = mesh_offsets(scene);
  const Levels levels = make_levels(scene, offsets, [](std::uint32_t) { return false; });
  const DrawList list = draw_list(scene, offsets, {});
  Camera camera;
  camera.frame(scene.bounds, 1);
  Sight sight = sight_of(camera, {}, scene.bounds, {640, 480});
  sight.most = list.triangles / 10;
  SeenList few(scene, offsets, levels, list);
  few.look(sight);
  EXPECT_LE(few.triangles(), sight.most + 256);
  EXPECT_GE(few.triangles(), sight.most * 9 / 10);
  EXPECT_EQ(few.all_triangles(), list.triangles);
  std::set<std::uint32_t> twelfths;
  for (const DrawSlot& slot : few.slots())
    twelfths.insert(static_cast<std::uint32_t>(12 * slot.first_triangle / list.triangles));
  EXPECT_EQ(twelfths.size(), 12U) << "from the whole mesh";
}

INSTANTIATE_TEST_SUITE_P(Cameras, Seen, testing::Bool(),
                         [](const auto& cameras) { return cameras.param ? "orthographic" : "perspective"; });

TEST(EnclosedSolids, AreThoseWithinWatertightMothersThatTheyDoNotOverlap) {
  const Scene scene = load(test::data("detector.dae"));
  const std::vector<std::uint32_t> enclosing = enclosing_solids(scene, check(scene));
  std::size_t within_sensors = 0;
  for (std::uint32_t i = 0; i != scene.instances.size(); ++i) {
    if (enclosing[i] == kNone) continue;
    // Every vertex is inside of the mother: a ray along z crosses her surface an odd number of times.
    const Instance& inner = scene.instances[i];
    const Instance& outer = scene.instances[enclosing[i]];
    if (scene.meshes[inner.mesh].vertices.size() > 300 || i % 7 != 0) continue;
    ++within_sensors;
    const Float3& v = scene.meshes[inner.mesh].vertices[i % scene.meshes[inner.mesh].vertices.size()];
    const Vector3d p = to_eigen(inner.transform) * Vector3d(v.x, v.y, v.z);
    double angle = 0;  // the solid angle of the mother's surface from p
    for (const UInt3& t : scene.meshes[outer.mesh].triangles) {
      std::array<Vector3d, 3> c;
      const std::array corners{t.x, t.y, t.z};
      for (std::size_t k = 0; k != 3; ++k) {
        const Float3& w = scene.meshes[outer.mesh].vertices[corners[k]];
        c[k] = (to_eigen(outer.transform) * Vector3d(w.x, w.y, w.z) - p).normalized();
      }
      angle += 2 * std::atan2(c[0].dot(c[1].cross(c[2])), 1 + c[0].dot(c[1]) + c[1].dot(c[2]) + c[2].dot(c[0]));
    }
    EXPECT_GT(std::abs(angle), 6) << scene.path(inner);  // 2 pi on the surface, 4 pi inside
  }
  EXPECT_GT(within_sensors, 50U);

  // Moved out of its mother, or in a mother with a hole, a solid is not within it.
  std::uint32_t sensor = 0;
  while (sensor != enclosing.size() && (enclosing[sensor] == kNone || enclosing[enclosing[sensor]] == kNone ||
                                        scene.meshes[scene.instances[enclosing[sensor]].mesh].vertices.size() > 300))
    ++sensor;
  ASSERT_LT(sensor, enclosing.size());
  Scene moved = scene;
  moved.instances[sensor].transform = to_eigen(moved.instances[sensor].transform).pretranslate(Vector3d(0, 0, 50));
  EXPECT_EQ(enclosing_solids(moved, check(moved))[sensor], kNone);
  Scene open = scene;
  Mesh& mother = open.meshes[open.instances[enclosing[sensor]].mesh];
  mother.triangles.pop_back();
  --mother.parts.back().triangle_count;
  EXPECT_EQ(enclosing_solids(open, check(open))[sensor], kNone);
}

/// Images of large scenes.
class SeenImages : public WithContext {
 protected:
  void show(const Scene& scene, Settings settings) {
    renderer_->set_scene(scene);
    settings.axes = settings.scale_bar = false;
    settings_ = settings;
  }
  Image draw(float detail) {
    settings_.detail = detail;
    renderer_->draw(camera_, settings_);
    return renderer_->read();
  }
  static double share_that_differs(const Image& a, const Image& b, int by) {
    std::size_t count = 0;
    for (std::size_t i = 0; i != a.pixels.size(); ++i) {
      int most = 0;
      for (std::size_t c = 0; c != 3; ++c) most = std::max(most, std::abs(a.pixels[i][c] - b.pixels[i][c]));
      count += most > by ? 1 : 0;
    }
    return static_cast<double>(count) / static_cast<double>(a.pixels.size());
  }
  Camera camera_;
  Settings settings_;
};

TEST_F(SeenImages, OfPointsLookLikeThoseOfSolids) {
  const Scene scene = many_spheres(400, 10);
  camera_.frame(scene.bounds, 640.0 / 480);
  renderer_->resize({640, 480}, 1);
  show(scene, {});
  renderer_->set_looks({});
  const Image whole = draw(0);
  const auto coarse = [&](const Resolution& size, std::uint64_t triangles) {
    renderer_->draw(camera_, settings_, std::nullopt, Coarse{size, triangles});
    return renderer_->read();
  };
  EXPECT_LT(share_that_differs(whole, coarse({640, 480}, kAllTriangles), 8), 0.01);
  EXPECT_EQ(renderer_->drawn_share(), 1);
  for (const Resolution& size : {Resolution{640, 480}, {320, 240}}) {
    EXPECT_LT(share_that_differs(whole, coarse(size, 1000), 60), 0.06) << size.width;
    EXPECT_LT(renderer_->drawn_share(), 0.1);
  }
}

TEST_F(SeenImages, OfSimplifiedSolidsLookLikeThoseOfWholeOnes) {
  const Scene scene = many_spheres(1500, 24);
  camera_.look(StandardView::iso);
  camera_.frame(scene.bounds, 320.0 / 240);
  Settings settings;
  for (const bool smooth : {true, false}) {
    settings.smooth = smooth;
    show(scene, settings);
    const Image whole = draw(0);
    EXPECT_EQ(renderer_->drawn_triangles(), renderer_->shown_triangles());
    const Image simplified = draw(0.5F);
    EXPECT_LT(renderer_->drawn_triangles(), renderer_->shown_triangles() / 8);
    EXPECT_LT(share_that_differs(whole, simplified, 60), 0.03) << "smooth " << smooth;
    EXPECT_GT(share_that_differs(whole, simplified, 0), 0.001) << "nothing is simplified";
    EXPECT_GT(share_that_differs(whole, draw(8), 60), 0.06) << "what a larger tolerance does";
  }
}

TEST_F(SeenImages, AreTheSameWithoutWhatOpaqueSolidsHide) {
  const Scene scene = load(test::data("detector.dae"));
  const SceneCheck checked = check(scene);
  const Detail detail = make_detail(scene, checked);
  Solids solids(scene);
  std::vector<std::uint8_t> looks(scene.instances.size());
  for (std::uint32_t i = 0; i != looks.size(); ++i)
    looks[i] = static_cast<std::uint8_t>(scene.meshes[scene.instances[i].mesh].vertices.size() > 300 ? Look::faint
                                                                                                     : Look::solid);
  camera_.up = {0, 0, 1};
  for (int round = 0; round != 8; ++round) {
    camera_.look(StandardView::iso);
    camera_.frame(scene.bounds, 320.0 / 240);
    camera_.orbit(0.8 * round, 0.1 * round);
    camera_.zoom(std::pow(0.5, round));
    camera_.orthographic = round % 3 == 1;
    Settings settings;
    if (round % 2 == 1) settings.clip = facing_plane(camera_.forward());
    if (round == 6) settings.opacity = 0.5F;
    show(scene, settings);
    renderer_->set_looks(looks);
    const Image all = draw(0);
    const std::uint64_t triangles = renderer_->drawn_triangles();
    renderer_->set_detail(detail);
    const Image visible = draw(0);
    EXPECT_LE(renderer_->drawn_triangles(), triangles);
    EXPECT_TRUE(round != 0 || renderer_->drawn_triangles() < triangles / 2);
    EXPECT_TRUE(round != 6 || renderer_->drawn_triangles() == triangles) << "nothing hides anything";
    EXPECT_LT(share_that_differs(all, visible, 8), 0.0005) << "view " << round;
  }
}

TEST_F(SeenImages, SmallSightsPickWhatTheWholeImageShows) {
  const Scene scene = many_spheres(1500, 24);
  camera_.look(StandardView::iso);
  camera_.frame(scene.bounds, 320.0 / 240);
  show(scene, {});
  const Image before = draw(0.5F);
  const IdImage ids = renderer_->ids(camera_, settings_);
  std::size_t hits = 0;
  for (int y = 3; y < 240; y += 11)
    for (int x = 2; x < 320; x += 13) {
      const auto& id = ids.ids[static_cast<std::size_t>(y) * 320 + static_cast<std::size_t>(x)];
      const std::optional<Picked> picked = renderer_->pick(camera_, settings_, x, y);
      ASSERT_EQ(picked.has_value(), id[0] != 0);
      if (!picked) continue;
      ++hits;
      EXPECT_EQ(picked->instance + 1, id[0]);
      EXPECT_EQ(picked->triangle, id[1]);
      EXPECT_LT(picked->triangle, scene.meshes[0].triangles.size()) << "of the scene, not of a level";
    }
  EXPECT_GT(hits, 50U);
  EXPECT_EQ(share_that_differs(before, draw(0.5F), 0), 0) << "picking changes no later image";
}

}  // namespace
}  // namespace raylift::viewer
