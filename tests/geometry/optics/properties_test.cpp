// SPDX-License-Identifier: Apache-2.0
// What is wrong with optical properties is an error that names their owner, key and value; what is not honoured is
// listed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <set>

#include "geometry/src/optics/property_table.h"
#include "optics/rayleigh.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace raylift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

OpticalTable energies(const std::string& key, std::vector<double> at, std::vector<double> values) {
  return {key, OpticalTable::Axis::energy_ev, std::move(at), std::move(values)};
}
OpticalTable wavelengths(const std::string& key, std::vector<double> at, std::vector<double> values) {
  return {key, OpticalTable::Axis::wavelength_nm, std::move(at), std::move(values)};
}

/// One material, Water, and one surface, Wall, which a skin uses.
Scene scene() {
  Scene scene;
  scene.source = "scene.dae";
  scene.materials = {{"Water", {}}};
  scene.optics.materials = {{{energies("RINDEX", {2, 6}, {1.33, 1.4})}, {{"YIELDRATIO", 0.8}}}};
  OpticalSurface wall;
  wall.name = "Wall";
  wall.properties.tables = {energies("REFLECTIVITY", {2, 6}, {0, 1})};
  scene.optics.surfaces = {wall};
  scene.optics.assignments = {{SurfaceAssignment::Kind::skin, "skin", 0, {}, {}}};
  return scene;
}

struct Fault {
  OpticalTable table;
  std::string message;
};

template <class Change>
Error error_of(const Change& change) {
  Scene one = scene();
  change(one);
  const Error error = test::expect_error(ErrorKind::malformed, [&] { check_optical_properties(one); });
  EXPECT_EQ(error.file(), "scene.dae");
  EXPECT_FALSE(error.advice().empty()) << error.what();
  return error;
}

TEST(OpticalProperties, PassWhereTheyAreRight) {
  Scene one = scene();
  one.optics.materials[0].tables.push_back(wavelengths("ABSLENGTH", {200, 300, 900}, {0, 5, 1e9}));
  check_optical_properties(one);
  EXPECT_THAT(one.report.warnings, IsEmpty());
}

TEST(OpticalProperties, WarnOfTablesWithoutAPointWhereLightIs) {
  const auto warnings = [](OpticalTable table) {
    Scene one = scene();
    one.optics.materials[0].tables.push_back(std::move(table));
    check_optical_properties(one);
    return one.report.warnings;
  };
  // At their ends, which still are light.
  EXPECT_THAT(warnings(wavelengths("ABSLENGTH", {5000, 9000}, {1, 2})), IsEmpty());
  EXPECT_THAT(warnings(wavelengths("ABSLENGTH", {10, 20}, {1, 2})), IsEmpty());
  const std::vector<std::pair<OpticalTable, const char*>> elsewhere{
      {energies("ABSLENGTH", {2e-3, 6e-3}, {1, 2}), "GeV where MeV are read"},
      {energies("ABSLENGTH", {2e6, 6e6}, {1, 2}), "eV where MeV are read"},
      {energies("ABSLENGTH", {2e-6, 6e-6}, {1, 2}), "MeV where eV are read"},
      {energies("ABSLENGTH", {2e-9, 6e-9}, {1, 2}), "GeV where eV are read"},
      {energies("ABSLENGTH", {200e6, 600e6}, {1, 2}), "nm where MeV are read"},
      {energies("ABSLENGTH", {200, 600}, {1, 2}), "nm where eV are read"},
      {wavelengths("ABSLENGTH", {2, 6}, {1, 2}), "eV where nm are read"},
      {wavelengths("ABSLENGTH", {0.2, 0.6}, {1, 2}), "um where nm are read"},
      {wavelengths("ABSLENGTH", {2e-7, 6e-7}, {1, 2}), "m where nm are read"}};
  for (const auto& [table, unit] : elsewhere)
    EXPECT_THAT(warnings(table), testing::ElementsAre(testing::AllOf(
                                     HasSubstr("material 'Water': ABSLENGTH has no point from 20 to 5000 nm"),
                                     HasSubstr(std::string("in ") + unit + "?"))));
  EXPECT_THAT(warnings(wavelengths("ABSLENGTH", {6000, 9000}, {1, 2})),
              testing::ElementsAre(testing::Not(HasSubstr("where"))));
}

