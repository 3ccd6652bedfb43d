// SPDX-License-Identifier: Apache-2.0
// raylift compare: the chi-square of histories, by hand, and what the command says of two runs.
#include <gmock/gmock.h>

#include <raylift/photon/npy.h>

#include "photon/src/compare_histories.h"
#include "run_program.h"

namespace raylift::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// From tables of the chi-square distribution's quantiles.
TEST(CompareHistories, ProbabilitiesAreThoseOfTheChiSquare) {
  const struct {
    double degrees, chi_square, probability;
  } table[]{{1, 3.841459, 0.05},    {1, 6.634897, 0.01},       {2, 5.991465, 0.05},
            {10, 18.307038, 0.05},  {10, 2.558212, 0.99},      {100, 124.342113, 0.05},
            {100, 77.929465, 0.95}, {1000, 1074.679449, 0.05}, {10, 29.588298, 0.001}};
  for (const auto& one : table)
    EXPECT_NEAR(photon::chi_square_probability(one.chi_square, one.degrees), one.probability,
                1e-6 * one.probability + 1e-8)
        << one.degrees;
  EXPECT_EQ(photon::chi_square_probability(0, 5), 1);
  EXPECT_NEAR(photon::chi_square_probability(1, 2), std::exp(-0.5), 1e-12);
  EXPECT_LT(photon::chi_square_probability(5000, 10), 1e-100);
}

class Compare : public testing::Test {
 protected:
  using Row = std::array<std::uint64_t, 4>;
  /// A file of histories: (events, how often).
  [[nodiscard]] std::string file(const std::string& name,
                                 const std::vector<std::pair<std::uint64_t, int>>& histories) const {
    std::string path = at(name);
    photon::NpyWriter writer(path, photon::NpyType::uint64, {2, 2});
    for (const auto& [events, count] : histories)
      for (int i = 0; i != count; ++i) writer.append(std::span<const std::uint64_t>(Row{events, 0, 7, 7}));
    writer.finish();
    return path;
  }
  [[nodiscard]] std::string at(const std::string& name) const { return (folder_.path() / name).string(); }

 private:
  TemporaryFolder folder_;
};

TEST_F(Compare, SumsOverHistoriesThatAreOftenEnough) {
  const std::string a = file("a.npy", {{0x4D, 100}, {0x7D, 200}, {0x4CD, 20}, {0x46D, 15}});
  const std::string b = file("b.npy", {{0x4D, 140}, {0x7D, 170}, {0x4CD, 10}, {0x46D, 15}});
  const photon::Comparison result = photon::compare_histories(a, b);
  EXPECT_EQ(result.photons, 335U);
  EXPECT_EQ(result.histories.size(), 4U);
  EXPECT_EQ(result.terms, 2U) << "30 in both are too few";
  EXPECT_DOUBLE_EQ(result.chi_square, 40.0 * 40 / 240 + 30.0 * 30 / 370);
  EXPECT_EQ(result.identical, 100U + 160 + 10 + 15);
  EXPECT_DOUBLE_EQ(result.probability, photon::chi_square_probability(result.chi_square, 1));
  EXPECT_FALSE(result.passes());
  EXPECT_EQ(photon::history_text(result.histories[0].history), "TO AB");
  EXPECT_TRUE(photon::compare_histories(a, a).passes());
}

TEST_F(Compare, MissesHistoriesThatOneAloneHas) {
  const std::string a = file("a.npy", {{0x4D, 1000}, {0x7D, 11}});
  const std::string b = file("b.npy", {{0x4D, 1011}});
  const photon::Comparison result = photon::compare_histories(a, b);
  EXPECT_EQ(result.missing, 1U);
  EXPECT_FALSE(result.passes());
  EXPECT_EQ(result.probability, 1) << "11 are not in the sum";
  std::vector<std::uint64_t> places = photon::deviating_photons(result, a, 4);
  EXPECT_EQ(places, (std::vector<std::uint64_t>{1000, 1001, 1002, 1003}));
  EXPECT_TRUE(
      photon::compare_histories(file("c.npy", {{0x4D, 1000}, {0x7D, 10}}), file("d.npy", {{0x4D, 1010}})).passes());
}

