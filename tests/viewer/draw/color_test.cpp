// SPDX-License-Identifier: Apache-2.0
// Colours that all eyes distinguish, simulated, and the legend that names them.
#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "draw/overlay/legends.h"
#include "geometry/src/scene/names.h"
#include "model/colors/color_map.h"
#include "model/colors/palette.h"
#include "model/colors/value_scale.h"
#include "model/solids/solids.h"
#include "support/paths.h"

namespace raylift::viewer {
namespace {

struct Eyesight {
  const char* name;
  Eigen::Matrix3d simulation;  // of linear sRGB
};

Eigen::Matrix3d rows(std::initializer_list<double> numbers) {
  Eigen::Matrix3d matrix;
  int i = 0;
  for (const double number : numbers) matrix(i / 3, i % 3) = number, ++i;
  return matrix;
}

/// Machado, Oliveira, Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", 2009, table
/// 1: severity 1.
std::vector<Eyesight> eyesights() {
  return {{"normal", Eigen::Matrix3d::Identity()},
          {"protanopia",
           rows({0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998})},
          {"deuteranopia",
           rows({0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881})},
          {"tritanopia",
           rows({1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900})}};
}

/// CIELAB, D65.
Eigen::Vector3d lab(const Color& srgb, const Eyesight& eyesight) {
  Eigen::Vector3d linear;
  for (int i = 0; i < 3; ++i) {
    const double c = double{srgb[static_cast<std::size_t>(i)]};
    linear[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  }
  const Eigen::Vector3d seen = (eyesight.simulation * linear).cwiseMax(0).cwiseMin(1);
  const Eigen::Vector3d xyz =
      rows({0.4124564, 0.3575761, 0.1804375, 0.2126729, 0.7151522, 0.0721750, 0.0193339, 0.1191920, 0.9503041}) * seen;
  const auto f = [](double t) { return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116; };
  const double x = f(xyz[0] / 0.95047), y = f(xyz[1]), z = f(xyz[2] / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double worst_pair(const std::vector<Color>& colors, const Eyesight& eyesight) {
  double worst = 1e9;
  for (std::size_t a = 0; a != colors.size(); ++a)
    for (std::size_t b = 0; b != a; ++b)
      worst = std::min(worst, (lab(colors[a], eyesight) - lab(colors[b], eyesight)).norm());
  return worst;
}

TEST(Palette, ItsFirstColorsAreToldApartByAllEyes) {
  std::vector<Color> colors;
  for (std::uint32_t i = 0; i < kSafeColors; ++i) colors.push_back(distinct_color(i));
  for (const Eyesight& eyesight : eyesights()) {
    const double worst = worst_pair(colors, eyesight);
    RecordProperty(std::string("worst_pair_") + eyesight.name, std::to_string(worst));
    EXPECT_GT(worst, 20) << eyesight.name;
  }
  EXPECT_LT(worst_pair({{0.33F, 0.56F, 0.81F}, {0.56F, 0.45F, 0.79F}}, eyesights()[2]), 5)
      << "blue and violet, without green";
}

const std::array kGrounds{ground_of(parse_background("dark")), ground_of(parse_background("light"))};

/// Light has colours of its own: none means a material too.
TEST(Palette, OfLightIsLegibleAndNotThatOfMaterials) {
  for (const Ground& ground : kGrounds) {
    std::vector<Color> light;
    for (std::uint32_t i = 0; i != kSafeColors; ++i) light.push_back(vivid_color(i, ground));
    for (const Eyesight& eyesight : eyesights()) EXPECT_GT(worst_pair(light, eyesight), 22) << eyesight.name;
    for (const Color& one : light)
      for (std::uint32_t i = 0; i != kSafeColors; ++i)
        EXPECT_GT((lab(one, eyesights()[0]) - lab(distinct_color(i), eyesights()[0])).norm(), 18) << i;
    for (std::uint32_t i = 0; i != 64; ++i) EXPECT_GE(contrast(vivid_color(i, ground), ground), 3 - 1e-6) << i;
  }
}

TEST(Scales, BeginAtTheContrastOfTheGroundAndGoAwayFromIt) {
  for (const Ground& ground : kGrounds)
    for (std::size_t map = 0; map != kColorMapNames.size(); ++map) {
      const ScaleColors colors(static_cast<ColorMap>(map), ground);
      double before = 0;
      for (const Color& color : colors.steps(64)) {
        const double now = contrast(color, ground);
        EXPECT_GE(now, 3 - 1e-6) << kColorMapNames[map];
        EXPECT_GT(now, before - 0.02) << kColorMapNames[map] << ": monotonic";
        before = now;
      }
      EXPECT_LT(contrast(colors.at(0), ground), 3.1) << kColorMapNames[map] << ": as much of the map as there is";
      EXPECT_GT(before, ground.dark() ? 9 : 4.5) << kColorMapNames[map];
    }
}

TEST(Scales, OfSolidsAndOfLightHaveDifferentColors) {
  for (const Ground& ground : kGrounds) {
    const ScaleColors solids(Settings().scale_map, ground), light(PhotonSettings().scale_map, ground);
    double nearest = 1e9;
    for (const Color& a : solids.steps(32))
      for (const Color& b : light.steps(32))
        nearest = std::min(nearest, (lab(a, eyesights()[0]) - lab(b, eyesights()[0])).norm());
    EXPECT_GT(nearest, 5);
  }
}

TEST(Scales, OfAGroundWithoutContrastAreWhole) {
  const ScaleColors colors(ColorMap::gray, {0, 1});
  EXPECT_NE(colors.at(0), colors.at(1));
  EXPECT_TRUE(Ground().dark());
  EXPECT_FALSE((Ground{1, 1}).dark());
}

TEST(Scales, HaveTicksAtRoundNumbers) {
  const auto labels = [](const ScaleSettings& settings, double low, double high, double least, double most) {
    std::string all;
    for (const Tick& tick : ValueScale(settings, low, high).ticks(4, least, most)) all += tick.label + '|';
    return all;
  };
  EXPECT_EQ(labels({}, 3.2, 87.9, 3.2, 87.9), "20|40|60|80|") << "about four";
  EXPECT_EQ(labels({}, 0, 1, 0, 1), "0|0.2|0.4|0.6|0.8|1|");
  EXPECT_EQ(labels({}, -1.5, 1.5, -1.5, 1.5), "-1|0|1|");
  EXPECT_EQ(labels({}, 1, 1, 1, 1), "1|");
  EXPECT_EQ(labels({}, 0, 50, 0, 900), "0|10|20|30|> 50|") << "later values have its colour";
  EXPECT_EQ(labels({ColorMap::viridis, false, Between<double>{10, 50}}, 0, 900, 0, 900), "< 10|20|30|40|> 50|");
  EXPECT_EQ(labels({ColorMap::viridis, true, {}}, 1, 9000, 1, 9000), "1|10|100|1000|");
  EXPECT_EQ(labels({ColorMap::viridis, true, {}}, 1, 40, 1, 40), "1|2|5|10|20|");
  EXPECT_EQ(labels({ColorMap::viridis, true, {}}, 1, 1e12, 1, 1e12), "1|1000|1e+06|1e+09|1e+12|");
  const ValueScale log({ColorMap::viridis, true, {}}, 0, 1000);
  EXPECT_EQ(log.low(), 1) << "three decades, where values begin at 0";
  EXPECT_NEAR(log.place(10), 1.0 / 3, 1e-9);
  EXPECT_EQ(log.place(0), 0);
}

TEST(Palette, DeviceAndHostMemoryAreToldApartByAllEyes) {
  for (const Eyesight& eyesight : eyesights())
    EXPECT_GT(worst_pair({kDeviceColor, kHostColor}, eyesight), 40) << eyesight.name;
}

class Legends : public testing::Test {
 protected:
  Legend legend(ColorBy color, RayMode rays = RayMode::off) {
    Settings settings;
    settings.color = color;
    settings.ray_cast = rays;
    return make_legend(Solids(scene_), settings, looks_, std::pair(1000.0, 3000.0));
  }
  Scene scene_ = load(test::data("detector.dae"));
  std::vector<std::uint8_t> looks_ = std::vector<std::uint8_t>(scene_.instances.size(), 1);
};

TEST_F(Legends, NameTheVisibleMaterialsInTheirColors) {
  const Legend all = legend(ColorBy::material);
  EXPECT_EQ(all.title, "materials");
  std::set<std::string> names;
  const std::vector<std::uint32_t> palette = material_palette(scene_);
  for (const Legend::Entry& entry : all.entries) {
    names.insert(entry.name);
    bool known = false;
    for (std::size_t m = 0; m != scene_.materials.size(); ++m)
      known |= base_name(scene_.materials[m].name) == entry.name && palette[m] == packed(entry.color);
    EXPECT_TRUE(known) << entry.name;
    EXPECT_GT(entry.count, 0U);
  }
  EXPECT_EQ(names.size(), all.entries.size());
  EXPECT_GT(names.size(), 4U);
  EXPECT_GE(all.entries[0].count, all.entries[1].count) << "the most solids first";
  // Hidden solids have no place in it, and the others keep theirs.
  for (std::size_t i = 0; i != looks_.size(); ++i)
    if (const Mesh& mesh = scene_.meshes[scene_.instances[i].mesh];
        !mesh.parts.empty() &&
        base_name(scene_.materials[scene_.material(scene_.instances[i], 0)].name) == all.entries[0].name && i % 50 != 0)
      looks_[i] = 0;
  const Legend fewer = legend(ColorBy::material);
  ASSERT_EQ(fewer.entries.size(), all.entries.size());
  EXPECT_LT(fewer.entries[0].count, fewer.entries[1].count);
  for (std::size_t i = 0; i != all.entries.size(); ++i) EXPECT_EQ(fewer.entries[i].name, all.entries[i].name);
  std::fill(looks_.begin(), looks_.end(), std::uint8_t{0});
  EXPECT_TRUE(legend(ColorBy::material).entries.empty());
  looks_[3] = 2;
  EXPECT_EQ(legend(ColorBy::material).entries.size(), 1U);
}

TEST_F(Legends, LeaveOutPointersBehindNamesThatAreToldApartWithoutThem) {
  const auto has = [&](const std::string& name) {
    const std::vector<Legend::Entry> entries = legend(ColorBy::material).entries;
    return std::any_of(entries.begin(), entries.end(), [&](const Legend::Entry& one) { return one.name == name; });
  };
  EXPECT_TRUE(has("Glass"));
  for (Material& material : scene_.materials)
    if (base_name(material.name) == "Glass" || base_name(material.name) == "Water")
      material.name = base_name(material.name) == "Glass" ? "Water0x63556b1" : "Water0x63556b0";
  EXPECT_TRUE(has("Water0x63556b1") && has("Water0x63556b0")) << "two materials of one name";
  EXPECT_TRUE(has("Acrylic"));
}

TEST_F(Legends, AreThereForEveryColoring) {
  for (const ColorBy color :
       {ColorBy::material, ColorBy::solid, ColorBy::mesh, ColorBy::residency, ColorBy::normal, ColorBy::surface}) {
    const Legend one = legend(color);
    EXPECT_FALSE(one.title.empty()) << static_cast<int>(color);
    EXPECT_FALSE(one.entries.empty()) << static_cast<int>(color);
    EXPECT_LE(one.entries.size(), 24U);
  }
  EXPECT_EQ(legend(ColorBy::solid).more + 24, scene_.instances.size());
  EXPECT_EQ(legend(ColorBy::residency).entries[0].color, kDeviceColor);
  const Legend depth = legend(ColorBy::material, RayMode::depth);
  ASSERT_EQ(depth.ticks.size(), 3U);
  EXPECT_EQ(depth.ticks[1].label, "2 m");
  EXPECT_GT(luminance(depth.ramp.front()), luminance(depth.ramp.back())) << "what is near stands out";
  EXPECT_EQ(legend(ColorBy::material, RayMode::crossings).ticks.size(), 7U);
}

}  // namespace
}  // namespace raylift::viewer
