// SPDX-License-Identifier: Apache-2.0
// A detector as G4DAE writes it, and what tests of its optics share.
#pragma once

#include <gmock/gmock.h>
#include <raylift/geometry/import/load.h>

#include <string>
#include <utility>
#include <vector>

#include "g4dae_writer.h"
#include "support/paths.h"

namespace raylift::test {

using g4dae::Detector;

/// World > tank > two sensors, each with a cathode. Numbers of few digits: the exporter writes six.
inline Detector detector() {
  Detector d;
  d.materials = {
      {"/dd/Materials/Rock", {}},
      {"/dd/Materials/Water",
       {{{"ABSLENGTH", {1.55e-6, 490, 6.2e-6, 800}}, {"RINDEX", {1.55e-6, 1.329, 2.48e-6, 1.336, 6.2e-6, 1.39}}}, {}}},
      {"/dd/Materials/Scintillator",
       {{{"FASTCOMPONENT", {2.48e-6, 0, 2.95e-6, 1, 3.26e-6, 0}}, {"RINDEX", {1.55e-6, 1.475, 6.2e-6, 1.8}}},
        {{"FASTTIMECONSTANT", 3.64}, {"SCINTILLATIONYIELD", 11522}, {"YIELDRATIO", 0.86}}}},
      {"/dd/Materials/Bialkali", {{{"RINDEX", {1.55e-6, 2.9, 6.2e-6, 1.5}}}, {}}}};
  d.volumes = {{"/dd/Geometry/lvCathode", "/dd/Materials/Bialkali", 1, {}},
               {"/dd/Geometry/lvSensor",
                "/dd/Materials/Scintillator",
                5,
                {{"/dd/Geometry/lvSensor#pvCathode", "/dd/Geometry/lvCathode", 3}}},
               {"/dd/Geometry/lvTank",
                "/dd/Materials/Water",
                50,
                {{"/dd/Geometry/lvTank#pvSensor:1", "/dd/Geometry/lvSensor", 7, {-20, 0, 0}},
                 {"/dd/Geometry/lvTank#pvSensor:2", "/dd/Geometry/lvSensor", 9, {20, 0, 0}}}},
               {"World", "/dd/Materials/Rock", 100, {{"/dd/Geometry/pvTank", "/dd/Geometry/lvTank", 1000}}}};
  d.surfaces = {
      {"/dd/Geometry/Wall", 3, 1, 0, 0.2, {{{"REFLECTIVITY", {1.55e-6, 0.5, 6.2e-6, 0.25}}}, {}}},
      {"/dd/Geometry/Cathode",
       0,
       0,
       0,
       1,
       {{{"EFFICIENCY", {1.55e-6, 0, 3.26e-6, 0.25, 6.2e-6, 0}}, {"REFLECTIVITY", {1.55e-6, 0, 6.2e-6, 0}}}, {}}},
      {"/dd/Geometry/Film", 0, 1, 1, 0, {}}};
  d.skins = {{"/dd/Geometry/CathodeSkin", "/dd/Geometry/Cathode", "/dd/Geometry/lvCathode"},
             {"/dd/Geometry/TankSkin", "/dd/Geometry/Wall", "/dd/Geometry/lvTank"}};
  d.borders = {{"/dd/Geometry/FilmBorder", "/dd/Geometry/Film", "/dd/Geometry/pvTank", "/dd/Geometry/lvTank#pvSensor:1",
                1000, 7}};
  return d;
}

/// The detector with EFFICIENCY on the cathodes' material, as Daya Bay's files have it.
inline Detector sensor_material() {
  Detector d = detector();
  d.materials[3].properties.tables.insert(d.materials[3].properties.tables.begin(),
                                          {"EFFICIENCY", {1.55e-6, 0.0001, 3.26e-6, 0.24, 6.2e-6, 0}});
  d.skins.erase(d.skins.begin());
  d.surfaces.erase(d.surfaces.begin() + 1);
  return d;
}

inline OpticalTable table(const std::string& key, std::vector<double> at, std::vector<double> values) {
  return {key, OpticalTable::Axis::energy_ev, std::move(at), std::move(values)};
}

/// Equal but for the last digits of the energies, which are converted.
inline void expect_same(const OpticalProperties& a, const OpticalProperties& b) {
  EXPECT_EQ(a.constants, b.constants);
  ASSERT_EQ(a.tables.size(), b.tables.size());
  for (std::size_t i = 0; i != a.tables.size(); ++i) {
    EXPECT_EQ(a.tables[i].key, b.tables[i].key);
    EXPECT_EQ(a.tables[i].axis, b.tables[i].axis);
    EXPECT_THAT(a.tables[i].at, testing::Pointwise(testing::DoubleEq(), b.tables[i].at));
    EXPECT_EQ(a.tables[i].values, b.tables[i].values);
  }
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) ADD_FAILURE() << "no '" << from << "' in the document";
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// A test that loads the detector, or a document made from it.
class WithDetector : public testing::Test {
 protected:
  Scene load_text(const std::string& text, const LoadOptions& options = {}) {
    return load(folder_.write("scene.dae", text), options);
  }
  Scene load_detector(const Detector& detector) { return load_text(g4dae::write(detector)); }
  Scene load_replaced(const std::string& from, const std::string& to) {
    return load_text(replaced(g4dae::write(detector()), from, to));
  }
  static std::uint32_t solid(const Scene& scene, const std::string& path) {
    for (std::uint32_t i = 0; i != scene.instances.size(); ++i) {
      std::string names = scene.path(scene.instances[i]);
      if (names.ends_with(path)) return i;
    }
    ADD_FAILURE() << "no solid " << path;
    return 0;
  }
  TemporaryFolder folder_;
};

}  // namespace raylift::test
