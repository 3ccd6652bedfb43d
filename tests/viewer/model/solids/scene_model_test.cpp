// SPDX-License-Identifier: Apache-2.0
// What the viewer makes of a scene: draw lists, normals, the tree of solids.
#include <gtest/gtest.h>
#include <raylift/geometry/detail/arithmetic.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/optics/find_solids.h>
#include <raylift/geometry/optics/surface_between.h>
#include <raylift/geometry/scene/eigen.h>

#include <cmath>
#include <map>
#include <set>

#include "cli/text.h"
#include "geometry/src/scene/names.h"
#include "meshes/draw_list.h"
#include "meshes/smooth_normals.h"
#include "model/solids/find.h"
#include "model/solids/solids.h"
#include "support/paths.h"
#include "window/controls/tree_rows.h"

namespace raylift::viewer {
namespace {

Scene scene_of(const char* file) {
  return load(test::data(file));
}

TEST(DrawList, DrawsEachPartOfEachVisibleSolidOnce) {
  const Scene scene = scene_of("materials.dae");
  const MeshOffsets offsets = mesh_offsets(scene);
  const DrawList list = draw_list(scene, offsets, {});
  EXPECT_EQ(list.triangles, scene.expanded_triangles());
  std::map<std::uint32_t, std::uint64_t> drawn;
  for (const DrawCommand& command : list.commands)
    for (std::uint32_t i = 0; i < command.instance_count; ++i) {
      const DrawSlot& slot = list.slots[command.base_instance + i];
      drawn[slot.instance] += command.index_count / 3;
      EXPECT_EQ(slot.first_triangle * 3, command.first_index);
    }
  for (std::size_t i = 0; i < scene.instances.size(); ++i)
    EXPECT_EQ(drawn[static_cast<std::uint32_t>(i)], scene.meshes[scene.instances[i].mesh].triangles.size());
}

TEST(DrawList, LeavesHiddenSolidsOut) {
  const Scene scene = scene_of("instances.dae");
  std::vector<std::uint8_t> visible(scene.instances.size(), 0);
  visible[3] = visible[7] = 1;
  const DrawList list = draw_list(scene, mesh_offsets(scene), visible);
  std::set<std::uint32_t> drawn;
  for (const DrawSlot& slot : list.slots) drawn.insert(slot.instance);
  EXPECT_EQ(drawn, (std::set<std::uint32_t>{3, 7}));
  const auto triangles = [&](std::size_t i) { return scene.meshes[scene.instances[i].mesh].triangles.size(); };
  EXPECT_EQ(list.triangles, triangles(3) + triangles(7));
  const std::vector<std::uint8_t> none(scene.instances.size(), 0);
  EXPECT_TRUE(draw_list(scene, mesh_offsets(scene), none).commands.empty());
}

TEST(DrawList, ManySolidsOfOneMeshAreOneCommand) {
  const Scene scene = scene_of("instances.dae");
  EXPECT_EQ(draw_list(scene, mesh_offsets(scene), {}).commands.size(), scene.meshes.size());
}

TEST(DrawList, KnowsTheSurfaceOnTheOutsideOfASolid) {
  Scene scene = scene_of("detector.dae");
  scene.optics = {};
  EXPECT_TRUE(surfaces_of_solids(scene).empty());
  scene.optics.surfaces.resize(2);
  SurfaceAssignment skin{SurfaceAssignment::Kind::skin, "skin", 1, {}, {}};
  skin.from.solid = literal_pattern(scene.solid_name(scene.instances[5]));
  scene.optics.assignments = {skin};
  resolve_optics(scene);
  const std::vector<SolidSurfaces> surfaces = surfaces_of_solids(scene);
  EXPECT_EQ(surfaces[5].entering, 1U);
  EXPECT_EQ(surfaces[5].leaving, 1U);
  const auto tree = solid_tree(scene);
  for (std::uint32_t i = 0; i != surfaces.size(); ++i)
    if (surfaces[i].outside() == 1) {
      EXPECT_TRUE(i == 5 || tree.mother[i] == 5) << "Geant4's skin holds towards daughters too";
    }
  const DrawList list = draw_list(scene, mesh_offsets(scene), {}, surfaces);
  for (const DrawSlot& slot : list.slots) EXPECT_EQ(slot.surfaces, surfaces[slot.instance].packed());
}

TEST(DrawList, KnowsTheSurfaceOnEachSideOfAFace) {
  const Scene scene = scene_of("detector.dae");
  const std::vector<SolidSurfaces> surfaces = surfaces_of_solids(scene);
  const auto name = [&](std::uint32_t surface) {
    return surface == kNone ? "none" : scene.optics.surfaces[surface].name;
  };
  for (std::uint32_t i = 0; i != surfaces.size(); ++i)
    if (scene.solid_name(scene.instances[i]).starts_with("Buffer_pv")) {
      EXPECT_EQ(name(surfaces[i].outside()), "TankSurface") << "the skin of its mother";
      EXPECT_EQ(name(surfaces[i].inside()), "ReflectorSurface") << "the border from it into its mother";
    }
  constexpr SolidSurfaces kInOnly{3, kNone}, kOutOnly{kNone, 4}, kBoth{3, 4 + kDistinctColors};
  EXPECT_EQ(kInOnly.packed(), 0x00030003U);
  EXPECT_EQ(kOutOnly.packed(), 0x00040004U);
  EXPECT_EQ(kBoth.packed(), 0x00040003U);
  EXPECT_EQ(kBoth.packed_cap(), 0x00030003U);
  EXPECT_EQ(SolidSurfaces().packed(), kNone);
}

TEST(DrawList, TwoFloatsKeepLargeCoordinates) {
  for (const double value : {2.4e6 + 0.123, -802110.0 - 1.0 / 3, 0.0, 1e-3}) {
    const auto [high, low] = arithmetic_detail::split(value);
    EXPECT_NEAR(static_cast<double>(high) + static_cast<double>(low), value, 1e-6 * (1 + std::abs(value) * 1e-6));
  }
}

TEST(DrawList, InstancesKeepBothParts) {
  Scene scene;
  scene.meshes.resize(1);
  scene.instances.resize(5);
  for (std::size_t i = 0; i < scene.instances.size(); ++i)
    scene.instances[i].transform = Transform::Translation({2.4e6 + 0.12, -802110.123, 0.1 * static_cast<double>(i)});
  for (const DrawInstance& instance : draw_instances(scene)) {
    EXPECT_NEAR(double{instance.rows[0][3]} + double{instance.low[0]}, 2.4e6 + 0.12, 1e-6);
    EXPECT_NEAR(double{instance.rows[1][3]} + double{instance.low[1]}, -802110.123, 1e-6);
  }
}

TEST(DrawList, MirrorsAreKnown) {
  const Scene scene = scene_of("nested_transforms.dae");
  const std::vector<DrawInstance> instances = draw_instances(scene);
  int mirrored = 0;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    EXPECT_EQ(instances[i].flags >> 1, scene.instances[i].mesh);
    EXPECT_EQ((instances[i].flags & 1U) != 0, to_eigen(scene.instances[i].transform).linear().determinant() < 0);
    mirrored += static_cast<int>(instances[i].flags & 1U);
  }
  EXPECT_GT(mirrored, 0);
}

TEST(Normals, PackAndUnpack) {
  for (int i = 0; i < 200; ++i) {
    const Eigen::Vector3f n =
        Eigen::Vector3f(std::sin(1.7F * static_cast<float>(i)), std::cos(2.3F * static_cast<float>(i)),
                        std::sin(0.9F * static_cast<float>(i) + 1))
            .normalized();
    EXPECT_LT((unpack_normal(pack_normal(3 * n)) - n).norm(), 1e-4F);
  }
  EXPECT_LT((unpack_normal(pack_normal({0, 0, -1})) - Eigen::Vector3f(0, 0, -1)).norm(), 1e-4F);
}

TEST(Normals, ACubeStaysFlat) {
  const Scene scene = scene_of("cube.dae");
  const SmoothNormals normals = smooth_normals(scene, mesh_offsets(scene));
  // A corner has one normal, which fits the triangles of one side at most.
  int smooth = 0;
  for (int i = 0; i < 12; ++i) smooth += static_cast<int>(normals.smooth[0] >> i & 1U);
  EXPECT_LE(smooth, 2);
}

TEST(Normals, ASphereIsSmooth) {
  Scene scene = scene_of("detector.dae");
  const MeshOffsets offsets = mesh_offsets(scene);
  const SmoothNormals normals = smooth_normals(scene, offsets);
  for (std::size_t m = 0; m < scene.meshes.size(); ++m) {
    if (scene.meshes[m].name.find("Vessel") == std::string::npos) continue;
    for (std::size_t v = 0; v < scene.meshes[m].vertices.size(); ++v) {
      const Float3& p = scene.meshes[m].vertices[v];
      const Eigen::Vector3f out = Eigen::Vector3f(p.x, p.y, p.z).normalized();
      EXPECT_GT(unpack_normal(normals.vertices[offsets.first_vertex[m] + v]).dot(out), 0.99F);
    }
    return;
  }
  FAIL() << "no vessel";
}

TEST(Solids, KnowTheTree) {
  const Scene scene = scene_of("detector.dae");
  const Solids solids(scene);
  EXPECT_EQ(solids.below(kNone).size(), scene.instances.size());
  std::size_t nodes = 0;
  std::vector<std::uint32_t> open(solids.children(kNone).begin(), solids.children(kNone).end());
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    ++nodes;
    for (const std::uint32_t child : solids.children(node)) {
      EXPECT_EQ(scene.nodes[child].parent, node);
      open.push_back(child);
    }
  }
  EXPECT_EQ(nodes, scene.nodes.size());
}

