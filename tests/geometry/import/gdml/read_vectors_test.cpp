// SPDX-License-Identifier: Apache-2.0
// Positions, rotations and scales of GDML, and the transforms that follow from them.
#include "import/gdml/elements/read_vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numbers>
#include <optional>
#include <string>

#include "support/expect_error.h"

namespace raylift::gdml {
namespace {

using test::expect_error;
using ::testing::HasSubstr;

constexpr double kQuarter = std::numbers::pi / 2;

class GdmlVectors : public ::testing::Test {
 protected:
  void load(const std::string& define, const std::string& elements) {
    ASSERT_TRUE(xml_.load_string(("<gdml><define>" + define + "</define><e>" + elements + "</e></gdml>").c_str()));
  }
  pugi::xml_node element() const { return xml_.document_element().child("e").first_child(); }
  Vectors vectors() {
    values_.emplace(xml_.document_element().child("define"), "a.gdml");
    return {xml_.document_element().child("define"), *values_, "a.gdml"};
  }
  pugi::xml_document xml_;
  std::optional<detail::GdmlValues> values_;
};

void expect_close(const Double3& a, const Double3& b) {
  for (int i = 0; i != 3; ++i) EXPECT_NEAR(a[i], b[i], 1e-12);
}

TEST_F(GdmlVectors, HaveUnitsOfTheirOwn) {
  load("<constant name='a' value='2'/>", "<position x='a' y='1+a' unit='cm'/>");
  EXPECT_EQ(vectors().position(element(), "x"), Double3(20, 30, 0));
  load("", "<rotation x='90' unit='deg'/>");
  expect_close(vectors().rotation(element(), "x"), {kQuarter, 0, 0});
  load("", "<scale z='-1'/>");
  EXPECT_EQ(vectors().scale(element(), "x"), Double3(1, 1, -1));
  EXPECT_EQ(vectors().position({}, "x"), Double3());
  EXPECT_EQ(vectors().rotation({}, "x"), Double3());
  EXPECT_EQ(vectors().scale({}, "x"), Double3(1, 1, 1));
}

TEST_F(GdmlVectors, MeansTheLastOfTwoThatShareAName) {
  load("<position name='p' x='1'/><position name='p' x='2'/><rotation name='p' z='1' unit='deg'/>",
       "<positionref ref='p'/>");
  EXPECT_EQ(vectors().position(element(), "x"), Double3(2, 0, 0));
  EXPECT_EQ(vectors().named_position("p", "x"), Double3(2, 0, 0));
  load("<position name='p_3' x='7'/>", "<positionref ref='p[i]'/>");
  Vectors expanding = vectors();
  expanding.expand_names_by([](const std::string&) { return "p_3"; });
  EXPECT_EQ(expanding.position(element(), "x"), Double3(7, 0, 0));
}

TEST_F(GdmlVectors, MultipliesByTheUnitsOfTheElement) {
  load("", "<tube z='2' deltaphi='180' lunit='m' aunit='degree'/>");
  const Vectors read = vectors();
  EXPECT_EQ(read.length(element(), "z", "tube 't'"), 2000);
  EXPECT_NEAR(read.angle(element(), "deltaphi", "tube 't'"), std::numbers::pi, 1e-15);
  EXPECT_EQ(read.length(element(), "rmin", "tube 't'"), 0);
}

TEST_F(GdmlVectors, NamesWhatIsMissing) {
  load("<position name='pos_pmt' x='1'/>", "<positionref ref='pos_pnt'/>");
  const Error missing =
      expect_error(ErrorKind::malformed, [&] { (void)vectors().position(element(), "physvol 'pmt'"); });
  EXPECT_THAT(missing.problem(), HasSubstr("the position 'pos_pnt'"));
  EXPECT_THAT(missing.problem(), HasSubstr("did you mean 'pos_pmt'?"));
  EXPECT_EQ(missing.element(), "physvol 'pmt'");
  load("", "<positionref/>");
  EXPECT_THAT(expect_error(ErrorKind::malformed, [&] { (void)vectors().position(element(), "x"); }).problem(),
              HasSubstr("lacks 'ref'"));
  load("", "<scale x='0'/>");
  EXPECT_THAT(expect_error(ErrorKind::malformed, [&] { (void)vectors().scale(element(), "x"); }).problem(),
              HasSubstr("scale is 0"));
}

TEST(GdmlPlacement, TurnsAboutXThenYThenZ) {
  // The x axis stays, turns to -z about y, and stays about z; the y axis goes to z, then x, then y.
  const Transform turn = rotation_matrix({kQuarter, kQuarter, kQuarter});
  EXPECT_EQ(turn.direction({1, 0, 0}), Double3(0, 0, -1));
  EXPECT_EQ(turn.direction({0, 1, 0}), Double3(0, 1, 0));
  EXPECT_EQ(rotation_matrix({}), Transform());
}

TEST(GdmlPlacement, OfAPhysvolTurnsBackAndScalesFirst) {
  const Double3 angles{0.1, -0.7, 2};
  const Transform boolean = placed_by_operand({1, 2, 3}, angles), physvol = placed_by_physvol({1, 2, 3}, angles);
  expect_close(physvol.direction(boolean.direction({3, 5, 7})), {3, 5, 7});
  EXPECT_EQ(physvol.point({0, 0, 0}), Double3(1, 2, 3));
  const Transform scaled = placed_by_physvol({0, 0, 1}, {0, 0, kQuarter}, {2, 1, -1});
  EXPECT_EQ(scaled.point({1, 0, 1}), Double3(0, -2, 0));
  EXPECT_EQ(placed_by_operand({0, 0, 1}, {0, 0, kQuarter}, {2, 1, -1}).point({1, 0, 1}), Double3(0, 2, 0));
}

}  // namespace
}  // namespace raylift::gdml