TEST(OpticalProperties, NameATableThatIsWrong) {
  const std::vector<Fault> of_material{
      {energies("RAYLEIGH", {}, {}), "RAYLEIGH has no point, and a table needs two"},
      {energies("RAYLEIGH", {2}, {1}), "RAYLEIGH has one point, and a table needs two"},
      {energies("RAYLEIGH", {2, 3}, {1}), "RAYLEIGH has 2 points and 1 values"},
      {energies("RAYLEIGH", {2, 3}, {1, 2, 3}), "RAYLEIGH has 2 points and 3 values"},
      {energies("RAYLEIGH", {0, 3}, {1, 2}), "RAYLEIGH energy 0 eV is not positive (point 1)"},
      {energies("RAYLEIGH", {-1, 3}, {1, 2}), "RAYLEIGH energy -1 eV is not positive (point 1)"},
      {energies("RAYLEIGH", {2, kInf}, {1, 2}), "RAYLEIGH energy inf eV is not positive (point 2)"},
      {energies("RAYLEIGH", {2, kNan}, {1, 2}), "RAYLEIGH energy nan eV is not positive (point 2)"},
      {energies("RAYLEIGH", {2, 4, 3}, {1, 2, 3}), "RAYLEIGH energy 3 eV is not above the one before, 4 eV (point 3)"},
      {energies("RAYLEIGH", {2, 2}, {1, 2}), "RAYLEIGH energy 2 eV is not above the one before, 2 eV (point 2)"},
      {wavelengths("RAYLEIGH", {400, 300}, {1, 2}), "RAYLEIGH wavelength 300 nm is not above the one before, 400 nm"},
      {wavelengths("RAYLEIGH", {-400, 300}, {1, 2}), "RAYLEIGH wavelength -400 nm is not positive"},
      {energies("RAYLEIGH", {2, 3}, {1, -2}), "RAYLEIGH is -2 at 3 eV, and must be not negative"},
      {energies("RAYLEIGH", {2, 3}, {1, kNan}), "RAYLEIGH is nan at 3 eV, no finite number"},
      {energies("RAYLEIGH", {2, 3}, {kInf, 1}), "RAYLEIGH is inf at 2 eV, no finite number"},
      {energies("OWN", {2, 3}, {kInf, 1}), "OWN is inf at 2 eV, no finite number"},
      {energies("GROUPVEL", {2, 3}, {0, 1}), "GROUPVEL is 0 at 2 eV, and must be positive"},
      {wavelengths("REEMISSIONPROB", {200, 300}, {0, 1.5}), "REEMISSIONPROB is 1.5 at 300 nm, and must be from 0 to 1"},
      {energies("REEMISSIONPROB", {2, 3}, {-0.1, 1}), "REEMISSIONPROB is -0.1 at 2 eV, and must be from 0 to 1"},
      {energies("FASTCOMPONENT", {2, 3}, {-0.1, 1}), "FASTCOMPONENT is -0.1 at 2 eV, and must be not negative"},
      {energies("RINDEX", {2, 3}, {1, 2}), "RINDEX occurs twice"},
      {energies("FASTTIMECONSTANT", {2, 3}, {1, 2}), "FASTTIMECONSTANT is a table, and one number is expected"},
  };
  for (const Fault& fault : of_material) {
    const Error error = error_of([&](Scene& one) { one.optics.materials[0].tables.push_back(fault.table); });
    EXPECT_THAT(error.problem(), HasSubstr(fault.message));
    EXPECT_EQ(error.element(), "material 'Water'");
  }
  const std::vector<Fault> of_surface{
      {energies("EFFICIENCY", {2, 3}, {0, 1.1}), "EFFICIENCY is 1.1 at 3 eV, and must be from 0 to 1"},
      {energies("RINDEX", {2, 3}, {0, 1}), "RINDEX is 0 at 2 eV, and must be positive"},
      {energies("IMAGINARYRINDEX", {2, 3}, {-1, 1}), "IMAGINARYRINDEX is -1 at 2 eV, and must be not negative"},
      {energies("FILM_THICKNESS", {2, 3}, {1, 1}), "FILM_THICKNESS is a table, and one number is expected"},
  };
  for (const Fault& fault : of_surface) {
    const Error error = error_of([&](Scene& one) { one.optics.surfaces[0].properties.tables.push_back(fault.table); });
    EXPECT_THAT(error.problem(), HasSubstr(fault.message));
    EXPECT_EQ(error.element(), "surface 'Wall'");
  }
}

