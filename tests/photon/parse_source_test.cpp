// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/photon/parse_source.h>

#include <initializer_list>
#include <numbers>
#include <string>

#include "support/paths.h"

namespace raylift::photon {
namespace {

TEST(ParseSource, ReadsShapes) {
  Source source = parse_source("point:0,-1500,2.5");
  EXPECT_EQ(source.center, (Double3{0, -1500, 2.5}));
  EXPECT_EQ(source.shape, Source::Shape::ball);
  EXPECT_EQ(source.radius, 0);
  EXPECT_EQ(source.aim, Source::Aim::isotropic);
  EXPECT_EQ(source.wavelength, 420);
  EXPECT_EQ(source.spectrum.count, 0U);

  source = parse_source("ball:1m,-2cm, 3 mm,1e3");
  EXPECT_EQ(source.center, (Double3{1000, -20, 3}));
  EXPECT_EQ(source.radius, 1000);

  source = parse_source("line:0,0,0,2,4,8");
  EXPECT_EQ(source.shape, Source::Shape::line);
  EXPECT_EQ(source.center, (Double3{1, 2, 4}));
  EXPECT_EQ(source.extent, (Float3{1, 2, 4}));

  source = parse_source("disc:1,2,3,0,0,-2,5cm");
  EXPECT_EQ(source.shape, Source::Shape::disc);
  EXPECT_EQ(source.extent, (Float3{0, 0, -1}));
  EXPECT_EQ(source.direction, source.extent);
  EXPECT_EQ(source.aim, Source::Aim::lambertian);
  EXPECT_EQ(source.radius, 50);

  source = parse_source("laser:1,2,3,3,0,4");
  EXPECT_EQ(source.extent, (Float3{0.6F, 0, 0.8F}));
  EXPECT_EQ(source.aim, Source::Aim::cone);
  EXPECT_EQ(source.half_angle, 0);
  EXPECT_EQ(source.radius, 0);
  EXPECT_EQ(parse_source("laser:1,2,3,3,0,4,1.5").radius, 1.5F);
}

// Far from the zero point a float would be rounded to a quarter of a millimetre.
TEST(ParseSource, KeepsPointsInDouble) {
  EXPECT_EQ(parse_source("point:2400000.0625,-1km,1").center, (Double3{2'400'000.0625, -1e6, 1}));
  const Source line = parse_source("line:2400000.0625,-1km,1,2400002.0625,-1km,1");
  EXPECT_EQ(line.center, (Double3{2'400'001.0625, -1e6, 1}));
  EXPECT_EQ(line.extent, (Float3{1, 0, 0}));
}

TEST(ParseSource, ReadsKeys) {
  Source source = parse_source("point:0,0,0:wavelength=350-500:time=-5-20:decay=1us");
  EXPECT_EQ(source.spectrum.count, 2U);
  EXPECT_EQ(source.spectrum.points[0].y, 350);
  EXPECT_EQ(source.spectrum.points[1].y, 500);
  EXPECT_EQ(source.time, -5);
  EXPECT_EQ(source.time_width, 25);
  EXPECT_EQ(source.time_constant, 1000);

  source = parse_source("point:0,0,0:angle=30:direction=0,3,-4:wavelength=127nm:time=3ps:polarization=2,0,0");
  EXPECT_EQ(source.aim, Source::Aim::cone);
  EXPECT_EQ(source.direction, (Float3{0, 0.6F, -0.8F}));
  EXPECT_FLOAT_EQ(source.half_angle, std::numbers::pi_v<float> / 6);
  EXPECT_EQ(source.wavelength, 127);
  EXPECT_FLOAT_EQ(source.time, 0.003F);
  EXPECT_EQ(source.time_width, 0);
  EXPECT_EQ(source.polarization, (Float3{1, 0, 0}));

  EXPECT_EQ(parse_source("disc:0,0,0,0,0,1,5:direction=isotropic").aim, Source::Aim::isotropic);
  source = parse_source("laser:0,0,0,0,0,1:angle=2mrad");
  EXPECT_FLOAT_EQ(source.half_angle, 0.002F);
  EXPECT_EQ(source.direction, (Float3{0, 0, 1}));
  EXPECT_EQ(parse_source("laser:0,0,0,0,0,1:direction=lambertian").aim, Source::Aim::lambertian);
}

TEST(ParseSource, ReadsSpectra) {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("spectrum.csv", "nm,intensity\n400,0\n420,2\n440,0\n").string();
  const Source source = parse_source("point:0,0,0:wavelength=" + file);
  ASSERT_GT(source.spectrum.count, 100U);
  EXPECT_EQ(source.spectrum.points[0].y, 400);
  EXPECT_EQ(source.spectrum.points[source.spectrum.count - 1].y, 440);
  EXPECT_EQ(source.spectrum.points[source.spectrum.count - 1].x, 1);
  EXPECT_NEAR(source.spectrum.points[source.spectrum.count / 2].y, 420, 0.2);

  (void)folder.write("spectrum.csv", "440,1\n420,2\n");
  try {
    (void)parse_source("point:0,0,0:wavelength=" + file);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::malformed);
    EXPECT_EQ(error.file(), file);
  }
}

TEST(ParseSource, SaysWhatPartIsWrong) {
  struct Wrong {
    const char *text, *part, *problem;
  };
  for (const auto& [text, part, problem] : std::initializer_list<Wrong>{
           {"", "''", "no kind"},
           {"bal:0,0,0,1", "'bal'", "did you mean 'ball'"},
           {"point", "'point'", "takes x,y,z"},
           {"point:0,0", "'point:0,0'", "2 numbers"},
           {"point:0,0,0,0", "'point:0,0,0,0'", "4 numbers"},
           {"point:0,0,1parsec", "'point:0,0,1parsec'", "'1parsec', which is no length"},
           {"point:0,,1", "'point:0,,1'", "'', which is no length"},
           {"point:0,nan,1", "'point:0,nan,1'", "'nan', which is no length"},
           {"ball:0,0,0,-1", "'ball:0,0,0,-1'", "a radius below 0"},
           {"disc:0,0,0,0,0,0,1", "'disc:0,0,0,0,0,0,1'", "without a length"},
           {"disc:0,0,0,0,0,1mm,1", "'disc:0,0,0,0,0,1mm,1'", "'1mm', which is no number"},
           {"laser:0,0,0", "'laser:0,0,0'", "dx,dy,dz[,radius]"},
           {"point:0,0,0:wavelenght=3", "'wavelenght'", "no key: did you mean 'wavelength'"},
           {"point:0,0,0:wavelength", "'wavelength'", "key=value"},
           {"point:0,0,0:", "''", "key=value"},
           {"point:0,0,0:wavelength=-3", "'wavelength=-3'", "more than 0"},
           {"point:0,0,0:wavelength=500-400", "'wavelength=500-400'", "a file that is there"},
           {"point:0,0,0:wavelength=no.csv", "'wavelength=no.csv'", "a file that is there"},
           {"point:0,0,0:time=soon", "'time=soon'", "a time in ns"},
           {"point:0,0,0:time=1:time=2", "'time=2'", "second time"},
           {"point:0,0,0:decay=-2", "'decay=-2'", "at least 0"},
           {"point:0,0,0:direction=0,0", "'direction=0,0'", "three numbers"},
           {"point:0,0,0:direction=0,0,0", "'direction=0,0,0'", "without a length"},
           {"point:0,0,0:direction=lambertian", "'direction=lambertian'", "normal of a disc"},
           {"point:0,0,0:angle=3", "'angle=3'", "about no direction"},
           {"laser:0,0,0,0,0,1:angle=181", "'angle=181'", "more than 180"},
           {"laser:0,0,0,0,0,1:angle=1:angle=2", "'angle=1'", "second angle"},
           {"laser:0,0,0,0,0,1:angle=wide", "'angle=wide'", "no angle"},
           {"point:0,0,0:polarization=x", "'polarization=x'", "three numbers"},
       }) {
    try {
      (void)parse_source(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << text;
      EXPECT_EQ(error.problem().find(part), 0U) << text << ": " << error.problem();
      EXPECT_NE(error.problem().find(problem), std::string::npos) << text << ": " << error.problem();
    }
  }
}

TEST(MovedSource, IsTheSameSourceElsewhere) {
  const Double3 by{100, -0.5, 2000.12345};
  EXPECT_EQ(moved_source("point:0,0,0", by), "point:100,-0.5,2000.123");
  EXPECT_EQ(moved_source("ball:0,0,-2m,30cm:wavelength=350-500", by), "ball:100,-0.5,0.123,300:wavelength=350-500");
  EXPECT_EQ(moved_source("line:0,0,0,1,2,3", by), "line:100,-0.5,2000.123,101,1.5,2003.123");
  EXPECT_EQ(moved_source("laser:0,0,0,0,0,1,5:time=3", by), "laser:100,-0.5,2000.123,0,0,1,5:time=3");
  for (const char* text : {"point:1,2,3", "disc:1,2,3,0,0.6,0.8,50:angle=30"}) {
    const Source before = parse_source(text), after = parse_source(moved_source(text, by));
    EXPECT_NEAR(after.center.x - before.center.x, by.x, 1e-3);
    EXPECT_NEAR(after.center.z - before.center.z, by.z, 1e-3);
    EXPECT_EQ(after.radius, before.radius);
    EXPECT_EQ(after.direction.y, before.direction.y);
  }
  EXPECT_THROW((void)moved_source("cube:0,0,0", by), Error);
}

}  // namespace
}  // namespace raylift::photon
