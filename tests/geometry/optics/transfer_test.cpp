// SPDX-License-Identifier: Apache-2.0
// The optics of a GDML scene hold for the same solids in what was exported of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/export/export_scene.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/optics/sidecar.h>
#include <raylift/geometry/optics/transfer.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "geometry/import/gdml_scene.h"
#include "support/expect_error.h"

namespace raylift {
namespace {

using test::gdml_physvol;
using test::gdml_position;
using test::gdml_volume;
using test::GdmlParts;
using testing::HasSubstr;

std::string placed_sensor(int copy, double x) {
  return "<physvol name=\"pmt\" copynumber=\"" + std::to_string(copy) + "\"><volumeref ref=\"Pmt\"/>" +
         gdml_position(x, 0, 0) + "</physvol>";
}

/// Two logical volumes of one solid and one material, of which one detects; sensors that are all called the same, with
/// copy numbers out of order; a border of one of two equal tanks, and a skin.
GdmlParts sensors_in_tanks() {
  GdmlParts parts;
  parts.define = R"(<matrix name="N" coldim="2" values="2*eV 1.33 4*eV 1.35"/>
    <matrix name="E" coldim="2" values="2*eV 0.2 4*eV 0.3"/><matrix name="R" coldim="2" values="2*eV 0.9 4*eV 0.8"/>)";
  parts.materials =
      R"(<material name="Oil" Z="6"><property name="RINDEX" ref="N"/><D value="1"/><atom value="12"/></material>)";
  parts.solids = R"(<box name="tank" x="100" y="50" z="50"/><orb name="ball" r="2"/>
    <opticalsurface name="cathode" model="glisur" finish="polished" type="dielectric_metal" value="1">
      <property name="EFFICIENCY" ref="E"/><property name="REFLECTIVITY" ref="R"/></opticalsurface>
    <opticalsurface name="foil" model="unified" finish="ground" type="dielectric_metal" value="0.2">
      <property name="REFLECTIVITY" ref="R"/></opticalsurface>)";
  parts.structure = gdml_volume("Pmt", "Glass", "ball") + gdml_volume("Dummy", "Glass", "ball") +
                    gdml_volume("Tank", "Oil", "tank",
                                placed_sensor(30, -20) + placed_sensor(10, 0) + placed_sensor(20, 20) +
                                    gdml_physvol("dummy", "Dummy", gdml_position(40, 0, 0))) +
                    gdml_volume("Lined", "Oil", "tank", gdml_physvol("dummy", "Dummy", gdml_position(40, 0, 0))) +
                    gdml_volume("World", "Air", "w",
                                gdml_physvol("left", "Tank", gdml_position(-100, 0, 0)) +
                                    gdml_physvol("right", "Lined", gdml_position(100, 0, 0)) +
                                    gdml_physvol("third", "Lined", gdml_position(300, 0, 0))) +
                    R"(<skinsurface name="k" surfaceproperty="cathode"><volumeref ref="Pmt"/></skinsurface>
         <skinsurface name="l" surfaceproperty="foil"><volumeref ref="Lined"/></skinsurface>
         <bordersurface name="b" surfaceproperty="foil"><physvolref ref="left"/><physvolref ref="right"/></bordersurface>)";
  return parts;
}

/// What holds at each solid, in their order: the surface of its skin, and its channel; and the borders' surfaces.
struct Held {
  std::vector<std::string> skins;
  std::map<std::uint32_t, std::int64_t> channels;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> borders;
  std::map<std::string, OpticalProperties> materials;

