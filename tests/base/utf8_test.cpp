// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace raylift::base {
namespace {

TEST(Utf8, DecodesTheFirstAndTheLastOfEachLength) {
  const auto decoded = [](std::string_view text) {
    const Utf8Point one = decode_utf8(text);
    EXPECT_EQ(one.bytes, text.size());
    return static_cast<std::uint32_t>(one.point);
  };
  EXPECT_EQ(decoded(std::string_view("\0", 1)), 0U);
  EXPECT_EQ(decoded("\x7F"), 0x7FU);
  EXPECT_EQ(decoded("\xC2\x80"), 0x80U);
  EXPECT_EQ(decoded("\xDF\xBF"), 0x7FFU);
  EXPECT_EQ(decoded("\xE0\xA0\x80"), 0x800U);
  EXPECT_EQ(decoded("\xEF\xBF\xBF"), 0xFFFFU);
  EXPECT_EQ(decoded("\xF0\x90\x80\x80"), 0x10000U);
  EXPECT_EQ(decoded("\xF4\x8F\xBF\xBF"), 0x10FFFFU);
  EXPECT_EQ(decode_utf8("ab").bytes, 1U);
}

TEST(Utf8, RefusesWhatIsNone) {
  for (const char* wrong : {"\x80", "\xC1\xBF", "\xC2", "\xC2z", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                            "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82"}) {
    EXPECT_EQ(decode_utf8(wrong).bytes, 0U) << wrong;
    EXPECT_FALSE(is_utf8(std::string("a") + wrong)) << wrong;
  }
  EXPECT_TRUE(is_utf8("a\xC3\xA9\xE2\x82\xAC"));
  EXPECT_TRUE(is_utf8(""));
}

TEST(Utf8, ComesFromUtf16OfEitherByteOrder) {
  constexpr std::u16string_view kText = u"a\u00E9\u20AC\U0001F600z";
  std::string little, big;
  for (const char16_t unit : kText) {
    const auto low = static_cast<char>(unit & 0xFF), high = static_cast<char>(unit >> 8);
    little += {low, high};
    big += {high, low};
  }
  EXPECT_EQ(utf8_from_utf16(little, false), "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z");
  EXPECT_EQ(utf8_from_utf16(big, true), utf8_from_utf16(little, false));
  EXPECT_EQ(utf8_from_utf16(little.substr(6, 2), false), "\xEF\xBF\xBD") << "half of a pair";
  EXPECT_EQ(utf8_from_utf16("a", false), "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace raylift::base
