// SPDX-License-Identifier: Apache-2.0
// The elements of GDML's <solids> as numbers, and the dimensions that are refused.
#include "import/gdml/elements/read_solid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <numbers>
#include <optional>
#include <string>
#include <variant>

#include "import/gdml/shapes/tessellate.h"
#include "support/expect_error.h"
#include "surfaces.h"

namespace raylift::gdml {
namespace {

using std::numbers::pi;
using test::expect_error;
using ::testing::HasSubstr;

class GdmlSolids : public ::testing::Test {
 protected:
  /// Reads all elements of the text as solids.
  void read(const std::string& solids, const std::string& define = {}) {
    ASSERT_TRUE(
        xml_.load_string(("<gdml><define>" + define + "</define><solids>" + solids + "</solids></gdml>").c_str()));
    const pugi::xml_node root = xml_.document_element();
    values_.emplace(root.child("define"), "a.gdml");
    vectors_.emplace(root.child("define"), *values_, "a.gdml");
    reader_.emplace(*vectors_, *values_, "a.gdml");
    for (const pugi::xml_node node : root.child("solids").children())
      reader_->read(node, node.attribute("name").value());
  }
  template <class T>
  const T& last() const {
    return std::get<T>(reader_->solids().back().shape);
  }
  double volume_of_last() const { return test::surface_volume(tessellate(reader_->solids().back().shape, {})); }
  Error refused(const std::string& solids, const std::string& define = {}) {
    return expect_error(ErrorKind::malformed, [&] { read(solids, define); });
  }

