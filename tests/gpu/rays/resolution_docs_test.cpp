// SPDX-License-Identifier: Apache-2.0
// The table of docs/boundaries.md is what the constants say.
#include <gmock/gmock.h>
#include <raylift/geometry/resolution.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace raylift {
namespace {

std::string printed(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// Two digits, in nm or um.
std::string length_text(double mm) {
  const bool in_nm = mm < 1e-4;
  const double value = in_nm ? mm * 1e6 : mm * 1e3;
  const std::string digits = value < 10    ? printed("%.2g", value)
                             : value < 100 ? printed("%.0f", value)
                                           : printed("%.0f", 10 * std::round(value / 10));
  return digits + (in_nm ? " nm" : " µm");
}

TEST(ResolutionDocs, HaveTheConstants) {
  const std::ifstream file(std::string(RAYLIFT_SOURCE_DIR) + "/docs/boundaries.md");
  std::ostringstream text;
  text << file.rdbuf();
  for (const int meters : {1, 10, 100})
    EXPECT_THAT(text.str(),
                testing::HasSubstr("| " + std::to_string(meters) + " m | " + length_text(1000.0 * meters * kThinLayer) +
                                   " | " + length_text(1000.0 * meters * kResolvedSteps * kPositionStep) + " |"));
  EXPECT_THAT(text.str(), testing::HasSubstr("less than " + printed("%.1f", kThinLayer * 1e6) + "e-6"));
}

}  // namespace
}  // namespace raylift