TEST(Find, FollowsOneOrderOfRules) {
  const Scene scene = scene_of("detector.dae");
  const Solids solids(scene);
  const auto by = [&](const char* text) { return find(solids, text).by; };
  const std::vector<std::uint32_t> sensors = find(solids, "sensor_1").solids;
  ASSERT_GT(sensors.size(), 50U) << "a part of the name, case aside";
  for (const std::uint32_t i : sensors)
    EXPECT_NE(scene.solid_name(scene.instances[i]).find("Sensor_1"), std::string::npos);
  EXPECT_EQ(find(solids, "Sensor_12*").solids, find_solids(scene, "Sensor_12*"));
  EXPECT_EQ(find(solids, "/*").solids.size(), scene.instances.size());
  EXPECT_EQ(by("Sensor_12*"), FoundBy::name);
  EXPECT_EQ(by("/*"), FoundBy::path);
  EXPECT_EQ(by("no such name"), std::nullopt);
  EXPECT_EQ(count_text(find(solids, "no such name")), "none found");
  EXPECT_EQ(by(""), std::nullopt);
  EXPECT_EQ(by("vessel"), FoundBy::name);
  // A material and a mesh by their names, with and without the field.
  const std::string material = scene.materials[scene.material(scene.instances[0], 0)].name;
  const Found named = find(solids, "material:" + material);
  ASSERT_FALSE(named.solids.empty());
  for (const std::uint32_t i : named.solids)
    EXPECT_EQ(scene.materials[scene.material(scene.instances[i], 0)].name, material);
  EXPECT_EQ(find(solids, "name:" + material).by == FoundBy::material, false);
  const std::string mesh = scene.meshes[scene.instances[5].mesh].name;
  const Found of_mesh = find(solids, "mesh:" + literal_pattern(mesh));
  EXPECT_EQ(of_mesh.by, FoundBy::mesh);
  for (const std::uint32_t i : of_mesh.solids) EXPECT_EQ(scene.meshes[scene.instances[i].mesh].name, mesh);
  EXPECT_EQ(count_text(of_mesh), cli::counted(of_mesh.solids.size(), "solid", "solids") + " by mesh");
}

