// SPDX-License-Identifier: Apache-2.0
// Tables at their own points, against Geant4's rule in double: linear in energy between the points of each property
// (G4PhysicsVector), or in wavelength where a table is over wavelength, and the value at the end beyond.
#include <gmock/gmock.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/optics.h>
#include <raylift/gpu/upload/optics_arrays.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/random_optics.h"
#include "upload/optics_tables.h"

namespace raylift {
namespace {

using test::arrays_of;
using test::scene_of;

/// Written from G4PhysicsVector's description, and not by OpticalTable::value(): a scan from the first point on.
double reference(const std::vector<double>& at, const std::vector<double>& values, double x) {
  if (x <= at.front()) return values.front();
  if (x >= at.back()) return values.back();
  std::size_t i = 0;
  while (at[i + 1] <= x) ++i;
  return (values[i] * (at[i + 1] - x) + values[i + 1] * (x - at[i])) / (at[i + 1] - at[i]);
}

struct Points {
  std::vector<double> at, values;
};

OpticalTable table_of(const char* key, const Points& points, OpticalTable::Axis axis = OpticalTable::Axis::energy_ev) {
  return {key, axis, points.at, points.values};
}

/// The index of liquid argon by Sellmeier's formula of Grace et al. (2017), to 110 nm.
Points argon_index() {
  Points points;
  for (int at = 400; at >= 110; at -= at > 140 ? 10 : 1) {
    const double nm = at;
    const double um2 = nm * nm * 1e-6, uv2 = 0.1066 * 0.1066, ir2 = 0.9083 * 0.9083;
    const double n2 = 1.334 + 0.1 * um2 / (um2 - uv2) + 0.008 * um2 / (um2 - ir2);
    points.at.push_back(kEvNm / nm);
    points.values.push_back(std::sqrt(n2));
  }
  return points;
}

struct Case {
  const char* name;
  Points index, length;
  double from, to;  ///< nm
};

std::vector<Case> cases() {
  Points many, smooth;
  for (int i = 0; i != 400; ++i) {
    many.at.push_back(1.5 + 0.013 * i + 0.004 * std::sin(5.0 * i));
    many.values.push_back(1000 * (1.5 + std::sin(0.7 * i)) + 1);
    smooth.at.push_back(1.5 + 0.0131 * i);
    smooth.values.push_back(1.3 + 2e-4 * i + 1e-3 * std::sin(0.2 * i));
  }
  const double step = std::nextafter(3.0, 4.0);
  Points far_apart{{1e-6, 0.01, 10, 1e4}, {1000, 1, 1e6, 10}};
  return {
      {"points far apart", {{1e-5, 3, 3e3}, {1.2, 1.4, 1.3}}, far_apart, 30, 5000},
      {"five points",
       {{1.55, 2, 3.1, 4.2, 6.2}, {1.33, 1.334, 1.345, 1.36, 1.42}},
       {{1.6, 2.2, 3, 4, 6}, {3000, 50000, 60000, 8000, 500}},
       180,
       900},
      {"400 points", smooth, many, 180, 900},
      {"an edge", {{2, 4}, {1.4, 1.5}}, {{2, 3, 3.05, 5}, {15000, 15000, 10, 10}}, 240, 700},
      {"a step", {{2, 3, step, 4}, {1.3, 1.31, 1.5, 1.52}}, {{2, 3, step, 5}, {5000, 4000, 1, 2}}, 240, 700},
      {"argon", argon_index(), {{3, 9.69, 10.5, 11.3}, {5000, 600, 50, 2}}, 105, 420},
      {"a filter of 2 nm",
       {{2, 4}, {1.4, 1.5}},
       {{kEvNm / 700, kEvNm / 533.001, kEvNm / 533, kEvNm / 531, kEvNm / 530.999, kEvNm / 400},
        {0.01, 0.01, 1e5, 1e5, 0.01, 0.01}},
       525,
       540},
      {"40 to 2000 nm",
       {{0.62, 1.17, 5, 20, 31}, {1.31, 1.32, 1.4, 0.9, 0.7}},
       {{0.62, 0.8, 1.165, 10, 30}, {10, 100, 814, 5, 1e-3}},
       38,
       2100},
  };
}

TEST(OpticalTables, AreGeant4sAtAnyEnergy) {
  for (const Case& one : cases()) {
    OpticalProperties material;
    material.tables = {table_of("RINDEX", one.index), table_of("ABSLENGTH", one.length),
                       table_of("RAYLEIGH", one.length), table_of("WLSABSLENGTH", one.length)};
    const OpticalTable velocity = detail::group_velocity(material.tables[0]);
    OpticalSurface surface = test::surface_of("s", SurfaceModel::unified);
    Points share = one.length;
    const double most = *std::max_element(share.values.begin(), share.values.end());
    for (double& value : share.values) value /= most;
    for (const char* key : {"REFLECTIVITY", "EFFICIENCY", "SPECULARLOBECONSTANT"})
      surface.properties.tables.push_back(table_of(key, share));
    const OpticsArrays arrays = arrays_of(scene_of(material, {surface}));
    const OpticsView view = arrays.view();
    constexpr int kEnergies = 100'000;
    double worst = 0, worst_at = 0;
    const double low = kEvNm / one.to, high = kEvNm / one.from;
    for (int i = 0; i != kEnergies; ++i) {
      const auto nm = static_cast<float>(kEvNm / (low + (high - low) * i / (kEnergies - 1)));
      const double energy = kEvNm / double{nm};
      const TableLookup in = look_up(view, 0, nm), on = look_up(view, view.surfaces[0], nm);
      const Medium got = medium(in);
      const auto expect = [&](double value, double wanted) {
        const double off = std::abs(value - wanted) / wanted;
        if (off > worst) {
          worst = off;
          worst_at = nm;
        }
      };
      const double length = reference(one.length.at, one.length.values, energy);
      expect(got.refractive_index, reference(one.index.at, one.index.values, energy));
      expect(got.group_velocity, reference(velocity.at, velocity.values, energy));
      expect(got.absorption_length, length);
      expect(got.rayleigh_length, length);
      expect(losses(view, view.materials[0], in.place).wls_length[0], length);
      const double chance = reference(share.at, share.values, energy);
      expect(reflection(on).reflectivity, chance);
      expect(reflection(on).efficiency, chance);
      expect(surface_lobes(view, view.surfaces[0], on.place).specular_lobe, chance);
    }
    EXPECT_LT(worst, 2e-6) << one.name << ", at " << worst_at << " nm";
  }
}

TEST(OpticalTables, OverWavelengthAreLinearInIt) {
  for (const Case& one : cases()) {
    Points turned;
    for (std::size_t i = one.length.at.size(); i-- != 0;) {
      turned.at.push_back(kEvNm / one.length.at[i]);
      turned.values.push_back(one.length.values[i]);
    }
    OpticalProperties material;
    material.tables = {table_of("ABSLENGTH", turned, OpticalTable::Axis::wavelength_nm)};
    const OpticsArrays alone = arrays_of(scene_of(material));
    material.tables.push_back(table_of("RINDEX", one.index));  // over energy
    const OpticsArrays mixed = arrays_of(scene_of(material));
    double worst = 0, worst_mixed = 0;
    for (int i = 0; i != 100'000; ++i) {
      const auto nm = static_cast<float>(one.from + (one.to - one.from) * i / 99'999);
      const double wanted = reference(turned.at, turned.values, double{nm});
      const auto off = [&](const OpticsArrays& arrays) {
        return std::abs(medium(arrays.view(), 0, nm).absorption_length - wanted) / wanted;
      };
      worst = std::max(worst, off(alone));
      worst_mixed = std::max(worst_mixed, off(mixed));
    }
    EXPECT_LT(worst, 2e-6) << one.name;
    EXPECT_LT(worst_mixed, 5e-6) << one.name << ", beside a table over energy";
  }
}

TEST(OpticalTables, OverWavelengthMayBeWide) {
  for (const double from : {0.01, 1e-5, 1e-9}) {
    const OpticalTable length{"ABSLENGTH", OpticalTable::Axis::wavelength_nm, {from, 2000}, {1, 3000}};
    const OpticsArrays arrays =
        arrays_of(scene_of({{length, {"RINDEX", OpticalTable::Axis::energy_ev, {2, 3}, {1.3, 1.4}}}, {}}));
    for (int i = 0; i != 2300; ++i) {
      const float nm = 100 * std::pow(1.001F, static_cast<float>(i));
      const double wanted = reference(length.at, length.values, double{nm});
      EXPECT_NEAR(medium(arrays.view(), 0, nm).absorption_length, wanted, 5e-6 * wanted) << from << ' ' << nm;
    }
  }
}

TEST(OpticalTables, OfLengthsAreAbove0) {
  const OpticsArrays arrays = arrays_of(scene_of({{{"ABSLENGTH", OpticalTable::Axis::energy_ev, {2, 3}, {0, 0}},
                                                   {"WLSABSLENGTH", OpticalTable::Axis::energy_ev, {2, 3}, {0, 5}}},
                                                  {}}));
  const TableLookup in = look_up(arrays.view(), 0, 600);
  EXPECT_GT(medium(in).absorption_length, 0);
  EXPECT_GT(losses(arrays.view(), arrays.materials[0], in.place).wls_length[0], 0);
}

TEST(OpticalTables, HaveTheirValuesAtTheirPoints) {
  // 254 nm is no point that energies can state exactly; at either side of a step the value is one of the two.
  const double energy = kEvNm / 254;
  OpticalProperties material;
  material.tables = {table_of("RINDEX", {{energy, 2 * energy}, {1.25, 1.5}}),
                     table_of("ABSLENGTH", {{energy / 2, energy, std::nextafter(energy, 9.0), 9}, {3, 3, 7, 7}})};
  const OpticsArrays arrays = arrays_of(scene_of(material));
  EXPECT_EQ(medium(arrays.view(), 0, 254).refractive_index, 1.25F);
  EXPECT_EQ(medium(arrays.view(), 0, 127).refractive_index, 1.5F);
  EXPECT_THAT(medium(arrays.view(), 0, 254).absorption_length, testing::AnyOf(3.0F, 7.0F));
  EXPECT_EQ(medium(arrays.view(), 0, std::nextafter(254.0F, 300.0F)).absorption_length, 3);
  EXPECT_EQ(medium(arrays.view(), 0, std::nextafter(254.0F, 200.0F)).absorption_length, 7);
}

TEST(OpticalTables, HaveTheValueAtTheEndBeyondIt) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<OpticalTable> tables{
      {"RINDEX", OpticalTable::Axis::wavelength_nm, {300, 500}, {1.5, 1.25}},
      {"RINDEX", OpticalTable::Axis::energy_ev, {kEvNm / 500, kEvNm / 300}, {1.25, 1.5}}};
  for (const OpticalTable& table : tables) {
    const OpticsArrays arrays = arrays_of(scene_of({{table}, {}}));
    const auto index = [&](float nm) { return medium(arrays.view(), 0, nm).refractive_index; };
    for (const float nm :
         {-kInfinity, -1e38F, -5.0F, -0.0F, 0.0F, 1e-45F, 1e-40F, 31.0F, 299.9F, 300.0F, std::nanf("")})
      EXPECT_EQ(index(nm), 1.5F) << nm;
    for (const float nm : {500.0F, 500.1F, 4096.0F, 1e38F, kInfinity}) EXPECT_EQ(index(nm), 1.25F) << nm;
  }
  // One value for all light has it everywhere, to the last bit.
  const OpticsArrays one =
      arrays_of(scene_of({{{"RINDEX", OpticalTable::Axis::energy_ev, {2, 3, 4}, {1.3, 1.3, 1.3}}}, {}}));
  for (int i = 0; i != 1200; ++i) {
    const float nm = 250 + 0.37F * static_cast<float>(i);
    EXPECT_EQ(medium(one.view(), 0, nm).refractive_index, 1.3F) << nm;
  }
}

TEST(OpticalTables, KnowTheLightThatTheyCover) {
  OpticalProperties material;
  material.tables = {{"RINDEX", OpticalTable::Axis::wavelength_nm, {300, 700}, {1.5, 1.25}},
                     {"ABSLENGTH", OpticalTable::Axis::energy_ev, {2, 4}, {5, 6}}};
  const Scene scene = scene_of(material);
  const auto of = [](const OpticsArrays& arrays, BulkProperty property) {
    return arrays.materials[0].covered_by[static_cast<std::size_t>(property)];
  };
  const OpticsArrays own = arrays_of(scene);
  EXPECT_EQ(of(own, BulkProperty::index).shortest, 300);
  EXPECT_EQ(of(own, BulkProperty::index).longest, 700);
  EXPECT_FLOAT_EQ(of(own, BulkProperty::absorption).shortest, static_cast<float>(kEvNm / 4));
  EXPECT_FLOAT_EQ(own.materials[0].covered.shortest, static_cast<float>(kEvNm / 4));
  EXPECT_FLOAT_EQ(own.materials[0].covered.longest, static_cast<float>(kEvNm / 2));
  EXPECT_TRUE(covers(of(own, BulkProperty::velocity), 1)) << "derived from RINDEX, which is counted";
  EXPECT_TRUE(covers(of(own, BulkProperty::mie), 1)) << "there is none";
  EXPECT_FALSE(covers(own.materials[0].covered, 305));
  EXPECT_TRUE(covers(of(own, BulkProperty::index), std::nextafter(300.0F, 0.0F))) << "by rounding";
  EXPECT_FALSE(covers(of(own, BulkProperty::index), 299.99F));
  const OpticsArrays sampled = arrays_of(scene, {400, 10, 11});
  EXPECT_EQ(of(sampled, BulkProperty::index).shortest, 400);
  EXPECT_EQ(of(sampled, BulkProperty::index).longest, 500);
}

TEST(OpticalTables, OfTooManyPointsAreRefused) {
  OpticalSurface filter = test::surface_of("filter", SurfaceModel::dichroic);
  for (int angle = 0; angle != 700; ++angle) {
    OpticalTable table{"R", OpticalTable::Axis::energy_ev, {}, {}};
    for (int i = 0; i != 200; ++i) {
      table.at.push_back(1 + 0.01 * i + 1e-5 * angle);
      table.values.push_back(0.1);
    }
    filter.dichroic.push_back({0.002 * angle, table, table});
  }
  const Scene scene = scene_of({}, {filter});
  try {
    (void)arrays_of(scene);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::limit);
    EXPECT_THAT(error.what(), testing::HasSubstr("different points"));
  }
}

}  // namespace
}  // namespace raylift
