// SPDX-License-Identifier: Apache-2.0
#include "base/suggest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace raylift::base {
namespace {

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

}  // namespace
}  // namespace raylift::base