TEST(Find, ByCopyNumber) {
  Scene scene = scene_of("detector.dae");
  const std::uint32_t node = scene.instances[7].node;
  scene.nodes[node].copy_number = 4711;
  const Solids solids(scene);
  for (const char* text : {"#4711", "copy:4711"}) {
    EXPECT_EQ(find(solids, text).solids, std::vector<std::uint32_t>{7}) << text;
    EXPECT_EQ(count_text(find(solids, text)), "1 solid by copy number");
  }
  EXPECT_FALSE(find(solids, "#x").by);
}

TEST(Find, SearchesByWordsTheBestFirst) {
  Scene scene = scene_of("detector.dae");
  const auto rename = [&](std::uint32_t solid, const char* name) {
    scene.nodes[scene.instances[solid].node].name = name;
  };
  const auto sensor = [&](int number) {
    const auto name = "Sensor_" + std::to_string(number) + "_pv";
    for (std::uint32_t i = 0; i != scene.instances.size(); ++i)
      if (base_name(scene.solid_name(scene.instances[i])) == name) return i;
    return kNone;
  };
  const std::uint32_t wanted = sensor(117), longer = sensor(5), inner = sensor(6);
  ASSERT_NE(wanted, kNone);
  rename(longer, "Sensor_1170_pv0x117f0");
  rename(inner, "Sensor_2117_pv0x5f1170");
  rename(sensor(7), "Sensor_7_pv0x1171170");
  const Solids solids(scene);
  EXPECT_EQ(search(solids, "sensor 117").solids, (std::vector<std::uint32_t>{wanted, longer, inner}))
      << "the digits of Geant4's pointers are not in names";
  EXPECT_EQ(search(solids, "Sensor_117_pv").solids.front(), wanted);
  EXPECT_EQ(search(solids, "sensor_1*").solids, find(solids, "sensor_1*").solids) << "a pattern";
  EXPECT_EQ(search(solids, "Sensor_7_pv0x1171170").solids.size(), 1U) << "a name that was pasted";
  EXPECT_EQ(search(solids, "bialkali").by, FoundBy::material);
  EXPECT_FALSE(search(solids, "sensor vessel").by);
  EXPECT_FALSE(search(solids, " ").by);
  EXPECT_EQ(find(solids, "sensor 117").solids.size(), 3U) << "also where it is an option";
}

