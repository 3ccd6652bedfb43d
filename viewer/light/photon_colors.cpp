// SPDX-License-Identifier: Apache-2.0
#include "light/photon_colors.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "cli/options.h"
#include "model/colors/color_scale.h"
#include "model/colors/palette.h"

namespace raylift::viewer {
namespace {

/// One lobe of a colour matching function: a Gaussian with another width at each side.
double lobe(double x, double middle, double left, double right) {
  const double t = (x - middle) * (x < middle ? left : right);
  return std::exp(-0.5 * t * t);
}

constexpr int kLegendSteps = 33;
constexpr std::size_t kTicks = 4;  // about so many

/// The colours of a scale, and ticks at round values; `least` and `most` are the data's.
void add_scale(Legend& legend, const ValueScale& values, const ScaleColors& colors, double least, double most) {
  legend.ramp = colors.steps(kLegendSteps);
  legend.ticks = values.ticks(kTicks, least, most);
  legend.range = {values.low(), values.high()};
}

/// How many steps and points have each kind, by its number: of all light, and of what is drawn.
template <class Kind>
std::vector<Legend::Counted> count(const PhotonSet& set, const PhotonChoice& choice, const Kind& kind_of) {
  std::vector<std::uint64_t> counts;
  const auto count_one = [&](std::uint32_t kind) {
    if (kind >= counts.size()) counts.resize(std::size_t{kind} + 1);
    ++counts[kind];
  };
  for (const DrawnRow& step : choice.steps) count_one(kind_of(set.rows[step.row], step.material));
  for (const DrawnRow& point : choice.points) count_one(kind_of(set.points[point.row], point.material));
  std::vector<Legend::Counted> found;
  for (std::uint32_t kind = 0; kind != counts.size(); ++kind)
    if (counts[kind] != 0) found.push_back({kind, counts[kind], counts[kind]});
  return found;
}

}  // namespace

Color wavelength_color(double nanometres) {
  // Beyond these the hue hardly changes any more, and the fit is no longer good.
  const double w = std::clamp(nanometres, 420.0, 650.0);
  const double x = 1.056 * lobe(w, 599.8, 0.0264, 0.0323) + 0.362 * lobe(w, 442.0, 0.0624, 0.0374) -
                   0.065 * lobe(w, 501.1, 0.0490, 0.0382);
  const double y = 0.821 * lobe(w, 568.8, 0.0213, 0.0247) + 0.286 * lobe(w, 530.9, 0.0613, 0.0322);
  const double z = 1.217 * lobe(w, 437.0, 0.0845, 0.0278) + 0.681 * lobe(w, 459.0, 0.0385, 0.0725);
  // To linear sRGB (IEC 61966-2-1). White is added to what the screen has not, and the brightest channel becomes 1.
  std::array<double, 3> rgb{3.2406 * x - 1.5372 * y - 0.4986 * z, -0.9689 * x + 1.8758 * y + 0.0415 * z,
                            0.0557 * x - 0.2040 * y + 1.0570 * z};
  const double least = std::min({0.0, rgb[0], rgb[1], rgb[2]});
  for (double& channel : rgb) channel -= least;
  const double most = std::max({rgb[0], rgb[1], rgb[2]});
  const double bright =
      1 - 0.75 * std::clamp((420 - nanometres) / 40, 0.0, 1.0) - 0.75 * std::clamp((nanometres - 650) / 70, 0.0, 1.0);
  Color color{};
  for (std::size_t i = 0; i != 3; ++i) color[i] = color_scale::to_srgb(static_cast<float>(bright * rgb[i] / most));
  return color;
}

Color event_color(std::uint32_t number, const Ground& ground) {
  // The ten colours that differ in any colour vision are those of the most frequent events: by the number of each, its
  // colour.
  constexpr std::array<std::uint32_t, 16> kColors{10, 9, 5, 11, 3, 1, 7, 4, 8, 12, 13, 2, 0, 6, 14, 15};
  return vivid_color(kColors[number & 15U], ground);
}

Color photon_color(std::uint32_t number, const Ground& ground) {
  return vivid_color(number % kDistinctColors, ground);
}

PhotonColor shown_color(const PhotonSettings& settings, const LightStatistics& of) {
  if (settings.color != PhotonColor::automatic) return settings.color;
  return of.one_wavelength() && of.run() ? PhotonColor::time : PhotonColor::wavelength;
}

ValueScale time_scale(const PhotonSettings& settings, const LightStatistics& times) {
  return {settings.scale(), times.first(), times.quantile(kUsual)};
}

PhotonColorTable photon_color_table(const Scene& scene, ColorMap map, const Ground& ground) {
  PhotonColorTable table;
  std::vector<std::uint32_t>& colors = table.colors;
  for (std::uint32_t i = 0; i != PhotonColorTable::kWavelengths; ++i)
    colors.push_back(packed(legible(wavelength_color(PhotonColorTable::kFirstWavelength + i), ground)));
  for (const Color& color : ScaleColors(map, ground).steps(kScaleSteps)) colors.push_back(packed(color));
  for (std::uint32_t i = 0; i != PhotonColorTable::kEvents; ++i) colors.push_back(packed(event_color(i, ground)));
  const std::vector<std::uint32_t> materials = material_palette(scene);
  colors.insert(colors.end(), materials.begin(), materials.end());
  table.numbers = static_cast<std::uint32_t>(colors.size());
  for (std::uint32_t i = 0; i != kDistinctColors; ++i) colors.push_back(packed(photon_color(i, ground)));
  return table;
}

Legend photon_legend(const PhotonSet& set, const PhotonChoice& choice, const LightStatistics& times, const Scene& scene,
                     const Settings& settings, std::size_t most) {
  Legend legend;
  const PhotonColor color = shown_color(settings.photons, times);
  const Ground ground = ground_of(settings.background);
  legend.title = "light: " + cli::name_of(color, kPhotonColorNames);
  if (color == PhotonColor::wavelength) {
    legend.title += ", nm";
    constexpr double kFirst = 380, kLast = 720;
    for (int i = 0; i != kLegendSteps; ++i)
      legend.ramp.push_back(
          legible(wavelength_color(std::lerp(kFirst, kLast, static_cast<double>(i) / (kLegendSteps - 1))), ground));
    legend.ticks =
        ValueScale({}, kFirst, kLast)
            .ticks(kTicks, static_cast<double>(set.wavelengths.low), static_cast<double>(set.wavelengths.high));
  } else if (color == PhotonColor::time) {
    legend.title += ", ns";
    add_scale(legend, time_scale(settings.photons, times), {settings.photons.scale_map, ground}, times.first(),
              times.last());
  } else if (color == PhotonColor::process) {
    const auto event_of = [](const photon::PhotonRow& row, std::uint32_t) { return photon::event_of_flag(row.flag); };
    legend.add_counted(count(set, choice, event_of), most, [&](std::uint32_t event) {
      return Legend::Entry{
          event_color(event, ground),
          std::string(photon::event_abbreviation(event)) + ", " + std::string(photon::event_name(event)), 0};
    });
  } else if (color == PhotonColor::material) {
    const std::vector<std::uint32_t> palette = material_palette(scene);
    const auto material_of = [](const photon::PhotonRow&, std::uint32_t material) { return material; };
    legend.add_counted(count(set, choice, material_of), most, [&](std::uint32_t material) {
      return material >= scene.materials.size()
                 ? Legend::Entry{kNoMaterialColor, "none", 0}
                 : Legend::Entry{unpacked(palette[material]), scene.materials[material].name, 0};
    });
  } else {
    legend.entries = {{photon_color(0, ground), "a colour for each photon", 0}};
  }
  return legend;
}

bool share_scale(const Settings& settings, const LightStatistics* light) {
  return settings.color == ColorBy::first_hit && light != nullptr && settings.scale_map == settings.photons.scale_map;
}

HitScale hit_scale(const SolidHits& hits, const Settings& settings, const LightStatistics* light) {
  const Ground ground = ground_of(settings.background);
  if (share_scale(settings, light)) return {time_scale(settings.photons, *light), {settings.photons.scale_map, ground}};
  if (settings.color == ColorBy::hits)
    return {{settings.scale(), 1, static_cast<double>(std::max(1U, hits.most))}, {settings.scale_map, ground}};
  if (hits.times.empty()) return {{settings.scale(), 0, 1}, {settings.scale_map, ground}};
  // As of light: the last few would give all others one colour.
  return {{settings.scale(), static_cast<double>(hits.times.low), hits.usual_time}, {settings.scale_map, ground}};
}

std::vector<std::uint32_t> hit_colors(const SolidHits& hits, ColorBy color, const HitScale& scale) {
  std::vector<std::uint32_t> colors;
  colors.reserve(hits.counts.size());
  for (std::size_t i = 0; i != hits.counts.size(); ++i) {
    const double value =
        color == ColorBy::hits ? static_cast<double>(hits.counts[i]) : static_cast<double>(hits.first_times[i]);
    colors.push_back(packed(hits.counts[i] == 0 ? kNoHitColor : scale.colors.at(scale.values.place(value))));
  }
  return colors;
}

Legend hit_legend(const SolidHits& hits, ColorBy color, const HitScale& scale) {
  Legend legend;
  const bool counts = color == ColorBy::hits;
  legend.title = counts ? "hits, photons" : "first hit, ns";
  legend.entries = {{kNoHitColor, "no hit", 0}};
  if (hits.most == 0) return legend;
  add_scale(legend, scale.values, scale.colors, counts ? 1 : static_cast<double>(hits.times.low),
            counts ? static_cast<double>(hits.most) : static_cast<double>(hits.times.high));
  return legend;
}

}  // namespace raylift::viewer
