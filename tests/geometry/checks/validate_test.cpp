// SPDX-License-Identifier: Apache-2.0
// Scenes that a program puts together: what is wrong is named, and what is right passes. And solids by their names.
#include <gmock/gmock.h>
#include <raylift/geometry/checks/validate.h>
#include <raylift/geometry/optics/find_solids.h>

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/expect_error.h"

namespace raylift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Two tetrahedra in a world.
Scene by_hand() {
  Scene scene;
  scene.source = "by hand";
  scene.materials = {{"water", {}}, {"glass", {}}};
  scene.meshes.push_back({"tetrahedron",
                          {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                          {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}},
                          {{0, 4}}});
  scene.bindings = {{1}};
  scene.volumes = {"pmt_log0x5566"};
  scene.nodes = {{"world", kNone, std::nullopt, kNone}, {"pmt0x7f10", 0, 4, 0}, {"pmt0x7f20", 0, 4, 0}};
  scene.instances = {{0, 1, 0, 0, Transform::Identity()}, {0, 2, 0, 0, Transform::Identity()}};
  return scene;
}

TEST(Validate, TakesASceneByHandAlsoWithoutBounds) {
  EXPECT_NO_THROW(validate(by_hand()));
  EXPECT_NO_THROW(validate(Scene()));
}

TEST(Validate, NamesWhatIsWrong) {
  const std::vector<std::pair<std::function<void(Scene&)>, std::string>> faults{
      {[](Scene& s) { s.bindings[0][0] = 999; }, "binding 0 refers to material 999, and the scene has 2"},
      {[](Scene& s) { s.instances[1].outside = 2; }, "solid 1 refers to material 2"},
      {[](Scene& s) { s.instances[1].mesh = 1; }, "solid 1 refers to mesh 1"},
      {[](Scene& s) { s.instances[1].mesh = kNone; }, "solid 1 has no mesh"},
      {[](Scene& s) { s.instances[0].binding = 1; }, "solid 0 refers to binding 1"},
      {[](Scene& s) { s.instances[0].node = 3; }, "solid 0 refers to node 3"},
      {[](Scene& s) { s.bindings[0].clear(); }, "binding 0 has fewer materials"},
      {[](Scene& s) { s.nodes[1].parent = 2; }, "the parent of node 1 'pmt0x7f10'"},
      {[](Scene& s) { s.nodes[1].volume = 1; }, "node 1 'pmt0x7f10' refers to volume 1"},
      {[](Scene& s) { s.meshes[0].parts[0].triangle_count = 3; }, "the parts of mesh 0 'tetrahedron'"},
      {[](Scene& s) { s.meshes[0].triangles[2].y = 4; }, "mesh 'tetrahedron'"},
      {[](Scene& s) { s.meshes[0].vertices[3].z = std::numeric_limits<float>::quiet_NaN(); }, "mesh 'tetrahedron'"},
      {[](Scene& s) { s.instances[0].transform(1, 3) = std::numeric_limits<double>::infinity(); },
       "the transform of solid 0 is not finite"},
      {[](Scene& s) { s.unit_mm = 0; }, "its unit"},
      {[](Scene& s) {
         s.optics.channels = {{2, 0, kNone}};
       },
       "its channels"},
      {[](Scene& s) {
         s.optics.materials.resize(2);
         s.optics.materials[1].tables = {
             {"RINDEX", OpticalTable::Axis::wavelength_nm, {300, 400, 500}, {1.4, -1.33, 1.4}}};
       },
       "RINDEX is -1.33 at 400 nm, and must be positive [by hand: material 'glass']"},
      {[](Scene& s) {
         s.optics.surfaces.emplace_back().name = "cathode";
         s.optics.surfaces[0].properties.tables = {{"EFFICIENCY", OpticalTable::Axis::energy_ev, {2, 3}, {0.2, 1.5}}};
       },
       "EFFICIENCY is 1.5 at 3 eV, and must be from 0 to 1 [by hand: surface 'cathode']"},
  };
  for (const auto& [plant, text] : faults) {
    Scene scene = by_hand();
    plant(scene);
    EXPECT_THAT(test::expect_error(ErrorKind::usage, [&] { validate(scene); }).what(), HasSubstr(text));
  }
}

TEST(FindSolids, ByNamePathVolumeAndCopyNumber) {
  const Scene scene = by_hand();
  EXPECT_THAT(find_solids(scene, "pmt"), ElementsAre(0U, 1U));  // without Geant4's pointers
  EXPECT_THAT(find_solids(scene, "pmt0x7f2*"), ElementsAre(1U));
  EXPECT_THAT(find_solids(scene, "/world/*"), ElementsAre(0U, 1U));
  EXPECT_THAT(find_solids(scene, "tank"), IsEmpty());
  SolidSelector selector;
  selector.volume = "pmt_log";
  EXPECT_THAT(find_solids(scene, selector), ElementsAre(0U, 1U));
  selector.copy_number = 5;
  EXPECT_THAT(find_solids(scene, selector), IsEmpty());
}

}  // namespace
}  // namespace raylift
