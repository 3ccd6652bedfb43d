// SPDX-License-Identifier: Apache-2.0
// Suggestions for mistyped words, and the line of the progress bar.
#include "cli/suggest.h"

#include <gtest/gtest.h>

#include "cli/progress_bar.h"
#include "cli/text.h"

namespace raylift::cli {
namespace {

using std::chrono::duration;

TEST(EditDistance, CountsInsertionsDeletionsSubstitutionsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("info", ""), 4U);
  EXPECT_EQ(edit_distance("", "info"), 4U);
  EXPECT_EQ(edit_distance("info", "info"), 0U);
  EXPECT_EQ(edit_distance("ifno", "info"), 1U);
  EXPECT_EQ(edit_distance("--devcie", "--device"), 1U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);  // no part is edited twice
}

TEST(Suggestion, IsTheNearestWordThatIsNearEnough) {
  const std::vector<std::string> words{"--device", "--reserve", "--budget", "--verify", "--verbose"};
  EXPECT_EQ(nearest("--devcie", words), "--device");
  EXPECT_EQ(nearest("--budgte", words), "--budget");
  EXPECT_EQ(nearest("--veirfy", words), "--verify");
  EXPECT_EQ(nearest("--something", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest(std::string(10'000, '-'), words), "");
}

TEST(Suggestion, TakesTheBeginningOfOneWordForTheWord) {
  const std::vector<std::string> words{"--max-triangles", "--max-instances", "--import-timeout"};
  EXPECT_EQ(nearest("--imp", words), "--import-timeout");
  EXPECT_EQ(nearest("--max", words), "");
}

TEST(Suggestion, EndsAMessage) {
  EXPECT_EQ(did_you_mean("ifno", {"info"}), ": did you mean 'info'?");
  EXPECT_EQ(did_you_mean("frobnicate", {"info"}), "");
}

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
