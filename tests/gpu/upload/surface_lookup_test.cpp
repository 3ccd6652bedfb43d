// SPDX-License-Identifier: Apache-2.0
// Which surface, materials and channel a kernel finds at a triangle and between any two solids, against the model's
// surface_between().
#include <raylift/geometry/optics/surface_between.h>
#include <raylift/geometry/scene/flatten.h>
#include <raylift/gpu/upload/optics_arrays.h>

#include <unordered_map>

#include "gpu/asking.h"
#include "support/devices.h"
#include "support/random_optics.h"
#include "upload/border_table.h"

namespace raylift {
namespace {

using test::ask_all;
using test::SceneTriangle;
using test::SurfaceAnswer;
using test::SurfaceQuery;
using test::triangles_of;

std::uint16_t surface_of(const SurfaceChoice& choice) {
  return choice.surface == kNone ? kNoSurface : static_cast<std::uint16_t>(choice.surface);
}

class SurfaceLookup : public test::OnDevice {
 protected:
  [[nodiscard]] GpuGeometry upload_as(const Scene& scene, bool flat) const {
    UploadOptions options;
    options.flatten = flat;
    return upload(scene, device(), options);
  }
};
RAYLIFT_ON_BOTH_DEVICES(SurfaceLookup);

TEST_P(SurfaceLookup, IsTheModelsForAllPairsOfSolids) {
  std::size_t siblings = 0, others = 0;
  for (unsigned seed = 0; seed != 12; ++seed) {
    const Scene scene = test::random_tree(seed, 40);
    const SolidTree tree = solid_tree(scene);
    std::vector<SurfaceQuery> queries;
    for (std::uint32_t from = 0; from != tree.size(); ++from)
      for (std::uint32_t to = 0; to != tree.size(); ++to)
        if (from != to) queries.push_back({from, to, 0, 0, false});
    for (std::uint32_t solid = 0; solid != tree.size(); ++solid) {
      queries.push_back({solid, kNone, 0, 0, false});
      queries.push_back({kNone, solid, 0, 0, false});
    }
    std::unordered_map<std::uint32_t, Optics::Channel> channels;
    for (const Optics::Channel& one : scene.optics.channels) channels[one.solid] = one;
    for (const bool flat : {false, true}) {
      std::vector<SurfaceQuery> asked = queries;
      for (SurfaceQuery& query : asked)
        if (query.to == kNone) query.to = query.from, query.from = kNone;  // a channel is asked for, too
      const std::vector<SurfaceAnswer> answers = ask_all(upload_as(scene, flat), asked);
      for (std::size_t i = 0; i != asked.size(); ++i) {
        const auto [from, to] = std::pair(asked[i].from, asked[i].to);
        EXPECT_EQ(answers[i].between, surface_of(surface_between(scene, tree, from, to))) << from << ' ' << to;
        const auto channel = channels.find(to);
        EXPECT_EQ(answers[i].channel.number, channel == channels.end() ? kNoChannel : channel->second.number);
        EXPECT_EQ(answers[i].channel.type, channel == channels.end() ? kNone : channel->second.type);
        if (from == kNone) continue;
        const bool related = tree.mother[from] == to || tree.mother[to] == from;
        if (answers[i].between != kNoSurface && !related) ++(tree.mother[from] == tree.mother[to] ? siblings : others);
      }
    }
  }
  EXPECT_GT(siblings, 100U);
  EXPECT_GT(others, 100U);
}

TEST_P(SurfaceLookup, HasBothSidesOfEachTriangle) {
  std::size_t found = 0;
  for (unsigned seed = 20; seed != 26; ++seed) {
    const Scene scene = test::random_tree(seed, 60);
    const SolidTree tree = solid_tree(scene);
    const std::vector<SceneTriangle> triangles = triangles_of(scene);
    for (const bool flat : {false, true}) {
      std::vector<SurfaceQuery> queries;
      for (const SceneTriangle& one : triangles)
        for (const bool from_inside : {false, true})
          queries.push_back({0, 0, flat ? 0 : one.solid, flat ? one.flat : one.two_level, from_inside});
      const std::vector<SurfaceAnswer> answers = ask_all(upload_as(scene, flat), queries);
      for (std::size_t i = 0; i != queries.size(); ++i) {
        const SceneTriangle& triangle = triangles[i / 2];
        const Instance& instance = scene.instances[triangle.solid];
        const std::uint16_t inside = MaterialCode::pack(scene.material(instance, triangle.part));
        const std::uint16_t outside = MaterialCode::pack(instance.outside);
        const std::uint32_t mother = tree.mother[triangle.solid];
        const bool out = queries[i].from_inside;
        EXPECT_EQ(answers[i].side.material_from, out ? inside : outside);
        EXPECT_EQ(answers[i].side.material_to, out ? outside : inside);
        EXPECT_EQ(answers[i].side.surface, surface_of(out ? surface_between(scene, tree, triangle.solid, mother)
                                                          : surface_between(scene, tree, mother, triangle.solid)));
        found += answers[i].side.surface != kNoSurface ? 1 : 0;
      }
    }
  }
  EXPECT_GT(found, 500U);
}

TEST_P(SurfaceLookup, FindsNoSurfaceWhereASceneHasNone) {
  Scene scene = test::random_tree(3, 10);
  scene.optics = {};
  const std::vector<SurfaceQuery> queries{{0, 1, 1, 0, true}, {1, 0, 1, 0, false}};
  for (const SurfaceAnswer& answer : ask_all(upload_as(scene, false), queries)) {
    EXPECT_EQ(answer.between, kNoSurface);
    EXPECT_EQ(answer.side.surface, kNoSurface);
    EXPECT_EQ(answer.channel.number, kNoChannel);
  }
  const GpuGeometry flat = upload(flatten(scene), {}, device());
  EXPECT_EQ(ask_all(flat, std::vector<SurfaceQuery>{{0, 1, 0, 0, true}})[0].side.surface, kNoSurface);
}

// ---- the table of borders -------------------------------------------------------------------------------------------

/// Siblings under one mother, with borders between as many pairs as are wanted.
Scene siblings(std::uint32_t solids, std::size_t pairs) {
  Scene scene;
  scene.meshes.resize(1);
  for (std::uint32_t i = 0; i != solids; ++i) {
    scene.nodes.push_back({"n", i == 0 ? kNone : 0U, {}});
    scene.instances.push_back({0, i, 0, kNone, Transform::Identity()});
  }
  scene.optics.surfaces.resize(2);
  scene.optics.assignments = {{SurfaceAssignment::Kind::border, "a", 0, {}, {}},
                              {SurfaceAssignment::Kind::border, "b", 1, {}, {}}};
  for (std::uint32_t from = 0; from != solids; ++from)
    for (std::uint32_t to = 0; to != solids && scene.optics.borders.size() != pairs; ++to)
      if (from != to) scene.optics.borders.push_back({from, to, (from + to) % 2});
  return scene;
}

TEST(BorderTable, HoldsEachPairInOneOfItsTwoBuckets) {
  for (const std::size_t pairs : {1, 2, 3, 100, 4096, 200'000}) {
    const Scene scene = siblings(1000, pairs);
    const std::vector<OpticsView::BorderBucket> buckets = detail::border_table(scene, solid_tree(scene));
    OpticsView view{};
    view.borders = buckets.data();
    view.border_bucket_count = static_cast<std::uint32_t>(buckets.size());
    std::size_t stored = 0;
    for (const Optics::Border& border : scene.optics.borders) {
      if (border.from == 0 || border.to == 0) {  // mother and daughter
        EXPECT_EQ(optics_detail::border_surface(view, border.from, border.to), kNoSurface);
        continue;
      }
      ++stored;
      ASSERT_EQ(optics_detail::border_surface(view, border.from, border.to), (border.from + border.to) % 2);
    }
    EXPECT_EQ(optics_detail::border_surface(view, 998, 999), kNoSurface);
    EXPECT_LE(buckets.size(), 4 * std::max<std::size_t>(stored, 1)) << "half of the slots or more are empty";
  }
}

}  // namespace
}  // namespace raylift