TEST_F(Compare, TakesAnyReflectionAsOne) {
  const std::string a = file("a.npy", {{0x4BBD, 100}});
  EXPECT_TRUE(photon::compare_histories(a, file("b.npy", {{0x49AD, 100}})).passes());
  EXPECT_FALSE(photon::compare_histories(a, file("c.npy", {{0x4CBD, 100}})).passes());
  EXPECT_EQ(photon::history_text({0x1234'5678'9ABC'DEFD, 0xE}), "TO EX NA TO BT BR SR DR SA SD SC RE AB MI SI CK NA");
}

TEST_F(Compare, ReadsWhatRunsWrite) {
  const auto run = [&](const std::string& name, const std::string& seed, const std::string& steps,
                       std::vector<std::string> more = {"--seq"}) {
    std::vector<std::string> arguments{"photons",     data_file("detector.dae"),
                                       "--device",    "host",
                                       "--photons",   "4k",
                                       "--seed",      seed,
                                       "--max-steps", steps,
                                       "--first",     "1k",
                                       "--output",    at(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ended ended = raylift(arguments);
    ASSERT_EQ(ended.code, 0) << ended.err;
  };
  run("one", "1", "1000");
  run("two", "2", "1000");
  run("cut", "1", "3");
  const Ended same = raylift({"compare", at("one"), at("two"), "--json"});
  EXPECT_EQ(same.code, 0) << same.out;
  EXPECT_EQ(same.json()["passes"], true);
  EXPECT_GT(same.json()["terms"], 20);
  EXPECT_LT(same.json()["identical"], 4000);
  EXPECT_EQ(raylift({"compare", at("one"), at("one/seq.npy"), "--json"}).json()["identical"], 4000);

  const std::string look = at("look.npy");
  const Ended cut = raylift({"compare", at("cut"), at("one"), "--save", look});
  EXPECT_EQ(cut.code, 1) << cut.out;
  EXPECT_THAT(cut.out, HasSubstr("different"));
  EXPECT_THAT(cut.out, HasSubstr("EX"));
  const std::vector<std::uint64_t> numbers = photon::read_npy<std::uint64_t>(look, photon::NpyType::uint64, {});
  ASSERT_GT(numbers.size(), 100U);
  EXPECT_GE(numbers.front(), 1000U);
  run("again", "1", "3", {"--record", look});
  using Record = std::array<std::uint32_t, 512>;
  const std::array<std::uint64_t, 3> row{32, 4, 4};
  const auto records = photon::read_npy<Record>(at("again/record.npy"), photon::NpyType::float32, row);
  ASSERT_EQ(records.size(), numbers.size());
  for (std::size_t i = 0; i != records.size(); ++i) EXPECT_EQ(records[i][14], numbers[i]);
}

TEST_F(Compare, RefusesWhatCannotBeCompared) {
  const std::string a = file("a.npy", {{0x4D, 10}});
  const auto refused = [](std::vector<std::string> arguments, int code, const std::string& what) {
    arguments.insert(arguments.begin(), "compare");
    const Ended ended = raylift(arguments);
    EXPECT_EQ(ended.code, code);
    EXPECT_THAT(ended.err, HasSubstr(what));
  };
  refused({a}, 2, "1 runs were given");
  refused({a, file("b.npy", {{0x4D, 11}})}, 2, "has 10 photons");
  refused({a, at("absent.npy")}, 3, "can't be opened");
  refused({a, at("")}, 3, "seq.npy");
  std::ofstream(at("text.npy")) << "text";
  refused({a, at("text.npy")}, 4, "no .npy file");
  photon::NpyWriter(at("flat.npy"), photon::NpyType::uint64, {4}).finish();
  refused({a, at("flat.npy")}, 4, "rows of (2, 2)");
}

}  // namespace
}  // namespace raylift::test
