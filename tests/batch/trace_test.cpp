// SPDX-License-Identifier: Apache-2.0
// raylift trace: figures that geometry alone decides, images, and what it refuses.
#include <gmock/gmock.h>

#include <raylift/geometry/import/load.h>

#include <cmath>
#include <numbers>
#include <set>

#include "batch/actions/enclosure.h"
#include "run_program.h"
#include "support/images.h"

namespace raylift::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

Ended trace(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"trace", "--device", "host"});
  return raylift(arguments);
}

json traced(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "--json");
  const Ended ended = trace(arguments);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, IsEmpty());
  return ended.one();
}

TEST(Trace, LosesNoRayOfAClosedDetector) {
  json levels = traced({"--rays", "50k", data_file("detector.dae")});
  const json flat = traced({"--rays", "50k", "--flatten", data_file("detector.dae")});
  for (const json& run : {levels, flat}) {
    EXPECT_EQ(run["rays"], 50'000);
    EXPECT_EQ(run["hits"], 50'000);
    EXPECT_EQ(run["lost"], 0);
    EXPECT_TRUE(run["enclosed_by"].is_string());
    EXPECT_GT(run["rays_per_second"], 0);
  }
  EXPECT_EQ(levels["instances"], 906);
  EXPECT_EQ(flat["instances"], 1);
  EXPECT_NEAR(levels["mean_distance_mm"], flat["mean_distance_mm"], 1e-4 * flat["mean_distance_mm"].get<double>());
}

TEST(Trace, FindsTheSameInWhatTheCacheHolds) {
  const TemporaryFolder folder;
  for (const bool flatten : {false, true}) {
    std::vector<std::string> scene{"--rays", "5k", "--pattern", "surface", data_file("detector.dae")};
    if (flatten) scene.emplace_back("--flatten");
    const json first = traced(scene);
    EXPECT_TRUE(first["cache"].is_null());
    scene.push_back("--cache=" + folder.path().string());
    for (const bool hit : {false, true}) {
      const json run = traced(scene);
      EXPECT_EQ(run["cache"]["hit"], hit);
      for (const char* figure : {"hits", "hits_from_inside", "mean_distance_mm", "nearest_mm", "farthest_mm"})
        EXPECT_EQ(run[figure], first[figure]) << figure;
    }
  }
}

TEST(Trace, FindsTheSameWhereverArraysLie) {
  const std::vector<std::string> scene{"--rays", "5k", data_file("detector.dae")};
  json first = traced(scene);
  for (const std::vector<std::string>& where : {std::vector<std::string>{"--budget", "400kB"},
                                                {"--budget", "400kB", "--policy", "chroma"},
                                                {"--policy", "mapped"}}) {
    std::vector<std::string> arguments = where;
    arguments.insert(arguments.end(), scene.begin(), scene.end());
    json run = traced(arguments);
    EXPECT_GT(run["residency"]["host_bytes"], 0);
    for (const char* figure : {"hits", "hits_from_inside", "mean_distance_mm", "nearest_mm", "farthest_mm"})
      EXPECT_EQ(run[figure], first[figure]) << figure;
  }
}

TEST(Trace, KnowsTheMeanDistanceFromACubesMiddle) {
  const json run = traced({"--rays", "100k", "--radius", "0", data_file("cube.dae")});
  // Over a face of the cube +-1: the mean of the distance r, with r^-3 as the density of directions.
  double sum = 0;
  constexpr int kSteps = 200;
  for (int i = 0; i != kSteps; ++i)
    for (int j = 0; j != kSteps; ++j) {
      const double x = (i + 0.5) / kSteps, y = (j + 0.5) / kSteps;
      sum += 1 / (1 + x * x + y * y);
    }
  const double mean = 1000 * 6 / std::numbers::pi * sum / (kSteps * kSteps);
  EXPECT_EQ(run["lost"], 0);
  EXPECT_EQ(run["hits_from_inside"], 100'000);
  EXPECT_NEAR(run["mean_distance_mm"], mean, 0.002 * mean);
  EXPECT_NEAR(run["nearest_mm"], 1000, 0.5);
  EXPECT_NEAR(run["farthest_mm"], 1000 * std::sqrt(3.0), 5);
}

TEST(Trace, FindsTheMeanChordOfACube) {
  const json inside = traced({"--pattern", "surface", "--rays", "100k", data_file("cube.dae")});
  // Cauchy: 4 volume / surface. A ray that starts within rounding of an edge may miss the triangle beyond it.
  EXPECT_GE(inside["hit_fraction"], 0.9999);
  EXPECT_EQ(inside["hits_from_inside"], inside["hits"]);
  EXPECT_NEAR(inside["mean_distance_mm"], 4.0 * 2000 / 6, 10);
  const json outside = traced({"--pattern", "surface", "--side", "outside", "--rays", "10k", data_file("cube.dae")});
  EXPECT_EQ(outside["hits"], 0);
  EXPECT_TRUE(outside["mean_distance_mm"].is_null());
}

TEST(Trace, DependsOnItsSeedAlone) {
  const json a = traced({"--rays", "5k", data_file("cube.dae")});
  EXPECT_EQ(traced({"--rays", "5k", data_file("cube.dae")})["mean_distance_mm"], a["mean_distance_mm"]);
  EXPECT_NE(traced({"--rays", "5k", "--seed", "1", data_file("cube.dae")})["mean_distance_mm"], a["mean_distance_mm"]);
}

TEST(Trace, SaysItInWords) {
  const Ended ended = trace({"--rays", "1k", "--timings", data_file("cube.dae")});
  EXPECT_EQ(ended.code, 0);
  for (const char* word : {"rays/s", "1,000 (100.0000 %)", "mean distance", "lost", "device", "timings", "trace"})
    EXPECT_THAT(ended.out, HasSubstr(word));
  const Ended none = trace({"--rays", "0", data_file("cube.dae")});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("--rays: it must be more than 0"));
}

class TraceImage : public testing::Test {
 protected:
  std::vector<std::string> arguments(std::vector<std::string> more) const {
    more.insert(more.begin(), {"--image", file(), "--width", "64", "--height", "48"});
    more.push_back(data_file("cube.dae"));
    return more;
  }
  [[nodiscard]] std::string file() const { return (folder_.path() / "image.png").string(); }
  [[nodiscard]] bool left_nothing() const { return std::filesystem::is_empty(folder_.path()); }

  TemporaryFolder folder_;
};

TEST_F(TraceImage, ShowsDepthAroundTheMiddle) {
  const json run = traced(arguments({}));
  EXPECT_EQ(run["pattern"], "camera");
  EXPECT_EQ(run["rays"], 64 * 48);
  const Image image = read_png(file());
  ASSERT_EQ(image.width, 64);
  ASSERT_EQ(image.height, 48);
  EXPECT_EQ(image.at(0, 0), (Pixel{0, 0, 0, 255}));
  EXPECT_EQ(image.at(63, 47), (Pixel{0, 0, 0, 255}));
  EXPECT_GE(image.at(32, 24)[0], 40);
  const auto lit = static_cast<std::uint64_t>(
      std::count_if(image.pixels.begin(), image.pixels.end(), [](const Pixel& p) { return p[0] != 0; }));
  EXPECT_EQ(run["hits"], lit);
  EXPECT_GT(lit, 64 * 48 / 6);
}

TEST_F(TraceImage, ShowsTheNormalsOfThreeFaces) {
  (void)traced(arguments({"--image-kind", "normal"}));
  const Image image = read_png(file());
  std::set<Pixel> colours(image.pixels.begin(), image.pixels.end());
  colours.erase(Pixel{0, 0, 0, 255});
  EXPECT_EQ(colours.size(), 3U);
  EXPECT_EQ(colours.count(Pixel{128, 128, 255, 255}), 1U);  // the top, as z is up
}

TEST_F(TraceImage, LooksPastWhatIsNear) {
  // From far along x: the near face is 9000 away, the far one 11000.
  const std::vector<std::string> from{"--origin", "-1e4,0,0", "--target", "0,0,0", "--fov", "5"};
  EXPECT_NEAR(traced(arguments(from))["nearest_mm"], 9000, 0.01);
  std::vector<std::string> beyond = from;
  beyond.insert(beyond.end(), {"--near", "9.5m"});
  const json run = traced(arguments(beyond));
  EXPECT_NEAR(run["nearest_mm"], 11000, 0.01);
  EXPECT_EQ(run["hits_from_inside"], run["hits"]);
}

TEST_F(TraceImage, RefusesWhatMakesNone) {
  EXPECT_EQ(trace(arguments({"--pattern", "surface"})).code, 2);
  EXPECT_EQ(trace(arguments({data_file("cube.dae")})).code, 2);
  EXPECT_EQ(trace(arguments({"--rays", "3071"})).code, 2);
  EXPECT_EQ(trace(arguments({"--origin", "0,0,0", "--target", "0,0,0"})).code, 2);
  EXPECT_TRUE(left_nothing());
}

TEST_F(TraceImage, IsWrittenWholeOrNotAtAll) {
  const Ended ended = trace({"--image", (folder_.path() / "none" / "p.png").string(), data_file("cube.dae")});
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, HasSubstr("image"));
  EXPECT_TRUE(left_nothing());
}

TEST(Trace, RefusesWhatItsOptionsDoNotTake) {
  const std::vector<std::vector<std::string>> bad{
      {"--origin", "1,2"},   {"--origin", "1,2,3,4"}, {"--origin", "a,b,c"},     {"--origin", "0,1e300,0"},
      {"--near", "1e300"},   {"--radius", "-1"},      {"--radius", "3 parsec"},  {"--fov", "0"},
      {"--fov", "180"},      {"--width", "0"},        {"--width", "1e6"},        {"--rays", "-5"},
      {"--pattern", "cone"}, {"--side", "top"},       {"--image-kind", "colour"}};
  for (const std::vector<std::string>& option : bad) {
    const Ended ended = trace({option[0], option[1], data_file("cube.dae")});
    EXPECT_EQ(ended.code, 2) << option[0] << ' ' << option[1];
    EXPECT_THAT(ended.err, HasSubstr(option[0]));
    EXPECT_THAT(ended.out, IsEmpty());
  }
}

/// What rays that all go one way hit, as --by says.
json hits_by(const std::string& by, const std::vector<std::string>& way, bool flatten) {
  std::vector<std::string> arguments{"--by", by, "--unit", "mm", "--fov", "0.1", "--width", "2", "--height", "2"};
  arguments.insert(arguments.end(), {"--pattern", "camera", "--origin", way[0], "--target", way[1], "--near", way[2]});
  if (flatten) arguments.emplace_back("--flatten");
  arguments.push_back(data_file("materials.dae"));
  return traced(arguments)["hits_by"];
}

TEST(Trace, SaysWhichSolidAndMaterialWasHit) {
  // Each face of a block along x has a material of its own; the faces along y share one, those along z another.
  const struct {
    std::vector<std::string> way;  // origin, target, near
    std::string solid;
    json material;
    int from_inside;
  } shots[]{{{"-500,1,2", "0,1,2", "0"}, "/World/first", "water", 0},
            {{"1,-500,2", "1,0,2", "0"}, "/World/first", "glass", 0},
            {{"1,2,500", "1,1,0", "0"}, "/World/first", "steel", 0},
            {{"101,-500,2", "101,0,2", "0"}, "/World/second", "glass", 0},
            {{"50,1,2", "100,1,2", "0"}, "/World/second", "steel", 0},
            {{"600,1,2", "100,1,2", "0"}, "/World/second", nullptr, 0},
            {{"600,1,2", "100,1,2", "492"}, "/World/second/inner", "water", 0},
            {{"600,1,2", "100,1,2", "507"}, "/World/second", "steel", 4}};
  for (const auto& shot : shots)
    for (const bool flatten : {false, true}) {
      SCOPED_TRACE(shot.way[0] + " " + shot.way[2] + (flatten ? " flattened" : ""));
      const json counts{{"hits", 4}, {"hits_from_inside", shot.from_inside}};
      const auto expected = [&](json row) {
        row.update(counts);
        return json::array({row});
      };
      EXPECT_EQ(hits_by("solid", shot.way, flatten), expected({{"solid", shot.solid}, {"material", shot.material}}));
      EXPECT_EQ(hits_by("material", shot.way, flatten), expected({{"material", shot.material}}));
      EXPECT_EQ(hits_by("mesh", shot.way, flatten), expected({{"mesh", "block"}}));
    }
}

TEST(Trace, CountsEachHitOnceInItsTable) {
  for (const char* by : {"solid", "material", "mesh"}) {
    const json run = traced({"--rays", "20k", "--by", by, data_file("detector.dae")});
    std::uint64_t hits = 0, inside = 0, before = UINT64_MAX;
    for (const json& row : run["hits_by"]) {
      EXPECT_LE(row["hits"], before);
      hits += before = row["hits"].get<std::uint64_t>();
      inside += row["hits_from_inside"].get<std::uint64_t>();
    }
    EXPECT_EQ(hits, run["hits"]);
    EXPECT_EQ(inside, run["hits_from_inside"]);
  }
  const Ended text = trace({"--rays", "20k", data_file("detector.dae")});
  EXPECT_THAT(text.out, AllOf(HasSubstr("what was hit\n"), HasSubstr("solid"), HasSubstr("Water"),
                              testing::ContainsRegex("and [0-9]+ more; --json lists all\n")));
}

TEST(Trace, RefusesOptionsThatItsRaysDoNotUse) {
  const std::vector<std::vector<std::string>> unused{
      {"--side", "inside"},
      {"--target", "0,0,0"},
      {"--fov", "40"},
      {"--near", "1"},
      {"--width", "10"},
      {"--height", "10"},
      {"--image-kind", "depth"},
      {"--image-kind", "depth", "--pattern", "camera"},
      {"--radius", "1", "--pattern", "camera"},
      {"--side", "inside", "--pattern", "camera"},
      {"--seed", "1", "--pattern", "camera"},
      {"--radius", "1", "--pattern", "surface"},
      {"--origin", "0,0,0", "--pattern", "surface"},
      {"--near", "1", "--pattern", "surface"},
  };
  for (std::vector<std::string> arguments : unused) {
    const std::string option = arguments.front();
    arguments.push_back(data_file("cube.dae"));
    const Ended ended = trace(arguments);
    EXPECT_EQ(ended.code, 2) << testing::PrintToString(arguments);
    EXPECT_THAT(ended.err, HasSubstr(option + " has no effect with"));
    EXPECT_THAT(ended.out, IsEmpty());
  }
  const std::string cube = data_file("cube.dae");
  (void)traced({"--seed", "1", "--pattern", "surface", "--side", "outside", "--rays", "10", cube});
  (void)traced({"--origin", "9e3,9e3,9e3", "--target", "0,0,0", "--fov", "40", "--near", "1", "--width", "4",
                "--height", "4", "--rays", "20", "--seed", "1", "--pattern", "camera", cube});
  (void)traced({"--origin", "0,0,0", "--radius", "1", "--seed", "1", "--rays", "10", cube});
}

TEST(Enclosure, HoldsForBallsWithinAClosedSolid) {
  const Scene cube = load(data_file("cube.dae"));
  using Eigen::Vector3d;
  EXPECT_EQ(batch::enclosing_solid(cube, {{0, 0, 0}, 999}), 0U);
  EXPECT_EQ(batch::enclosing_solid(cube, {{0, 0, 0}, 1001}), std::nullopt);
  EXPECT_EQ(batch::enclosing_solid(cube, {{900, 0, 0}, 99}), 0U);
  EXPECT_EQ(batch::enclosing_solid(cube, {{900, 0, 0}, 101}), std::nullopt);
  EXPECT_EQ(batch::enclosing_solid(cube, {{1500, 0, 0}, 0}), std::nullopt);
  EXPECT_EQ(batch::enclosing_solid(load(data_file("open_box.dae")), {{0, 0, 0}, 0}), std::nullopt);
}

TEST(Trace, RefusesAUnitThatLeavesNoDigits) {
  const Ended option = trace({"--unit", "1e-40", data_file("cube.dae")});
  EXPECT_EQ(option.code, 2);
  EXPECT_THAT(option.err, HasSubstr("1e-15"));
  const TemporaryFolder folder;
  std::string text = bytes_in(data_file("cube.dae"));
  const auto meter = text.find("meter=\"");
  ASSERT_NE(meter, std::string::npos);
  text.replace(meter, text.find('"', meter + 7) - meter, "meter=\"1e-43");
  const Ended stated = trace({"--rays", "10", folder.write("tiny.dae", text)});
  EXPECT_EQ(stated.code, 4);
  EXPECT_THAT(stated.err, AllOf(HasSubstr("out of the range of floats"), HasSubstr("tiny.dae"), HasSubstr("--unit")));
  EXPECT_EQ(traced({"--rays", "10", "--unit", "1e-15", data_file("cube.dae")})["lost"], 0);
}

}  // namespace
}  // namespace raylift::test
