// SPDX-License-Identifier: Apache-2.0
// Quantities as people write them in options.
#include "cli/quantity.h"

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>

#include <random>

namespace raylift::cli {
namespace {

template <class Parse>
void expect_usage_error(const Parse& parse, const char* text) {
  try {
    (void)parse(text);
    ADD_FAILURE() << "'" << text << "' was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage) << text;
    EXPECT_NE(std::string(error.what()).find("is not"), std::string::npos) << error.what();
  }
}

TEST(Sizes, AreReadInDecimalAndBinaryUnits) {
  EXPECT_EQ(parse_bytes("0"), 0U);
  EXPECT_EQ(parse_bytes("1500"), 1500U);
  EXPECT_EQ(parse_bytes("12B"), 12U);
  EXPECT_EQ(parse_bytes("300MB"), 300'000'000U);
  EXPECT_EQ(parse_bytes("300 mb"), 300'000'000U);
  EXPECT_EQ(parse_bytes("2g"), 2'000'000'000U);
  EXPECT_EQ(parse_bytes("1.5GiB"), 1'610'612'736U);
  EXPECT_EQ(parse_bytes("1e3"), 1000U);
  EXPECT_EQ(parse_bytes("1KiB"), 1024U);
  EXPECT_EQ(parse_bytes("2TiB"), 2'199'023'255'552U);
}

TEST(Sizes, AreExactOverTheWholeRange) {
  EXPECT_EQ(parse_bytes("18446744073709551615"), 18446744073709551615U);
  EXPECT_EQ(parse_bytes("9007199254740993"), 9007199254740993U);  // 2^53 + 1 is no double
}

TEST(Sizes, RefuseWhatIsNone) {
  for (const char* text : {"", " ", "MB", "-1", "-1MB", "1XB", "1 MB x", "0x10", "nan", "inf", "1e400",
                           "18446744073709551616", "1e30", "20EB", "1,5MB", "1MBMB", "1BB"})
    expect_usage_error(parse_bytes, text);
}

TEST(Counts, AreWhole) {
  EXPECT_EQ(parse_count("20M"), 20'000'000U);
  EXPECT_EQ(parse_count("1.5k"), 1500U);
  EXPECT_EQ(parse_count("1e9"), 1'000'000'000U);
  for (const char* text : {"1.5", "-1", "1KiB", "5B", "many", ""}) expect_usage_error(parse_count, text);
}

TEST(Times, AreSecondsUnlessTheySayOtherwise) {
  EXPECT_DOUBLE_EQ(parse_seconds("600"), 600);
  EXPECT_DOUBLE_EQ(parse_seconds("0.5s"), 0.5);
  EXPECT_DOUBLE_EQ(parse_seconds("10 min"), 600);
  EXPECT_DOUBLE_EQ(parse_seconds("2h"), 7200);
  for (const char* text : {"0", "-3", "inf", "nan", "10 years", ""}) expect_usage_error(parse_seconds, text);
}

TEST(Units, HaveNamesOrAreANumberOfMillimetres) {
  EXPECT_DOUBLE_EQ(parse_unit("mm"), 1);
  EXPECT_DOUBLE_EQ(parse_unit("CM"), 10);
  EXPECT_DOUBLE_EQ(parse_unit("m"), 1000);
  EXPECT_DOUBLE_EQ(parse_unit("inch"), 25.4);
  EXPECT_DOUBLE_EQ(parse_unit("ft"), 304.8);
  EXPECT_DOUBLE_EQ(parse_unit("2.5"), 2.5);
  EXPECT_DOUBLE_EQ(parse_unit("1e-15"), 1e-15);
  for (const char* text : {"0", "-1", "nan", "parsec", "", "1 mm", "1e-40", "9e-16", "2e15", "inf"})
    expect_usage_error(parse_unit, text);
}

TEST(Units, ArePrintedByTheirNames) {
  EXPECT_EQ(unit_name(1), "mm");
  EXPECT_EQ(unit_name(25.4), "inch");
  EXPECT_EQ(unit_name(1000), "m");
  EXPECT_EQ(unit_name(25.1), "25.1 mm");
  for (const char* name : {"mm", "cm", "m", "km", "um", "inch", "ft"}) EXPECT_EQ(unit_name(parse_unit(name)), name);
}

TEST(Weld, IsADistanceOrOff) {
  EXPECT_TRUE(parse_weld("0").enabled);
  EXPECT_DOUBLE_EQ(parse_weld("1e-3").tolerance, 1e-3);
  EXPECT_FALSE(parse_weld("off").enabled);
  for (const char* text : {"-1", "on", "nan", "1mm", ""}) expect_usage_error(parse_weld, text);
}

TEST(Defaults, AreShownAsTheyAreRead) {
  EXPECT_EQ(exact_bytes(std::uint64_t{8} << 30), "8GiB");
  EXPECT_EQ(exact_bytes(300'000'000), "300MB");
  EXPECT_EQ(exact_bytes(1234), "1234");
  EXPECT_EQ(exact_bytes(0), "0");
  EXPECT_EQ(exact_count(20'000'000), "20M");
  EXPECT_EQ(exact_count(512), "512");
  std::mt19937_64 random(1);
  for (int i = 0; i != 2000; ++i) {
    const std::uint64_t small = random() >> 44U;
    const std::uint64_t bytes = i % 3 == 0 ? random() : i % 3 == 1 ? small * 1'000'000 : small << 20U;
    EXPECT_EQ(parse_bytes(exact_bytes(bytes)), bytes);
    EXPECT_EQ(parse_count(exact_count(bytes)), bytes);
  }
}

TEST(Lengths, AreMillimetresUnlessTheySayOtherwise) {
  EXPECT_DOUBLE_EQ(parse_length("1500"), 1500);
  EXPECT_DOUBLE_EQ(parse_length("30 cm"), 300);
  EXPECT_DOUBLE_EQ(parse_length("2m"), 2000);
  for (const char* text : {"-1", "nan", "1 parsec", "m", ""}) expect_usage_error(parse_length, text);
}

TEST(Volumes, HaveTheCubeOfTheirUnit) {
  EXPECT_EQ(volume_text(8, 1000), "8 m^3");
  EXPECT_EQ(volume_text(0.5, 25.4F), "0.5 inch^3");
  EXPECT_EQ(volume_text(2, 20), "16000 mm^3");
}

TEST(Points, AreThreeNumbers) {
  EXPECT_EQ(parse_point("0,-1500,2e4"), Eigen::Vector3d(0, -1500, 20000));
  for (const char* text : {"", "1", "1,2", "1,2,3,4", "1,2,", ",,", "1,2,x", "1,2,inf"})
    expect_usage_error(parse_point, text);
}

TEST(Angles, AreInRange) {
  EXPECT_DOUBLE_EQ(parse_degrees("40", 170), 40);
  for (const char* text : {"0", "-1", "171", "nan", "wide"})
    expect_usage_error([](const char* t) { return parse_degrees(t, 170); }, text);
}

TEST(FileNames, HaveAnEndingThatIsKnown) {
  for (const char* name : {"a.png", "A.PNG", "a.b.png", "folder.sv/a.png", "/dev/null"}) {
    EXPECT_EQ(parse_image_name(name), name);
    EXPECT_EQ(parse_drawing_name(name), name);
  }
  EXPECT_EQ(parse_drawing_name("a.Svg"), "a.Svg");
  for (const char* name : {"a.sv", "a.jpg", "a.pdf", "a", "png", "a.png.", ".png", "", "-", "a.png/b"}) {
    expect_usage_error(parse_image_name, name);
    expect_usage_error(parse_drawing_name, name);
  }
  expect_usage_error(parse_image_name, "a.svg");
  try {
    (void)parse_drawing_name("a.sv");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(".png or .svg"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace raylift::cli
