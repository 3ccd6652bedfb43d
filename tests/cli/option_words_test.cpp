// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cli/option_words.h"

namespace raylift::cli {
namespace {

TEST(OptionWords, TakeThePlaceOfTheLibrarysNames) {
  EXPECT_EQ(in_option_words("raise LoadLimits::triangles, or LoadLimits::text_bytes"),
            "raise --max-triangles, or --max-text-size");
  EXPECT_EQ(in_option_words("LoadLimits::node_depth LoadLimits::nodes"), "--max-depth --max-nodes");
  EXPECT_EQ(in_option_words("nothing of that"), "nothing of that");
}

}  // namespace
}  // namespace raylift::cli