  pugi::xml_document xml_;
  std::optional<detail::GdmlValues> values_;
  std::optional<Vectors> vectors_;
  std::optional<SolidReader> reader_;
};

TEST_F(GdmlSolids, HaveUnitsAndNames) {
  read("<tube name='t' rmin='w' rmax='2*w' z='3' startphi='10' deltaphi='90' lunit='cm' aunit='deg'/>",
       "<variable name='w' value='1'/>");
  const Solid& solid = reader_->solids().back();
  EXPECT_EQ(solid.name, "t");
  EXPECT_EQ(solid.kind, "tube");
  const Tube& tube = last<Tube>();
  EXPECT_EQ(tube.rmin, 10);
  EXPECT_EQ(tube.rmax, 20);
  EXPECT_EQ(tube.z, 30);
  EXPECT_NEAR(tube.phi.start, pi / 18, 1e-15);
  EXPECT_NEAR(tube.phi.delta, pi / 2, 1e-15);
  EXPECT_EQ(reader_->find("t"), 0U);
  EXPECT_EQ(reader_->find("u"), std::nullopt);
}

TEST_F(GdmlSolids, HoldNoUnknownElements) {
  const Error error = expect_error(ErrorKind::unsupported, [&] {
    read(
        "<box name='b' x='1' y='1' z='1'/><multiUnion name='m'><multiUnionNode name='1'><solid ref='b'/>"
        "</multiUnionNode><loop for='i' to='3' step='1'/></multiUnion>");
  });
  EXPECT_THAT(error.problem(), HasSubstr("it holds <loop>"));
}

TEST_F(GdmlSolids, AreTheFirstOfTwoThatShareAName) {
  read("<box name='b' x='1' y='1' z='1'/><box name='b' x='2' y='2' z='2'/>");
  EXPECT_EQ(reader_->solids().size(), 1U);
  EXPECT_EQ(last<Box>().x, 1);
}

struct WrittenSolid {
  const char* text;
  double volume;
};

/// Volumes by hand, from the meaning of the attributes: which lengths are full, which are halves.
TEST_F(GdmlSolids, HaveTheVolumesOfTheirAttributes) {
  const std::array written{
      WrittenSolid{"<box name='a' x='1' y='2' z='3'/>", 6},
      WrittenSolid{"<orb name='a' r='3'/>", 36 * pi},
      WrittenSolid{"<sphere name='a' rmin='0' rmax='3' deltaphi='2*pi' starttheta='0' deltatheta='9'/>", 36 * pi},
      WrittenSolid{"<sphere name='a' rmax='3' startphi='1' deltaphi='1' starttheta='90' deltatheta='90'"
                   " aunit='deg'/>",
                   9 * pi / 180},
      WrittenSolid{"<tube name='a' rmin='1' rmax='2' z='3' deltaphi='360' aunit='deg'/>", 9 * pi},
      WrittenSolid{"<cutTube name='a' rmin='1' rmax='2' z='3' deltaphi='360' aunit='deg' lowX='0' lowY='-0.1' lowZ='-1'"
                   " highX='0.2' highY='0' highZ='1'/>",
                   9 * pi},
      WrittenSolid{"<cone name='a' rmin1='0' rmax1='2' rmin2='0' rmax2='1' z='3' deltaphi='360' aunit='deg'/>", 7 * pi},
      WrittenSolid{"<torus name='a' rmin='0' rmax='1' rtor='3' deltaphi='360' aunit='deg'/>", 6 * pi * pi},
      WrittenSolid{
          "<polycone name='a' deltaphi='2*pi'><zplane rmin='1' rmax='2' z='1'/><zplane rmin='1' rmax='2' z='4'/>"
          "</polycone>",
          9 * pi},
      WrittenSolid{"<polycone name='a'><zplane rmin='1' rmax='2' z='1'/><zplane rmin='1' rmax='2' z='4'/></polycone>",
                   9 * pi},
      WrittenSolid{"<genericPolycone name='a' deltaphi='2*pi'><rzpoint r='1' z='1'/><rzpoint r='1' z='4'/>"
                   "<rzpoint r='2' z='4'/><rzpoint r='2' z='1'/></genericPolycone>",
                   9 * pi},
      WrittenSolid{"<polyhedra name='a' startphi='1' deltaphi='2*pi' numsides='4'><zplane rmax='1' z='0'/>"
                   "<zplane rmax='1' z='3'/></polyhedra>",
                   12},
      WrittenSolid{
          "<genericPolyhedra name='a' deltaphi='2*pi' numsides='4'><rzpoint r='0' z='0'/><rzpoint r='0' z='3'/>"
          "<rzpoint r='1' z='3'/><rzpoint r='1' z='0'/></genericPolyhedra>",
          6},
      WrittenSolid{"<trd name='a' x1='2' x2='2' y1='3' y2='1' z='4'/>", 16},
      WrittenSolid{"<trap name='a' z='4' theta='0.1' phi='0.2' y1='2' x1='1' x2='3' alpha1='0.1' y2='2' x3='1' x4='3'"
                   " alpha2='0.1'/>",
                   16},
      WrittenSolid{"<para name='a' x='1' y='2' z='3' alpha='30' theta='20' phi='10' aunit='deg'/>", 6},
      WrittenSolid{"<xtru name='a'><twoDimVertex x='0' y='0'/><twoDimVertex x='2' y='0'/><twoDimVertex x='0' y='2'/>"
                   "<section zOrder='9' zPosition='-1' xOffset='0' yOffset='1' scalingFactor='1'/>"
                   "<section zOrder='1' zPosition='2' xOffset='0' yOffset='0' scalingFactor='1'/></xtru>",
                   6},
      WrittenSolid{"<eltube name='a' dx='1' dy='2' dz='3'/>", 12 * pi},
      WrittenSolid{"<ellipsoid name='a' ax='1' by='2' cz='3'/>", 8 * pi},
      WrittenSolid{"<ellipsoid name='a' ax='1' by='2' cz='3' zcut2='10'/>", 4 * pi},
      WrittenSolid{"<elcone name='a' dx='0.5' dy='2' zmax='3' zcut='1'/>", 56 * pi / 3},
      WrittenSolid{"<paraboloid name='a' rlo='1' rhi='2' dz='3'/>", 15 * pi},
      WrittenSolid{"<hype name='a' rmin='1' rmax='2' inst='0' outst='0' z='3'/>", 9 * pi},
      WrittenSolid{
          "<arb8 name='a' v1x='-1' v1y='-1' v2x='-1' v2y='1' v3x='1' v3y='1' v4x='1' v4y='-1' v5x='-1' v5y='-1'"
          " v6x='-1' v6y='1' v7x='1' v7y='1' v8x='1' v8y='-1' dz='3'/>",
          24},
      WrittenSolid{"<twistedbox name='a' PhiTwist='20' x='1' y='2' z='3' aunit='deg'/>", 6},
      WrittenSolid{"<twistedtrd name='a' PhiTwist='20' x1='2' x2='2' y1='3' y2='1' z='4' aunit='deg'/>", 16},
      WrittenSolid{
          "<twistedtrap name='a' PhiTwist='20' z='4' Theta='1' Phi='2' y1='2' x1='1' x2='3' y2='2' x3='1' x4='3'"
          " Alph='5' aunit='deg'/>",
          16},
      WrittenSolid{
          "<twistedtubs name='a' twistedangle='0' endinnerrad='1' endouterrad='2' zlen='3' phi='90' aunit='deg'/>",
          9 * pi / 4},
  };
  for (const WrittenSolid& one : written) {
    SCOPED_TRACE(one.text);
    read(one.text);
    EXPECT_NEAR(volume_of_last() / one.volume, 1, 1e-3);
    const std::string in_cm = std::string(one.text).insert(std::string_view(one.text).find(" name"), " lunit='cm'");
    // The semi-axes of an elcone have no unit.
    read(in_cm);
    EXPECT_NEAR(volume_of_last() / one.volume, 1000, 1);
  }
}

constexpr const char* kNamedCorners =
    "<position name='o' unit='cm'/><position name='x' x='1' unit='cm'/><position name='y' y='2' unit='cm'/>"
    "<position name='z' z='3' unit='cm'/><position name='y-x' x='-1' y='2' unit='cm'/>"
    "<position name='z-x' x='-1' z='3' unit='cm'/>";

TEST_F(GdmlSolids, MultiplyTheUnitsOfVerticesByTheirOwn) {
  read("<tet name='t' vertex1='o' vertex2='x' vertex3='y' vertex4='z'/>", kNamedCorners);
  EXPECT_NEAR(volume_of_last(), 1000, 1e-9);
  read("<tet name='t' vertex1='o' vertex2='x' vertex3='y' vertex4='z' lunit='cm'/>", kNamedCorners);
  EXPECT_NEAR(volume_of_last(), 1e6, 1e-6);
  read(
      "<tessellated name='t'><triangular vertex1='o' vertex2='y' vertex3='x' lunit='cm'/>"
      "<triangular vertex1='o' vertex2='x' vertex3='z' lunit='cm'/><triangular vertex1='o' vertex2='z' vertex3='y'"
      " lunit='cm'/><triangular vertex1='x' vertex2='y-x' vertex3='z-x' type='RELATIVE' lunit='cm'/></tessellated>",
      kNamedCorners);
  EXPECT_NEAR(volume_of_last(), 1e6, 1e-6);
  EXPECT_EQ(last<Tessellated>().vertices.size(), 4U);
}

TEST_F(GdmlSolids, AreTessellatedEitherWayRound) {
  const std::string facets =
      "<quadrangular vertex1='a' vertex2='b' vertex3='c' vertex4='d'/><triangular vertex1='b' vertex2='a' vertex3='t'/>"
      "<triangular vertex1='c' vertex2='b' vertex3='t'/><triangular vertex1='d' vertex2='c' vertex3='t'/>";
  const std::string define =
      "<position name='a'/><position name='b' x='1'/><position name='c' x='1' y='1'/><position name='d' y='1'/>"
      "<position name='t' z='3'/>";
  read("<tessellated name='p'>" + facets + "<triangular vertex1='a' vertex2='d' vertex3='t'/></tessellated>", define);
  EXPECT_EQ(last<Tessellated>().facets.size(), 5U);
  EXPECT_NEAR(volume_of_last(), 1, 1e-12);
  EXPECT_EQ(test::open_edges(tessellate(last<Tessellated>(), {})), 0U);
  const Error open = refused("<tessellated name='p'>" + facets + "</tessellated>", define);
  EXPECT_THAT(open.what(), HasSubstr("its facets do not close: 3 of 13 edges"));
  EXPECT_EQ(open.element(), "tessellated 'p'");
  EXPECT_THAT(
      refused("<tessellated name='p'>" + facets + "<triangular vertex1='d' vertex2='a' vertex3='t'/></tessellated>",
              define)
          .problem(),
      HasSubstr("do not close"));
  EXPECT_THAT(refused("<tessellated name='p'/>").problem(), HasSubstr("do not close"));
}

TEST_F(GdmlSolids, ReferToEarlierOnes) {
  const std::string two = "<box name='a' x='1' y='1' z='1'/><orb name='b' r='1'/>";
  read(two +
           "<subtraction name='s'><first ref='a'/><second ref='b'/><positionref ref='p'/>"
           "<rotation z='90' unit='deg'/><firstposition y='3'/></subtraction>",
       "<position name='p' x='1' unit='cm'/>");
  const Boolean& boolean = last<Boolean>();
  EXPECT_EQ(boolean.kind, BooleanKind::subtract);
  EXPECT_EQ(boolean.first.solid, 0U);
  EXPECT_EQ(boolean.second.solid, 1U);
  EXPECT_EQ(boolean.first.placed.point({1, 0, 0}), Double3(1, 3, 0));
  EXPECT_EQ(boolean.second.placed.point({1, 0, 0}), Double3(10, 1, 0));  // by the rotation, not its inverse

  read(two +
       "<multiUnion name='m'><multiUnionNode name='1'><solid ref='b'/><position x='1'/></multiUnionNode>"
       "<multiUnionNode name='2'><solid ref='a'/></multiUnionNode></multiUnion>");
  ASSERT_EQ(last<MultiUnion>().parts.size(), 2U);
  EXPECT_EQ(last<MultiUnion>().parts[0].solid, 1U);
  EXPECT_EQ(last<MultiUnion>().parts[0].placed, Transform::Translation({1, 0, 0}));

  read(two + "<scaledSolid name='s'><solidref ref='b'/><scale x='1' y='2' z='3'/></scaledSolid>");
  EXPECT_EQ(last<Transformed>().of.solid, 1U);
  EXPECT_EQ(last<Transformed>().of.placed.point({1, 1, 1}), Double3(1, 2, 3));
  read(two + "<reflectedSolid name='r' solid='b' sz='-1' rz='90' dx='2' aunit='deg' lunit='cm'/>");
  EXPECT_EQ(last<Transformed>().of.placed.point({1, 0, 1}), Double3(20, 1, -1));

  EXPECT_THAT(refused("<orb name='ball' r='1'/><union name='u'><first ref='ball'/><second ref='bal'/></union>").what(),
              HasSubstr("the solid 'bal', and none before it is called so: did you mean 'ball'?"));
  EXPECT_THAT(refused(two + "<union name='u'><first ref='a'/></union>").problem(), HasSubstr("lacks <second>"));
  EXPECT_THAT(refused("<union name='u'><first ref='u'/><second ref='u'/></union>").problem(), HasSubstr("'u'"));
  EXPECT_THAT(refused("<multiUnion name='u'/>").problem(), HasSubstr("no <multiUnionNode>"));
  EXPECT_THAT(refused(two + "<scaledSolid name='u'><solidref ref='a'/></scaledSolid>").problem(), HasSubstr("<scale>"));
  EXPECT_THAT(refused(two + "<reflectedSolid name='u' solid='a' sx='0'/>").problem(), HasSubstr("sx is 0"));
}

TEST_F(GdmlSolids, AreRefusedWhereTheyAreNone) {
  const Error error = expect_error(ErrorKind::unsupported, [&] { read("<teapot name='t'/>"); });
  EXPECT_THAT(error.problem(), HasSubstr("<teapot>"));
  EXPECT_EQ(error.element(), "teapot 't'");
}

struct HostileSolid {
  const char* text;
  const char* problem;
};

TEST_F(GdmlSolids, AreRefusedForTheirDimensions) {
  const std::array hostile{
      HostileSolid{"<box name='a' x='0' y='1' z='1'/>", "x is 0"},
      HostileSolid{"<box name='a' x='1' y='-1' z='1'/>", "y is -1"},
      HostileSolid{"<box name='a' x='1' y='1'/>", "z is 0"},
      HostileSolid{"<box name='a' x='1' y='1' z='1e-12'/>", "z is 1e-12 mm, which is less than Geant4's tolerance"},
      HostileSolid{"<box name='a' x='1' y='1' z='1e300'/>", "too large"},
      HostileSolid{"<box name='a' x='1' y='1' z='1' lunit='deg'/>", "'deg' is no unit of a length"},
      HostileSolid{"<tube name='a' rmax='1' z='1' deltaphi='1' aunit='cm'/>", "'cm' is no unit of an angle"},
      HostileSolid{"<box name='a' x='1' y='1' z='1/0'/>", "no finite number"},
      HostileSolid{"<box name='a' x='1' y='1' z='1' lunit='-1'/>", "'-1' is no unit of a length"},
      HostileSolid{"<box name='a' x='1' y='1' z='width'/>", "nothing is called 'width'"},
      HostileSolid{"<orb name='a' r='0'/>", "r is 0"},
      HostileSolid{"<sphere name='a' rmin='2' rmax='1' deltaphi='1' deltatheta='1'/>", "rmin is 2 and rmax is 1"},
      HostileSolid{"<sphere name='a' rmax='1' deltaphi='1' deltatheta='0'/>", "deltatheta is 0"},
      HostileSolid{"<sphere name='a' rmax='1' deltaphi='1' starttheta='4' deltatheta='1'/>", "starttheta is 4"},
      HostileSolid{"<sphere name='a' rmax='1' deltatheta='1'/>", "lacks 'deltaphi'"},
      HostileSolid{"<tube name='a' rmin='3' rmax='2' z='1' deltaphi='1'/>", "rmin is 3 and rmax is 2"},
      HostileSolid{"<tube name='a' rmin='2' rmax='2' z='1' deltaphi='1'/>", "rmin is 2 and rmax is 2"},
      HostileSolid{"<tube name='a' rmin='-1' rmax='2' z='1' deltaphi='1'/>", "rmin is -1"},
      HostileSolid{"<tube name='a' rmax='2' z='1' deltaphi='-1'/>", "deltaphi is -1"},
      HostileSolid{"<tube name='a' rmax='2' z='1'/>", "lacks 'deltaphi'"},
      HostileSolid{"<tube name='a' rmax='2' z='1' startphi='1e9' deltaphi='1'/>", "startphi is 1e+09"},
      HostileSolid{"<cutTube name='a' rmax='2' z='1' deltaphi='7' lowZ='-1' highX='1' highZ='1'/>", "cross within it"},
      HostileSolid{"<cutTube name='a' rmax='2' z='1' startphi='3' deltaphi='1' lowZ='-1' highX='-1' highZ='1'/>",
                   "cross within it"},
      // In the middle of the segment alone, and at an end alone.
      HostileSolid{"<cutTube name='a' rmax='2' z='1' startphi='-1' deltaphi='2' lowZ='-1' highX='0.75' highZ='1'/>",
                   "cross within it"},
      HostileSolid{"<cutTube name='a' rmax='2' z='1' startphi='1' deltaphi='1' lowZ='-1' highX='1' highZ='1'/>",
                   "cross within it"},
      HostileSolid{"<cutTube name='a' rmax='2' z='1' deltaphi='7' lowZ='1' highZ='1'/>", "lowZ is 1"},
      HostileSolid{"<cutTube name='a' rmax='2' z='1' deltaphi='7' lowZ='-1'/>", "highZ is 0"},
      HostileSolid{"<cone name='a' rmin1='2' rmax1='1' rmax2='1' z='1' deltaphi='1'/>", "rmin1 is 2 and rmax1 is 1"},
      HostileSolid{"<cone name='a' rmin1='1' rmax1='1' rmin2='2' rmax2='2' z='1' deltaphi='1'/>", "rmin2 is 2"},
      HostileSolid{"<cone name='a' z='1' deltaphi='1'/>", "rmin2 is 0 and rmax2 is 0"},
      HostileSolid{"<torus name='a' rmax='3' rtor='2' deltaphi='1'/>", "rmax is 3 and rtor is 2"},
      HostileSolid{"<torus name='a' rmin='1' rmax='1' rtor='2' deltaphi='1'/>", "rmin is 1 and rmax is 1"},
      HostileSolid{"<polycone name='a' deltaphi='7'><zplane rmax='1' z='1'/></polycone>", "1 <zplane>"},
      HostileSolid{"<polycone name='a' deltaphi='7'><zplane rmax='1' z='1'/><zplane rmax='1' z='1'/></polycone>",
                   "no area"},
      HostileSolid{
          "<polycone name='a' deltaphi='7'><zplane rmin='2' rmax='1' z='1'/><zplane rmax='1' z='2'/></polycone>",
          "rmin is 2 and rmax is 1"},
      HostileSolid{"<polycone name='a' deltaphi='7'><zplane rmax='1' z='1'/><zplane rmax='1' z='3'/>"
                   "<zplane rmax='1' z='2'/></polycone>",
                   "neither ascends nor descends"},
      HostileSolid{"<polycone name='a' deltaphi='7'><zplane rmax='1' z='1'/><zplane rmax='1' z='2'/>"
                   "<zplane rmin='2' rmax='3' z='2'/><zplane rmin='2' rmax='3' z='3'/></polycone>",
                   "rmin is 2 and rmax of the plane before is 1"},
      HostileSolid{"<polycone name='a' deltaphi='-1'><zplane rmax='1' z='1'/><zplane rmax='1' z='2'/></polycone>",
                   "deltaphi is -1"},
      HostileSolid{"<genericPolycone name='a' deltaphi='7'><rzpoint r='0' z='0'/><rzpoint r='1' z='1'/>"
                   "<rzpoint r='1' z='0'/><rzpoint r='0' z='1'/></genericPolycone>",
                   "crosses itself"},
      HostileSolid{"<genericPolycone name='a' deltaphi='7'><rzpoint r='1' z='0'/><rzpoint r='2' z='0'/>"
                   "<rzpoint r='2' z='1'/><rzpoint r='1.5' z='-0.5'/></genericPolycone>",
                   "crosses itself"},
      HostileSolid{"<genericPolycone name='a' deltaphi='7'><rzpoint r='1' z='0'/><rzpoint r='2' z='0'/>"
                   "<rzpoint r='3' z='0'/></genericPolycone>",
                   "no area"},
      // Loops that share a corner and cross, and a figure of eight.
      HostileSolid{"<genericPolycone name='a' deltaphi='7'><rzpoint r='1' z='0'/><rzpoint r='3' z='0'/>"
                   "<rzpoint r='3' z='2'/><rzpoint r='1' z='0'/><rzpoint r='2' z='-1'/><rzpoint r='4' z='1.5'/>"
                   "</genericPolycone>",
                   "crosses itself"},
      HostileSolid{"<genericPolycone name='a' deltaphi='7'><rzpoint r='2' z='0'/><rzpoint r='4' z='-2'/>"
                   "<rzpoint r='4' z='2'/><rzpoint r='2' z='0'/><rzpoint r='1' z='-1'/><rzpoint r='1' z='1'/>"
                   "</genericPolycone>",
                   "crosses itself"},
      HostileSolid{"<genericPolycone name='a' deltaphi='7'><rzpoint r='-1' z='0'/><rzpoint r='2' z='0'/>"
                   "<rzpoint r='2' z='1'/></genericPolycone>",
                   "r is -1"},
      HostileSolid{"<polyhedra name='a' deltaphi='7' numsides='2'><zplane rmax='1' z='1'/><zplane rmax='1' z='2'/>"
                   "</polyhedra>",
                   "numsides is 2, and such a turn needs 3"},
      HostileSolid{"<polyhedra name='a' deltaphi='4' numsides='1'><zplane rmax='1' z='1'/><zplane rmax='1' z='2'/>"
                   "</polyhedra>",
                   "needs 2"},
      HostileSolid{"<polyhedra name='a' deltaphi='7' numsides='3.5'><zplane rmax='1' z='1'/><zplane rmax='1' z='2'/>"
                   "</polyhedra>",
                   "numsides is 3.5"},
      HostileSolid{"<trd name='a' x1='0' x2='0' y1='1' y2='1' z='1'/>", "x2 is 0"},
      HostileSolid{"<trd name='a' x1='1' x2='1' y1='1' y2='-1' z='1'/>", "y2 is -1"},
      HostileSolid{"<trap name='a' z='1' y1='1' x1='1' x2='1' y2='1' x3='1' x4='1' theta='90' aunit='deg'/>",
                   "theta is 1.5708"},
      HostileSolid{"<trap name='a' z='1' y1='1' x1='1' x2='1' y2='1' x3='1' x4='2'/>", "a side is not plane"},
      HostileSolid{"<para name='a' x='1' y='1' z='1' alpha='90' aunit='deg'/>", "alpha is 1.5708 radians"},
      HostileSolid{"<para name='a' x='1' y='1' z='1' theta='-pi'/>", "theta is -3.14159"},
      HostileSolid{"<xtru name='a'><twoDimVertex x='0' y='0'/><twoDimVertex x='1' y='1'/><twoDimVertex x='1' y='0'/>"
                   "<twoDimVertex x='0' y='1'/><section zPosition='0' scalingFactor='1'/></xtru>",
                   "crosses or touches itself"},
      HostileSolid{"<xtru name='a'><twoDimVertex x='0' y='0'/><twoDimVertex x='4' y='0'/><twoDimVertex x='4' y='4'/>"
                   "<twoDimVertex x='2' y='0'/><twoDimVertex x='0' y='4'/></xtru>",
                   "crosses or touches itself"},
      HostileSolid{
          "<xtru name='a'><twoDimVertex x='0' y='0'/><twoDimVertex x='1' y='1'/><twoDimVertex x='2' y='2'/></xtru>",
          "no area"},
      HostileSolid{"<xtru name='a'><twoDimVertex x='0' y='0'/><twoDimVertex x='1' y='0'/><twoDimVertex x='1' y='1'/>"
                   "<section zPosition='0' scalingFactor='1'/></xtru>",
                   "1 <section>"},
      HostileSolid{"<xtru name='a'><twoDimVertex x='0' y='0'/><twoDimVertex x='1' y='0'/><twoDimVertex x='1' y='1'/>"
                   "<section zPosition='1' scalingFactor='1'/><section zPosition='0' scalingFactor='1'/></xtru>",
                   "zPosition is 1 and zPosition of the next is 0"},
      HostileSolid{"<xtru name='a'><twoDimVertex x='0' y='0'/><twoDimVertex x='1' y='0'/><twoDimVertex x='1' y='1'/>"
                   "<section zPosition='0' scalingFactor='1'/><section zPosition='1' scalingFactor='-1'/></xtru>",
                   "scalingFactor is -1"},
      HostileSolid{"<eltube name='a' dx='1' dy='0' dz='1'/>", "dy is 0"},
      HostileSolid{"<ellipsoid name='a' ax='1' by='1' cz='1' zcut1='0.5' zcut2='0.4'/>",
                   "zcut1 is 0.5 and zcut2 is 0.4"},
      HostileSolid{"<ellipsoid name='a' ax='1' by='1' cz='1' zcut1='2' zcut2='3'/>", "zcut1 is 2 and cz is 1"},
      HostileSolid{"<elcone name='a' dx='1' dy='1' zmax='0' zcut='1'/>", "zmax is 0"},
      HostileSolid{"<paraboloid name='a' rlo='2' rhi='1' dz='1'/>", "rlo is 2 and rhi is 1"},
      HostileSolid{"<hype name='a' rmin='2' rmax='1' z='1'/>", "rmin is 2 and rmax is 1"},
      HostileSolid{"<hype name='a' rmin='1' rmax='2' inst='1' z='10'/>", "rmin at the ends"},
      HostileSolid{"<hype name='a' rmin='1' rmax='2' outst='pi/2' z='10'/>", "outst is 1.5708"},
      HostileSolid{"<arb8 name='a' dz='1'/>", "no volume"},
      HostileSolid{"<arb8 name='a' v1x='-1' v1y='-1' v2x='1' v2y='1' v3x='-1' v3y='1' v4x='1' v4y='-1' dz='1'/>",
                   "not convex, or crosses itself"},
      HostileSolid{
          "<arb8 name='a' v1x='-1' v1y='-1' v2x='-1' v2y='1' v3x='1' v3y='1' v4x='1' v4y='-1' v5x='-1' v5y='-1'"
          " v6x='1' v6y='-1' v7x='1' v7y='1' v8x='-1' v8y='1' dz='3'/>",
          "opposite directions"},
      HostileSolid{"<arb8 name='a' v1x='-1' v1y='-1' v2x='-1' v2y='1' v3x='1' v3y='1' v4x='1' v4y='-1' v5x='1' v5y='1'"
                   " v6x='1' v6y='-1' v7x='-1' v7y='-1' v8x='-1' v8y='1' dz='3'/>",
                   "twisted by more than 90 degrees"},
      HostileSolid{"<tet name='a' vertex1='o' vertex2='x' vertex3='y' vertex4='o'/>", "lie in a plane"},
      HostileSolid{"<tet name='a' vertex1='o' vertex2='x' vertex3='y'/>", "lacks 'vertex4'"},
      HostileSolid{"<tet name='a' vertex1='o' vertex2='x' vertex3='y' vertex4='w'/>", "the position 'w'"},
      HostileSolid{"<twistedbox name='a' PhiTwist='90' x='1' y='1' z='1' aunit='deg'/>", "PhiTwist is 1.5708"},
      HostileSolid{"<twistedtrd name='a' PhiTwist='1' x1='1' x2='0' y1='1' y2='1' z='1'/>", "x2 is 0"},
      HostileSolid{"<twistedtrap name='a' PhiTwist='1' z='1' y1='1' x1='1' x2='1' y2='1' x3='1' x4='1' Alph='2'/>",
                   "Alph is 2"},
      HostileSolid{"<twistedtubs name='a' twistedangle='1' endinnerrad='3' endouterrad='2' zlen='1' phi='1'/>",
                   "endinnerrad is 3 and endouterrad is 2"},
      HostileSolid{"<twistedtubs name='a' twistedangle='4' endinnerrad='1' endouterrad='2' zlen='1' phi='1'/>",
                   "twistedangle is 4"},
      HostileSolid{"<twistedtubs name='a' twistedangle='1' endinnerrad='1' endouterrad='2' zlen='1' phi='7'/>",
                   "phi is 7"},
  };
  for (const HostileSolid& one : hostile) {
    SCOPED_TRACE(one.text);
    const Error error = refused(one.text, kNamedCorners);
    EXPECT_THAT(error.problem(), HasSubstr(one.problem));
    const std::string_view text = one.text;
    EXPECT_EQ(error.element(), std::string(text.substr(1, text.find(' ') - 1)) + " 'a'");
    EXPECT_EQ(error.file(), "a.gdml");
  }
}

TEST_F(GdmlSolids, HaveLimits) {
  EXPECT_THAT(
      expect_error(
          ErrorKind::limit,
          [&] {
            read(
                "<polyhedra name='a' deltaphi='7' numsides='4e9'><zplane rmax='1' z='1'/><zplane rmax='1' z='2'/>"
                "</polyhedra>");
          })
          .problem(),
      HasSubstr("10000 sides"));
  std::string many;
  for (int i = 0; i != 10'001; ++i) many += "<twoDimVertex x='" + std::to_string(i) + "' y='0'/>";
  EXPECT_THAT(expect_error(ErrorKind::limit, [&] { read("<xtru name='a'>" + many + "</xtru>"); }).problem(),
              HasSubstr("10000 <twoDimVertex>"));
}

}  // namespace
}  // namespace raylift::gdml
