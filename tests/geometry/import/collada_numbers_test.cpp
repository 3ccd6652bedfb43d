// SPDX-License-Identifier: Apache-2.0
// The numbers of COLLADA: each is rounded once, as the C library rounds it, and those of long texts and of many
// geometries come out the same as those of short texts, one after the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>
#include <thread>
#include <tuple>

#include "collada_documents.h"
#include "import/collada/collada_text.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace raylift {
namespace {

using test::expect_error;
using ::testing::HasSubstr;

std::string formatted(const char* format, double value) {
  char text[400];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// One text of many numbers against strtof, bit for bit.
void expect_rounded_once(const std::vector<std::string>& numbers) {
  std::string text;
  for (const std::string& number : numbers) text += number + (text.size() % 3 == 0 ? "\n" : " ");
  const collada::Floats read = collada::read_floats(text);
  ASSERT_FALSE(read.bad) << *read.bad;
  ASSERT_EQ(read.values.size(), numbers.size());
  for (std::size_t i = 0; i != numbers.size(); ++i)
    ASSERT_EQ(std::bit_cast<std::uint32_t>(read.values[i]),
              std::bit_cast<std::uint32_t>(std::strtof(numbers[i].c_str(), nullptr)))
        << numbers[i];
}

TEST(ColladaNumbers, AreRoundedOnce) {
  std::mt19937_64 random(1);
  std::vector<std::string> numbers;
  for (int i = 0; i != 40'000; ++i) {
    const float any = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isfinite(any)) continue;
    const double value = std::uniform_real_distribution(-1e4, 1e4)(random);
    for (const char* format : {"%.9g", "%.6g", "%.17g"}) numbers.push_back(formatted(format, any));
    for (const char* format : {"%.3f", "%.7f", "%.15f", "%.25f", "%e", "%+.4E", "%.0f", "%.0f."})
      numbers.push_back(formatted(format, value));
  }
  expect_rounded_once(numbers);
}

TEST(ColladaNumbers, AreRoundedOnceBesideTheBoundariesOfFloats) {
  std::mt19937_64 random(2);
  std::vector<std::string> numbers;
  for (int i = 0; i != 20'000; ++i) {
    const float low = std::uniform_real_distribution(1e-3F, 1e5F)(random);
    const double middle = (double{low} + double{std::nextafter(low, 1e9F)}) / 2;
    const std::string exact = formatted("%.40f", middle);  // all of its digits
    numbers.push_back(exact);
    numbers.push_back(exact + "1");
    for (const char* format : {"%.15g", "%.16g", "%.17g", "%.18g", "%.19g"})
      numbers.push_back(formatted(format, middle));
    for (const double away : {-1e9, 1e9}) numbers.push_back(formatted("%.19g", std::nextafter(middle, away)));
  }
  expect_rounded_once(numbers);
}

TEST(ColladaNumbers, AreRoundedOnceAtTheEndsOfTheRange) {
  expect_rounded_once({"0",
                       "-0",
                       "+0.0",
                       "0e999999999",
                       ".5",
                       "5.",
                       "-.5e1",
                       "+5.E-1",
                       "3.4028234663852886e38",
                       "3.4028235677973366e38",
                       "3.40282356779733661637539395458142568447e38",
                       "3.4028235677973362e38",
                       "1e39",
                       "-1e39",
                       "1e400",
                       "1e999999999",
                       "-1e999999999",
                       "1.17549435e-38",
                       "1.17549428e-38",
                       "1e-45",
                       "7.006492321624085e-46",
                       "7.006492321624086e-46",
                       "1e-46",
                       "-1e-46",
                       "1e-400",
                       "1e-999999999",
                       "0.00001e40",
                       "0." + std::string(100, '0') + "1e101",
                       "0." + std::string(500, '0') + "1e450",
                       "0." + std::string(500, '0') + "1e560",
                       "9007199254740993",
                       "9999999999999999999",
                       "16777217",
                       "16777217.",
                       "-16777219.e0",
                       ".1e-40",
                       "-.7006492321624085e-45",
                       "00000000000.1e-40",
                       ".1e-400",
                       "16777219",
                       "0.1" + std::string(300, '0') + "1",
                       "1e22",
                       "1e23",
                       "123456789012345678e-22",
                       "123456789012345678e-23"});
}

TEST(ColladaNumbers, MayBeNoNumbersOrInfinite) {
  const collada::Floats read = collada::read_floats("NaN -inf INF +Infinity -nan");
  ASSERT_EQ(read.values.size(), 5U);
  EXPECT_FALSE(read.bad);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(read.values[0]) && std::isnan(read.values[4]));
  EXPECT_EQ(read.values[1], -kInfinity);
  EXPECT_EQ(read.values[2], kInfinity);
  EXPECT_EQ(read.values[3], kInfinity);
}