TEST(OpticalProperties, NameAConstantThatIsWrong) {
  const std::vector<std::pair<OpticalProperties::Constant, std::string>> faults{
      {{"YIELDRATIO", 0.5}, "YIELDRATIO occurs twice"},
      {{"RINDEX", 1.3}, "RINDEX occurs twice"},
      {{"ABSLENGTH", 100}, "ABSLENGTH is one number, and a table is expected"},
      {{"SCINTILLATIONYIELD", -1}, "SCINTILLATIONYIELD is -1, and must be not negative"},
      {{"SCINTILLATIONYIELD", kInf}, "SCINTILLATIONYIELD is inf, no finite number"},
      {{"FASTTIMECONSTANT", kNan}, "FASTTIMECONSTANT is nan, no finite number"},
      {{"MIEHG_FORWARD", 1.01}, "MIEHG_FORWARD is 1.01, and must be from -1 to 1"},
      {{"MIEHG_BACKWARD", -1.01}, "MIEHG_BACKWARD is -1.01, and must be from -1 to 1"},
      {{"MIEHG_FORWARD_RATIO", 2}, "MIEHG_FORWARD_RATIO is 2, and must be from 0 to 1"},
      {{"OWN", kNan}, "OWN is nan, no finite number"},
  };
  for (const auto& fault : faults) {
    const auto& message = fault.second;
    const Error error = error_of([&](Scene& one) { one.optics.materials[0].constants.push_back(fault.first); });
    EXPECT_THAT(error.problem(), HasSubstr(message));
    EXPECT_EQ(error.element(), "material 'Water'");
  }
}

TEST(OpticalProperties, NameProbabilitiesThatSumToMoreThanOne) {
  const auto sums = [](OpticalTable first, OpticalTable second) {
    return error_of([&](Scene& one) { one.optics.surfaces[0].properties.tables = {first, second}; }).problem();
  };
  EXPECT_THAT(sums(energies("REFLECTIVITY", {2, 6}, {0.5, 0.9}), energies("TRANSMITTANCE", {2, 6}, {0.5, 0.2})),
              HasSubstr("REFLECTIVITY + TRANSMITTANCE sum to 1.1 at 206.64"));
  EXPECT_THAT(
      sums(energies("SPECULARLOBECONSTANT", {2, 6}, {0.5, 0.6}), energies("BACKSCATTERCONSTANT", {2, 6}, {0.5, 0.6})),
      HasSubstr("SPECULARLOBECONSTANT + BACKSCATTERCONSTANT sum to 1.2"));
  EXPECT_THAT(sums(wavelengths("DETECT", {200, 600}, {0.5, 0.6}), wavelengths("ABSORB", {200, 600}, {0.5, 0.6})),
              HasSubstr("DETECT + ABSORB sum to 1.2 at 600 nm"));
  // Only between the ends of one of them, at a point of the other.
  EXPECT_THAT(sums(energies("REFLECTIVITY", {2, 6}, {0.5, 0.5}), energies("TRANSMITTANCE", {2, 4, 6}, {0, 0.75, 0})),
              HasSubstr("sum to 1.25 at 309.96"));
  // Tables on two axes; rounding alone is no error.
  Scene one = scene();
  one.optics.surfaces[0].properties.tables = {energies("REFLECTIVITY", {2, 6}, {0.7, 0.7}),
                                              wavelengths("TRANSMITTANCE", {300, 600}, {0.3 + 1e-7, 0.3})};
  check_optical_properties(one);
}

TEST(OpticalProperties, NameASurfacesValueThatIsWrong) {
  const auto problem = [](SurfaceModel model, double value) {
    return error_of([&](Scene& one) {
             one.optics.surfaces[0].model = model;
             one.optics.surfaces[0].value = value;
           })
        .problem();
  };
  EXPECT_EQ(problem(SurfaceModel::glisur, 1.5), "value is 1.5, and must be a polish, from 0 to 1");
  EXPECT_EQ(problem(SurfaceModel::glisur, -0.5), "value is -0.5, and must be a polish, from 0 to 1");
  EXPECT_EQ(problem(SurfaceModel::unified, -0.5), "value is -0.5, and must be not negative");
  EXPECT_EQ(problem(SurfaceModel::unified, kNan), "value is nan, and must be not negative");
  Scene one = scene();
  one.optics.surfaces[0].model = SurfaceModel::unified;
  one.optics.surfaces[0].value = 1.5;  // radians
  check_optical_properties(one);
}