TEST(Find, NumbersOfSolidsAreBesideTheirNames) {
  Scene scene = scene_of("detector.dae");
  ASSERT_FALSE(scene.optics.channels.empty());
  scene.optics.channels[3].number = 4711;
  const std::uint32_t detecting = scene.optics.channels[3].solid, copied = 7;
  ASSERT_NE(detecting, copied);
  scene.nodes[scene.instances[copied].node].copy_number = 4711;
  const Solids solids(scene);
  EXPECT_EQ(find(solids, "channel:4711").solids, std::vector<std::uint32_t>{detecting});
  EXPECT_EQ(count_text(find(solids, "channel:4711")), "1 solid by channel number");
  EXPECT_EQ(search(solids, "4711").solids.size(), 2U) << "by its copy number and by its channel";
  EXPECT_EQ(search(solids, "photocathode 4711").solids, std::vector<std::uint32_t>{detecting});
}

TEST(Find, ANodeWithoutASolidStandsForThoseBelow) {
  const Scene scene = scene_of("detector.dae");
  const Solids solids(scene);
  ASSERT_TRUE(solids.instances(solids.children(kNone)[0]).empty());
  EXPECT_EQ(find(solids, scene.nodes[solids.children(kNone)[0]].name).solids.size(), scene.instances.size());
}

