// SPDX-License-Identifier: Apache-2.0
// Which surface, materials and channel a kernel finds at a triangle and between any two solids, against the model's
// surface_between(); and colours.
#include <raylift/geometry/optics/surface_between.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/gpu/upload/colors.h>
#include <raylift/gpu/upload/optics_arrays.h>

#include <unordered_map>

#include "devices.h"
#include "geometry/expect_error.h"
#include "kernels.h"
#include "scenes.h"
#include "upload/border_table.h"

namespace raylift {
namespace {

using test::SurfaceAnswer;
using test::SurfaceQuery;

std::vector<SurfaceAnswer> ask_all(const GpuGeometry& geometry, const std::vector<SurfaceQuery>& queries) {
  std::vector<SurfaceAnswer> answers(queries.size());
  if (geometry.device().info().is_host) {
    for (std::size_t i = 0; i != queries.size(); ++i) answers[i] = ask(geometry.view(), queries[i]);
    return answers;
  }
#ifdef RAYLIFT_WITH_CUDA
  const Device& device = geometry.device();
  const Stream stream(device);
  DeviceBuffer<SurfaceQuery> in(device, queries.size());
  DeviceBuffer<SurfaceAnswer> out(device, queries.size());
  in.copy_from(std::span(queries), stream);
  stream.synchronize();
  EXPECT_EQ(test::ask_on_gpu(geometry.view(), in.device(), out.device(), queries.size()), 0);
  out.copy_to(std::span(answers), stream);
  stream.synchronize();
#endif
  return answers;
}

/// A triangle of the scene, as it stands in the two-level and in the flat view.
struct SceneTriangle {
  std::uint32_t solid, part;
  std::uint32_t two_level, flat;  ///< numbers
};

std::vector<SceneTriangle> triangles_of(const Scene& scene) {
  std::vector<std::uint32_t> first;
  std::uint32_t next = 0;
  for (const Mesh& mesh : scene.meshes) {
    first.push_back(next);
    next += static_cast<std::uint32_t>(mesh.triangles.size());
  }
  std::vector<SceneTriangle> triangles;
  for (std::uint32_t solid = 0; solid != scene.instances.size(); ++solid) {
    const Mesh& mesh = scene.meshes[scene.instances[solid].mesh];
    for (std::uint32_t part = 0; part != mesh.parts.size(); ++part)
      for (std::uint32_t t = 0; t != mesh.parts[part].triangle_count; ++t)
        triangles.push_back({solid, part, first[scene.instances[solid].mesh] + mesh.parts[part].first_triangle + t,
                             static_cast<std::uint32_t>(triangles.size())});
  }
  return triangles;
}

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
    std::unordered_map<std::uint32_t, SolidChannel> channels;
    for (const SolidChannel& one : scene.optics.channels) channels[one.solid] = one;
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
  for (const SurfaceAnswer& answer : ask_all(upload_as(scene, false), {{0, 1, 1, 0, true}, {1, 0, 1, 0, false}})) {
    EXPECT_EQ(answer.between, kNoSurface);
    EXPECT_EQ(answer.side.surface, kNoSurface);
    EXPECT_EQ(answer.channel.number, kNoChannel);
  }
  const GpuGeometry flat = upload(flatten(scene), {}, device());
  EXPECT_EQ(ask_all(flat, {{0, 1, 0, 0, true}})[0].side.surface, kNoSurface);
}

// ---- colours --------------------------------------------------------------------------------------------------------

class Colors : public SurfaceLookup {
 protected:
  /// The colour of every triangle of the scene.
  static std::vector<std::uint32_t> colors_of(const Scene& scene, const GpuGeometry& geometry) {
    const bool flat = geometry.view().solid_ids != nullptr;
    std::vector<SurfaceQuery> queries;
    for (const SceneTriangle& one : triangles_of(scene))
      queries.push_back({0, 0, flat ? 0 : one.solid, flat ? one.flat : one.two_level, false});
    std::vector<std::uint32_t> colors;
    for (const SurfaceAnswer& answer : ask_all(geometry, queries)) colors.push_back(answer.color);
    return colors;
  }
  static Scene scene() {
    Scene scene = test::random_tree(7, 100);
    for (std::size_t i = 0; i != scene.materials.size(); ++i)
      scene.materials[i].color = {0.25F * static_cast<float>(i), 0.5F, 1, 0.75F};
    return scene;
  }
};
RAYLIFT_ON_BOTH_DEVICES(Colors);

TEST_P(Colors, OfSolidsChangeAndComeBack) {
  const Scene scene = Colors::scene();
  const std::vector<SceneTriangle> triangles = triangles_of(scene);
  const std::vector<std::uint32_t> plain = flatten(scene).colors;
  const Stream stream(device());
  for (const bool flat : {false, true}) {
    GpuGeometry geometry = upload_as(scene, flat);
    EXPECT_EQ(colors_of(scene, geometry), plain);
    color_solids(geometry, std::vector<std::uint32_t>{0, 31, 32, 64, 99, 64}, 0x80123456, stream);
    color_solids(geometry, std::vector<std::uint32_t>{32}, 0x00FF00FF, stream);
    color_solids(geometry, {}, 1, stream);
    std::vector<std::uint32_t> wanted = plain;
    for (std::size_t i = 0; i != triangles.size(); ++i) {
      const std::uint32_t solid = triangles[i].solid;
      if (solid == 0 || solid == 31 || solid == 64 || solid == 99) wanted[i] = 0x80123456;
      if (solid == 32) wanted[i] = 0x00FF00FF;
    }
    EXPECT_EQ(colors_of(scene, geometry), wanted) << flat;
    reset_colors(geometry, stream);
    EXPECT_EQ(colors_of(scene, geometry), plain) << flat;
  }
}

TEST_P(Colors, AreSetAllTogether) {
  const Scene scene = Colors::scene();
  const Stream stream(device());
  GpuGeometry flat = upload_as(scene, true);
  std::vector<std::uint32_t> wanted(scene.expanded_triangles());
  for (std::size_t i = 0; i != wanted.size(); ++i) wanted[i] = static_cast<std::uint32_t>(i * 2654435761U);
  set_colors(flat, wanted, stream);
  EXPECT_EQ(colors_of(scene, flat), wanted);

  GpuGeometry two_level = upload_as(scene, false);
  std::vector<std::uint32_t> by_solid(scene.instances.size(), kMaterialColor);
  by_solid[5] = 7;
  set_colors(two_level, by_solid, stream);
  const std::vector<std::uint32_t> got = colors_of(scene, two_level);
  const std::vector<std::uint32_t> plain = flatten(scene).colors;
  const std::vector<SceneTriangle> triangles = triangles_of(scene);
  for (std::size_t i = 0; i != got.size(); ++i) EXPECT_EQ(got[i], triangles[i].solid == 5 ? 7 : plain[i]);
}

TEST_P(Colors, RefuseWhatIsNotThere) {
  const Scene scene = Colors::scene();
  const Stream stream(device());
  for (const bool flat : {false, true}) {
    GpuGeometry geometry = upload_as(scene, flat);
    const std::vector<std::uint32_t> none{kNone}, beyond{3, 100}, few(3);
    (void)test::expect_error(ErrorKind::usage, [&] { color_solids(geometry, none, 1, stream); });
    (void)test::expect_error(ErrorKind::usage, [&] { color_solids(geometry, beyond, 1, stream); });
    (void)test::expect_error(ErrorKind::usage, [&] { set_colors(geometry, few, stream); });
  }
  GpuGeometry alone = upload(flatten(scene), {}, device());
  color_solids(alone, std::vector<std::uint32_t>{99}, 1, stream);
  (void)test::expect_error(ErrorKind::usage, [&] { reset_colors(alone, stream); });
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
    const std::vector<BorderBucket> buckets = detail::border_table(scene, solid_tree(scene));
    OpticsView view{};
    view.borders = buckets.data();
    view.border_bucket_count = static_cast<std::uint32_t>(buckets.size());
    std::size_t stored = 0;
    for (const SolidBorder& border : scene.optics.borders) {
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
