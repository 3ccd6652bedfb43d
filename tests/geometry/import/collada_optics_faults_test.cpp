// SPDX-License-Identifier: Apache-2.0
// What is wrong with the optics of a G4DAE file is named.
#include <gmock/gmock.h>
#include <raylift/geometry/import/load.h>

#include "collada_optics.h"
#include "g4dae_writer.h"
#include "support/expect_error.h"

namespace raylift {
namespace {

using test::detector;
using test::table;
using test::g4dae::Detector;
using testing::HasSubstr;

class ColladaOpticsFaults : public test::WithDetector {};

struct Fault {
  const char* what;
  std::string from, to;
  std::string element;  // in the error
  std::string message;
  ErrorKind kind = ErrorKind::malformed;
};

std::vector<Fault> faults() {
  const std::string water = "<material id='__dd__Materials__Water",
                    wall = "<opticalsurface name='__dd__Geometry__Wall'>";
  const std::string numbers = "1.55e-06 490 6.2e-06 800";
  return {
      {"odd", numbers, "1.55e-06 490 6.2e-06", "<matrix name='ABSLENGTH",
       "ABSLENGTH has 3 numbers, and they must be pairs"},
      {"word", numbers, "1.55e-06 490 6.2e-06 long", water, "ABSLENGTH: 'long' is no number"},
      {"comma", numbers, "1.55e-06,490 6.2e-06,800", water, "ABSLENGTH: '1.55e-06,490' is no number"},
      {"infinite", numbers, "1.55e-06 490 6.2e-06 INF", water, "ABSLENGTH: inf (number 4) is not finite"},
      {"nan", numbers, "NaN 490 6.2e-06 800", water, "ABSLENGTH: nan (number 1) is not finite"},
      {"overflow", numbers, "1.55e-06 1e999 6.2e-06 800", water, "ABSLENGTH: inf (number 2) is not finite"},
      {"empty", numbers, "", "material '__dd__Materials__Water", "ABSLENGTH has no point"},
      {"one point", numbers, "1.55e-06 490", "material '__dd__Materials__Water", "ABSLENGTH has one point"},
      {"descending", numbers, "6.2e-06 490 1.55e-06 800", "material '__dd__Materials__Water",
       "ABSLENGTH energy 1.55 eV is not above the one before, 6.2 eV (point 2)"},
      {"twice", numbers, "6.2e-06 490 6.2e-06 800", "material '__dd__Materials__Water",
       "6.2 eV is not above the one before"},
      {"below zero", numbers, "-1 490 1 800", "material '__dd__Materials__Water", "energy -1000000 eV is not positive"},
      {"a constant index", "1.55e-06 1.329 2.48e-06 1.336 6.2e-06 1.39", "-1 1.33 1 1.33",
       "material '__dd__Materials__Water", "RINDEX energy -1000000 eV is not positive"},
      {"negative length", numbers, "1.55e-06 -490 6.2e-06 800", "material '__dd__Materials__Water",
       "ABSLENGTH is -490 at 1.55 eV, and must be not negative"},
      {"no index", "1.329 2.48e-06", "0 2.48e-06", "material '__dd__Materials__Water",
       "RINDEX is 0 at 1.55 eV, and must be positive"},
      {"columns", "<matrix coldim=\"2\" name=\"ABSLENGTH", "<matrix coldim=\"3\" name=\"ABSLENGTH", water,
       "ABSLENGTH has 3 columns, and a table has two"},
      {"column", "<matrix coldim=\"2\" name=\"ABSLENGTH", "<matrix coldim=\"1\" name=\"ABSLENGTH", water,
       "ABSLENGTH has 1 columns"},
      {"coldim", "<matrix coldim=\"2\" name=\"ABSLENGTH", "<matrix coldim=\"two\" name=\"ABSLENGTH", water,
       "coldim='two'"},
      {"matrix without a name", "<matrix coldim=\"2\" name=\"ABSLENGTH", "<matrix coldim=\"2\" id=\"ABSLENGTH",
       "<matrix id=", "the attribute 'name' is missing"},
      {"property without a name", "<property name=\"ABSLENGTH\"", "<property", "<property> in " + water,
       "the attribute 'name' is missing"},
      {"property without a ref", "<property name=\"YIELDRATIO\" ref=\"YIELDRATIO\"/>",
       "<property name=\"YIELDRATIO\"/>", "<property name='YIELDRATIO'>", "the attribute 'ref' is missing"},
      {"two constants", "<constant name=\"YIELDRATIO\"", "<constant name=\"SCINTILLATIONYIELD\"",
       "<constant name='SCINTILLATIONYIELD'>", "two tables or constants are called 'SCINTILLATIONYIELD'"},
      {"a property twice", "<property name=\"YIELDRATIO\"", "<property name=\"SCINTILLATIONYIELD\"",
       "material '__dd__Materials__Scintillator", "SCINTILLATIONYIELD occurs twice"},
      {"constant that is none", "value=\"0.86\"", "value=\"much\"", "<constant name='YIELDRATIO'>",
       "value='much' is no finite number"},
      {"constant of two", "value=\"0.86\"", "value=\"0.86 1\"", "<constant name='YIELDRATIO'>", "value='0.86 1'"},
      {"constant that is infinite", "value=\"0.86\"", "value=\"INF\"", "<constant name='YIELDRATIO'>", "value='INF'"},
      {"constant without a value", " value=\"0.86\"", "", "<constant name='YIELDRATIO'>",
       "the attribute 'value' is missing"},
      {"ratio above 1", "value=\"0.86\"", "value=\"1.86\"", "material '__dd__Materials__Scintillator",
       "YIELDRATIO is 1.86, and must be from 0 to 1"},
      {"reflectivity above 1", "1.55e-06 0.5 6.2e-06 0.25", "1.55e-06 0.5 6.2e-06 1.25",
       "surface '__dd__Geometry__Wall'", "REFLECTIVITY is 1.25 at 6.2 eV, and must be from 0 to 1"},
      {"surface without a name", "<opticalsurface finish=\"3\" model=\"1\" name=\"__dd__Geometry__Wall\"",
       "<opticalsurface finish=\"3\" model=\"1\"", "<opticalsurface>", "the attribute 'name' is missing"},
      {"finish", "finish=\"3\"", "finish=\"256\"", wall, "finish='256' is none of Geant4's, which are 0 to 255"},
      {"no finish", "finish=\"3\"", "", wall, "the attribute 'finish' is missing"},
      {"model", "model=\"1\" name", "model=\"5\" name", wall, "model='5' is none of Geant4's, which are 0 to 4"},
      {"model in words", "model=\"1\" name", "model=\"unified\" name", wall, "model='unified'"},
      {"type", "type=\"0\" value=\"0.2\"", "type=\"8\" value=\"0.2\"", wall, "type='8'"},
      {"negative type", "type=\"0\" value=\"0.2\"", "type=\"-1\" value=\"0.2\"", wall, "type='-1'"},
      {"value", "value=\"0.2\"", "value=\"rough\"", wall, "value='rough' is no finite number"},
      {"negative roughness", "value=\"0.2\"", "value=\"-0.2\"", "surface '__dd__Geometry__Wall'",
       "value is -0.2, and must be not negative"},
      {"polish above 1", "type=\"0\" value=\"1\"", "type=\"0\" value=\"1.5\"", "surface '__dd__Geometry__Cathode'",
       "value is 1.5, and must be a polish, from 0 to 1"},
      {"skin of no surface", "surfaceproperty=\"__dd__Geometry__Wall\"", "surfaceproperty=\"Velvet\"",
       "<skinsurface name='__dd__Geometry__TankSkin'>", "'Velvet' names no <opticalsurface>"},
      {"border of no surface", "surfaceproperty=\"__dd__Geometry__Film\"", "surfaceproperty=\"Velvet\"",
       "<bordersurface name='__dd__Geometry__FilmBorder'>", "'Velvet' names no <opticalsurface>"},
      {"skin without a surface", "surfaceproperty=\"__dd__Geometry__Wall\"", "",
       "<skinsurface name='__dd__Geometry__TankSkin'>", "the attribute 'surfaceproperty' is missing"},
      {"skin without a volume", "<volumeref ref=\"__dd__Geometry__lvTank", "<volume ref=\"__dd__Geometry__lvTank",
       "<skinsurface name='__dd__Geometry__TankSkin'>", "the skin surface has no <volumeref>"},
      {"border of one volume", "<physvolref ref=\"__dd__Geometry__pvTank", "<volume ref=\"__dd__Geometry__pvTank",
       "<bordersurface name='__dd__Geometry__FilmBorder'>", "the border surface has 1 <physvolref>"},
      {"border of an unnamed volume",
       "<physvolref ref=", "<physvolref id=", "<physvolref id=", "the attribute 'ref' is missing"},
      {"one pv", "<pv copyNo=\"7\"", "<other copyNo=\"7\"", "<bsurf name='__dd__Geometry__FilmBorder'>",
       "a border surface lies between two <pv>"},
      {"copy number", "<pv copyNo=\"7\"", "<pv copyNo=\"seven\"", "<bsurf name='__dd__Geometry__FilmBorder'>",
       "copyNo='seven' is no copy number"},
      {"long name", "name=\"__dd__Geometry__Wall\"", "name=\"" + std::string(5000, 'w') + "\"", "<extra>",
       "the attribute 'name' has 5000 characters, and the limit is 4096", ErrorKind::limit},
  };
}

TEST_F(ColladaOpticsFaults, NamesWhatIsWrong) {
  EXPECT_GE(faults().size(), 40U);
  for (const Fault& fault : faults()) {
    SCOPED_TRACE(fault.what);
    const Error error = test::expect_error(fault.kind, [&] { (void)load_replaced(fault.from, fault.to); });
    EXPECT_THAT(error.element(), HasSubstr(fault.element));
    EXPECT_THAT(error.problem(), HasSubstr(fault.message));
  }
}

TEST_F(ColladaOpticsFaults, NamesATableThatIsCutOff) {
  Detector d = detector();
  d.values_in_attributes = true;
  std::vector<double> numbers;
  for (int i = 0; i != 60; ++i) numbers.insert(numbers.end(), {1.5e-6 + 1e-8 * i, 1.33});
  d.materials[1].properties.tables.push_back({"RAYLEIGH", numbers});
  const Error error = test::expect_error(ErrorKind::malformed, [&] { (void)load_detector(d); });
  EXPECT_THAT(error.problem(), HasSubstr("RAYLEIGH is cut off: its attribute has 255 characters"));
  EXPECT_THAT(error.element(),
              testing::AllOf(HasSubstr("<matrix name='RAYLEIGH0x"), HasSubstr("<material id='__dd__Materials__Water")));
  d.values_in_attributes = false;
  EXPECT_EQ(load_detector(d).optics.materials[1].table("RAYLEIGH")->at.size(), 60U);
}

TEST_F(ColladaOpticsFaults, LimitsPropertiesAndNumbers) {
  std::string many, long_table;
  for (int i = 0; i != 1001; ++i) many += "<constant name=\"K" + std::to_string(i) + "\" value=\"1\"/>";
  const std::string end = "<constant name=\"YIELDRATIO\"";
  EXPECT_THAT(test::expect_error(ErrorKind::limit, [&] { (void)load_replaced(end, many + end); }).problem(),
              HasSubstr("has more than 1000 properties"));
  many.clear();
  for (int i = 0; i != 1001; ++i) many += "<property name=\"K" + std::to_string(i) + "\" ref=\"YIELDRATIO\"/>";
  EXPECT_THAT(test::expect_error(ErrorKind::limit, [&] { (void)load_replaced(end, many + end); }).problem(),
              HasSubstr("has more than 1000 properties"));
  for (int i = 0; i != 2'000'002; ++i) long_table += "1 ";
  EXPECT_THAT(test::expect_error(ErrorKind::limit, [&] { (void)load_replaced("1.55e-06 490 6.2e-06 800", long_table); })
                  .problem(),
              HasSubstr("ABSLENGTH has 2000002 numbers, and the limit is 2000000"));
}

}  // namespace
}  // namespace raylift