TEST(ColladaNumbers, AreRefusedByTheFirstThatIsNone) {
  for (const std::string bad : {"1,5", "-", "+", ".", "e5", "1e", "1e+", "1e1234567890", "12345678901234567890",
                                "1.2.3", "--1", "0x1p3", "nano", "-i", "1e5.", "infinit"})
    EXPECT_EQ(collada::read_floats("1 2 " + bad + " x").bad, bad);
  for (const std::string bad : {"-1", "1.0", "4294967296", "+", "12345678901", "a"}) {
    std::vector<std::uint32_t> taken;
    EXPECT_EQ(collada::read_indices("1 +2 4294967295 " + bad + " x", 1, 0, taken).bad, bad);
  }
}

// Texts that several threads read -----------------------------------------------------------------------------------

TEST(ColladaNumbers, OfALongTextComeInOrder) {
  std::string text;
  std::vector<float> expected;
  std::mt19937 random(3);
  while (text.size() < (std::size_t{5} << 20)) {
    const float value = std::uniform_real_distribution(-100.0F, 100.0F)(random);
    text += formatted("%.9g", value) + std::string(1 + random() % 4, random() % 2 != 0 ? ' ' : '\n');
    expected.push_back(value);
  }
  collada::Floats read = collada::read_floats(text);
  EXPECT_FALSE(read.bad);
  EXPECT_TRUE(read.values == expected);
  text.insert(text.find(' ', text.size() - 100), " late");
  text.insert(text.find(' ', text.size() / 2), " early");
  EXPECT_EQ(collada::read_floats(text).bad, "early");
}

TEST(ColladaNumbers, OfALongListOfIndicesAreTakenAtTheirPosition) {
  std::mt19937 random(4);
  for (const std::size_t stride : {1, 2, 3, 7}) {
    std::string text;
    std::vector<std::uint32_t> all;
    while (text.size() < (std::size_t{3} << 20)) {
      all.push_back(static_cast<std::uint32_t>(random() >> random() % 32));
      text += std::to_string(all.back()) + (random() % 2 != 0 ? "\t" : "\r\n ");
    }
    for (std::size_t position = 0; position != stride; ++position) {
      std::vector<std::uint32_t> taken{42};
      const collada::IndexScan scan = collada::read_indices(text, stride, position, taken);
      EXPECT_FALSE(scan.bad);
      EXPECT_EQ(scan.count, all.size());
      std::vector<std::uint32_t> expected{42};
      std::uint32_t largest = 0;
      for (std::size_t point = 0; point != all.size() / stride; ++point) {
        expected.push_back(all[point * stride + position]);
        largest = std::max(largest, expected.back());
      }
      EXPECT_TRUE(taken == expected) << stride << " " << position;
      EXPECT_EQ(scan.largest, largest);
    }
  }
}

// Scenes of many geometries ------------------------------------------------------------------------------------------

class ColladaMeshes : public ::testing::Test {
 protected:
  Scene load_text(const std::string& text, const LoadOptions& options = {}, const Progress& progress = {}) {
    return load(folder_.write("scene.dae", text), options, progress);
  }
  test::TemporaryFolder folder_;
};

/// What a reader makes of triangles that gives each corner a vertex, and then joins equal ones.
Mesh joined(const std::vector<Float3>& positions, const std::vector<std::uint32_t>& corners) {
  Mesh mesh;
  std::map<std::tuple<float, float, float>, std::uint32_t> known;
  for (std::size_t i = 0; i != corners.size(); ++i) {
    const Float3& p = positions[corners[i]];
    const auto [entry, added] = known.try_emplace({p.x, p.y, p.z}, static_cast<std::uint32_t>(mesh.vertices.size()));
    if (added) mesh.vertices.push_back(p);
    if (i % 3 == 0) mesh.triangles.emplace_back();
    (&mesh.triangles.back().x)[i % 3] = entry->second;
  }
  return mesh;
}

