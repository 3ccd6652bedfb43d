// SPDX-License-Identifier: Apache-2.0
#include "model/colors/palette.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "model/colors/color_scale.h"
#include "model/colors/oklab.h"

namespace raylift::viewer {
namespace {

/// A colour of OKLCH: lightness, chroma, and the hue as a share of the circle.
Color from_oklch(const std::array<double, 3>& lch) {
  const double angle = 2 * std::numbers::pi * lch[2];
  return from_oklab({lch[0], lch[1] * std::cos(angle), lch[1] * std::sin(angle)});
}

/// Steps around the circle of hues by the golden ratio.
double hue_of(std::uint32_t index) {
  constexpr double kGoldenRatio = 0.6180339887498949;
  return std::fmod(index * kGoldenRatio, 1.0);
}

}  // namespace

Color distinct_color(std::uint32_t index) {
  index %= kDistinctColors;
  // Teal, sand, periwinkle, bronze, pale, navy, brown, ice, warm grey, mauve: found by a search for the greatest
  // distance of the nearest two under the four kinds of sight, with little chroma: materials fill most of an image.
  static constexpr std::array<std::array<double, 3>, kSafeColors> kFirst{{{0.602, 0.080, 0.588},
                                                                          {0.852, 0.082, 0.206},
                                                                          {0.741, 0.083, 0.746},
                                                                          {0.636, 0.081, 0.198},
                                                                          {0.859, 0.025, 0.296},
                                                                          {0.450, 0.083, 0.715},
                                                                          {0.444, 0.081, 0.138},
                                                                          {0.878, 0.074, 0.584},
                                                                          {0.673, 0.023, 0.286},
                                                                          {0.456, 0.027, 0.984}}};
  if (index < kFirst.size()) return from_oklch(kFirst[index]);
  return from_oklch({0.62 + 0.06 * (index % 4), 0.055 + 0.015 * (index % 3), hue_of(index)});
}

Color vivid_color(std::uint32_t index, const Ground& ground) {
  // Found by the same search, with much chroma, contrast to the ground, and distance to those of distinct_color().
  using Colors = std::array<std::array<double, 3>, kSafeColors>;
  static constexpr Colors kOnDark{{{0.667, 0.132, 0.462},
                                   {0.679, 0.167, 0.154},
                                   {0.745, 0.147, 0.834},
                                   {0.604, 0.239, 0.043},
                                   {0.923, 0.183, 0.315},
                                   {0.588, 0.212, 0.760},
                                   {0.827, 0.110, 0.935},
                                   {0.900, 0.150, 0.453},
                                   {0.592, 0.128, 0.922},
                                   {0.926, 0.163, 0.374}}};
  static constexpr Colors kOnLight{{{0.533, 0.163, 0.731},
                                    {0.564, 0.207, 0.092},
                                    {0.542, 0.281, 0.820},
                                    {0.334, 0.128, 0.073},
                                    {0.544, 0.085, 0.995},
                                    {0.347, 0.206, 0.759},
                                    {0.555, 0.138, 0.078},
                                    {0.432, 0.107, 0.864},
                                    {0.208, 0.109, 0.827},
                                    {0.215, 0.087, 0.976}}};
  const bool dark = ground.dark();
  if (index < kSafeColors) return legible(from_oklch((dark ? kOnDark : kOnLight)[index]), ground);
  return legible(from_oklch({(dark ? 0.66 : 0.42) + 0.06 * (index % 4), 0.15, hue_of(index)}), ground);
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