  explicit Held(const Scene& scene) {
    const Optics& optics = scene.optics;
    const auto surface = [&](std::uint32_t assignment) {
      return optics.surfaces[optics.assignments[assignment].surface].name;
    };
    for (std::size_t i = 0; i != scene.instances.size(); ++i)
      skins.push_back(optics.skins.empty() || optics.skins[i] == kNone ? "" : surface(optics.skins[i]));
    for (const Optics::Channel& channel : optics.channels) channels[channel.solid] = channel.number;
    for (const Optics::Border& border : optics.borders) borders[{border.from, border.to}] = surface(border.assignment);
    for (std::size_t i = 0; i != optics.materials.size(); ++i)
      if (!optics.materials[i].empty()) materials[scene.materials[i].name] = optics.materials[i];
  }
  bool operator==(const Held&) const = default;
};

class TransferOptics : public testing::Test {
 protected:
  /// The scene as it is read from a file of that name that was exported of it.
  [[nodiscard]] Scene exported(const Scene& scene, const std::string& name) const {
    for (const ExportedFile& file : export_scene(scene, name)) (void)folder_.write(file.name, file.bytes);
    return load(folder_.path() / name);
  }
  test::TemporaryFolder folder_;
};

TEST_F(TransferOptics, HoldsForTheSameSolids) {
  const Scene scene = test::load_gdml(sensors_in_tanks());
  const Held before(scene);
  ASSERT_EQ(scene.instances.size(), 10U);
  ASSERT_EQ(before.channels, (std::map<std::uint32_t, std::int64_t>{{2, 30}, {3, 10}, {4, 20}}));
  ASSERT_EQ(before.borders.size(), 1U);
  for (const char* name : {"scene.dae", "scene.glb", "scene.gltf"}) {
    SCOPED_TRACE(name);
    Scene written = exported(scene, name);
    EXPECT_EQ(Held(written).channels.size(), 0U);
    transfer_optics(scene, written);
    EXPECT_EQ(Held(written), before);
    // And as a sidecar, by what load() does with it.
    (void)folder_.write(std::string(name) + ".optics.json", optics_json(written));
    const Scene again = load(folder_.path() / name);
    EXPECT_EQ(Held(again), before);
    EXPECT_EQ(again.report.warnings.size(), scene.report.warnings.size()) << "of missing indices";
  }
}

TEST_F(TransferOptics, IsReadWithItsOwnFileAlone) {
  const Scene scene = test::load_gdml(sensors_in_tanks());
  Scene written = exported(scene, "scene.dae");
  (void)exported(scene, "scene.glb");
  transfer_optics(scene, written);
  (void)folder_.write("scene.dae.optics.json", optics_json(written));
  EXPECT_TRUE(optics_file(folder_.path() / "scene.glb").empty());
  (void)folder_.write("scene.optics.json", R"({"raylift_optics": 1})");
  EXPECT_EQ(optics_file(folder_.path() / "scene.glb").filename(), "scene.optics.json");
  EXPECT_EQ(optics_file(folder_.path() / "scene.dae").filename(), "scene.dae.optics.json");
}

TEST_F(TransferOptics, RefusesOtherSolids) {
  const Scene scene = test::load_gdml(sensors_in_tanks());
  Scene written = exported(scene, "scene.obj");
  const Error error = test::expect_error(ErrorKind::unsupported, [&] { transfer_optics(scene, written); });
  EXPECT_THAT(error.problem(), HasSubstr("the optics can't be transferred"));
  Scene fewer = exported(scene, "scene.dae");
  fewer.instances.pop_back();
  EXPECT_THAT(test::expect_error(ErrorKind::unsupported, [&] { transfer_optics(scene, fewer); }).problem(),
              HasSubstr("9 solids instead of 10"));
}

TEST_F(TransferOptics, RefusesWhatNamesDontTellApart) {
  Scene scene = test::load_gdml(sensors_in_tanks());
  for (Node& node : scene.nodes) node.copy_number = std::nullopt;
  Scene written = exported(scene, "scene.dae");
  EXPECT_THAT(test::expect_error(ErrorKind::unsupported, [&] { transfer_optics(scene, written); }).problem(),
              HasSubstr("another solid is called '"));
}

}  // namespace
}  // namespace raylift
