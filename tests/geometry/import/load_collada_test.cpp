// SPDX-License-Identifier: Apache-2.0
// load, from a COLLADA document to a whole Scene: what the preflight, Assimp, the conversion and the weld make of it
// together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <regex>
#include <string>

#include "collada_documents.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace raylift {
namespace {

using test::cube;
using test::document;
using test::expect_error;
using test::geometry;
using test::node;
using test::triangles;
using ::testing::HasSubstr;

class LoadCollada : public ::testing::Test {
 protected:
  Scene load_text(const std::string& text, const LoadOptions& options = {}, const Progress& progress = {}) {
    return load(folder_.write("scene.dae", text), options, progress);
  }
  Error error_of(ErrorKind kind, const std::string& text, const LoadOptions& options = {}) {
    return expect_error(kind, [&] { (void)load_text(text, options); });
  }
  test::TemporaryFolder folder_;
};

/// A mesh with a single triangle whose three corners are given.
std::string one_triangle(const std::string& positions) {
  return geometry("m", positions, 3, triangles("0 1 2", 1));
}

TEST_F(LoadCollada, ReadsACube) {
  const Scene scene = load_text(test::cube_document());
  ASSERT_EQ(scene.meshes.size(), 1U);
  EXPECT_EQ(scene.meshes[0].name, "cube");
  EXPECT_EQ(scene.meshes[0].vertices.size(), 8U);
  ASSERT_EQ(scene.meshes[0].triangles.size(), 12U);
  // Welding keeps the file's order of triangles and the first use of each vertex: corners 0, 2 and 1 come first.
  const Mesh& mesh = scene.meshes[0];
  EXPECT_EQ(mesh.triangles[0], (UInt3{0, 1, 2}));
  EXPECT_EQ(mesh.vertices[0], (Float3{0, 0, 0}));
  EXPECT_EQ(mesh.vertices[1], (Float3{1, 1, 0}));
  EXPECT_EQ(mesh.vertices[2], (Float3{1, 0, 0}));
  ASSERT_EQ(scene.instances.size(), 1U);
  EXPECT_EQ(scene.solid_name(scene.instances[0]), "box");
  EXPECT_EQ(scene.unit_mm, 1000);
  EXPECT_EQ(scene.bounds.max, Eigen::Vector3d(1000, 1000, 1000));
  EXPECT_EQ(scene.report.vertices_before_weld, 36U);
  EXPECT_EQ(scene.report.degenerate_triangles, 0U);
  EXPECT_THAT(scene.format, HasSubstr("COLLADA"));
  EXPECT_THAT(scene.source, HasSubstr("scene.dae"));
}

TEST_F(LoadCollada, ReadsElementsWhoseNamespaceHasAPrefix) {
  std::string text = std::regex_replace(test::cube_document(), std::regex("<(/?)([A-Za-z])"), "<$1c:$2");
  text.replace(text.find("xmlns="), 6, "xmlns:c=");
  const Scene scene = load_text(text), plain = load_text(test::cube_document());
  EXPECT_EQ(scene.meshes.at(0).triangles, plain.meshes.at(0).triangles);
  EXPECT_EQ(scene.bounds.max, plain.bounds.max);
  text.replace(text.find("xmlns:c="), 8, "xmlns:d=");
  EXPECT_THAT(error_of(ErrorKind::malformed, text).what(), HasSubstr("the root element is not <COLLADA>"));
}

TEST_F(LoadCollada, KeepsVerticesApartWhenWeldingIsOff) {
  LoadOptions options;
  options.weld.enabled = false;
  EXPECT_EQ(load_text(test::cube_document(), options).meshes[0].vertices.size(), 36U);
}

TEST_F(LoadCollada, MakesOnePartPerPrimitiveAndWeldsAcrossThem) {
  const std::string two = triangles("0 2 1 0 3 2", 2, "red") + triangles("0 1 5 0 5 4", 2, "blue");
  const std::string materials =
      "<library_materials><material id=\"Red\" name=\"Red\"/><material id=\"Blue\" name=\"Blue\"/></library_materials>";
  const std::string bound =
      "<node id=\"n\"><instance_geometry url=\"#m\"><bind_material><technique_common>"
      "<instance_material symbol=\"blue\" target=\"#Blue\"/><instance_material symbol=\"red\" target=\"#Red\"/>"
      "</technique_common></bind_material></instance_geometry></node>";
  const Scene scene = load_text(document(geometry("m", test::kCubePositions, 8, two), bound, "", materials));
  const Mesh& mesh = scene.meshes.at(0);
  ASSERT_EQ(mesh.parts.size(), 2U);
  EXPECT_EQ(mesh.parts[0].triangle_count, 2U);
  EXPECT_EQ(mesh.parts[1].first_triangle, 2U);
  EXPECT_EQ(mesh.parts[1].triangle_count, 2U);
  EXPECT_EQ(mesh.vertices.size(), 6U) << "corners 0 and 1 belong to both parts";
  const Instance& instance = scene.instances.at(0);
  EXPECT_EQ(scene.materials.at(scene.material(instance, 0)).name, "Red");
  EXPECT_EQ(scene.materials.at(scene.material(instance, 1)).name, "Blue");
}

TEST_F(LoadCollada, SharesOneMeshBetweenInstances) {
  std::string nodes;
  for (int i = 0; i != 100; ++i)
    nodes += node("n" + std::to_string(i), "cube", "<translate>" + std::to_string(i) + " 0 0</translate>");
  const Scene scene = load_text(document(cube("cube"), nodes));
  EXPECT_EQ(scene.meshes.size(), 1U);
  EXPECT_EQ(scene.instances.size(), 100U);
  EXPECT_EQ(scene.unique_triangles(), 12U);
  EXPECT_EQ(scene.expanded_triangles(), 1200U);
  EXPECT_EQ(scene.bounds.max, Eigen::Vector3d(100000, 1000, 1000));
}

TEST_F(LoadCollada, KeepsGeometriesApartThatNumberTheirElementsAlike) {
  std::string geometries;
  std::string nodes;
  // More than ten, so that an order of names ("g10" before "g2") would show.
  for (int i = 0; i != 25; ++i) {
    const std::string x = std::to_string(i);
    geometries += geometry("m" + x, x + " 0 0 " + x + " 1 0 " + x + " 0 1", 3, triangles("0 1 2", 1));
    nodes += node("n" + x, "m" + x);
  }
  const Scene scene = load_text(document(geometries, nodes));
  ASSERT_EQ(scene.meshes.size(), 25U);
  for (const Instance& instance : scene.instances) {
    const std::string name = scene.solid_name(instance);
    EXPECT_EQ("m" + name.substr(1), scene.meshes[instance.mesh].name);
    EXPECT_EQ(scene.meshes[instance.mesh].vertices.at(0).x, std::stof(name.substr(1)));
  }
}

TEST_F(LoadCollada, AppliesTransformsInDouble) {
  // 0.1 + 0.2 would show a float's rounding at once.
  const std::string inner = node("inner", "cube", "<translate>0.2 0 0</translate>");
  const std::string outer = node("outer", "", "<translate>0.1 0 0</translate>" + inner);
  const Scene scene = load_text(document(cube("cube"), outer, "<unit meter=\"0.001\"/><up_axis>Z_UP</up_axis>"));
  EXPECT_DOUBLE_EQ(scene.instances.at(0).transform(0, 3), 0.1 + 0.2);
  EXPECT_EQ(scene.unit_mm, 1);
  EXPECT_EQ(scene.up_axis, UpAxis::z);
  EXPECT_EQ(scene.up_from, Scene::Provenance::file);
  EXPECT_EQ(scene.path(scene.instances[0]), "/s/outer/inner");
}

TEST_F(LoadCollada, ObeysTheCallersUnitAndAxis) {
  LoadOptions options;
  options.unit_mm = 25.4;
  options.up_axis = UpAxis::x;
  const Scene scene = load_text(test::cube_document(), options);
  EXPECT_EQ(scene.unit_from, Scene::Provenance::option);
  EXPECT_EQ(scene.up_axis, UpAxis::x);
  EXPECT_EQ(scene.bounds.max.x, 25.4);
}

TEST_F(LoadCollada, RefusesAUnitThatIsNoLength) {
  for (const double unit :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    LoadOptions options;
    options.unit_mm = unit;
    error_of(ErrorKind::usage, test::cube_document(), options);
  }
}

TEST_F(LoadCollada, CutsPolygonsIntoTriangles) {
  const std::string faces =
      "<polylist count=\"2\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><vcount>4 3</vcount>"
      "<p>0 3 2 1  4 5 6</p></polylist>"
      "<polygons count=\"1\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>0 1 5 4</p></polygons>"
      "<tristrips count=\"1\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>1 2 5 6</p></tristrips>"
      "<trifans count=\"1\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>2 3 7 6</p></trifans>";
  const Scene scene = load_text(document(geometry("m", test::kCubePositions, 8, faces), node("n", "m")));
  const Mesh& mesh = scene.meshes.at(0);
  ASSERT_EQ(mesh.parts.size(), 4U);
  EXPECT_EQ(mesh.parts[0].triangle_count, 3U);
  EXPECT_EQ(mesh.parts[1].triangle_count, 2U);
  EXPECT_EQ(mesh.parts[2].triangle_count, 2U);
  EXPECT_EQ(mesh.parts[3].triangle_count, 2U);
  // The strip's two triangles wind alike: both look along +x.
  for (std::size_t i = mesh.parts[2].first_triangle; i != mesh.parts[2].first_triangle + 2; ++i) {
    const auto at = [&](std::uint32_t v) {
      return Eigen::Vector3d(mesh.vertices[v].x, mesh.vertices[v].y, mesh.vertices[v].z);
    };
    const UInt3 t = mesh.triangles[i];
    EXPECT_GT((at(t.y) - at(t.x)).cross(at(t.z) - at(t.x)).x(), 0) << "triangle " << i;
  }
}

TEST_F(LoadCollada, PassesOverNormalsAndTheirIndices) {
  const std::string indexed =
      "<source id=\"ns\"><float_array id=\"na\" count=\"3\">0 0 1</float_array><technique_common>"
      "<accessor source=\"#na\" count=\"1\" stride=\"3\"><param name=\"X\"/><param name=\"Y\"/><param "
      "name=\"Z\"/></accessor>"
      "</technique_common></source><triangles count=\"2\"><input semantic=\"NORMAL\" source=\"#ns\" offset=\"0\"/>"
      "<input semantic=\"VERTEX\" source=\"#v\" offset=\"1\"/><input semantic=\"TEXCOORD\" source=\"#ns\" "
      "offset=\"2\"/>"
      "<p>0 0 0 0 2 0 0 1 0  0 0 0 0 3 0 0 2 0</p></triangles>";
  const Scene scene = load_text(document(geometry("m", test::kCubePositions, 8, indexed), node("n", "m")));
  EXPECT_EQ(scene.meshes.at(0).triangles.size(), 2U);
  EXPECT_EQ(scene.meshes.at(0).vertices.size(), 4U);
}

TEST_F(LoadCollada, IgnoresAndCountsLines) {
  const std::string mixed =
      "<lines count=\"1\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>0 1</p></lines>" +
      triangles("0 2 1", 1);
  const Scene scene = load_text(document(geometry("m", test::kCubePositions, 8, mixed), node("n", "m")));
  EXPECT_EQ(scene.meshes.at(0).triangles.size(), 1U);
  EXPECT_GE(scene.report.ignored_primitives, 1U);
}

TEST_F(LoadCollada, LeavesOutMeshesWithoutTrianglesAndKeepsTheOthersNumbersRight) {
  const std::string lines =
      "<lines count=\"1\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>0 1</p></lines>";
  const Scene scene = load_text(document(geometry("wire", test::kCubePositions, 8, lines) + cube("cube"),
                                         node("first", "wire") + node("second", "cube")));
  ASSERT_EQ(scene.meshes.size(), 1U);
  ASSERT_EQ(scene.instances.size(), 1U);
  EXPECT_EQ(scene.meshes[scene.instances[0].mesh].name, "cube");
  EXPECT_EQ(scene.solid_name(scene.instances[0]), "second");
  EXPECT_THAT(scene.report.warnings, ::testing::Contains(HasSubstr("'wire'")));
}

TEST_F(LoadCollada, RefusesASceneWithoutATriangle) {
  const std::string lines =
      "<lines count=\"1\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>0 1</p></lines>";
  error_of(ErrorKind::malformed, document(geometry("wire", test::kCubePositions, 8, lines), node("n", "wire")));
  error_of(ErrorKind::malformed, document(cube("cube"), node("n", "")));
}

// The numbers -------------------------------------------------------------------------------------------------------

TEST_F(LoadCollada, RefusesNumbersThatAreNotFiniteAndNamesTheMesh) {
  for (const std::string bad : {"NaN", "INF", "-INF", "1e39", "-1e300"}) {
    const Error error =
        error_of(ErrorKind::malformed, document(one_triangle("0 0 0 1 0 0 0 " + bad + " 0"), node("n", "m")));
    EXPECT_THAT(error.element(), HasSubstr("'m'")) << bad;
    EXPECT_THAT(error.file(), HasSubstr("scene.dae")) << bad;
    EXPECT_THAT(error.advice(), HasSubstr("LoadOptions::repair")) << bad;
  }
}

TEST_F(LoadCollada, RepairDropsTheTrianglesOfBrokenVerticesAndCountsThem) {
  const std::string mesh =
      geometry("m", "0 0 0 1 0 0 1 1 0 NaN 1 0 2 0 0", 5, triangles("0 1 2  0 2 3", 2) + triangles("1 4 2  4 2 3", 2));
  LoadOptions options;
  options.repair = true;
  const Scene scene = load_text(document(mesh, node("n", "m")), options);
  const Mesh& repaired = scene.meshes.at(0);
  ASSERT_EQ(repaired.parts.size(), 2U);
  EXPECT_EQ(repaired.parts[0].triangle_count, 1U);
  EXPECT_EQ(repaired.parts[1].first_triangle, 1U);
  EXPECT_EQ(repaired.parts[1].triangle_count, 1U);
  EXPECT_EQ(repaired.vertices.size(), 4U);
  EXPECT_EQ(scene.report.dropped_triangles, 2U);
  EXPECT_GE(scene.report.repaired_vertices, 1U);
  EXPECT_TRUE(
      std::all_of(repaired.vertices.begin(), repaired.vertices.end(), [](const Float3& v) { return v.x == v.x; }));
}

TEST_F(LoadCollada, RepairOfAMeshWithNothingLeftIsAnEmptyScene) {
  LoadOptions options;
  options.repair = true;
  const Error error =
      error_of(ErrorKind::malformed, document(one_triangle("NaN 0 0 1 0 0 0 1 0"), node("n", "m")), options);
  EXPECT_THAT(error.problem(), HasSubstr("empty"));
}

TEST_F(LoadCollada, CountsDegenerateTrianglesAndKeepsThem) {
  // Equal indices, equal places, and three points in a line.
  const std::string mesh =
      geometry("m", "0 0 0 1 0 0 0 1 0 1 0 0 2 0 0", 5, triangles("0 1 2  0 0 1  1 3 2  0 1 4", 4));
  const Scene kept = load_text(document(mesh, node("n", "m")));
  EXPECT_EQ(kept.meshes.at(0).triangles.size(), 4U);
  EXPECT_EQ(kept.report.degenerate_triangles, 3U);
  EXPECT_EQ(kept.report.dropped_triangles, 0U);

  LoadOptions options;
  options.drop_degenerate = true;
  const Scene dropped = load_text(document(mesh, node("n", "m")), options);
  EXPECT_EQ(dropped.meshes.at(0).triangles.size(), 1U);
  EXPECT_EQ(dropped.meshes.at(0).parts.at(0).triangle_count, 1U);
  EXPECT_EQ(dropped.report.dropped_triangles, 3U);
}

TEST_F(LoadCollada, CountsASliverAsSound) {
  // Very thin, but not without area: dropping it would open the mesh.
  const Scene scene = load_text(document(one_triangle("0 0 0 1e-20 0 0 0 1e-20 0"), node("n", "m")));
  EXPECT_EQ(scene.report.degenerate_triangles, 0U);
}

TEST_F(LoadCollada, WarnsOfASingularTransform) {
  const Scene scene = load_text(document(cube("cube"), node("n", "cube", "<scale>1 0 1</scale>")));
  EXPECT_THAT(scene.report.warnings, ::testing::Contains(HasSubstr("singular")));
}

// A name of 20 kB in a tree of 4,096 instances: 80 MB from 24 kB.
TEST_F(LoadCollada, RefusesNamesThatInstancesMultiply) {
  std::string nodes = node("n12", "cube");
  nodes.replace(nodes.find("name=\"n12"), 9, "name=\"" + std::string(20'000, 'n'));
  for (int i = 11; i >= 0; --i) {
    const std::string next = "<instance_node url=\"#n" + std::to_string(i + 1) + "\"/>";
    nodes += "<node id=\"n" + std::to_string(i) + "\">" + next + next + "</node>";
  }
  const std::string text = document(cube("cube"), "<node><instance_node url=\"#n0\"/></node>", "",
                                    "<library_nodes>" + nodes + "</library_nodes>");
  try {
    (void)load_text(text);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::limit);
    EXPECT_THAT(error.what(), HasSubstr("names"));
  }
}

TEST_F(LoadCollada, WarnsOfACopyNumberThatIsNone) {
  for (const char* number : {"12345678901234567890", "1.5", "seven"}) {
    const std::string extra = "<extra><meta id=\"m\"><copyNo>" + std::string(number) + "</copyNo></meta></extra>";
    const Scene scene = load_text(document(cube("cube"), node("n", "cube", extra)));
    EXPECT_THAT(scene.report.warnings, ::testing::Contains(HasSubstr("copyNo '" + std::string(number) + "'")));
    EXPECT_FALSE(scene.copy_number(scene.instances.at(0)));
  }
}

TEST_F(LoadCollada, DoesNotTakeAVerySmallScaleForSingular) {
  const Scene scene = load_text(document(cube("cube"), node("n", "cube", "<scale>1e-15 1e-15 1e-15</scale>")));
  EXPECT_TRUE(scene.report.warnings.empty());
}

TEST_F(LoadCollada, RefusesTransformsOutOfTheRangeOfFloats) {
  for (const char* transform : {"<scale>1e-120 1e-120 1e-120</scale>", "<scale>1e30 1e30 1e30</scale>",
                                "<matrix>1e300 0 0 0 0 1e300 0 0 0 0 1e300 0 0 0 0 1</matrix>"}) {
    const Error error = error_of(ErrorKind::malformed, document(cube("cube"), node("n", "cube", transform)));
    EXPECT_THAT(error.element(), HasSubstr("n")) << transform;
    EXPECT_THAT(error.what(), HasSubstr("out of the range of floats")) << transform;
  }
  EXPECT_THAT(
      error_of(ErrorKind::malformed, document(cube("cube"), node("n", "cube", "<translate>1e30 0 0</translate>")))
          .what(),
      HasSubstr("beyond the range of floats"));
  for (const char* meter : {"1e300", "1e-300"})
    EXPECT_THAT(error_of(ErrorKind::malformed,
                         document(cube("cube"), node("n", "cube"), "<unit meter=\"" + std::string(meter) + "\"/>"))
                    .what(),
                HasSubstr("out of the range of floats"));
}

TEST_F(LoadCollada, RefusesTransformsThatMultiplyToInfinity) {
  const std::string inner = node("in", "cube", "<scale>1e300 1 1</scale>");
  const Error error =
      error_of(ErrorKind::malformed, document(cube("cube"), node("out", "", "<scale>1e300 1 1</scale>" + inner)));
  EXPECT_THAT(error.element(), HasSubstr("in"));
}

TEST_F(LoadCollada, EnforcesTheLimitOnTriangles) {
  LoadOptions options;
  options.limits.triangles = 11;
  const Error error = error_of(ErrorKind::limit, test::cube_document(), options);
  EXPECT_THAT(error.what(), HasSubstr("11"));
  options.limits.triangles = 12;
  EXPECT_NO_THROW((void)load_text(test::cube_document(), options));
}

// Progress ----------------------------------------------------------------------------------------------------------

TEST_F(LoadCollada, ReportsItsStagesInOrder) {
  std::vector<Progress::StageTime> times;
  const Progress progress([](auto, auto, auto) { return true; }, &times);
  (void)load_text(test::cube_document(), {}, progress);
  std::vector<std::string> names;
  for (const Progress::StageTime& time : times)
    if (time.stage == "preflight" || time.stage == "import" || time.stage == "convert" || time.stage == "weld")
      names.push_back(time.stage);
  EXPECT_THAT(names, ::testing::ElementsAre("preflight", "import", "convert", "weld"));
}

TEST_F(LoadCollada, CanBeCancelledInEachStage) {
  for (const std::string stop : {"preflight", "import", "convert", "weld"}) {
    const Progress progress([&](std::string_view stage, auto, auto) { return stage != stop; });
    const Error error =
        expect_error(ErrorKind::cancelled, [&] { (void)load_text(test::cube_document(), {}, progress); });
    EXPECT_THAT(error.what(), HasSubstr(stop));
  }
}

}  // namespace
}  // namespace raylift