TEST(Find, NamesANodeWithoutASolid) {
  Scene scene;
  scene.meshes.resize(1);
  for (const auto& [name, parent] :
       {std::pair("World", kNone), {"ring", 0U}, {"pmt", 1U}, {"ring", 0U}, {"pmt", 3U}, {"empty", 0U}})
    scene.nodes.push_back({name, parent, {}, kNone});
  for (const std::uint32_t node : {0U, 2U, 4U}) {
    scene.instances.emplace_back();
    scene.instances.back().node = node;
  }
  const Solids solids(scene);
  EXPECT_EQ(find_group(solids, "ring"), 1U) << "the first of several";
  for (const char* text : {"/World/ring", "path:/World/rin[g]", "name:ring", "r?ng"})
    EXPECT_EQ(find_group(solids, text), 1U) << text;
  for (const char* text : {"World", "pmt", "*", "rin", "empty", "#1", "material:x", ""})
    EXPECT_EQ(find_group(solids, text), kNone) << text;
}

TEST(TreeRows, TellThreeHundredEqualNamesApart) {
  Scene scene;
  scene.meshes.resize(1);
  scene.nodes.push_back({"World", kNone, {}, kNone});
  for (int i = 0; i < 300; ++i) {
    scene.nodes.push_back({"pmt", 0, i < 100 ? std::optional<std::int64_t>(1000 + i) : std::nullopt, kNone});
    scene.instances.emplace_back();
    scene.instances.back().node = static_cast<std::uint32_t>(scene.nodes.size() - 1);
  }
  const Solids solids(scene);
  const auto distinct = [&](const std::vector<TreeRow>& rows) {
    std::set<std::string> names;
    for (const TreeRow& row : rows)
      if (row.node != 0) names.insert(row.mark + scene.nodes[row.node].name);
    return names;
  };
  const std::set<std::string> names = distinct(tree_rows(solids, {0}));
  EXPECT_EQ(names.size(), 300U);
  EXPECT_TRUE(names.contains("#1007  pmt"));
  EXPECT_EQ(tree_rows(solids, {}).size(), 1U) << "closed";
  EXPECT_EQ(tree_rows(solids, {})[0].mark, "") << "the only one";
  const Found found = find(solids, "pmt");
  EXPECT_EQ(distinct(found_rows(solids, found.solids, 5000)).size(), 300U);
  EXPECT_EQ(found_rows(solids, found.solids, 7).size(), 7U);
}

TEST(Solids, VisibilityFollowsTheTree) {
  const Scene scene = scene_of("detector.dae");
  Solids solids(scene);
  const std::uint32_t top = solids.children(kNone)[0];
  EXPECT_EQ(solids.shown(top), 2);
  const std::uint32_t one = scene.instances.size() > 400 ? 400 : 0;
  solids.set_visible(std::vector<std::uint32_t>{one}, false);
  EXPECT_EQ(solids.shown(top), 1);
  EXPECT_EQ(solids.shown(scene.instances[one].node), solids.below(scene.instances[one].node).size() == 1 ? 0 : 1);
  solids.show_only({});
  EXPECT_EQ(solids.shown(top), 0);
  solids.show_all();
  EXPECT_EQ(solids.shown(top), 2);
}

TEST(Solids, BoundsHoldTheSolid) {
  const Scene scene = scene_of("nested_transforms.dae");
  const Solids solids(scene);
  Bounds all;
  for (std::uint32_t i = 0; i < scene.instances.size(); ++i) all.add(solids.bounds(i));
  Bounds larger = all;
  larger.add(Eigen::Vector3d(to_eigen(all.max).array() + 1e-6));
  larger.add(Eigen::Vector3d(to_eigen(all.min).array() - 1e-6));
  EXPECT_TRUE(larger.contains(scene.bounds));
}

}  // namespace
}  // namespace raylift::viewer
