// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <gtest/gtest.h>

namespace raylift::base {
namespace {

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']');
}

TEST(ParseJson, ReturnsTheValueOrWhyNot) {
  EXPECT_EQ(parse_json(R"({"a": [1, 2]})")["a"][1], 2);
  JsonFault fault;
  EXPECT_TRUE(parse_json("[1, ", &fault).is_discarded());
  EXPECT_FALSE(fault.exceeds_limit);
  EXPECT_TRUE(fault.what.starts_with("parse error at line 1")) << fault.what;
  EXPECT_TRUE(parse_json("").is_discarded());
  EXPECT_TRUE(parse_json("1 2").is_discarded());
}

TEST(ParseJson, RefusesWhatIsNestedTooDeep) {
  JsonFault fault;
  EXPECT_TRUE(parse_json(nested(32)).is_array());
  EXPECT_TRUE(parse_json(nested(33), &fault).is_discarded());
  EXPECT_TRUE(fault.exceeds_limit);
  EXPECT_EQ(fault.what, "nested deeper than 32");
  EXPECT_TRUE(parse_json('"' + nested(100) + "\\\"" + nested(100) + '"').is_string());
}

TEST(ParseJson, ReadsCommentsWhereTheyAreAllowed) {
  const std::string text = "// \"[ \n{\"a\": /* \" [[[ */ 1}";
  EXPECT_TRUE(parse_json(text).is_discarded());
  EXPECT_EQ(parse_json(text, nullptr, JsonComments::ignored)["a"], 1);
  EXPECT_TRUE(parse_json("/*", nullptr, JsonComments::ignored).is_discarded());
  EXPECT_TRUE(parse_json("// x\n" + nested(33), nullptr, JsonComments::ignored).is_discarded());
}

TEST(JsonExcess, NamesTheLimit) {
  EXPECT_EQ(json_excess("[1,2,3]", {7, 1, 4}), "");
  EXPECT_EQ(json_excess("[1,2,3]", {6, 1, 4}), "longer than 6 bytes");
  EXPECT_EQ(json_excess("[1,2,3]", {7, 0, 4}), "nested deeper than 0");
  EXPECT_EQ(json_excess("[1,2,3]", {7, 1, 3}), "more than 3 values");
}

}  // namespace
}  // namespace raylift::base
