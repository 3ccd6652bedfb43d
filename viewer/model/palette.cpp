// SPDX-License-Identifier: Apache-2.0
#include "model/palette.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "model/color_scale.h"

namespace raylift::viewer {
namespace {

/// OKLCH to sRGB, clipped (B. Ottosson, "A perceptual color space for image processing", 2020): equal steps look equal.
Color from_oklch(double lightness, double chroma, double hue) {
  const double a = chroma * std::cos(2 * std::numbers::pi * hue);
  const double b = chroma * std::sin(2 * std::numbers::pi * hue);
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  const std::array<double, 3> linear{4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                                     -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                                     -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
  Color color{};
  for (std::size_t i = 0; i < 3; ++i) color[i] = static_cast<float>(color_scale::to_srgb(linear[i]));
  return color;
}

}  // namespace

Color distinct_color(std::uint32_t index) {
  // Teal, orange, lavender, wine, lime, slate, sand, mint, brown, purple: found by a search for the greatest distance
  // of the nearest two under the four kinds of sight.
  static constexpr std::array<std::array<double, 3>, kSafeColors> kFirst{{{0.706, 0.083, 0.557},
                                                                          {0.734, 0.146, 0.186},
                                                                          {0.736, 0.125, 0.788},
                                                                          {0.431, 0.136, 0.036},
                                                                          {0.918, 0.109, 0.337},
                                                                          {0.483, 0.064, 0.703},
                                                                          {0.693, 0.054, 0.223},
                                                                          {0.903, 0.136, 0.479},
                                                                          {0.461, 0.097, 0.210},
                                                                          {0.423, 0.167, 0.835}}};
  if (index < kFirst.size()) return from_oklch(kFirst[index][0], kFirst[index][1], kFirst[index][2]);
  constexpr double kGoldenRatio = 0.6180339887498949;
  const double hue = std::fmod(index * kGoldenRatio, 1.0);
  const double lightness = 0.62 + 0.06 * (index % 4);
  return from_oklch(lightness, 0.09 + 0.02 * (index % 3), hue);
}

std::uint32_t packed(const Color& color) {
  const auto byte = [](float value) {
    return static_cast<std::uint32_t>(std::lround(std::clamp(value, 0.0F, 1.0F) * 255.0F));
  };
  return 0xFF000000U | byte(color[2]) << 16 | byte(color[1]) << 8 | byte(color[0]);
}

Color unpacked(std::uint32_t color) {
  const auto channel = [&](unsigned shift) { return static_cast<float>(color >> shift & 0xFFU) / 255.0F; };
  return {channel(0), channel(8), channel(16)};
}

LinearColor linear_color(const Color& color) {
  LinearColor linear{0, 0, 0, 1};
  for (std::size_t i = 0; i != 3; ++i) linear[i] = color_scale::to_linear(color[i]);
  return linear;
}

std::vector<LinearColor> linear_colors(std::span<const std::uint32_t> packed) {
  std::vector<LinearColor> linear;
  linear.reserve(packed.size());
  for (const std::uint32_t color : packed) linear.push_back(linear_color(unpacked(color)));
  return linear;
}

std::vector<std::uint32_t> material_palette(const Scene& scene) {
  std::vector<std::uint32_t> of_file;
  for (const Material& material : scene.materials)
    of_file.push_back(packed({material.color[0], material.color[1], material.color[2]}));
  const bool all_same = std::all_of(of_file.begin(), of_file.end(), [&](auto c) { return c == of_file.front(); });
  std::vector<std::uint32_t> palette = of_file;
  if (all_same && of_file.size() > 1)
    for (std::uint32_t i = 0; i != palette.size(); ++i) palette[i] = packed(distinct_color(i));
  palette.push_back(packed(kNoMaterialColor));
  return palette;
}

ColorTable color_table(const Scene& scene) {
  ColorTable table;
  table.colors = material_palette(scene);
  table.materials = static_cast<std::uint32_t>(table.colors.size());
  table.distinct = kDistinctColors;
  for (std::uint32_t i = 0; i < kDistinctColors; ++i) table.colors.push_back(packed(distinct_color(i)));
  for (const Color& color : {kDeviceColor, kHostColor, kBackFaceColor}) table.colors.push_back(packed(color));
  return table;
}

}  // namespace raylift::viewer
