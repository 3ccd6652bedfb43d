// SPDX-License-Identifier: Apache-2.0
#include "light/photon_colors.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/options.h"
#include "cli/text.h"
#include "model/color_scale.h"
#include "model/palette.h"

namespace raylift::viewer {
namespace {

/// One lobe of a colour matching function: a Gaussian with another width at each side.
double lobe(double x, double middle, double left, double right) {
  const double t = (x - middle) * (x < middle ? left : right);
  return std::exp(-0.5 * t * t);
}

/// Rounded to a thousandth of the range at most: what a label can be read for.
std::string time_text(double nanoseconds, double range) {
  const double step = range > 0 ? std::pow(10.0, std::floor(std::log10(range)) - 2) : 0.001;
  // Steps below 1 by a product: so the number has no more digits than it is rounded to.
  const double rounded = step < 1 ? std::round(nanoseconds * std::round(1 / step)) / std::round(1 / step)
                                  : std::round(nanoseconds / step) * step;
  return cli::short_number(rounded) + " ns";
}

constexpr int kLegendSteps = 32;

void add_time_labels(Legend& legend, const ValueRange& times) {
  if (times.empty()) return;
  const auto low = static_cast<double>(times.low), range = static_cast<double>(times.high) - low;
  for (int i = 0; i <= 2; ++i) legend.labels.push_back(time_text(low + 0.5 * i * range, range));
}

/// How many of the steps and points that are drawn have each kind, by its number.
template <class Kind>
std::vector<std::pair<std::uint32_t, std::uint64_t>> count(const PhotonSet& set, const PhotonChoice& choice,
                                                           const Kind& kind_of) {
  std::vector<std::uint64_t> counts;
  const auto count_one = [&](std::uint32_t kind) {
    if (kind >= counts.size()) counts.resize(std::size_t{kind} + 1);
    ++counts[kind];
  };
  for (const DrawnRow& step : choice.steps) count_one(kind_of(set.rows[step.row], step.material));
  for (const DrawnRow& point : choice.points) count_one(kind_of(set.points[point.row], point.material));
  std::vector<std::pair<std::uint32_t, std::uint64_t>> found;
  for (std::uint32_t kind = 0; kind != counts.size(); ++kind)
    if (counts[kind] != 0) found.emplace_back(kind, counts[kind]);
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

Color ramp_color(double value) {
  const Float3 linear = color_scale::ramp(static_cast<float>(std::clamp(value, 0.0, 1.0)));
  return {color_scale::to_srgb(linear.x), color_scale::to_srgb(linear.y), color_scale::to_srgb(linear.z)};
}

void add_ramp(Legend& legend) {
  for (int i = 0; i <= kLegendSteps; ++i) legend.ramp.push_back(ramp_color(1.0 * i / kLegendSteps));
}

Color event_color(std::uint32_t number) {
  // The ten that are distinct under colour blindness are for the most frequent events: by the number of each, its
  // distinct colour.
  constexpr std::array<std::uint32_t, 16> kColors{10, 9, 5, 11, 3, 1, 7, 4, 8, 12, 13, 2, 0, 6, 14, 15};
  return distinct_color(kColors[number & 15U]);
}

PhotonColorTable photon_color_table(const Scene& scene) {
  PhotonColorTable table;
  std::vector<std::uint32_t>& colors = table.colors;
  for (std::uint32_t i = 0; i != PhotonColorTable::kWavelengths; ++i)
    colors.push_back(packed(wavelength_color(PhotonColorTable::kFirstWavelength + i)));
  for (std::uint32_t i = 0; i != PhotonColorTable::kRamp; ++i)
    colors.push_back(packed(ramp_color(1.0 * i / (PhotonColorTable::kRamp - 1))));
  for (std::uint32_t i = 0; i != PhotonColorTable::kEvents; ++i) colors.push_back(packed(event_color(i)));
  const std::vector<std::uint32_t> materials = material_palette(scene);
  colors.insert(colors.end(), materials.begin(), materials.end());
  table.numbers = static_cast<std::uint32_t>(colors.size());
  for (std::uint32_t i = 0; i != kDistinctColors; ++i) colors.push_back(packed(distinct_color(i)));
  return table;
}

Legend photon_legend(const PhotonSet& set, const PhotonChoice& choice, const Scene& scene, PhotonColor color,
                     std::size_t most) {
  Legend legend;
  legend.title = "light: " + cli::name_of(color, kPhotonColorNames);
  if (color == PhotonColor::wavelength) {
    for (int i = 0; i <= kLegendSteps; ++i) legend.ramp.push_back(wavelength_color(380 + 340.0 * i / kLegendSteps));
    legend.labels = {"UV, 380", "550", "720 nm, IR"};
  } else if (color == PhotonColor::time) {
    add_ramp(legend);
    add_time_labels(legend, set.times);
  } else if (color == PhotonColor::flag) {
    const auto event_of = [](const photon::PhotonRow& row, std::uint32_t) { return photon::event_of_flag(row.flag); };
    legend.add_counted(count(set, choice, event_of), most, [](std::uint32_t event) {
      return Legend::Entry{
          event_color(event),
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
    legend.entries = {{distinct_color(0), "a colour for each photon", 0}};
  }
  return legend;
}

std::vector<std::uint32_t> hit_colors(const SolidHits& hits, ColorBy color) {
  std::vector<std::uint32_t> colors;
  const double span = static_cast<double>(hits.times.high) - static_cast<double>(hits.times.low);
  for (std::size_t i = 0; i != hits.counts.size(); ++i) {
    const double value =
        color == ColorBy::hits ? (hits.most > 1 ? (hits.counts[i] - 1.0) / (hits.most - 1.0) : 1)
        // The first is yellow.
        : span > 0 ? 1 - (static_cast<double>(hits.first_times[i]) - static_cast<double>(hits.times.low)) / span
                   : 1;
    colors.push_back(packed(hits.counts[i] == 0 ? kNoHitColor : ramp_color(value)));
  }
  return colors;
}

Legend hit_legend(const SolidHits& hits, ColorBy color) {
  Legend legend;
  legend.title = color == ColorBy::hits ? "hits" : "time of the first hit";
  legend.entries = {{kNoHitColor, "no hit", 0}};
  if (hits.most == 0) return legend;
  add_ramp(legend);
  if (color == ColorBy::hits) {
    legend.labels = {"1", cli::grouped(hits.most)};
    return legend;
  }
  std::reverse(legend.ramp.begin(), legend.ramp.end());
  add_time_labels(legend, hits.times);
  return legend;
}

}  // namespace raylift::viewer
