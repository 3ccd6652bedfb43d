// SPDX-License-Identifier: Apache-2.0
// A scene that was exported and read again has the same solids in the same places.
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/export/export_scene.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/flatten.h>

#include <algorithm>
#include <set>

#include "support/paths.h"

namespace raylift {
namespace {

using Eigen::Vector3d;

class Exported : public testing::Test {
 protected:
  [[nodiscard]] Scene exported(const Scene& scene, const std::string& name) const {
    for (const ExportedFile& file : export_scene(scene, name)) (void)folder_.write(file.name, file.bytes);
    LoadOptions options;
    if (name.ends_with("obj") || name.ends_with("stl") || name.ends_with("ply")) options.up_axis = scene.up_axis;
    return load(folder_.path() / name, options);
  }

 private:
  test::TemporaryFolder folder_;
};

/// What can be compared in any format: how much surface a solid has, where, of which material.
struct Solid {
  std::string material;
  double area = 0;
  Vector3d middle = Vector3d::Zero();  // by area
  double volume = 0;                   // turns its sign where the winding does
};

std::vector<Solid> solids_of(const Scene& scene, const Eigen::Matrix3d& turn) {
  std::vector<Solid> all;
  for (const Instance& instance : scene.instances) {
    const Mesh& mesh = scene.meshes[instance.mesh];
    const EigenTransform place = to_eigen(instance.transform);
    const double side = place.linear().determinant() < 0 ? -1 : 1;
    for (std::size_t part = 0; part != mesh.parts.size(); ++part) {
      Solid solid;
      const std::uint32_t material = scene.material(instance, part);
      solid.material = material == kNone ? "none" : scene.materials[material].name;
      for (std::uint32_t i = 0; i != mesh.parts[part].triangle_count; ++i) {
        const UInt3& t = mesh.triangles[mesh.parts[part].first_triangle + i];
        const Vector3d a = turn * (place * to_eigen(mesh.vertices[t.x])),
                       b = turn * (place * to_eigen(mesh.vertices[t.y])),
                       c = turn * (place * to_eigen(mesh.vertices[t.z]));
        const double area = 0.5 * (b - a).cross(c - a).norm();
        solid.area += area;
        solid.middle += area * (a + b + c) / 3;
        solid.volume += side * a.dot(b.cross(c)) / 6;
      }
      solid.middle /= solid.area;
      all.push_back(solid);
    }
  }
  std::sort(all.begin(), all.end(), [](const Solid& a, const Solid& b) {
    const auto rounded = [](const Solid& s) {
      return std::make_tuple(s.material, std::llround(s.middle.x()), std::llround(s.middle.y()),
                             std::llround(s.middle.z()), s.area);
    };
    return rounded(a) < rounded(b);
  });
  return all;
}

void expect_alike(const Scene& scene, const Scene& again, const Eigen::Matrix3d& turn = Eigen::Matrix3d::Identity()) {
  const std::vector<Solid> a = solids_of(scene, turn), b = solids_of(again, Eigen::Matrix3d::Identity());
  ASSERT_EQ(a.size(), b.size());
  const double reach = scene.bounds.reach();
  for (std::size_t i = 0; i != a.size(); ++i) {
    ASSERT_EQ(a[i].material, b[i].material);
    ASSERT_NEAR(a[i].area, b[i].area, 1e-5 * a[i].area + 1e-6) << i;
    ASSERT_LT((a[i].middle - b[i].middle).norm(), 1e-6 * reach) << i;
    ASSERT_NEAR(a[i].volume, b[i].volume, 1e-5 * std::abs(a[i].volume) + 1e-5 * a[i].area * reach) << i;
  }
}

/// From z upward to y upward.
Eigen::Matrix3d y_up() {
  Eigen::Matrix3d turn;
  turn << 1, 0, 0, 0, 0, 1, 0, -1, 0;
  return turn;
}

std::set<std::string> names_of(const Scene& scene) {
  std::set<std::string> names;
  for (const Instance& instance : scene.instances) names.insert(scene.solid_name(instance));
  return names;
}

TEST_F(Exported, ScenesAreWhatTheyWereAsCollada) {
  for (const char* name : {"detector.dae", "nested_transforms.dae", "units_inch_y_up.dae", "units_metre_x_up.dae",
                           "units_centimetre_z_up.dae", "materials.dae", "instances.dae"}) {
    SCOPED_TRACE(name);
    const Scene scene = load(test::data(name)), again = exported(scene, "scene.dae");
    EXPECT_NEAR(again.unit_mm, 1, 1e-6);
    EXPECT_EQ(again.up_axis, scene.up_axis);
    expect_alike(scene, again);
    const bool one_material =
        std::all_of(scene.meshes.begin(), scene.meshes.end(), [](const Mesh& mesh) { return mesh.parts.size() == 1; });
    if (one_material) {
      EXPECT_EQ(again.meshes.size(), scene.meshes.size());
    }
    EXPECT_EQ(names_of(again), names_of(scene));
    for (const Material& material : scene.materials)
      for (const Material& other : again.materials)
        for (std::size_t i = 0; i != 3 && material.name == other.name; ++i)
          EXPECT_NEAR(material.color[i], other.color[i], 1e-5F) << material.name;
  }
}

TEST_F(Exported, ScenesAreWhatTheyWereAsGltf) {
  const Scene scene = load(test::data("detector.dae"));
  for (const char* name : {"scene.glb", "scene.gltf"}) {
    SCOPED_TRACE(name);
    const Scene again = exported(scene, name);
    expect_alike(scene, again, y_up());
    EXPECT_EQ(again.meshes.size(), scene.meshes.size()) << "meshes are shared";
  }
}

TEST_F(Exported, CopiesStandWhereInstancesStood) {
  const Scene scene = load(test::data("nested_transforms.dae"));
  double area = 0;
  for (const Solid& solid : solids_of(scene, Eigen::Matrix3d::Identity())) area += solid.area;
  for (const char* name : {"scene.obj", "scene.stl", "scene.ply"}) {
    SCOPED_TRACE(name);
    const Scene again = exported(scene, name);
    double now = 0;
    for (const Solid& solid : solids_of(again, Eigen::Matrix3d::Identity())) now += solid.area;
    EXPECT_NEAR(now, area, 1e-5 * area);
    EXPECT_LT((to_eigen(again.bounds.min) - to_eigen(scene.bounds.min)).norm(), 1e-6 * scene.bounds.reach());
    EXPECT_LT((to_eigen(again.bounds.max) - to_eigen(scene.bounds.max)).norm(), 1e-6 * scene.bounds.reach());
  }
}

TEST_F(Exported, MirroredAndFlatSolidsKeepTheirPlaces) {
  Scene scene = load(test::data("cube.dae"));
  Instance mirrored = scene.instances.front();
  EigenTransform place = Eigen::Translation3d(1000, 20, -7) * Eigen::AngleAxisd(0.4, Vector3d(1, 2, 3).normalized()) *
                         Eigen::Scaling(-1.0, 2.0, 0.5) * to_eigen(mirrored.transform);
  mirrored.transform = place;
  scene.instances.push_back(mirrored);  // of the same node
  mirrored.transform = EigenTransform(Eigen::Scaling(1.0, 1.0, 0.0) * place);
  scene.instances.push_back(mirrored);
  scene.bounds = world_bounds(scene);
  expect_alike(scene, exported(scene, "scene.dae"));
}

// Assimp's own search for unique names takes time with the square of the nodes.
TEST_F(Exported, NodesOfOneNameComeWithIdsOfTheirOwn) {
  constexpr std::uint32_t kCount = 3000;
  Scene scene = load(test::data("cube.dae"));
  Instance one = scene.instances[0];
  scene.nodes = {{"top", kNone, std::nullopt, kNone}};
  scene.instances.clear();
  for (std::uint32_t i = 0; i != kCount; ++i) {
    scene.nodes.push_back({"same", 0, std::nullopt, kNone});
    one.node = i + 1;
    one.transform(0, 3) = 1e4 * i;
    scene.instances.push_back(one);
  }
  const std::string text = export_scene(scene, "many.dae")[0].bytes;
  EXPECT_NE(text.find("id=\"same\" name=\"same\""), std::string::npos);
  EXPECT_NE(text.find("id=\"same-2999\" name=\"same\""), std::string::npos);
  const Scene again = exported(scene, "many.dae");
  ASSERT_EQ(again.instances.size(), kCount);
  EXPECT_EQ(again.solid_name(again.instances.back()), "same");
  const Scene gltf = exported(scene, "many.glb");
  ASSERT_EQ(gltf.instances.size(), kCount);
  EXPECT_EQ(gltf.solid_name(gltf.instances.back()), "same-2999");
}

TEST(ExportScene, KnowsItsEndings) {
  const Scene scene = load(test::data("cube.dae"));
  for (const std::string& ending : export_extensions()) EXPECT_FALSE(export_scene(scene, "scene." + ending).empty());
  for (const char* name : {"scene.step", "scene", "dae"}) {
    try {
      (void)export_scene(scene, name);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
    }
  }
  const std::vector<ExportedFile> files = export_scene(scene, "scene.obj");
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].name, "scene.obj");
  EXPECT_EQ(files[1].name, "scene.mtl");
  EXPECT_NE(files[0].bytes.find("mtllib scene.mtl"), std::string::npos);
}

}  // namespace
}  // namespace raylift
