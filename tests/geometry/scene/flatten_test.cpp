// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/flatten.h>
#include <tbb/global_control.h>

#include <random>
#include <span>

#include "support/expect_error.h"

namespace raylift {
namespace {

using test::expect_error;
using testing::ElementsAre;
using testing::HasSubstr;

/// A tetrahedron with outward normals, in two parts.
Mesh tetrahedron() {
  Mesh mesh;
  mesh.name = "tetrahedron";
  mesh.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  mesh.triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  mesh.parts = {{0, 1}, {1, 0}, {1, 3}};
  return mesh;
}

EigenTransform placed(const Eigen::Matrix3d& linear, const Eigen::Vector3d& at) {
  EigenTransform transform = EigenTransform::Identity();
  transform.linear() = linear;
  transform.translation() = at;
  return transform;
}

Scene three_solids() {
  Scene scene;
  scene.source = "three.dae";
  scene.meshes = {tetrahedron(), Mesh{}};
  scene.materials = {{"water", {0, 0, 1, 1}}, {"glass", {1, 0.5F, 0, 0.25F}}};
  scene.bindings = {{0, kNone, 1}, {1, 0, kNone}};
  scene.instances.resize(3);
  scene.instances[0].transform = placed(Eigen::Matrix3d::Identity() * 10, {100, 0, 0});
  scene.instances[1].mesh = 1;
  scene.instances[2].transform = placed(Eigen::Vector3d(1, 1, -1).asDiagonal(), {0, 7, 0});
  scene.instances[2].binding = 1;
  scene.instances[2].outside = 0;
  scene.bounds = world_bounds(scene);
  return scene;
}

double volume(const std::vector<Float3>& vertices, std::span<const UInt3> triangles) {
  const auto at = [&](std::uint32_t i) { return Eigen::Vector3d(vertices[i].x, vertices[i].y, vertices[i].z); };
  double sum = 0;
  for (const UInt3& t : triangles) sum += at(t.x).dot(at(t.y).cross(at(t.z))) / 6;
  return sum;
}

TEST(Flatten, ExpandsInstancesInOrderWithTheirIdsAndMaterials) {
  const FlatScene flat = flatten(three_solids());
  EXPECT_EQ(flat.origin, Eigen::Vector3d::Zero());
  ASSERT_EQ(flat.vertices.size(), 8U);
  EXPECT_EQ(flat.vertices[1], (Float3{110, 0, 0}));
  EXPECT_EQ(flat.vertices[7], (Float3{0, 7, -1}));
  ASSERT_EQ(flat.triangles.size(), 8U);
  EXPECT_EQ(flat.triangles[3], (UInt3{1, 2, 3}));
  EXPECT_THAT(flat.solid_ids, ElementsAre(0, 0, 0, 0, 2, 2, 2, 2));
  constexpr std::uint16_t none = MaterialCode::none;
  EXPECT_THAT(flat.material_codes,
              ElementsAre(MaterialCode{0, none}, MaterialCode{1, none}, MaterialCode{1, none}, MaterialCode{1, none},
                          MaterialCode{1, 0}, MaterialCode{none, 0}, MaterialCode{none, 0}, MaterialCode{none, 0}));
}

TEST(Flatten, GivesChromasColours) {
  const FlatScene flat = flatten(three_solids());
  EXPECT_EQ(flat.colors[0], 0x000000FFU) << "opaque blue";
  EXPECT_EQ(flat.colors[1], 0xBFFF8000U) << "transparent orange";
  EXPECT_EQ(flat.colors[5], 0x33FFFFFFU) << "no material";
}

TEST(Flatten, KeepsNormalsOutwardInMirroredInstances) {
  const FlatScene flat = flatten(three_solids());
  EXPECT_NEAR(volume(flat.vertices, std::span(flat.triangles).first(4)), 1000.0 / 6, 1e-9);
  EXPECT_NEAR(volume(flat.vertices, std::span(flat.triangles).last(4)), 1.0 / 6, 1e-9);
  EXPECT_EQ(flat.triangles[4], (UInt3{4, 5, 6})) << "(0, 2, 1) with the last two swapped";
}

TEST(Flatten, SubtractsTheOriginInDouble) {
  Scene scene = three_solids();
  const Eigen::Vector3d far(8e5, -7.9e6, 1e9);
  for (Instance& instance : scene.instances) instance.transform = to_eigen(instance.transform).pretranslate(far);
  const FlatScene flat = flatten(scene, far);
  EXPECT_EQ(flat.origin, far);
  EXPECT_EQ(flat.vertices, flatten(three_solids()).vertices);
}

TEST(Flatten, MovesTheOriginOnlyWhereFloatsBecomeCoarse) {
  Scene scene;
  EXPECT_EQ(default_origin(scene.bounds), Eigen::Vector3d::Zero()) << "an empty scene";
  scene.bounds.min = {-1000, -1000, -1000};
  scene.bounds.max = {131072, 1000, 1000};
  EXPECT_EQ(default_origin(scene.bounds), Eigen::Vector3d::Zero());
  scene.bounds.min = {-28079.4, -809699.9, -16605.0};
  scene.bounds.max = {-8079.4, -789699.9, 3394.0};
  EXPECT_EQ(default_origin(scene.bounds), Eigen::Vector3d(-18000, -800000, -7000))
      << "a cavern far from the file's zero";
  scene.bounds.min = {-2.4e6, -2.4e6, -2.4e6};
  scene.bounds.max = {2.4e6, 2.6e6, 2.4e6};
  EXPECT_EQ(default_origin(scene.bounds), Eigen::Vector3d::Zero()) << "moving a huge world gains nothing";
}

TEST(Flatten, NamesTheSolidWhoseVerticesDontFitAFloat) {
  Scene scene = three_solids();
  scene.nodes = {{"World", kNone, {}}, {"pmt", 0, {}}};
  scene.instances[2].node = 1;
  scene.instances[2].transform = to_eigen(scene.instances[2].transform).scale(1e39);
  const Error error = expect_error(ErrorKind::malformed, [&] { (void)flatten(scene); });
  EXPECT_EQ(error.file(), "three.dae");
  EXPECT_EQ(error.element(), "solid '/World/pmt', vertex 1");
}

TEST(Flatten, RefusesMoreThanItsNumbersCanTellApart) {
  Scene many = three_solids();
  many.materials.resize(65535);
  many.bindings[0][0] = 65534;
  EXPECT_EQ(flatten(many).material_codes[0].inside, 65534);
  many.materials.resize(65536);
  expect_error(ErrorKind::limit, [&] { (void)flatten(many); });

  Scene large;
  large.meshes.resize(1);
  large.meshes[0].vertices.resize(1U << 16);
  large.instances.resize(1U << 16);
  large.bindings = {{}};
  const Error error = expect_error(ErrorKind::limit, [&] { (void)flatten(large); });
  EXPECT_THAT(error.what(), HasSubstr("4294967296 vertices"));
}

TEST(Flatten, RefusesPartsThatLeaveTrianglesOut) {
  Scene scene = three_solids();
  scene.meshes[0].parts.pop_back();
  const Error error = expect_error(ErrorKind::malformed, [&] { (void)flatten(scene); });
  EXPECT_THAT(error.element(), HasSubstr("tetrahedron"));
}

TEST(Flatten, StopsWhenItsCallerCancels) {
  EXPECT_THROW((void)flatten(three_solids(), {}, Progress([](auto, std::uint64_t done, auto) { return done < 2; })),
               Error);
}

/// Many instances of meshes of all sizes, some empty, some mirrored.
Scene random_scene(unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  Scene scene;
  scene.materials.resize(5);
  for (const std::uint32_t size : {0U, 1U, 7U, 300U, 40000U}) {
    Mesh mesh;
    for (std::uint32_t i = 0; i != 2 * size; ++i)
      mesh.vertices.push_back(
          {static_cast<float>(pick(1000)), static_cast<float>(pick(1000)), static_cast<float>(pick(1000))});
    for (std::uint32_t i = 0; i != size; ++i)
      mesh.triangles.push_back({pick(2 * size), pick(2 * size), pick(2 * size)});
    mesh.parts = {{0, size / 3}, {size / 3, size - size / 3}};
    scene.meshes.push_back(mesh);
  }
  scene.bindings = {{1, 2}, {3}, {}, {kNone, 4}};
  for (int i = 0; i != 200; ++i) {
    Instance instance;
    instance.mesh = i % 50 == 0 ? 4 : pick(4);
    instance.binding = pick(4);
    instance.outside = pick(2) != 0 ? pick(5) : kNone;
    const Eigen::Matrix3d linear = Eigen::Matrix3d::Random();
    instance.transform = placed(linear, Eigen::Vector3d::Random() * 1000);
    scene.instances.push_back(instance);
  }
  return scene;
}

TEST(Flatten, MatchesAnExpansionOneByOne) {
  const Scene scene = random_scene(1);
  const Eigen::Vector3d origin(1, 2, 3);
  const FlatScene flat = flatten(scene, origin);
  std::size_t v = 0;
  std::size_t t = 0;
  for (std::uint32_t id = 0; id != scene.instances.size(); ++id) {
    const Instance& instance = scene.instances[id];
    const Mesh& mesh = scene.meshes[instance.mesh];
    const auto base = static_cast<std::uint32_t>(v);
    for (const Float3& p : mesh.vertices) {
      const Eigen::Vector3d expected = to_eigen(instance.transform) * Eigen::Vector3d(p.x, p.y, p.z) - origin;
      const Float3& got = flat.vertices[v++];
      ASSERT_LE((Eigen::Vector3d(got.x, got.y, got.z) - expected).cwiseAbs().maxCoeff(), 2e-4);
    }
    for (std::size_t i = 0; i != mesh.triangles.size(); ++i, ++t) {
      const UInt3& m = mesh.triangles[i];
      const bool mirrored = to_eigen(instance.transform).linear().determinant() < 0;
      ASSERT_EQ(flat.triangles[t], (UInt3{base + m.x, base + (mirrored ? m.z : m.y), base + (mirrored ? m.y : m.z)}));
      ASSERT_EQ(flat.solid_ids[t], id);
      const std::size_t part = i < mesh.parts[0].triangle_count ? 0 : 1;
      const std::uint32_t inside = scene.material(instance, part);
      ASSERT_EQ(flat.material_codes[t],
                (MaterialCode{MaterialCode::pack(inside), MaterialCode::pack(instance.outside)}));
      ASSERT_EQ(flat.colors[t], packed_color(scene, inside));
    }
  }
  EXPECT_EQ(v, flat.vertices.size());
  EXPECT_EQ(t, flat.triangles.size());
}

TEST(Flatten, GivesTheSameForAnyNumberOfThreads) {
  const Scene scene = random_scene(2);
  std::vector<FlatScene> flats;
  for (const std::size_t threads : {1, 2, 8}) {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
    flats.push_back(flatten(scene));
  }
  for (const FlatScene& flat : flats) {
    EXPECT_EQ(flat.vertices, flats[0].vertices);
    EXPECT_EQ(flat.triangles, flats[0].triangles);
    EXPECT_EQ(flat.solid_ids, flats[0].solid_ids);
    EXPECT_EQ(flat.material_codes, flats[0].material_codes);
    EXPECT_EQ(flat.colors, flats[0].colors);
  }
}

}  // namespace
}  // namespace raylift
