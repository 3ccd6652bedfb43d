// SPDX-License-Identifier: Apache-2.0
// Which optical surface holds: precedence against a table worked out by hand from Geant4's rules, and what selectors
// and assignments mean.
#include <gtest/gtest.h>
#include <raylift/geometry/optics/surface_between.h>

#include <cmath>
#include <functional>

#include "geometry/src/scene/names.h"
#include "geometry/src/scene/scene_bytes.h"
#include "support/expect_error.h"

namespace raylift {
namespace {

constexpr std::uint32_t kWorld = 0, kTank = 1, kLeft = 2, kRight = 3, kCore = 4;

/// World > Tank > {pmt 1, pmt 2}, and a core in the first pmt. Solids in this order. Both pmts place one volume.
Scene tank() {
  Scene scene;
  scene.meshes = {{"box", {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}, {{0, 1}}}};
  scene.materials = {{"Air0x1f0", {}}, {"Water0x2f0", {}}, {"Glass0x3f0", {}}};
  scene.bindings = {{0}, {1}, {2}};
  scene.volumes = {"lvWorld0x10", "lvTank0x20", "lvPmt0x30", "lvCore0x40"};
  scene.nodes = {{"pvWorld0x11", kNone, {}, 0},
                 {"pvTank0x21", kWorld, {}, 1},
                 {"pvPmt0x31", kTank, 7, 2},
                 {"pvPmt0x32", kTank, 9, 2},
                 {"pvCore0x41", kLeft, {}, 3}};
  for (std::uint32_t i = 0; i != 5; ++i) {
    Instance instance;
    instance.node = i;
    instance.binding = i < 2 ? i : 2;
    scene.instances.push_back(instance);
  }
  for (const char* name : {"A", "B", "C", "D"}) scene.optics.surfaces.push_back({name, {}, {}, {}, 1, {}, {}});
  return scene;
}

SurfaceAssignment skin(const std::string& volume, std::uint32_t surface) {
  SurfaceAssignment assignment{SurfaceAssignment::Kind::skin, "skin of " + volume, surface, {}, {}};
  assignment.from.volume = volume;
  return assignment;
}

SurfaceAssignment border(const std::string& from, const std::string& to, std::uint32_t surface) {
  SurfaceAssignment assignment{SurfaceAssignment::Kind::border, from + " to " + to, surface, {}, {}};
  assignment.from.solid = from;
  assignment.to.solid = to;
  return assignment;
}

SurfaceChoice choose(Scene& scene, std::uint32_t from, std::uint32_t to) {
  return surface_between(scene, solid_tree(scene), from, to);
}

// Surface A: border tank -> left pmt. B: skin of pmts. C: skin of the tank. D: skin of the core.
// G4OpBoundaryProcess: the ordered pair first; entering a daughter, the daughter's skin and then the mother's; else the
// skin of what is left and then that of what is entered.
TEST(SurfaceBetween, HasGeant4sPrecedence) {
  struct Row {
    bool border, pmt, tank;
    std::uint32_t from, to;
    SurfaceChoice::Rule rule;
    std::uint32_t surface;
  };
  constexpr auto none = SurfaceChoice::Rule::none, pair = SurfaceChoice::Rule::border;
  constexpr auto entered = SurfaceChoice::Rule::skin_of_entered, left = SurfaceChoice::Rule::skin_of_left;
  const std::vector<Row> rows{
      {true, true, true, kTank, kLeft, pair, 0},      // the pair has a border
      {true, true, true, kLeft, kTank, left, 1},      // not the other way: out of a daughter, its own skin
      {true, true, true, kTank, kRight, entered, 1},  // another solid of the same volume has no border
      {false, true, true, kTank, kLeft, entered, 1},
      {false, false, true, kTank, kLeft, left, 2},     // the daughter has none: the mother's
      {false, false, true, kLeft, kTank, entered, 2},  // out again: the mother's too
      {false, true, false, kLeft, kTank, left, 1},
      {false, true, true, kLeft, kRight, left, 1},  // siblings that touch
      {false, true, true, kTank, kWorld, left, 2},
      {false, true, true, kWorld, kTank, entered, 2},
      {false, false, false, kTank, kLeft, none, kNone},
      {false, false, false, kWorld, kNone, none, kNone},
      {false, false, true, kTank, kNone, none, kNone},  // outside of all
      {false, false, true, kNone, kTank, none, kNone},
  };
  for (const Row& row : rows) {
    Scene scene = tank();
    if (row.border) scene.optics.assignments.push_back(border("pvTank0x21", "pvPmt0x31", 0));
    if (row.pmt) scene.optics.assignments.push_back(skin("lvPmt0x30", 1));
    if (row.tank) scene.optics.assignments.push_back(skin("lvTank0x20", 2));
    resolve_optics(scene);
    const SurfaceChoice choice = choose(scene, row.from, row.to);
    EXPECT_EQ(choice.rule, row.rule) << &row - rows.data();
    EXPECT_EQ(choice.surface, row.surface) << &row - rows.data();
  }
}

// The daughter of another placement of the volume that is left is a daughter to Geant4, which compares volumes.
TEST(SurfaceBetween, TakesADaughterOfTheSameVolumeForADaughter) {
  Scene scene = tank();
  scene.optics.assignments = {skin("lvPmt", 1), skin("lvCore", 3)};
  resolve_optics(scene);
  EXPECT_EQ(choose(scene, kLeft, kCore).surface, 3U);
  EXPECT_EQ(choose(scene, kRight, kCore).surface, 3U) << "the core's mother places what kRight places";
  EXPECT_EQ(choose(scene, kCore, kRight).surface, 3U);
  EXPECT_EQ(choose(scene, kTank, kCore).rule, SurfaceChoice::Rule::skin_of_entered);
}

TEST(SurfaceBetween, RefusesASolidThatIsNotThere) {
  Scene scene = tank();
  const SolidTree tree = solid_tree(scene);
  const Error error = test::expect_error(ErrorKind::usage, [&] { (void)surface_between(scene, tree, 0, 5); });
  EXPECT_THAT(error.what(), testing::HasSubstr("no solid 5"));
}

TEST(ResolveOptics, NamesHoldWithAndWithoutThePointer) {
  Scene scene = tank();
  for (const char* name : {"lvPmt0x30", "lvPmt", "lvPmt0xdead", "lv?mt", "lvPm*", "lvPmt0x3?"}) {
    scene.optics.assignments = {skin(name, 1)};
    resolve_optics(scene);
    EXPECT_EQ(scene.optics.skins, (std::vector<std::uint32_t>{kNone, kNone, 0, 0, kNone})) << name;
    EXPECT_TRUE(scene.report.warnings.empty()) << name;
  }
}

// Their product with the solids takes time without end, and little memory.
TEST(ResolveOptics, LimitsWhatSelectorsMeanTogether) {
  Scene scene = tank();
  scene.instances.resize(30'000, scene.instances[kRight]);
  scene.optics.assignments.assign(10'000, skin("*", 1));
  const Error error = test::expect_error(ErrorKind::limit, [&] { resolve_optics(scene); });
  EXPECT_THAT(error.what(), testing::HasSubstr("selectors mean more than"));
  scene.optics.assignments.resize(1000);
  EXPECT_NO_THROW(resolve_optics(scene));
}

TEST(ResolveOptics, ANameInFullMeansThatNameAlone) {
  Scene scene = tank();
  scene.optics.assignments = {border("pvPmt0x32", "pvTank", 0)};
  resolve_optics(scene);
  EXPECT_EQ(scene.optics.borders, (std::vector<Optics::Border>{{kRight, kTank, 0}}));
}

TEST(ResolveOptics, AllPatternsOfASelectorMustMatch) {
  Scene scene = tank();
  SurfaceAssignment assignment = skin("lvPmt", 1);
  assignment.from.copy_number = 9;
  scene.optics.assignments = {assignment};
  resolve_optics(scene);
  EXPECT_EQ(scene.optics.skins, (std::vector<std::uint32_t>{kNone, kNone, kNone, 0, kNone}));
  scene.optics.assignments[0].from = {};
  scene.optics.assignments[0].from.material = "Glass";
  scene.optics.assignments[0].from.path = "*/pvPmt*/*";
  resolve_optics(scene);
  EXPECT_EQ(scene.optics.skins, (std::vector<std::uint32_t>{kNone, kNone, kNone, kNone, 0}));
}

// A border holds for solids that can touch: mother and daughter, and siblings.
TEST(ResolveOptics, ABorderHoldsBetweenNeighboursInTheTree) {
  Scene scene = tank();
  scene.optics.assignments = {border("*", "*", 2)};
  resolve_optics(scene);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const Optics::Border& one : scene.optics.borders) pairs.emplace_back(one.from, one.to);
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> wanted{
      {kWorld, kTank}, {kTank, kWorld}, {kTank, kLeft},  {kTank, kRight}, {kLeft, kTank},
      {kLeft, kRight}, {kLeft, kCore},  {kRight, kTank}, {kRight, kLeft}, {kCore, kLeft}};
  EXPECT_EQ(pairs, wanted);
}

TEST(ResolveOptics, TheLaterAssignmentHolds) {
  Scene scene = tank();
  scene.optics.assignments = {skin("lv*", 0), skin("lvTank", 1), border("pvTank", "*", 2),
                              border("pvTank", "pvPmt*", 3)};
  resolve_optics(scene);
  EXPECT_EQ(choose(scene, kWorld, kTank).surface, 1U);
  EXPECT_EQ(choose(scene, kTank, kLeft).surface, 3U);
  EXPECT_EQ(choose(scene, kTank, kWorld).surface, 2U);
}

TEST(ResolveOptics, WarnsOfAnAssignmentThatMeansNothing) {
  Scene scene = tank();
  scene.optics.assignments = {skin("lvNobody", 0), border("pvWorld", "pvCore", 1)};
  resolve_optics(scene);
  ASSERT_EQ(scene.report.warnings.size(), 2U);
  EXPECT_NE(scene.report.warnings[0].find("skin of lvNobody"), std::string::npos);
  EXPECT_NE(scene.report.warnings[1].find("pvWorld to pvCore"), std::string::npos) << "they never touch";
}

TEST(ResolveOptics, NumbersChannelsByCopyNumberOrInOrder) {
  Scene scene = tank();
  ChannelAssignment pmts;
  pmts.solids.volume = "lvPmt";
  scene.optics.channel_assignments = {pmts};
  resolve_optics(scene);
  EXPECT_EQ(scene.optics.channels, (std::vector<Optics::Channel>{{kLeft, 7, kNone}, {kRight, 9, kNone}}));

  scene.nodes[3].copy_number = 7;  // two of one number: in order
  resolve_optics(scene);
  EXPECT_EQ(scene.optics.channels, (std::vector<Optics::Channel>{{kLeft, 0, kNone}, {kRight, 1, kNone}}));

  ChannelAssignment core;
  core.solids.volume = "lvCore";
  core.first = 1;
  scene.optics.channel_assignments.push_back(core);
  const Error error = test::expect_error(ErrorKind::malformed, [&] { resolve_optics(scene); });
  for (const char* part : {"channel 1", "pvPmt0x32", "pvCore0x41"}) EXPECT_THAT(error.what(), testing::HasSubstr(part));
}

TEST(Names, LoseGeant4sPointerAlone) {
  EXPECT_EQ(base_name("Water0x63556b0"), "Water");
  EXPECT_EQ(base_name("__dd__Materials__Air0xC1F"), "__dd__Materials__Air");
  for (const char* name : {"Water", "0x12", "Water0x", "Water0x12g", "tank0x12_1", ""})
    EXPECT_EQ(base_name(name), name);
}

TEST(Names, LiteralPatternsMatchThemselvesAlone) {
  for (const std::string name : {"a*b", "pmt[3]", "what?", "back\\slash", "plain"}) {
    EXPECT_TRUE(matches(literal_pattern(name), name)) << name;
    EXPECT_FALSE(has_wildcard(literal_pattern(name))) << name;
    EXPECT_EQ(literal_text(literal_pattern(name)), name);
  }
  EXPECT_FALSE(matches(literal_pattern("a*b"), "axb"));
}

OpticalTable table() {
  return {"RINDEX", OpticalTable::Axis::energy_ev, {2, 3, 4}, {1.3, 1.4, 1.6}};
}

// In energy for tables over energy, as Geant4 does, and constant beyond the ends.
TEST(OpticalTable, IsLinearInWhatItIsGivenOver) {
  EXPECT_NEAR(table().value(kEvNm / 2.5), 1.35, 1e-14);
  EXPECT_NEAR(table().value(kEvNm / 3), 1.4, 1e-14);
  EXPECT_EQ(table().value(kEvNm), 1.3);
  EXPECT_EQ(table().value(1), 1.6);
  const OpticalTable nm{"RINDEX", OpticalTable::Axis::wavelength_nm, {400, 500}, {1.5, 1.3}};
  EXPECT_NEAR(nm.value(425), 1.45, 1e-14);
  EXPECT_EQ(nm.value(399), 1.5);
  EXPECT_EQ(nm.value(501), 1.3);
}

/// A scene whose optics use every member.
Scene full() {
  Scene scene = tank();
  Optics& optics = scene.optics;
  optics.materials.resize(scene.materials.size());
  optics.materials[1] = {{table()}, {{"SCINTILLATIONYIELD", 24000}}};
  optics.surfaces[0].properties = {{{"REFLECTIVITY", OpticalTable::Axis::wavelength_nm, {300, 600}, {0.5, 0.25}}}, {}};
  optics.surfaces[1].dichroic = {{0.25, table(), table()}};
  optics.surfaces[1].model = SurfaceModel::dichroic;
  optics.surfaces[2].finish = SurfaceFinish::ground_back_painted;
  optics.surfaces[2].type = SurfaceType::dielectric_metal;
  optics.surfaces[2].value = 0.125;
  optics.channel_types = {{"10 inch", table(), {0, 0.5}, {1, 0.75}, {{0, 1}, {1, 2}}, {{0, 3}, {4, 5}}}};
  SurfaceAssignment one = skin("lvPmt", 1);
  one.from.copy_number = -7;
  optics.assignments = {one, border("pvTank", "pvPmt*", 2), skin("lvPmt", 0)};
  ChannelAssignment pmts;
  pmts.solids.volume = "lvPmt";
  pmts.type = 0;
  pmts.first = 100;
  optics.channel_assignments = {pmts};
  resolve_optics(scene);
  return scene;
}

Scene through_bytes(const Scene& scene) {
  detail::ByteWriter writer;
  std::vector<detail::MeshSizes> sizes = detail::sizes_of(scene);
  detail::visit_tree(writer, scene, sizes);
  const auto bytes = writer.bytes();
  detail::ByteReader reader({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                            [](const std::string& what) { throw Error(ErrorKind::malformed, what); });
  Scene read;
  detail::visit_tree(reader, read, sizes);
  reader.expect_end();
  return read;
}

TEST(OpticsBytes, KeepEverything) {
  const Scene scene = full();
  EXPECT_EQ(scene.optics.channels.size(), 2U);
  const Scene read = through_bytes(scene);
  EXPECT_EQ(read.optics, scene.optics);
  EXPECT_EQ(read.volumes, scene.volumes);
  EXPECT_EQ(read.nodes[3].volume, 2U);
  EXPECT_EQ(read.nodes[3].copy_number, 9);
}

TEST(OpticsBytes, AreCheckedAgainstTheirScene) {
  const auto check = [](const Scene& scene) {
    detail::check_optics(scene, [](const std::string& what) { throw Error(ErrorKind::malformed, what); });
  };
  EXPECT_NO_THROW(check(full()));
  const std::vector<std::function<void(Optics&)>> faults{
      [](Optics& o) { o.materials.pop_back(); },
      [](Optics& o) { o.materials[1].tables[0].at[0] = 0; },
      [](Optics& o) { o.materials[1].tables[0].at[1] = 2; },
      [](Optics& o) { o.materials[1].tables[0].at.pop_back(); },
      [](Optics& o) {
        o.materials[1].tables[0] = {"K", {}, {}, {}};
      },
      [](Optics& o) { o.materials[1].tables[0].axis = static_cast<OpticalTable::Axis>(2); },
      [](Optics& o) { o.materials[1].tables[0].values[0] = NAN; },
      [](Optics& o) { o.materials[1].constants[0].value = INFINITY; },
      [](Optics& o) { o.surfaces[0].value = NAN; },
      [](Optics& o) { o.surfaces[0].model = static_cast<SurfaceModel>(8); },
      [](Optics& o) { o.surfaces[0].type = static_cast<SurfaceType>(8); },
      [](Optics& o) { o.surfaces[1].dichroic[0].reflect.values[0] = NAN; },
      [](Optics& o) { o.surfaces[1].dichroic[0].radians = NAN; },
      [](Optics& o) {
        o.channel_types[0].angles = {0.5, 0.5};
      },
      [](Optics& o) { o.channel_types[0].angle_efficiency.pop_back(); },
      [](Optics& o) { o.channel_types[0].time.density.pop_back(); },
      [](Optics& o) {
        o.channel_types[0].charge.at = {1, 0};
      },
      [](Optics& o) { o.channel_types[0].efficiency->at[0] = -1; },
      [](Optics& o) { o.assignments[0].surface = 4; },
      [](Optics& o) { o.assignments[0].kind = static_cast<SurfaceAssignment::Kind>(2); },
      [](Optics& o) { o.channel_assignments[0].type = 1; },
      [](Optics& o) { o.skins.pop_back(); },
      [](Optics& o) { o.skins[0] = 3; },
      [](Optics& o) { o.borders[0].to = 5; },
      [](Optics& o) { o.borders[0].assignment = 3; },
      [](Optics& o) { std::swap(o.borders[0], o.borders[1]); },
      [](Optics& o) { o.channels[0].solid = 5; },
      [](Optics& o) { o.channels[0].type = 1; },
      [](Optics& o) { std::swap(o.channels[0], o.channels[1]); },
  };
  for (const auto& fault : faults) {
    Scene scene = full();
    fault(scene.optics);
    EXPECT_THROW(check(scene), Error) << &fault - faults.data();
  }
}

}  // namespace
}  // namespace raylift