/// A geometry of random triangles in two primitives, over positions that repeat and are not all used.
struct RandomGeometry {
  std::vector<Float3> positions;
  std::vector<std::uint32_t> corners;
  std::string text;

  RandomGeometry(const std::string& id, std::size_t count, std::size_t triangles, std::mt19937& random) {
    std::string numbers;
    for (std::size_t i = 0; i != count; ++i) {
      const auto value = [&] { return static_cast<float>(random() % 40) / 8; };
      positions.push_back({value(), value(), value()});
      for (const float v : {positions[i].x, positions[i].y, positions[i].z}) numbers += formatted("%.4f ", v);
    }
    numbers += "NaN NaN NaN";  // used by none
    std::array<std::string, 2> lists;
    for (std::size_t i = 0; i != 3 * triangles; ++i) {
      corners.push_back(static_cast<std::uint32_t>(random() % count));
      lists[i < 3 * (triangles / 2) ? 0 : 1] += std::to_string(corners.back()) + " ";
    }
    text =
        test::geometry(id, numbers, count + 1,
                       test::triangles(lists[0], triangles / 2) + test::triangles(lists[1], triangles - triangles / 2));
  }
};

TEST_F(ColladaMeshes, NumberTheirVerticesByFirstUse) {
  std::mt19937 random(5);
  std::vector<RandomGeometry> geometries;
  std::string all;
  std::string nodes;
  for (const std::size_t triangles : {2, 10, 300, 30'000}) {
    const std::string id = "g" + std::to_string(triangles);
    geometries.emplace_back(id, 5 + 2 * triangles, triangles, random);
    all += geometries.back().text;
    nodes += test::node("n" + id, id);
  }
  const Scene scene = load_text(test::document(all, nodes));
  LoadOptions apart;
  apart.weld.enabled = false;
  const Scene unwelded = load_text(test::document(all, nodes), apart);
  ASSERT_EQ(scene.meshes.size(), geometries.size());
  std::uint64_t corners = 0;
  for (std::size_t i = 0; i != geometries.size(); ++i) {
    const Mesh expected = joined(geometries[i].positions, geometries[i].corners);
    EXPECT_TRUE(scene.meshes[i].vertices == expected.vertices) << i;
    EXPECT_TRUE(scene.meshes[i].triangles == expected.triangles) << i;
    ASSERT_EQ(scene.meshes[i].parts.size(), 2U);
    corners += geometries[i].corners.size();
    ASSERT_EQ(unwelded.meshes[i].vertices.size(), geometries[i].corners.size());
    for (std::size_t k = 0; k != geometries[i].corners.size(); ++k)
      ASSERT_EQ(unwelded.meshes[i].vertices[k], geometries[i].positions[geometries[i].corners[k]]);
  }
  EXPECT_EQ(scene.report.vertices_before_weld, corners);
  EXPECT_EQ(unwelded.report.vertices_before_weld, corners);
}

TEST_F(ColladaMeshes, OfManyPolygonsAreCutAsThoseOfFew) {
  // More corners than one importer takes, and a geometry of triangles between two of polygons.
  constexpr std::size_t kSide = 300;
  const auto grid = [](const std::string& id, std::size_t side) {
    std::string positions;
    std::string indices;
    std::string sizes;
    for (std::size_t y = 0; y <= side; ++y)
      for (std::size_t x = 0; x <= side; ++x) positions += std::to_string(x) + " " + std::to_string(y) + " 0 ";
    for (std::size_t y = 0; y != side; ++y)
      for (std::size_t x = 0; x != side; ++x) {
        const std::size_t a = y * (side + 1) + x;
        for (const std::size_t corner : {a, a + 1, a + side + 2, a + side + 1}) indices += std::to_string(corner) + " ";
        sizes += "4 ";
      }
    return test::geometry(id, positions, (side + 1) * (side + 1),
                          "<polylist count=\"" + std::to_string(side * side) +
                              "\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><vcount>" + sizes +
                              "</vcount><p>" + indices + "</p></polylist>");
  };
  const Scene scene = load_text(test::document(
      grid("large", kSide) + test::cube("cube") + grid("other", 2),
      test::node("l", "large") + test::node("c", "cube") + test::node("o", "other") + test::node("l2", "large")));
  ASSERT_EQ(scene.meshes.size(), 3U);
  EXPECT_EQ(scene.meshes[1].triangles.size(), 12U);
  EXPECT_EQ(scene.meshes[2].triangles.size(), 8U);
  EXPECT_EQ(scene.meshes[0].vertices.size(), (kSide + 1) * (kSide + 1));
  ASSERT_EQ(scene.meshes[0].triangles.size(), 2 * kSide * kSide);
  for (const UInt3& t : scene.meshes[0].triangles) {
    const std::vector<Float3>& v = scene.meshes[0].vertices;
    ASSERT_EQ((v[t.y].x - v[t.x].x) * (v[t.z].y - v[t.x].y) - (v[t.z].x - v[t.x].x) * (v[t.y].y - v[t.x].y), 1);
  }
}

/// The error of the first geometry is given, whichever thread has found its own first.
TEST_F(ColladaMeshes, GiveTheErrorThatComesFirst) {
  const auto broken = [](const std::string& id, const std::string& word) {
    return test::geometry(id, "0 0 0 1 0 0 0 1 " + word, 3, test::triangles("0 1 2", 1));
  };
  std::string geometries;
  std::string nodes;
  for (int i = 0; i != 50; ++i) {
    const std::string id = "g" + std::to_string(i);
    geometries = (i < 20 ? test::cube(id) : broken(id, "word" + std::to_string(i))) + geometries;
    nodes += test::node("n" + id, id);
  }
  const auto error_of = [&](const std::string& all) {
    return expect_error(ErrorKind::malformed, [&] { (void)load_text(test::document(geometries, all)); });
  };
  EXPECT_THAT(error_of(nodes).problem(), HasSubstr("word20"));
  EXPECT_THAT(error_of(nodes + test::node("last", "missing")).problem(), HasSubstr("word20"));
  EXPECT_THAT(error_of(test::node("first", "missing") + nodes).problem(), HasSubstr("missing"));
}

TEST_F(ColladaMeshes, CountTrianglesInOrder) {
  LoadOptions options;
  options.limits.triangles = 30;
  const std::string third = test::geometry("broken", "0 0 0", 1, test::triangles("0 0 1", 1));
  const std::string cubes = test::node("1", "a") + test::node("2", "b");
  const auto error_of = [&](ErrorKind kind, const std::string& nodes) {
    return expect_error(kind, [&] {
      (void)load_text(test::document(test::cube("a") + test::cube("b") + test::cube("c") + third, nodes), options);
    });
  };
  EXPECT_THAT(error_of(ErrorKind::limit, cubes + test::node("3", "c") + test::node("4", "broken")).element(),
              HasSubstr("'c'"));
  EXPECT_THAT(error_of(ErrorKind::malformed, cubes + test::node("4", "broken") + test::node("3", "c")).problem(),
              HasSubstr("out of range"));
}

TEST_F(ColladaMeshes, ReportProgressFromTheCallingThreadAlone) {
  std::mt19937 random(6);
  std::string geometries;
  std::string nodes;
  for (int i = 0; i != 100; ++i) {  // work enough for other threads to take some
    const std::string id = "g" + std::to_string(i);
    geometries += RandomGeometry(id, 600, 2000, random).text;
    nodes += test::node("n" + id, id);
  }
  const std::thread::id caller = std::this_thread::get_id();
  std::map<std::string, std::uint64_t, std::less<>> done;
  const Progress progress([&](std::string_view stage, std::uint64_t so_far, std::uint64_t) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    done[std::string(stage)] = so_far;
    return true;
  });
  (void)load_text(test::document(geometries, nodes), {}, progress);
  EXPECT_GT(done["convert"], 0U);
  EXPECT_GT(done["weld"], 0U);
  for (const std::string stop : {"convert", "weld"}) {
    const Progress cancel(
        [&](std::string_view stage, std::uint64_t so_far, std::uint64_t) { return stage != stop || so_far == 0; });
    (void)expect_error(ErrorKind::cancelled, [&] { (void)load_text(test::document(geometries, nodes), {}, cancel); });
  }
}

}  // namespace
}  // namespace raylift
