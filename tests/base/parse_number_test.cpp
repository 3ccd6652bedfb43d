// SPDX-License-Identifier: Apache-2.0
#include "base/parse_number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace raylift::base {
namespace {

TEST(ParseNumber, ReadsWholeTextsAlone) {
  EXPECT_EQ(parse_number<int>("-17"), -17);
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse_number<double>("1.5e3"), 1500.0);
  EXPECT_EQ(parse_number<unsigned>("fF", 16), 255U);
  for (const char* wrong : {"", " 1", "1 ", "1x", "+1", "0x10", "one", "-"})
    EXPECT_FALSE(parse_number<int>(wrong)) << wrong;
  EXPECT_FALSE(parse_number<std::uint64_t>("18446744073709551616"));
  EXPECT_FALSE(parse_number<unsigned>("-1"));
  EXPECT_FALSE(parse_number<double>("1,5"));
  EXPECT_FALSE(parse_number<double>("1e999"));
}

TEST(ParseNumber, ReadsTheBeginningOfAText) {
  std::string_view text = "2.5 mm";
  double value = 0;
  EXPECT_EQ(read_number(text, value), std::errc());
  EXPECT_EQ(value, 2.5);
  EXPECT_EQ(text, " mm");
  EXPECT_EQ(read_number(text, value), std::errc::invalid_argument);
  EXPECT_EQ(text, " mm");
  text = "1e999 mm";
  EXPECT_EQ(read_number(text, value), std::errc::result_out_of_range);
  EXPECT_EQ(text, " mm");
  EXPECT_EQ(value, 2.5);
}

TEST(ParseNumber, LeavesOutOnePlus) {
  EXPECT_EQ(without_plus("+1.5"), "1.5");
  EXPECT_EQ(without_plus("1.5"), "1.5");
  EXPECT_EQ(without_plus("+-1"), "+-1");
  EXPECT_FALSE(parse_number<int>(without_plus("++1")));
}

}  // namespace
}  // namespace raylift::base