TEST(OpticalProperties, NameADichroicFilterThatIsWrong) {
  const auto filter = [](double radians, double reflect, double transmit) {
    return OpticalSurface::DichroicAngle{radians, wavelengths("", {300, 600}, {0, reflect}),
                                         wavelengths("", {300, 600}, {0, transmit})};
  };
  const auto problem = [&](std::vector<OpticalSurface::DichroicAngle> angles) {
    const Error error = error_of([&](Scene& one) { one.optics.surfaces[0].dichroic = angles; });
    EXPECT_EQ(error.element(), "surface 'Wall'");
    return error.problem();
  };
  EXPECT_THAT(problem({filter(-0.1, 0, 0)}), HasSubstr("dichroic has an angle of -0.1 radians"));
  EXPECT_THAT(problem({filter(1.6, 0, 0)}), HasSubstr("dichroic has an angle of 1.6 radians"));
  EXPECT_THAT(problem({filter(kNan, 0, 0)}), HasSubstr("dichroic has an angle of nan radians"));
  EXPECT_THAT(problem({filter(0.5, 0, 0), filter(0.5, 0, 0)}), HasSubstr("dichroic has an angle of 0.5 radians"));
  EXPECT_THAT(problem({filter(0.5, 1.5, 0)}), HasSubstr("dichroic reflect is 1.5 at 600 nm, and must be from 0 to 1"));
  EXPECT_THAT(problem({filter(0.5, 0, -1)}), HasSubstr("dichroic transmit is -1 at 600 nm"));
  EXPECT_THAT(problem({filter(0.5, 0.75, 0.5)}),
              HasSubstr("dichroic reflect + dichroic transmit sum to 1.25 at 600 nm"));
  Scene one = scene();
  one.optics.surfaces[0].dichroic = {filter(0, 0.5, 0.5), filter(1.5, 1, 0)};
  check_optical_properties(one);
}

TEST(OpticalProperties, WarnOfASurfaceThatNothingUses) {
  Scene one = scene();
  one.optics.surfaces.push_back({"Idle", {}, {}, {}, 1, {}, {}});
  check_optical_properties(one);
  EXPECT_THAT(one.report.warnings, ElementsAre("no skin or border uses the optical surface 'Idle'"));
}

TEST(ComputedRayleigh, IsGeant4sForWater) {
  // Lengths of an implementation in Python, at the index of water there.
  const OpticalProperties water{{wavelengths("RINDEX", {300, 400, 500}, {1.349, 1.339, 1.335})}, {}};
  const auto table = detail::computed_rayleigh("Water0x7f12", water);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->at, water.tables[0].at);
  const std::vector<double> expected{48117.826006827755, 164873.88558300316, 415950.11985700484};
  for (std::size_t i = 0; i != expected.size(); ++i) EXPECT_NEAR(table->values[i] / expected[i], 1, 1e-12);
  OpticalProperties by_energy{{energies("RINDEX", {kEvNm / 500, kEvNm / 300}, {1.335, 1.349})}, {}};
  EXPECT_NEAR(detail::computed_rayleigh("Water", by_energy)->values[1] / expected[0], 1, 1e-12);
  EXPECT_FALSE(detail::computed_rayleigh("water", water));
  EXPECT_FALSE(detail::computed_rayleigh("Water", {{}, {{"ISOTHERMAL_COMPRESSIBILITY", 1e-13}}}));
  by_energy.tables[0].values = {1, 1.2};
  EXPECT_EQ(detail::computed_rayleigh("Water", by_energy)->values[0], 1e30) << "no contrast, no scattering";
}

TEST(ComputedRayleigh, IsByTheCompressibilityAndTemperature) {
  OpticalProperties argon{{wavelengths("RINDEX", {128, 400}, {1.36, 1.23})}, {}};
  EXPECT_FALSE(detail::computed_rayleigh("LAr", argon));
  argon.constants = {{"ISOTHERMAL_COMPRESSIBILITY", 3e-13}};
  const auto warm = detail::computed_rayleigh("LAr", argon);
  ASSERT_TRUE(warm);
  argon.constants.push_back({"TEMPERATURE", 87.3});
  argon.constants.push_back({"RS_SCALE_FACTOR", 2});
  const auto cold = detail::computed_rayleigh("LAr", argon);
  EXPECT_NEAR(cold->values[0] / warm->values[0], 293.15 / 87.3 / 2, 1e-12);
}

