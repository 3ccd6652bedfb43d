// SPDX-License-Identifier: Apache-2.0
// Units and axes inside a COLLADA document: <asset> of scenes, nodes, geometries, libraries and controllers. Expected
// numbers are worked out by hand from COLLADA 1.4.1 (<unit>, <up_axis>); those of Khronos's conformance suite
// (visual_scene/asset/unit, node/asset/unit, node/asset/up_axis, geometry/asset/unitandup) are of its reference scenes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/eigen.h>

#include "collada_documents.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace raylift {
namespace {

using test::cube;
using test::document;
using test::geometry;
using test::node;
using ::testing::HasSubstr;

std::string unit(const std::string& meter) {
  return "<unit meter=\"" + meter + "\"/>";
}
std::string asset(const std::string& inside) {
  return "<asset><created>2010-01-15T01:05:50Z</created>" + inside + "</asset>";
}
const std::string kZUp = "<up_axis>Z_UP</up_axis>";

/// The suite's cone: a square from -50 to 50 at height -75, and an apex at 150, in units of `scale`.
std::string cone(bool z_up, double scale, const std::string& inside = "") {
  const auto number = [&](int value) { return std::to_string(value * scale) + " "; };
  std::string positions;
  for (const auto& [x, up, in] : {std::array{-50, -75, 0}, {0, -75, 50}, {50, -75, 0}, {0, -75, -50}, {0, 150, 0}})
    positions += number(x) + (z_up ? number(-in) + number(up) : number(up) + number(in));
  std::string text = geometry("cone", positions, 5, test::triangles("0 1 4 1 2 4 2 3 4 3 0 4 0 2 1 0 3 2", 6));
  return text.insert(text.find('>') + 1, inside);
}

/// A document whose visual scene has an <asset>.
std::string with_scene_asset(const std::string& text, const std::string& inside) {
  std::string result = text;
  const std::string start = "<visual_scene id=\"s\">";
  return result.insert(result.find(start) + start.size(), inside);
}

class LoadAsset : public ::testing::Test {
 protected:
  Scene load_text(const std::string& text, const LoadOptions& options = {}) {
    return load(folder_.write("scene.dae", text), options);
  }
  static Bounds bounds_of(const Scene& scene, const std::string& solid) {
    for (const Instance& instance : scene.instances) {
      if (scene.solid_name(instance) != solid) continue;
      Bounds bounds;
      for (const Float3& v : scene.meshes[instance.mesh].vertices)
        bounds.add(Eigen::Vector3d(to_eigen(instance.transform) * to_eigen(v)));
      return bounds;
    }
    ADD_FAILURE() << "no solid '" << solid << "'";
    return {};
  }
  static void expect_box(const Bounds& box, const Eigen::Vector3d& min, const Eigen::Vector3d& max) {
    EXPECT_LT((to_eigen(box.min) - min).cwiseAbs().maxCoeff(), 1e-3)
        << to_eigen(box.min).transpose() << " is not " << min.transpose();
    EXPECT_LT((to_eigen(box.max) - max).cwiseAbs().maxCoeff(), 1e-3)
        << to_eigen(box.max).transpose() << " is not " << max.transpose();
  }
  /// The suite's _reference_asset_unitandup: the cone at 50 -20 -100 in centimetres, Y up.
  static void expect_reference(const Scene& scene) { expect_box(scene.bounds, {0, -950, -1500}, {1000, 1300, -500}); }
  test::TemporaryFolder folder_;
};

TEST_F(LoadAsset, ReadsTheReferenceSceneOfTheSuite) {
  expect_reference(
      load_text(document(cone(false, 1), node("n", "cone", "<translate>50 -20 -100</translate>"), unit("0.01"))));
}

TEST_F(LoadAsset, AppliesTheUnitOfAVisualSceneToWhatItInstances) {
  const std::string text =
      document(cone(false, 0.001), node("n", "cone", "<translate>0.05 -0.02 -0.1</translate>"), unit("0.01"));
  expect_reference(load_text(with_scene_asset(text, asset(unit("10.0")))));
}

TEST_F(LoadAsset, AppliesTheUnitAndTheAxisOfAVisualScene) {
  const std::string text =
      document(cone(true, 0.001), node("n", "cone", "<translate>0.050 0.100 -0.020</translate>"), unit("0.01"));
  expect_reference(load_text(with_scene_asset(text, asset(unit("10.0") + kZUp))));
}

TEST_F(LoadAsset, AppliesTheUnitOfANodeToItsOwnTransformAndNotToItsSiblings) {
  const std::string moved = asset(unit("10.0")) + "<translate>0.05 -0.02 -0.1</translate>";
  const Scene scene =
      load_text(document(cone(false, 0.001), node("inner", "cone", moved) + node("sibling", "cone"), unit("0.01")));
  expect_box(bounds_of(scene, "inner"), {0, -950, -1500}, {1000, 1300, -500});
  expect_box(bounds_of(scene, "sibling"), {-0.5, -0.75, -0.5}, {0.5, 1.5, 0.5});
}

TEST_F(LoadAsset, AppliesTheAxisOfANode) {
  const std::string moved = asset(kZUp) + "<translate>50 100 -20</translate>";
  expect_reference(load_text(document(cone(true, 1), node("n", "cone", moved), unit("0.01"))));
}

TEST_F(LoadAsset, AppliesTheUnitAndTheAxisOfAGeometry) {
  // An inch document with a cone in metres, Z up.
  const std::string own = asset(unit("1") + kZUp);
  const Scene scene = load_text(document(cone(true, 0.0254, own), node("n", "cone"), unit("0.0254")));
  expect_box(scene.bounds, {-1270, -1905, -1270}, {1270, 3810, 1270});
}

TEST_F(LoadAsset, TurnsBetweenAllAxes) {
  // Right, up and towards the viewer are +x +y +z where Y is up, +x +z -y where Z is up, and -y +x +z where X is up.
  const std::string box = node("n", "cube", "<translate>1 2 3</translate>");
  const auto turned = [&](const std::string& outer, const std::string& inner) {
    const auto up = [](const std::string& axis) { return "<up_axis>" + axis + "_UP</up_axis>"; };
    return load_text(with_scene_asset(document(cube("cube"), box, unit("0.001") + up(outer)), asset(up(inner)))).bounds;
  };
  expect_box(turned("Y", "Z"), {1, 3, -3}, {2, 4, -2});    // x, z, -y
  expect_box(turned("Y", "X"), {-3, 1, 3}, {-2, 2, 4});    // -y, x, z
  expect_box(turned("Z", "Y"), {1, -4, 2}, {2, -3, 3});    // x, -z, y
  expect_box(turned("Z", "X"), {-3, -4, 1}, {-2, -3, 2});  // -y, -z, x
  expect_box(turned("X", "Y"), {2, -2, 3}, {3, -1, 4});    // y, -x, z
  expect_box(turned("X", "Z"), {3, -2, -3}, {4, -1, -2});  // z, -x, -y
  expect_box(turned("Z", "Z"), {1, 2, 3}, {2, 3, 4});
}

TEST_F(LoadAsset, GivesAGeometryTheUnitOfEachPlaceUnlessItStatesItsOwn) {
  std::string inch = cube("inch");
  inch.insert(inch.find('>') + 1, asset(unit("0.0254")));
  const std::string decametre = asset(unit("10")) + "<translate>1 0 0</translate>";
  const Scene scene =
      load_text(document(cube("cube") + inch, node("cube_here", "cube") + node("cube_there", "cube", decametre) +
                                                  node("inch_here", "inch") + node("inch_there", "inch", decametre)));
  EXPECT_EQ(scene.meshes.size(), 2U) << "each geometry is stored once";
  expect_box(bounds_of(scene, "cube_here"), {0, 0, 0}, {1000, 1000, 1000});
  expect_box(bounds_of(scene, "cube_there"), {10000, 0, 0}, {20000, 10000, 10000});
  expect_box(bounds_of(scene, "inch_here"), {0, 0, 0}, {25.4, 25.4, 25.4});
  expect_box(bounds_of(scene, "inch_there"), {10000, 0, 0}, {10025.4, 25.4, 25.4});
}

TEST_F(LoadAsset, HoldsForWhatIsInALibraryNodeWhereverThatIsInstanced) {
  // "part" is instanced below and by itself: the foot of the node around it holds in both places.
  const std::string library =
      "<library_nodes>" +
      node("outer", "", asset(unit("0.3048")) + node("part", "cube", "<translate>1 0 0</translate>")) +
      node("plain", "cube", "<translate>1 0 0</translate>") + "</library_nodes>";
  const auto instance = [](const std::string& url) { return "<instance_node url=\"#" + url + "\"/>"; };
  const std::string inch = asset(unit("0.0254"));
  const Scene scene = load_text(document(cube("cube"),
                                         node("a", "", instance("outer")) +
                                             node("b", "", inch + "<translate>10 0 0</translate>" + instance("part")) +
                                             node("c", "", instance("plain")) + node("d", "", inch + instance("plain")),
                                         unit("1"), library));
  expect_box(bounds_of(scene, "part"), {304.8, 0, 0}, {609.6, 304.8, 304.8});
  expect_box(bounds_of(scene, "b"), {254 + 304.8, 0, 0}, {254 + 609.6, 304.8, 304.8});
  expect_box(bounds_of(scene, "c"), {1000, 0, 0}, {2000, 1000, 1000});
  expect_box(bounds_of(scene, "d"), {25.4, 0, 0}, {50.8, 25.4, 25.4});
}

TEST_F(LoadAsset, AnInnerAssetKeepsWhatItDoesNotState) {
  const std::string inner = node("in", "cube", asset(kZUp) + "<translate>0 0 5</translate>");
  const std::string outer = node("out", "", asset(unit("0.01")) + inner);
  expect_box(load_text(document(cube("cube"), outer)).bounds, {0, 50, -10}, {10, 60, 0});
}

TEST_F(LoadAsset, HoldsForAWholeLibrary) {
  const Scene scene = load_text(document(asset(unit("0.0254")) + cube("cube"), node("n", "cube")));
  expect_box(scene.bounds, {0, 0, 0}, {25.4, 25.4, 25.4});
}

TEST_F(LoadAsset, AnEmptyUnitIsAMetreAsInTheSchema) {
  const Scene scene = load_text(document(cube("cube"), node("n", "cube", asset("<unit name=\"u\"/>")), unit("0.01")));
  expect_box(scene.bounds, {0, 0, 0}, {1000, 1000, 1000});
}

TEST_F(LoadAsset, ReadsABindShapeInTheUnitOfItsController) {
  const std::string skin =
      "<library_controllers><controller id=\"c\">" + asset(unit("0.01")) +
      "<skin source=\"#cube\"><bind_shape_matrix>1 0 0 7 0 1 0 0 0 0 1 0 0 0 0 1</bind_shape_matrix></skin>"
      "</controller></library_controllers>";
  std::string inch = cube("cube");
  inch.insert(inch.find('>') + 1, asset(unit("0.0254")));
  const std::string use = "<node id=\"n\"><instance_controller url=\"#c\"/></node>";
  expect_box(load_text(document(inch, use, unit("1"), skin)).bounds, {70, 0, 0}, {95.4, 25.4, 25.4});
}

TEST_F(LoadAsset, ReportsTheDocumentsUnitAndNamesAnElementThatDiffers) {
  const Scene scene = load_text(document(cube("cube"), node("n", "cube", asset(unit("0.01"))), unit("0.001")));
  EXPECT_EQ(scene.unit_mm, 1);
  EXPECT_EQ(scene.unit_from, Scene::Provenance::file);
  EXPECT_THAT(scene.report.warnings, ::testing::ElementsAre(HasSubstr("<node id='n'>")));
  const Scene same = load_text(document(cube("cube"), node("n", "cube", asset(unit("0.001"))), unit("0.001")));
  EXPECT_TRUE(same.report.warnings.empty());
}

TEST_F(LoadAsset, OptionsOverrideTheInnerOnesToo) {
  LoadOptions options;
  options.unit_mm = 2;
  options.up_axis = UpAxis::y;
  const std::string text = document(cube("cube"), node("n", "cube", asset(unit("10") + kZUp)), unit("1"));
  expect_box(load_text(text, options).bounds, {0, 0, 0}, {2, 2, 2});
}

/// A part of a G4DAE file as a tool cuts it out: names with pointers, no optics, no unit.
std::string cut_out(const std::string& asset, const std::string& extra_nodes = "") {
  const std::string logical = node("__dd__lvPmt0xa8d6e90", "pmt0x88414e8");
  return document(cube("pmt0x88414e8"),
                  node("pvPmt0xa8d92d8", "", "<instance_node url=\"#__dd__lvPmt0xa8d6e90\"/>") + extra_nodes, asset,
                  "<library_nodes>" + logical + "</library_nodes>");
}

TEST_F(LoadAsset, APartCutOutOfAG4daeFileIsInMillimetres) {
  for (const std::string up : {"", "<up_axis>Y_UP</up_axis>"}) {
    const Scene scene = load_text(cut_out(up));
    EXPECT_EQ(scene.unit_mm, 1);
    EXPECT_EQ(scene.unit_from, Scene::Provenance::convention);
    EXPECT_EQ(scene.up_axis, up.empty() ? UpAxis::z : UpAxis::y);
    expect_box(scene.bounds, {0, 0, 0}, {1, 1, 1});
  }
  // A unit that is stated holds.
  const Scene stated = load_text(cut_out(unit("0.01")));
  EXPECT_EQ(stated.unit_mm, 10);
  EXPECT_EQ(stated.unit_from, Scene::Provenance::file);
  EXPECT_EQ(stated.up_axis, UpAxis::y);
}

TEST_F(LoadAsset, NamesThatEndLikeAPointerAreNoConvention) {
  const auto metres = [&](const std::string& text) {
    const Scene scene = load_text(text);
    EXPECT_EQ(scene.unit_mm, 1000);
    EXPECT_EQ(scene.up_axis, UpAxis::y);
  };
  metres(document(cube("cube"), node("box0x12", "cube")));
  metres(document(cube("cube0x12"), node("box0x13", "cube0x12")));  // no address
  metres(document(cube("cube"), node("box0x1234567", "cube") + node("other", "cube")));
  metres(document(cube("cube"),
                  node("a0x1234567", "cube") + node("b0x1234568", "cube") + node("c", "cube")));  // half of all
  metres(document(cube("0x1234567"), node("0x1234568", "0x1234567")));  // nothing but a number
}

TEST_F(LoadAsset, RefusesAnInnerUnitThatIsNoLength) {
  for (const std::string meter : {"0", "-1", "inch", "INF", "1e308"}) {
    const Error error = test::expect_error(
        ErrorKind::malformed, [&] { (void)load_text(document(cube("cube"), node("n", "cube", asset(unit(meter))))); });
    EXPECT_THAT(error.element(), HasSubstr("<node id='n'>")) << meter;
  }
}

}  // namespace
}  // namespace raylift
