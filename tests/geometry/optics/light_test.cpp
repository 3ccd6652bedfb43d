// SPDX-License-Identifier: Apache-2.0
// The light that a scene emits, and the tables that do not cover light.
#include <gmock/gmock.h>
#include <raylift/geometry/optics/light.h>

namespace raylift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

OpticalTable range_table(const char* key, double from_nm, double to_nm) {
  return {key, OpticalTable::Axis::energy_ev, {kEvNm / to_nm, kEvNm / from_nm}, {1, 1}};
}

/// A solid of each of the first two materials; the third is nowhere.
Scene scene_with_foil() {
  Scene scene;
  scene.materials = {{"Argon", {}}, {"Foil", {}}, {"Nowhere", {}}};
  scene.bindings = {{0}, {1}};
  scene.meshes.resize(1);
  scene.instances.resize(2);
  scene.instances[1].binding = 1;
  scene.optics.materials = {{{range_table("RINDEX", 110, 700), range_table("ABSLENGTH", 115, 500),
                              range_table("SCINTILLATIONCOMPONENT1", 120, 136), range_table("EFFICIENCY", 300, 400)},
                             {}},
                            {{range_table("RINDEX", 300, 700), range_table("WLSCOMPONENT", 380, 520),
                              range_table("WLSABSLENGTH", 100, 3000), range_table("UNKNOWN", 1, 2)},
                             {}},
                            {{range_table("RINDEX", 400, 401), range_table("WLSCOMPONENT", 1000, 2000)}, {}}};
  OpticalSurface used, unused;
  used.name = "Wall";
  used.properties.tables = {range_table("REFLECTIVITY", 200, 600)};
  unused.name = "Unused";
  unused.properties.tables = used.properties.tables;
  scene.optics.materials[0].tables[0].values = {1, 1.5};
  scene.optics.materials[1].tables[0].values = {1.5, 1.5};
  scene.optics.surfaces = {used, unused};
  scene.optics.assignments = {{SurfaceAssignment::Kind::skin, "skin", 0, {}, {}}};
  return scene;
}

std::vector<std::string> origins_of(const std::vector<Light>& light) {
  std::vector<std::string> from;
  from.reserve(light.size());
  for (const Light& one : light) from.push_back(one.from);
  return from;
}

TEST(EmittedLight, IsThatOfMaterialsInUse) {
  Scene one = scene_with_foil();
  EXPECT_THAT(origins_of(emitted_light(one, false, false)), ElementsAre("WLSCOMPONENT of material 'Foil'"));
  EXPECT_THAT(origins_of(emitted_light(one, true, true)),
              ElementsAre("Cerenkov light by RINDEX of material 'Argon'", "SCINTILLATIONCOMPONENT1 of material 'Argon'",
                          "Cerenkov light by RINDEX of material 'Foil'", "WLSCOMPONENT of material 'Foil'"));
  EXPECT_THAT(origins_of(emitted_light(one, true, false)),
              ElementsAre("SCINTILLATIONCOMPONENT1 of material 'Argon'", "WLSCOMPONENT of material 'Foil'"));
  Scene gas = one;
  gas.optics.materials[0].tables[0].values = {1, 1};
  gas.optics.materials[1].tables.erase(gas.optics.materials[1].tables.begin() + 2);
  gas.optics.materials[0].tables.push_back(range_table("FASTCOMPONENT", 500, 600));
  EXPECT_THAT(origins_of(emitted_light(gas, true, true)),
              ElementsAre("SCINTILLATIONCOMPONENT1 of material 'Argon'", "Cerenkov light by RINDEX of material 'Foil'"))
      << "no light in a gas of index 1, none without an absorption length, none of an older name";
  const std::vector<Light> light = emitted_light(one, false, false);
  EXPECT_NEAR(light[0].shortest_nm, 380, 1e-9);
  EXPECT_NEAR(light[0].longest_nm, 520, 1e-9);
  // A scintillator re-emits what it absorbs.
  one.optics.materials[0].tables.push_back(range_table("REEMISSIONPROB", 100, 700));
  EXPECT_THAT(origins_of(emitted_light(one, false, false)),
              ElementsAre("SCINTILLATIONCOMPONENT1 of material 'Argon'", "WLSCOMPONENT of material 'Foil'"));
}

std::vector<std::string> texts_of(const Scene& scene, const std::vector<Light>& light) {
  return describe(uncovered_tables(scene, light));
}

TEST(UncoveredTables, AreNamedWithTheLightFarthestBeyond) {
  const Scene one = scene_with_foil();
  EXPECT_THAT(texts_of(one, {}), IsEmpty());
  EXPECT_THAT(texts_of(one, {{300, 500, "the source"}}), IsEmpty()) << "ends are covered";
  EXPECT_THAT(
      texts_of(one, {{300, 500.1, "the source"}, {290, 400, "another"}, {400, 650, "a third"}}),
      ElementsAre(
          "material 'Argon': the points of ABSLENGTH are from 115 to 500 nm, and there is light of 650 nm (a "
          "third): beyond them, the value at the end holds",
          AllOf(HasSubstr("material 'Foil': the points of RINDEX"), HasSubstr("light of 290 nm (another)")),
          AllOf(HasSubstr("surface 'Wall': the points of REFLECTIVITY"), HasSubstr("light of 650 nm (a third)"))));
}

TEST(UncoveredTables, OfOneRangeAreNamedTogether) {
  Scene one = scene_with_foil();
  one.optics.materials[1].tables.push_back(range_table("ABSLENGTH", 300, 700));
  EXPECT_THAT(texts_of(one, {{300, 800, "the source"}}),
              testing::Contains("material 'Foil': the points of RINDEX, ABSLENGTH are from 300 to 700 nm, and there is "
                                "light of 800 nm (the source): beyond them, the value at the end holds"));
}

TEST(UncoveredTables, AreAlsoThoseOfFiltersAndChannels) {
  Scene one = scene_with_foil();
  one.optics.surfaces[0].dichroic = {{0, range_table("", 400, 500), range_table("", 300, 700)}};
  one.optics.channel_types = {{"tube", range_table("", 300, 600), {}, {}, {}, {}}};
  EXPECT_THAT(texts_of(one, {{350, 490, "the source"}}),
              ElementsAre(HasSubstr("surface 'Wall': the points of dichroic reflect")));
  EXPECT_THAT(texts_of(one, {{450, 610, "the source"}}),
              testing::Contains(HasSubstr("channel type 'tube': the points of efficiency")));
}

}  // namespace
}  // namespace raylift