TEST(ComputedRayleigh, IsAddedUnlessOneIsStated) {
  Scene one = scene();
  detail::add_rayleigh(one);
  ASSERT_NE(one.optics.materials[0].table("RAYLEIGH"), nullptr);
  EXPECT_TRUE(has_computed_rayleigh("Water", one.optics.materials[0]));
  Scene stated = scene();
  stated.optics.materials[0].tables.push_back(energies("RAYLEIGH", {2, 6}, {5, 7}));
  const Scene before = stated;
  detail::add_rayleigh(stated);
  EXPECT_EQ(stated.optics.materials[0], before.optics.materials[0]);
  EXPECT_FALSE(has_computed_rayleigh("Water", stated.optics.materials[0]));
}

TEST(OpticalProperties, ListWhatIsNotHonoured) {
  Scene one = scene();
  one.optics.materials[0].tables.push_back(energies("OWNTABLE", {2, 3}, {1, 2}));
  one.optics.materials[0].constants = {{"OWNCONSTANT", 5}, {"RS_SCALE_FACTOR", 1}};
  OpticalSurface& wall = one.optics.surfaces[0];
  wall.model = SurfaceModel::lut;
  wall.finish = static_cast<SurfaceFinish>(10);
  wall.properties.constants = {{"COATEDTHICKNESS", 1}};
  OpticalSurface firsov = wall;
  firsov.name = "Firsov";
  firsov.model = SurfaceModel::unified;
  firsov.type = SurfaceType::firsov;
  firsov.properties.constants.clear();
  one.optics.surfaces.push_back(firsov);
  one.optics.assignments.push_back({SurfaceAssignment::Kind::skin, "other", 1, {}, {}});
  std::vector<std::string> list;
  for (const UnhonouredProperty& property : unhonoured_properties(one))
    list.push_back(property.owner + " " + property.key);
  EXPECT_THAT(list, ElementsAre("Water OWNTABLE", "Water OWNCONSTANT", "Wall COATEDTHICKNESS", "Wall model",
                                "Firsov finish", "Firsov type"));
  check_optical_properties(one);
  EXPECT_THAT(one.report.warnings,
              ElementsAre("material 'Water': OWNTABLE, OWNCONSTANT are not honoured: the key is not known",
                          "surface 'Wall': COATEDTHICKNESS is not honoured: it is read, but not simulated",
                          "surface 'Wall': model is not honoured: look-up tables are not simulated",
                          "surface 'Firsov': finish is not honoured: it belongs to look-up tables",
                          "surface 'Firsov': type is not honoured: it is not simulated"));
}

TEST(OpticalProperties, AreKnownByKeyAndOwner) {
  std::set<std::pair<PropertyOf, std::string_view>> keys;
  for (const PropertyInfo& info : optical_properties()) {
    EXPECT_TRUE(keys.insert({info.of, info.key}).second) << info.key;
    EXPECT_EQ(find_property(info.of, info.key), &info);
  }
  EXPECT_EQ(find_property(PropertyOf::material, "REFLECTIVITY"), nullptr);
  EXPECT_EQ(find_property(PropertyOf::surface, "ABSLENGTH"), nullptr);
  EXPECT_EQ(find_property(PropertyOf::material, "rindex"), nullptr);
  EXPECT_EQ(unit(PropertyInfo::Quantity::speed), "mm/ns");
  EXPECT_EQ(unit(PropertyInfo::Quantity::yield), "1/MeV");
  EXPECT_EQ(unit(PropertyInfo::Quantity::probability), "");
}

/// The rows of docs/optics.md between two of its markers.
TEST(OpticalProperties, AreThoseOfTheDocumentation) {
  std::ifstream page(test::source_dir() / "docs/optics.md");
  std::vector<std::string> rows, want;
  for (std::string line; std::getline(page, line);)
    if (line.starts_with("| `") &&
        (line.find("` | material |") != std::string::npos || line.find("` | surface |") != std::string::npos))
      rows.push_back(line);
  for (const PropertyInfo& info : optical_properties()) {
    const std::string in = std::string(unit(info.quantity));
    want.push_back("| `" + std::string(info.key) + "` | " + (info.of == PropertyOf::material ? "material" : "surface") +
                   " | " + (info.table ? "table" : "number") + " | " + (in.empty() ? "" : in + " ") + "| " +
                   (info.honoured.empty() ? "read, not simulated" : std::string(info.honoured)) + " |");
  }
  EXPECT_EQ(rows, want);
}

}  // namespace
}  // namespace raylift
