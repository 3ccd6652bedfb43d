// SPDX-License-Identifier: Apache-2.0
#include "model/word_help.h"

#include <gtest/gtest.h>
#include <raylift/gpu/memory/placement.h>

#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "model/settings/settings.h"
#include "support/paths.h"

namespace raylift::viewer {
namespace {

std::string table() {
  std::string text = "| where | word | |\n|---|---|---|\n";
  for (const WordHelp& one : word_helps())
    text += "| " + std::string(one.where) + " | " + std::string(one.word) + " | " + std::string(one.meaning) + " |\n";
  return text;
}

TEST(WordHelp, IsInTheDocsAsItIs) {
  std::ostringstream page;
  page << std::ifstream(test::source_dir() / "docs/viewer.md").rdbuf();
  const std::string text = page.str();
  const std::size_t begin = text.find('\n', text.find("<!-- words:")) + 1, end = text.find("<!-- end of words -->");
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(text.substr(begin, end - begin), table()) << "copy the table into docs/viewer.md";
}

TEST(WordHelp, IsThereForEachWordThatAListShows) {
  const auto all = [](std::string_view where, const auto& words) {
    for (const std::string_view word : words) EXPECT_NE(meaning(where, word), "") << where << ": " << word;
  };
  all(kColorWords, kColorNames);
  all(kShellsWords, kShellsNames);
  all(kStyleWords, kStyleNames);
  all(kRayWords, kRayModeNames);
  for (const Residency where : {Residency::device, Residency::split, Residency::mapped})
    EXPECT_NE(meaning(kResidencyWords, to_string(where)), "") << to_string(where);
  std::set<std::pair<std::string_view, std::string_view>> once;
  for (const WordHelp& one : word_helps()) EXPECT_TRUE(once.emplace(one.where, one.word).second) << one.word;
  EXPECT_EQ(explained(kShellsWords, "hidden"), "Hidden: not drawn");
  EXPECT_EQ(explained(kShellsWords, "no such word"), "");
}

}  // namespace
}  // namespace raylift::viewer
