// SPDX-License-Identifier: Apache-2.0
// Histories as text, and patterns over them: against regular expressions on the text.
#include <gtest/gtest.h>
#include <raylift/geometry/error.h>

#include <random>
#include <regex>

#include "photon/src/histories.h"

namespace raylift::photon {
namespace {

History history_of(const std::vector<std::uint32_t>& numbers) {
  History history{0, 0};
  for (std::size_t i = 0; i != numbers.size(); ++i) history[i / 16] |= std::uint64_t{numbers[i]} << (4 * (i % 16));
  return history;
}

TEST(Histories, AreTextByTheirAbbreviations) {
  EXPECT_EQ(history_text(history_of({13, 12, 6, 4})), "TO BT SC AB");
  EXPECT_EQ(history_text({0, 0}), "");
  EXPECT_EQ(event_abbreviation(7), "SD");
  EXPECT_EQ(event_name(7), "SURFACE_DETECT");
  EXPECT_EQ(event_abbreviation(16), "");
}

TEST(Histories, HaveTheNumbersOfOpticksFlags) {
  EXPECT_EQ(event_of_flag(opticks::kSurfaceDetect), 7U);
  EXPECT_EQ(event_of_flag(opticks::kTorch), 13U);
  EXPECT_EQ(event_of_flag(opticks::kEfficiencyCull), 15U);
  for (const std::uint32_t flag : {0U, 3U, 1U << 15, 1U << 31, 0xFFFFFFFFU}) EXPECT_EQ(event_of_flag(flag), 0U) << flag;
}

TEST(HistoryPattern, ChoosesByItsWords) {
  const auto chooses = [](const char* pattern, const std::vector<std::uint32_t>& numbers) {
    return HistoryPattern(pattern).matches(history_of(numbers));
  };
  EXPECT_TRUE(chooses("TO * RE * SD", {13, 12, 5, 12, 7}));
  EXPECT_TRUE(chooses("TO * RE * SD", {13, 5, 7}));
  EXPECT_FALSE(chooses("TO * RE * SD", {13, 12, 7}));
  EXPECT_FALSE(chooses("TO * RE * SD", {13, 5, 12, 7, 4})) << "it goes on behind the last word";
  EXPECT_FALSE(chooses("TO * RE * SD", {1, 5, 7}));
  EXPECT_TRUE(chooses("? RE SD", {1, 5, 7}));
  EXPECT_TRUE(chooses("ck|si|to re SURFACE_DETECT", {2, 5, 7}));
  EXPECT_TRUE(chooses("TO !RE SD", {13, 12, 7}));
  EXPECT_FALSE(chooses("TO !RE SD", {13, 5, 7}));
  EXPECT_TRUE(chooses("TO,BR,SA", {13, 9, 8})) << "Opticks's diffuse reflection";
  EXPECT_FALSE(chooses("TO DR SA", {13, 11, 8}));
  EXPECT_TRUE(chooses("", {13, 8}));
  EXPECT_TRUE(chooses("*", {}));
}

TEST(HistoryPattern, OfOneWordAsksWhetherItOccurs) {
  const History shifted = history_of({13, 12, 5, 7}), direct = history_of({13, 12, 7});
  EXPECT_TRUE(HistoryPattern("RE").matches(shifted));
  EXPECT_FALSE(HistoryPattern("RE").matches(direct));
  EXPECT_FALSE(HistoryPattern("!RE").matches(shifted));
  EXPECT_TRUE(HistoryPattern("!RE").matches(direct));
  EXPECT_TRUE(HistoryPattern("RE|SC").matches(shifted));
  EXPECT_TRUE(HistoryPattern("  ").matches_all());
}

TEST(HistoryPattern, RefusesWhatIsNoEvent) {
  for (const char* bad : {"XX", "TO ** SD", "TO|", "!", "|", "TO * S"}) try {
      const HistoryPattern pattern(bad);
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << bad;
    }
  std::string many;
  for (int i = 0; i != 64; ++i) many += "* ";
  EXPECT_THROW(HistoryPattern{many}, Error);
}

/// Random patterns and histories over three events; the other side is std::regex.
TEST(HistoryPattern, AgreesWithRegularExpressions) {
  std::mt19937 random(7);
  const auto pick = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  const std::array<std::pair<const char*, const char*>, 7> words{{{"TO", "(TO )"},
                                                                  {"SC", "(SC )"},
                                                                  {"RE", "(RE )"},
                                                                  {"*", "(.. )*"},
                                                                  {"?", "(.. )"},
                                                                  {"!SC", "(TO |RE )"},
                                                                  {"RE|SC", "(RE |SC )"}}};
  int matched = 0;
  for (int round = 0; round != 300; ++round) {
    std::string pattern, expression;
    for (std::size_t i = 0, count = 2 + pick(4); i != count; ++i) {
      const auto& [word, meaning] = words[pick(words.size())];
      pattern += std::string(word) + ' ';
      expression += meaning;
    }
    const HistoryPattern ours(pattern);
    const std::regex theirs(expression);
    for (int i = 0; i != 20; ++i) {
      std::vector<std::uint32_t> numbers(pick(i == 0 ? 33 : 7));
      std::string text;
      for (std::uint32_t& number : numbers) {
        number = std::array{13U, 6U, 5U}[pick(3)];
        text += std::string(event_abbreviation(number)) + ' ';
      }
      const bool expected = std::regex_match(text, theirs);
      matched += expected ? 1 : 0;
      EXPECT_EQ(ours.matches(history_of(numbers)), expected) << pattern << "of " << text;
    }
  }
  EXPECT_GT(matched, 300);
}

}  // namespace
}  // namespace raylift::photon
