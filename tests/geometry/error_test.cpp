// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/progress.h>

#include <set>

#include "geometry/src/stage.h"

namespace raylift {
namespace {

constexpr ErrorKind kAll[] = {ErrorKind::io,
                              ErrorKind::malformed,
                              ErrorKind::unsupported,
                              ErrorKind::limit,
                              ErrorKind::out_of_host_memory,
                              ErrorKind::out_of_device_memory,
                              ErrorKind::device,
                              ErrorKind::no_display,
                              ErrorKind::usage,
                              ErrorKind::cancelled,
                              ErrorKind::system};

TEST(Error, EachKindHasANameAndAnExitCodeOfItsOwn) {
  std::set<std::string_view> names;
  std::set<int> codes;
  for (ErrorKind kind : kAll) {
    EXPECT_EQ(error_kind(to_string(kind)), kind);
    names.insert(to_string(kind));
    codes.insert(exit_code(kind));
  }
  EXPECT_EQ(names.size(), std::size(kAll));
  EXPECT_EQ(codes.size(), std::size(kAll));
  EXPECT_FALSE(codes.contains(0)) << "0 is success";
  EXPECT_FALSE(codes.contains(1)) << "1 is a negative answer";
}

TEST(Error, RefusesAKindThatDoesNotExist) {
  EXPECT_THROW((void)error_kind("malfromed"), Error);
}

TEST(Error, SaysWhatWhereAndWhatToDo) {
  const Error error(ErrorKind::malformed, "vertex 7 is NaN", {"a.dae", "mesh 'pmt'"},
                    "pass LoadOptions::repair to drop it");
  EXPECT_STREQ(error.what(), "vertex 7 is NaN [a.dae: mesh 'pmt']; pass LoadOptions::repair to drop it");
  EXPECT_STREQ(Error(ErrorKind::io, "gone").what(), "gone");
}

TEST(Progress, CancelsWhenItsCallbackSaysSo) {
  const Progress progress([](std::string_view, std::uint64_t done, std::uint64_t) { return done < 2; });
  const Stage stage(progress, "weld", 3);
  stage.advance(1);
  try {
    stage.advance(2);
    FAIL() << "not cancelled";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cancelled);
    EXPECT_NE(std::string(error.what()).find("weld"), std::string::npos);
  }
}

TEST(Progress, CollectsTheTimesOfStagesInTheOrderTheyEnd) {
  std::vector<Progress::StageTime> times;
  const Progress progress([](auto, auto, auto) { return true; }, &times);
  {
    const Stage outer(progress, "load");
    const Stage inner(progress, "weld");
  }
  ASSERT_EQ(times.size(), 2U);
  EXPECT_EQ(times[0].stage, "weld");
  EXPECT_EQ(times[1].stage, "load");
  EXPECT_GE(times[1].seconds, times[0].seconds);
}

}  // namespace
}  // namespace raylift
