// SPDX-License-Identifier: Apache-2.0
// Text that is safe to print, and tables of it.
#include "cli/text.h"

#include <gtest/gtest.h>
#include <raylift/gpu/memory/residency.h>

#include "cli/table.h"

namespace raylift::cli {
namespace {

TEST(PrintableText, KeepsOrdinaryTextAndUtf8) {
  EXPECT_EQ(printable("pmt 17/µm 日本 \U0001F600"), "pmt 17/µm 日本 \U0001F600");
  EXPECT_EQ(printable(""), "");
}

TEST(PrintableText, EscapesWhatTerminalsActOn) {
  EXPECT_EQ(printable("a\nb\tc\x1b[31m\x7f"), "a\\nb\\tc\\x1b[31m\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\u0085\u009b"), "\\u0085\\u009b");          // C1: some terminals take it for ESC [
  EXPECT_EQ(printable("gpj.\u202e\u2066"), "gpj.\\u202e\\u2066");  // text that runs backwards
  EXPECT_EQ(printable("\u2028"), "\\u2028");
}

TEST(PrintableText, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("caf\xe9"), "caf\\xe9");                       // Latin-1
  EXPECT_EQ(printable("\xe6\x97"), "\\xe6\\x97");                    // cut short
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // longer than needed
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");           // likewise
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond Unicode
  EXPECT_EQ(printable("\x80x"), "\\x80x");
}

TEST(Numbers, AreGroupedByThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(123456), "123,456");
  EXPECT_EQ(grouped(18446744073709551615U), "18,446,744,073,709,551,615");
}

TEST(Numbers, HaveNoMoreDigitsThanTheyNeed) {
  EXPECT_EQ(short_number(25.4), "25.4");
  EXPECT_EQ(short_number(-0.0), "0");
  EXPECT_EQ(short_number(1.0 / 3), "0.333333");
}

TEST(Numbers, AgreeWithTheirNoun) {
  EXPECT_EQ(counted(1, "mesh", "meshes"), "1 mesh");
  EXPECT_EQ(counted(0, "mesh", "meshes"), "0 meshes");
  EXPECT_EQ(counted(1500, "mesh", "meshes"), "1,500 meshes");
}

TEST(Table, AlignsItsColumns) {
  Table table({{"name", Align::left}, {"count"}, {"note", Align::left}});
  EXPECT_TRUE(table.empty());
  table.add({"a", "1", "first"});
  table.add({"longer", "1,000", ""});
  EXPECT_EQ(table.text(),
            "name    count  note\n"
            "a           1  first\n"
            "longer  1,000\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({{"n", Align::left}, {"m"}});
  table.add({"äöü", "1"});
  table.add({"abc", "2"});
  EXPECT_EQ(table.text(2), "  n    m\n  äöü  1\n  abc  2\n");
}

TEST(Table, KeepsARowOnOneLineWhateverItsCellsHold) {
  Table table({{"", Align::left}, {"", Align::left}});
  table.add({"a\nb", "c\rd"});
  EXPECT_EQ(table.text(), "a\\nb  c\\x0dd\n");
}

TEST(Times, HaveThreeDigitsAndTheUnitThatFits) {
  EXPECT_EQ(human_seconds(0), "0 us");
  EXPECT_EQ(human_seconds(0.0004784), "478 us");
  EXPECT_EQ(human_seconds(0.0009996), "1.00 ms");
  EXPECT_EQ(human_seconds(0.01037), "10.4 ms");
  EXPECT_EQ(human_seconds(2), "2.00 s");
  EXPECT_EQ(human_seconds(119.4), "119 s");
  EXPECT_EQ(human_seconds(750), "12.5 min");
  EXPECT_EQ(human_seconds(10800), "3.00 h");
  EXPECT_EQ(human_seconds(3.6e7), "10000 h");
}

TEST(Rates, HaveThreeDigitsAndADecimalPrefix) {
  EXPECT_EQ(human_rate(0, "rays"), "0 rays/s");
  EXPECT_EQ(human_rate(0.0123, "scenes"), "0.0123 scenes/s");
  EXPECT_EQ(human_rate(999.4, "scenes"), "999 scenes/s");
  EXPECT_EQ(human_rate(19'345'678, "rays"), "19.3M rays/s");
}

TEST(SplitAtCommas, KeepsEmptyItems) {
  EXPECT_EQ(split_at_commas("host"), std::vector<std::string>{"host"});
  EXPECT_EQ(split_at_commas("cuda:0,,host,"), (std::vector<std::string>{"cuda:0", "", "host", ""}));
  EXPECT_EQ(split_at_commas(""), std::vector<std::string>{""});
}

}  // namespace
}  // namespace raylift::cli
