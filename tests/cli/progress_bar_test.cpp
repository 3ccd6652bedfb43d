// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_bar.h"

#include <gtest/gtest.h>

#include "cli/text.h"

namespace raylift::cli {
namespace {

using std::chrono::duration;

TEST(ProgressLine, ShowsBarPercentAndTimeLeft) {
  EXPECT_EQ(progress_line("weld", 0, 10, duration<double>(0), 79),
            "weld       [                                        ]   0 %");
  EXPECT_EQ(progress_line("weld", 5, 10, duration<double>(4), 79),
            "weld       [====================                    ]  50 %, 4 s left");
  EXPECT_EQ(progress_line("weld", 10, 10, duration<double>(8), 79),
            "weld       [========================================] 100 %");
}

TEST(ProgressLine, ShowsTheTimeGoneWhereTheTotalIsNotKnown) {
  EXPECT_EQ(progress_line("import", 7, 0, duration<double>(65), 79), "import     1:05 min");
}

TEST(ProgressLine, FitsAnyWidth) {
  for (std::size_t width = 0; width != 120; ++width)
    for (const std::uint64_t total : {0U, 9U})
      EXPECT_LE(columns(progress_line("preflight", 4, total, duration<double>(3000), width)), width);
}

TEST(ProgressLine, SurvivesWhatCannotBe) {
  EXPECT_EQ(progress_line("weld", 20, 10, duration<double>(1), 79),
            progress_line("weld", 10, 10, duration<double>(1), 79));
  EXPECT_EQ(progress_line("a\nb", 0, 0, duration<double>(0), 79), "a\\nb       0 s");
}

TEST(Durations, AreShort) {
  EXPECT_EQ(short_duration(duration<double>(0)), "0 s");
  EXPECT_EQ(short_duration(duration<double>(59.2)), "1:00 min");
  EXPECT_EQ(short_duration(duration<double>(7380)), "2:03 h");
  EXPECT_EQ(short_duration(duration<double>(1e30)), "1000:00 h");
}

}  // namespace
}  // namespace raylift::cli
