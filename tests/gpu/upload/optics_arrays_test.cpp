// SPDX-License-Identifier: Apache-2.0
// What optical tables, spectra and channels are made of: against closed forms and Geant4's rules, on the host.
#include <gmock/gmock.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/optics/surface_between.h>
#include <raylift/gpu/optics.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <raylift/gpu/upload/optics_arrays.h>

#include <cmath>
#include <limits>

#include "support/expect_error.h"
#include "support/random_optics.h"
#include "upload/optics_tables.h"

namespace raylift {
namespace {

using test::arrays_of;
using test::scene_of;

constexpr double kLight = 299.792458;  // mm/ns

// n = a + b ln E: then dn / d ln E = b everywhere, and Geant4's differences are exact.
TEST(GroupVelocity, IsExactForALogarithm) {
  OpticalTable index{"RINDEX", OpticalTable::Axis::energy_ev, {}, {}};
  for (double energy = 1; energy < 10; energy *= 1.3) {
    index.at.push_back(energy);
    index.values.push_back(1.4 + 0.05 * std::log(energy));
  }
  const OpticalTable velocity = detail::group_velocity(index);
  ASSERT_EQ(velocity.at.size(), index.at.size());
  EXPECT_NEAR(velocity.values.front(), kLight / (index.values.front() + 0.05), 1e-9);
  EXPECT_NEAR(velocity.values.back(), kLight / (index.values.back() + 0.05), 1e-9);
  for (std::size_t i = 1; i + 1 != velocity.at.size(); ++i) {
    EXPECT_DOUBLE_EQ(velocity.at[i], (index.at[i - 1] + index.at[i]) / 2);
    EXPECT_NEAR(velocity.values[i], kLight / ((index.values[i - 1] + index.values[i]) / 2 + 0.05), 1e-9);
  }
}

// Cauchy's n = a + b / w^2 has the group index a + 3 b / w^2.
TEST(GroupVelocity, ComesNearToCauchys) {
  OpticalTable index{"RINDEX", OpticalTable::Axis::wavelength_nm, {}, {}};
  for (double w = 250; w <= 800; w += 2) {
    index.at.push_back(w);
    index.values.push_back(1.32 + 3500 / (w * w));
  }
  OpticalProperties material;
  material.tables = {index};
  const OpticsArrays arrays = arrays_of(scene_of(material));
  for (float w = 280; w < 790; w += 7.5F) {
    const float velocity = medium(arrays.view(), 0, w).group_velocity;
    EXPECT_NEAR(velocity, kLight / (1.32 + 3 * 3500 / (w * w)), 2e-2) << w;
  }
}

TEST(GroupVelocity, IsAtMostThePhaseVelocity) {
  // Anomalous dispersion, and a slope so steep that the group would run backwards.
  for (const double last : {1.2, 0.6}) {
    const OpticalTable velocity =
        detail::group_velocity({"RINDEX", OpticalTable::Axis::energy_ev, {2, 3, 3.3}, {1.5, last, last}});
    EXPECT_NEAR(velocity.values[0], kLight / 1.5, 1e-9);
    EXPECT_NEAR(velocity.values[1], kLight / ((1.5 + last) / 2), 1e-9);
    EXPECT_NEAR(velocity.values[2], kLight / last, 1e-9);
  }
  EXPECT_NEAR(detail::group_velocity({"RINDEX", OpticalTable::Axis::energy_ev, {2}, {1.5}}).values[0], kLight / 1.5,
              1e-9);
}

TEST(GroupVelocity, OfAMaterialWithoutAnIndexIsThatOfLight) {
  const OpticsArrays arrays = arrays_of(scene_of({}));
  const Medium vacuum = medium(arrays.view(), 0, 400);
  EXPECT_FLOAT_EQ(vacuum.group_velocity, static_cast<float>(kLight));
  EXPECT_EQ(vacuum.refractive_index, 1);
  EXPECT_EQ(vacuum.absorption_length, kNever);
  EXPECT_EQ(arrays.materials[0].flags, 0U);
}

EmissionComponent component_of(const OpticsArrays& arrays, int number) {
  return arrays.materials[0].scintillation[number];
}

// A flat spectrum has a linear distribution, in energy or in wavelength.
TEST(Emission, OfAFlatSpectrumIsUniform) {
  OpticalProperties material;
  material.tables = {{"SCINTILLATIONCOMPONENT1", OpticalTable::Axis::energy_ev, {2, 2.5, 4}, {1, 1, 1}},
                     {"SCINTILLATIONCOMPONENT2", OpticalTable::Axis::wavelength_nm, {300, 500}, {7, 7}}};
  const OpticsArrays arrays = arrays_of(scene_of(material));
  for (float u = 0; u <= 1; u += 1.0F / 64) {
    EXPECT_NEAR(sample_emission(arrays.view(), component_of(arrays, 0), u), kEvNm / (2 + 2 * double{u}), 1e-3) << u;
    EXPECT_NEAR(sample_emission(arrays.view(), component_of(arrays, 1), u), 300 + 200 * double{u}, 1e-3) << u;
  }
}

// A triangle of two points: the distribution is u = (e - 2)^2 / 4, and Geant4 takes its chords. At the points the
// chords are exact: with many of them, everywhere nearly.
TEST(Emission, FollowsTheDistributionOfItsSpectrum) {
  OpticalTable spectrum{"SCINTILLATIONCOMPONENT1", OpticalTable::Axis::energy_ev, {}, {}};
  for (int i = 0; i <= 400; ++i) {
    spectrum.at.push_back(2 + i / 200.0);
    spectrum.values.push_back(i / 200.0);
  }
  const OpticsArrays arrays = arrays_of(scene_of({{spectrum}, {}}));
  for (const float u : {0.01F, 0.1F, 0.25F, 0.5F, 0.75F, 0.99F})
    EXPECT_NEAR(kEvNm / sample_emission(arrays.view(), component_of(arrays, 0), u), 2 + 2 * std::sqrt(double{u}), 2e-5);
}

TEST(Emission, StaysWithinItsSpectrum) {
  const auto points = detail::cumulative({2, 3, 4, 5}, {0, 1, 0, 0});
  ASSERT_EQ(points.size(), 4U);
  EXPECT_EQ(points[2].x, 1) << "nothing is emitted beyond 4 eV";
  const OpticsArrays arrays = arrays_of(
      scene_of({{{"SCINTILLATIONCOMPONENT1", OpticalTable::Axis::energy_ev, {2, 3, 4, 5}, {0, 1, 0, 0}}}, {}}));
  const auto energy = [&](float u) { return kEvNm / sample_emission(arrays.view(), component_of(arrays, 0), u); };
  for (const float u : {-1.0F, 0.0F, std::nanf(""), -std::numeric_limits<float>::infinity()})
    EXPECT_NEAR(energy(u), 2, 1e-6) << u;
  EXPECT_LE(energy(std::nextafter(1.0F, 0.0F)), 4 + 1e-6);
  EXPECT_NEAR(energy(std::numeric_limits<float>::infinity()), 5, 1e-6);
  EXPECT_EQ(detail::cumulative({2, 3}, {0, 0}).size(), 1U) << "no area: the first point alone";
  EXPECT_TRUE(detail::cumulative({}, {}).empty());
}

TEST(Emission, SharesItsPhotonsAmongComponents) {
  const OpticalTable one{"SCINTILLATIONCOMPONENT1", OpticalTable::Axis::energy_ev, {2, 3}, {1, 1}};
  const auto with = [&](std::vector<std::string> keys, std::vector<OpticalProperties::Constant> constants) {
    OpticalProperties material;
    for (std::string& key : keys) {
      material.tables.push_back(one);
      material.tables.back().key = std::move(key);
    }
    material.constants = std::move(constants);
    const OpticsArrays arrays = arrays_of(scene_of(material));
    return std::array<float, 3>{component_of(arrays, 0).amount, component_of(arrays, 1).amount,
                                component_of(arrays, 2).amount};
  };
  using Three = std::array<float, 3>;
  const std::string c1 = "SCINTILLATIONCOMPONENT1", c2 = "SCINTILLATIONCOMPONENT2", c3 = "SCINTILLATIONCOMPONENT3";
  EXPECT_EQ(with({c1}, {}), (Three{1, 0, 0}));
  EXPECT_EQ(with({c1, c2}, {}), (Three{1, 0, 0})) << "as in Geant4: a yield of 1, and of 0 for the others";
  EXPECT_EQ(with({c1, c2, c3}, {{"SCINTILLATIONYIELD1", 2}, {"SCINTILLATIONYIELD2", 1}, {"SCINTILLATIONYIELD3", 1}}),
            (Three{0.5F, 0.25F, 0.25F}));
  EXPECT_EQ(with({c1}, {{"SCINTILLATIONYIELD1", 2}, {"SCINTILLATIONYIELD2", 6}}), (Three{1, 0, 0}));
  EXPECT_EQ(with({"FASTCOMPONENT", "SLOWCOMPONENT"}, {{"YIELDRATIO", 0.75}}), (Three{0.75F, 0.25F, 0}));
  EXPECT_EQ(with({"SLOWCOMPONENT"}, {{"YIELDRATIO", 1}}), (Three{0, 1, 0}));
}

TEST(Emission, KeepsTimesUnderTheirOldAndNewNames) {
  OpticalProperties material = {{{"FASTCOMPONENT", OpticalTable::Axis::energy_ev, {2, 3}, {1, 1}},
                                 {"SCINTILLATIONCOMPONENT2", OpticalTable::Axis::energy_ev, {2, 3}, {1, 1}},
                                 {"WLSCOMPONENT", OpticalTable::Axis::energy_ev, {2, 3}, {1, 1}},
                                 {"WLSABSLENGTH", OpticalTable::Axis::energy_ev, {2, 3}, {1, 1}}},
                                {{"FASTTIMECONSTANT", 3},
                                 {"SCINTILLATIONTIMECONSTANT2", 30},
                                 {"SLOWSCINTILLATIONRISETIME", 0.5},
                                 {"WLSTIMECONSTANT", 1.25}}};
  const OpticsArrays arrays = arrays_of(scene_of(material));
  const MaterialOptics& got = arrays.materials[0];
  EXPECT_EQ(got.scintillation[0].time_constant, 3);
  EXPECT_EQ(got.scintillation[1].time_constant, 30);
  EXPECT_EQ(got.scintillation[1].rise_time, 0.5F);
  EXPECT_EQ(got.shifting[0].time_constant, 1.25F);
  EXPECT_EQ(got.shifting[0].amount, -1) << "exactly one photon";
  EXPECT_EQ(got.resolution_scale, 1);
  EXPECT_EQ(got.flags, material_flags::kScintillates | material_flags::kShifts);
}

TEST(OpticsArrays, KnowWhatASurfaceHas) {
  std::mt19937 random(2);
  const std::vector<OpticalSurface> surfaces = test::random_surfaces(random);
  const OpticsArrays arrays = arrays_of(scene_of({}, surfaces));
  using namespace surface_flags;
  const std::vector<unsigned> flags{
      0, kReflectivity | kTransmittance | kGapIndex | kDetects, kDetects, kComplexIndex, 0, 0};
  ASSERT_EQ(arrays.surfaces.size(), flags.size());
  for (std::size_t i = 0; i != flags.size(); ++i) {
    EXPECT_EQ(arrays.surfaces[i].flags, flags[i]) << surfaces[i].name;
    EXPECT_EQ(arrays.surfaces[i].model, surfaces[i].model);
    EXPECT_EQ(arrays.surfaces[i].finish, surfaces[i].finish);
    EXPECT_EQ(arrays.surfaces[i].type, surfaces[i].type);
    EXPECT_FLOAT_EQ(arrays.surfaces[i].value, static_cast<float>(surfaces[i].value));
  }
  EXPECT_FLOAT_EQ(arrays.surfaces[3].film_thickness, 2.5e-5F);
  EXPECT_FLOAT_EQ(arrays.surfaces[1].roughness, 1e-4F);
  EXPECT_EQ(arrays.surfaces[4].reemission.spectrum.count, surfaces[4].properties.table("WLSCOMPONENT")->at.size());
}

TEST(OpticsArrays, AreRefusedWhereNothingWasResolved) {
  Scene scene = scene_of({}, {test::surface_of("paint", SurfaceModel::unified)});
  scene.optics.assignments = {{SurfaceAssignment::Kind::skin, "skin", 0, {}, {}}};
  const Error error = test::expect_error(ErrorKind::usage, [&] { (void)arrays_of(scene); });
  EXPECT_THAT(error.advice(), testing::HasSubstr("resolve_optics()"));
  resolve_optics(scene);
  EXPECT_EQ(arrays_of(scene).surfaces.size(), 1U);
  scene.optics.assignments[0].from.solid = "no such solid";
  resolve_optics(scene);
  EXPECT_EQ(arrays_of(scene).surfaces.size(), 1U) << "no solid is meant";
}

TEST(OpticsArrays, HaveAMetalsIndexWhereNoReflectivityIsGiven) {
  const auto table = [](const char* key, double value) {
    return OpticalTable{key, OpticalTable::Axis::energy_ev, {2, 3}, {value, value}};
  };
  OpticalSurface metal = test::surface_of("metal", SurfaceModel::unified);
  metal.type = SurfaceType::dielectric_metal;
  metal.properties.tables = {table("REALRINDEX", 1.5), table("IMAGINARYRINDEX", 7)};
  OpticalSurface given = metal, half = metal;
  given.properties.tables.push_back(table("REFLECTIVITY", 0.5));
  half.properties.tables.pop_back();
  const OpticsArrays arrays = arrays_of(scene_of({}, {metal, given, half}));
  for (std::size_t i = 0; i != 3; ++i) {
    const SurfaceOptics& surface = arrays.surfaces[i];
    const SurfaceOptics::Indices got =
        surface_indices(arrays.view(), surface, look_up(arrays.view(), surface, 500).place);
    EXPECT_EQ(got.n, i == 0 ? 1.5F : 0) << i;
    EXPECT_EQ(got.k, i == 0 ? 7 : 0) << i;
    EXPECT_EQ((arrays.surfaces[i].flags & surface_flags::kComplexIndex) != 0, i == 0);
  }
}

TEST(OpticsArrays, KeepEqualTablesOnce) {
  const Scene one = scene_of({}, std::vector<OpticalSurface>(1));
  const Scene many = scene_of({}, std::vector<OpticalSurface>(100));
  EXPECT_EQ(arrays_of(one).rows.size(), arrays_of(many).rows.size());
}

TEST(OpticsArrays, InterpolateDichroicFiltersInAngleAndWavelength) {
  OpticalSurface filter = test::surface_of("filter", SurfaceModel::dichroic);
  const auto table = [](double at_400, double at_500) {
    return OpticalTable{"R", OpticalTable::Axis::wavelength_nm, {400, 500}, {at_400, at_500}};
  };
  filter.dichroic = {
      {0, table(0, 1), table(1, 0)}, {0.5, table(0.5, 0.5), table(0.5, 0.5)}, {1, table(1, 0), table(0, 1)}};
  Scene scene = scene_of({}, {filter});
  const auto at = [](const OpticsArrays& arrays, float angle, float w) {
    const SurfaceOptics& surface = arrays.surfaces[0];
    return dichroic(arrays.view(), surface, angle, look_up(arrays.view(), surface, w).place);
  };
  const OpticsArrays three = arrays_of(scene);
  for (const float w : {400.0F, 425.0F, 450.0F, 495.0F, 500.0F})
    for (const float angle : {-1.0F, 0.0F, 0.125F, 0.5F, 0.75F, 1.0F, 2.0F, std::nanf("")}) {
      const double x = (w - 400) / 100, y = angle > 0 ? std::min(angle, 1.0F) : 0;
      const double wanted = x * (1 - y) + (1 - x) * y;  // bilinear, by the choice of tables
      EXPECT_NEAR(at(three, angle, w).reflect, wanted, 1e-6) << angle << ' ' << w;
      EXPECT_NEAR(at(three, angle, w).transmit, 1 - wanted, 1e-6) << angle << ' ' << w;
    }
  scene.optics.surfaces[0].dichroic.resize(1);
  EXPECT_NEAR(at(arrays_of(scene), 1.2F, 425).reflect, 0.25, 1e-6) << "one angle holds for all";
  scene.optics.surfaces[0].dichroic.clear();
  EXPECT_EQ(at(arrays_of(scene), 1.2F, 425).transmit, 0);
}

TEST(OpticsArrays, SampleChannels) {
  Scene scene = scene_of({});
  // A time that is uniform from -1 to 3, and a charge of 2 always.
  scene.optics.channel_types = {{"t", {}, {0, 1}, {1, 0.5}, {{-1, 3}, {1, 1}}, {{2}, {1}}}, {}};
  const OpticsArrays arrays = arrays_of(scene);
  const OpticsView view = arrays.view();
  EXPECT_FLOAT_EQ(sample_time(view, 0, 0.25F), 0);
  EXPECT_FLOAT_EQ(sample_charge(view, 0, 0.25F), 2);
  EXPECT_FLOAT_EQ(channel_efficiency(view, 0, 400, 0.5F), 0.75F);
  for (const std::uint32_t type : {1U, kNone}) {
    EXPECT_EQ(sample_time(view, type, 0.25F), 0);
    EXPECT_EQ(sample_charge(view, type, 0.25F), 1);
    EXPECT_EQ(channel_efficiency(view, type, 400, 0.5F), 1);
  }
}

TEST(OpticsArrays, RefuseARasterThatIsNone) {
  const Scene scene = scene_of({});
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  for (const Raster& raster : std::vector<Raster>{{60, 5, 0},
                                                  {60, 5, 1},
                                                  {60, 5, 65537},
                                                  {60, 0, 10},
                                                  {60, -5, 10},
                                                  {0, 5, 10},
                                                  {-60, 5, 10},
                                                  {nan, 5, 10},
                                                  {60, nan, 10},
                                                  {infinity, 5, 10},
                                                  {60, infinity, 10},
                                                  {60, 1e-40F, 10}}) {
    (void)test::expect_error(ErrorKind::usage, [&] { (void)arrays_of(scene, raster); });
    UploadOptions options;
    options.raster = raster;
    (void)test::expect_error(ErrorKind::usage, [&] { (void)upload(scene, Device::host(), options); });
  }
  EXPECT_EQ(arrays_of(scene, {0.5F, 0.25F, 2}).rows.size(), 2 * 2U) << "a medium and its losses";
}

TEST(OpticsArrays, RefuseWhatTheyCantHold) {
  const auto message = [](ErrorKind kind, const Scene& scene) {
    return std::string(test::expect_error(kind, [&] { (void)arrays_of(scene); }).what());
  };
  Scene many = scene_of({}, std::vector<OpticalSurface>(65536));
  EXPECT_THAT(message(ErrorKind::limit, many), testing::HasSubstr("65536 optical surfaces"));
  (void)test::expect_error(ErrorKind::limit, [&] { (void)solid_views(many, solid_tree(many)); });
  for (const std::int64_t number : {std::int64_t{-1}, std::int64_t{1} << 31}) {
    Scene channels = scene_of({});
    channels.optics.channels = {{1, number, kNone}};
    EXPECT_THAT(message(ErrorKind::limit, channels), testing::HasSubstr("channel number " + std::to_string(number)));
  }
  Scene misfit = scene_of({});
  misfit.optics.skins = {kNone};
  EXPECT_THAT(message(ErrorKind::usage, misfit), testing::HasSubstr("skin"));
}

}  // namespace
}  // namespace raylift
