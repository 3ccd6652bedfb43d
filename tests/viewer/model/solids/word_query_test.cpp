// SPDX-License-Identifier: Apache-2.0
#include "model/solids/word_query.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace raylift::viewer {
namespace {

/// The texts that a query finds, the best first.
std::vector<std::string> found(const char* query, const std::vector<std::string>& texts) {
  std::vector<std::pair<int, std::string>> all;
  for (const std::string& text : texts)
    if (const auto rank = WordQuery(query).rank(text)) all.emplace_back(*rank, text);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (const auto& [rank, text] : all) names.push_back(text);
  return names;
}

using Names = std::vector<std::string>;

TEST(WordQuery, FindsEachWordAnywhereTheBestFirst) {
  const Names names{"Sensor_2117", "Sensor_1170", "Sensor_11", "Sensor_117_pv", "MySensor117", "Sensor 117"};
  EXPECT_EQ(found("sensor 117", names),
            (Names{"Sensor 117", "Sensor_117_pv", "MySensor117", "Sensor_1170", "Sensor_2117"}));
  EXPECT_EQ(found("117 SENSOR", names).front(), "Sensor_117_pv") << "in any order, without regard to case";
  EXPECT_EQ(found("ensor 21", names), (Names{"Sensor_2117"}));
  EXPECT_EQ(found("sensor  tank", names), Names{});
}

TEST(WordQuery, KnowsWhereWordsBegin) {
  EXPECT_EQ(found("oil", {"Soil", "OilTank", "MineralOil", "Oily"}), (Names{"OilTank", "MineralOil", "Oily", "Soil"}));
}

TEST(WordQuery, TakesNumbersBesideTheText) {
  const WordQuery query("pmt 12");
  EXPECT_FALSE(query.rank("Pmt", {"120"}));
  const auto beside = query.rank("Pmt", {"7", "12"});
  ASSERT_TRUE(beside);
  EXPECT_LT(*query.rank("Pmt_12", {"7"}), *beside);
  EXPECT_LT(*beside, *query.rank("Pmt_120"));
}

TEST(WordQuery, OfNoWordsIsEmpty) {
  EXPECT_TRUE(WordQuery("").empty());
  EXPECT_TRUE(WordQuery("   ").empty());
  EXPECT_FALSE(WordQuery(" a ").empty());
}

}  // namespace
}  // namespace raylift::viewer
