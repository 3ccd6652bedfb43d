// SPDX-License-Identifier: Apache-2.0
#include "draw/overlay/legends.h"

#include <raylift/geometry/scene/solids.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "cli/text.h"
#include "draw/overlay/overlay_builder.h"
#include "geometry/src/scene/names.h"
#include "light/photon_colors.h"
#include "meshes/draw_list.h"
#include "model/colors/color_map.h"
#include "model/colors/palette.h"
#include "model/solids/solids.h"

namespace raylift::viewer {
namespace {

/// How many solids have each of the kinds that `kinds` gives for a solid, and how many of them are visible.
template <class Kinds>
std::vector<Legend::Counted> count(const Scene& scene, std::span<const std::uint8_t> looks,
                                   std::span<const std::uint32_t> own_colors, const Kinds& kinds) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Legend::Counted> counts;
  for (std::uint32_t i = 0; i != scene.instances.size(); ++i)
    for (const std::uint32_t kind : kinds(i)) {
      const std::uint32_t own = own_colors.empty() ? 0 : own_colors[i];
      Legend::Counted& of = counts.try_emplace(std::pair(kind, own), Legend::Counted{kind, 0, 0, own}).first->second;
      ++of.all;
      if (!looks.empty() && looks[i] == static_cast<std::uint8_t>(Look::hidden)) continue;
      ++of.shown;
      of.solids.push_back(i);
    }
  std::vector<Legend::Counted> all;
  for (const auto& [kind, of] : counts) all.push_back(of);
  return all;
}

/// Removes Geant4's pointers behind names that are unique without them.
void shorten_names(std::vector<Legend::Entry>& entries) {
  std::map<std::string, std::set<std::string>> whole;
  for (const Legend::Entry& entry : entries) whole[std::string(base_name(entry.name))].insert(entry.name);
  for (Legend::Entry& entry : entries)
    if (std::string name(base_name(entry.name)); whole[name].size() == 1) entry.name = std::move(name);
}

using Point = OverlayBuilder::Point;
using Paint = OverlayBuilder::Paint;

// In pixels of an image 720 high.
constexpr float kLetter = 8, kPitch = 18, kMargin = 14, kInner = 10, kSwatch = 12, kBesideSwatch = 8, kMinRamp = 150;
constexpr float kBelow = 64;           // for the scale bar
constexpr float kLargestShare = 0.4F;  // of the image's width

Paint opaque(const Color& color) {
  return {color[0], color[1], color[2], 1};
}

/// A line of the plate: a title, an entry with its colour, or a ramp.
struct Row {
  std::string words;
  const Legend::Entry* entry = nullptr;
  const Legend* ramp = nullptr;
};

std::vector<Row> rows_of(std::span<const Legend> legends, std::size_t most) {
  std::vector<Row> rows;
  for (const Legend& legend : legends) {
    if (!rows.empty()) rows.emplace_back();
    rows.push_back({legend.title});
    if (!legend.ramp.empty()) rows.push_back({{}, nullptr, &legend});
    if (!legend.ramp.empty() && !legend.ticks.empty()) rows.emplace_back();  // for the labels
    const std::size_t shown = std::min(legend.entries.size(), most / legends.size());
    for (std::size_t i = 0; i != shown; ++i) rows.push_back({legend.entries[i].text(), &legend.entries[i]});
    const std::uint64_t more = legend.more + legend.entries.size() - shown;
    if (more != 0) rows.push_back({"and " + cli::grouped(more) + " more"});
    if (!legend.note.empty()) rows.push_back({legend.note});
  }
  return rows;
}

/// The text, or as much of its begin as is so wide, with dots.
std::string fitted(const std::string& words, float width, float letter) {
  if (OverlayBuilder::text_width(words, letter) <= width) return words;
  std::string part = words;
  do {
    // A letter of UTF-8 goes as a whole.
    while (!part.empty() && (static_cast<unsigned char>(part.back()) & 0xC0U) == 0x80) part.pop_back();
    if (!part.empty()) part.pop_back();
  } while (!part.empty() && OverlayBuilder::text_width(part + "...", letter) > width);
  return part + "...";
}

/// The left edge of a tick's label, which stays within the ramp.
float label_left(const Tick& tick, float width, float letter) {
  const float words = OverlayBuilder::text_width(tick.label, letter);
  return std::clamp(width * tick.place - 0.5F * words, 0.0F, std::max(0.0F, width - words));
}

/// So wide that labels don't touch, as far as that is possible.
float ramp_width(const Legend& legend, float letter) {
  constexpr float kWidest = 3;  // of the narrowest
  const auto touch = [&](float width) {
    for (std::size_t i = 1; i < legend.ticks.size(); ++i)
      if (label_left(legend.ticks[i], width, letter) <
          label_left(legend.ticks[i - 1], width, letter) +
              OverlayBuilder::text_width(legend.ticks[i - 1].label, letter) + letter)
        return true;
    return false;
  };
  const float narrow = kMinRamp * letter / kLetter;
  float width = narrow;
  while (width < kWidest * narrow && touch(width)) width += letter;
  return width;
}

/// The width of the widest row.
float width_of(std::span<const Row> rows, int width, float scale) {
  const float letter = kLetter * scale, beside = (kSwatch + kBesideSwatch) * scale;
  float wide = 0;
  for (const Row& row : rows)
    wide = std::max({wide, OverlayBuilder::text_width(row.words, letter) + (row.entry != nullptr ? beside : 0),
                     row.ramp != nullptr ? ramp_width(*row.ramp, letter) : 0});
  return std::min(wide, kLargestShare * static_cast<float>(width));
}

void add_ramp(OverlayBuilder& builder, const Legend& legend, const Point& at, float width, float scale,
              const Paint& ink) {
  builder.rectangle(at - Point(1, 1), at + Point(width + 1, kSwatch * scale + 1), ink);  // seen in any colour
  const auto steps = static_cast<float>(legend.ramp.size());
  for (std::size_t i = 0; i != legend.ramp.size(); ++i) {
    const float from = width * static_cast<float>(i) / steps, to = width * static_cast<float>(i + 1) / steps;
    builder.rectangle(at + Point(from, 0), at + Point(to, kSwatch * scale), opaque(legend.ramp[i]));
  }
  const float mark = std::max(1.0F, scale);
  for (const Tick& tick : legend.ticks) {
    const float middle = std::clamp(width * tick.place, 0.5F * mark, width - 0.5F * mark);
    builder.rectangle(at + Point(middle - 0.5F * mark, -3 * scale), at + Point(middle + 0.5F * mark, 0), ink);
    builder.text(at + Point(label_left(tick, width, kLetter * scale), -(kPitch - 3) * scale), tick.label,
                 kLetter * scale, ink);
  }
}

/// Which solids lie in one that is opaque, and that no plane cuts, so that they are not seen from outside.
std::vector<std::uint8_t> covered_solids(const Solids& solids, const SolidTree& tree, const Settings& settings,
                                         std::span<const std::uint8_t> looks) {
  std::vector<std::uint8_t> covering(tree.size(), 0), covered(tree.size(), 0);
  if (settings.wireframe || settings.opacity < 1) return covered;
  const std::vector<ClipPlane> planes = settings.planes();
  for (std::uint32_t i = 0; i != tree.size(); ++i) {
    const Look look = looks.empty() ? Look::solid : static_cast<Look>(looks[i]);
    if (look != Look::solid && look != Look::edged) continue;
    const bool whole =
        std::none_of(planes.begin(), planes.end(), [&](const ClipPlane& plane) { return solids.meets(i, plane); });
    covering[i] = whole ? 1 : 0;
  }
  for (std::uint32_t i = 0; i != tree.size(); ++i)
    for (std::uint32_t mother = tree.mother[i]; mother != kNone && covered[i] == 0; mother = tree.mother[mother])
      covered[i] = covering[mother];
  return covered;
}

/// An entry for each optical surface, with where it is if the outside of the solids does not show it.
void add_surfaces(const Solids& solids, const Settings& settings, std::span<const std::uint8_t> looks, std::size_t most,
                  Legend& legend) {
  const Scene& scene = solids.scene();
  const std::vector<SolidSurfaces> surfaces = surfaces_of_solids(scene);
  const auto surfaces_of = [&](std::uint32_t i) {
    const SolidSurfaces of = surfaces.empty() ? SolidSurfaces() : surfaces[i];
    return std::set<std::uint32_t>{of.outside(), of.inside()};
  };
  const auto name = [&](std::uint32_t solid) {
    return std::string(base_name(scene.solid_name(scene.instances[solid])));
  };
  std::vector<std::uint32_t> listed;
  legend.add_counted(count(scene, looks, solids.colors(), surfaces_of), most, [&](std::uint32_t surface) {
    listed.push_back(surface);
    return surface == kNone ? Legend::Entry{kNoMaterialColor, "none", 0}
                            : Legend::Entry{distinct_color(surface), scene.optics.surfaces[surface].name, 0};
  });
  if (surfaces.empty()) return;
  const SolidTree tree = solid_tree(scene);
  const std::vector<std::uint8_t> covered = covered_solids(solids, tree, settings, looks);
  for (std::size_t k = 0; k != listed.size(); ++k) {
    Legend::Entry& entry = legend.entries[k];
    if (listed[k] == kNone) continue;
    const auto on_the_inside = [&](std::uint32_t i) { return surfaces[i].outside() != listed[k]; };
    if (std::all_of(entry.solids.begin(), entry.solids.end(), on_the_inside)) {
      entry.where = "on inner sides";
      entry.hint = "Light meets it on its way out of " + name(entry.solids.front()) +
                   ", so that the inner side of its faces shows it: clip (X), or look from inside";
      continue;
    }
    const auto is_covered = [&](std::uint32_t i) { return covered[i] != 0; };
    const auto first = std::find_if(entry.solids.begin(), entry.solids.end(), is_covered);
    const auto count = static_cast<std::size_t>(std::count_if(entry.solids.begin(), entry.solids.end(), is_covered));
    if (count == 0) continue;
    entry.where = (count == entry.solids.size() ? "" : cli::grouped(count) + " ") + "covered";
    entry.hint = name(*first) + (count == 1 ? " lies in an opaque solid" : " and others lie in opaque solids") +
                 ": cut those (X), draw them as glass or hide them";
  }
  for (const Optics::Border& border : scene.optics.borders) {
    if (tree.mother[border.from] == border.to || tree.mother[border.to] == border.from) continue;
    const std::uint32_t surface = scene.optics.assignments[border.assignment].surface;
    if (std::find(listed.begin(), listed.end(), surface) != listed.end()) continue;
    listed.push_back(surface);
    legend.entries.push_back({distinct_color(surface),
                              scene.optics.surfaces[surface].name,
                              0,
                              {},
                              "between neighbours",
                              "It is where " + name(border.from) + " touches " + name(border.to) +
                                  ": no solid has its colour; the tab Surfaces selects both"});
  }
}

}  // namespace

Legend make_legend(const Solids& solids, const Settings& settings, std::span<const std::uint8_t> looks,
                   std::optional<std::pair<double, double>> depths, std::size_t most) {
  const Scene& scene = solids.scene();
  const std::span<const std::uint32_t> own_colors = solids.colors();
  Legend legend;
  const ScaleColors colors(settings.scale_map, ground_of(settings.background));
  constexpr int kSteps = 33;
  if (settings.ray_cast == RayMode::depth) {
    legend.title = "depth";
    legend.ramp = colors.steps(kSteps);
    std::reverse(legend.ramp.begin(), legend.ramp.end());  // what is near stands out
    if (!depths) return legend;
    const auto [near, far] = *depths;
    legend.ticks = {
        {0, rounded_length_text(near)}, {0.5F, rounded_length_text(0.5 * (near + far))}, {1, rounded_length_text(far)}};
  } else if (settings.ray_cast == RayMode::crossings) {
    legend.title = "crossings";
    legend.ramp = colors.steps(kSteps);
    constexpr int kMaxDoublings = 6;
    for (int i = 0; i <= kMaxDoublings; ++i)
      legend.ticks.push_back({static_cast<float>(i) / kMaxDoublings, std::to_string(1 << i)});
  } else if (settings.ray_cast == RayMode::normal || settings.color == ColorBy::normal) {
    legend.title = "outward normal";
    legend.entries = {{{1, 0.5F, 0.5F}, "+x", 0}, {{0, 0.5F, 0.5F}, "-x", 0}, {{0.5F, 1, 0.5F}, "+y", 0},
                      {{0.5F, 0, 0.5F}, "-y", 0}, {{0.5F, 0.5F, 1}, "+z", 0}, {{0.5F, 0.5F, 0}, "-z", 0}};
  } else if (settings.ray_cast == RayMode::solid || settings.color == ColorBy::solid) {
    legend.title = "solids";
    const auto each = [](std::uint32_t i) { return std::array{i}; };
    legend.add_counted(count(scene, looks, own_colors, each), most, [&](std::uint32_t i) {
      return Legend::Entry{distinct_color(i), scene.solid_name(scene.instances[i]), 0};
    });
    for (Legend::Entry& entry : legend.entries) entry.count = 0;
  } else if (settings.color == ColorBy::mesh) {
    legend.title = "meshes";
    const auto mesh_of = [&](std::uint32_t i) { return std::array{scene.instances[i].mesh}; };
    legend.add_counted(count(scene, looks, own_colors, mesh_of), most, [&](std::uint32_t mesh) {
      return Legend::Entry{distinct_color(mesh), scene.meshes[mesh].name, 0};
    });
  } else if (settings.color == ColorBy::residency) {
    legend.title = "residency";
    legend.entries = {{kDeviceColor, "device memory", 0}, {kHostColor, "host memory", 0}};
  } else if (settings.color == ColorBy::surface) {
    legend.title = "optical surfaces";
    add_surfaces(solids, settings, looks, most, legend);
  } else {
    legend.title = "materials";
    const std::vector<std::uint32_t> palette = material_palette(scene);
    const auto materials_of = [&](std::uint32_t i) {
      std::set<std::uint32_t> materials;
      for (std::size_t part = 0; part != scene.meshes[scene.instances[i].mesh].parts.size(); ++part)
        materials.insert(scene.material(scene.instances[i], part));
      return materials;
    };
    legend.add_counted(count(scene, looks, own_colors, materials_of), most, [&](std::uint32_t material) {
      return material == kNone ? Legend::Entry{kNoMaterialColor, "none", 0}
                               : Legend::Entry{unpacked(palette[material]), scene.materials[material].name, 0};
    });
  }
  shorten_names(legend.entries);
  return legend;
}

std::vector<Legend> make_legends(const Solids& solids, const Settings& settings, std::span<const std::uint8_t> looks,
                                 std::optional<std::pair<double, double>> depths, const Photons& photons,
                                 const std::optional<SolidHits>& hits, const LightShown& shown, std::size_t most) {
  constexpr std::size_t kMaxOfLight = 12;
  std::vector<Legend> legends;
  const bool drawn = settings.ray_cast == RayMode::off;
  const LightStatistics* light = photons.statistics_of_time(settings.photons);
  const bool one_time = drawn && share_scale(settings, light);
  if (settings.colors_hits() && drawn) {
    const SolidHits none, &of = hits ? *hits : none;
    legends.push_back(hit_legend(of, settings.color, hit_scale(of, settings, light)));
  } else {
    legends.push_back(make_legend(solids, settings, looks, depths, most));
  }
  if (photons.set() && drawn) {
    const PhotonChoice& choice = photons.choice(settings.photons.filter);
    Legend of_light = photon_legend(*photons.set(), choice, photons.statistics(), solids.scene(), settings,
                                    std::min(most, kMaxOfLight));
    of_light.of_light = true;
    of_light.note = shown_text(settings.photons, shown, choice);
    if (one_time) {  // one scale, which both have
      of_light.title = "time of light and first hit, ns";
      of_light.entries = legends.front().entries;
      legends.clear();
    }
    legends.push_back(std::move(of_light));
  }
  std::erase_if(legends, [](const Legend& legend) { return legend.title.empty(); });
  return legends;
}

std::size_t most_legend_entries(int height) {
  constexpr float kOthers = 6;  // rows: titles, what is between, counts
  const float rows =
      (static_cast<float>(height) / overlay_scale(height) - kBelow - kMargin - 2 * kInner) / kPitch - kOthers;
  return static_cast<std::size_t>(std::clamp(rows, 2.0F, 24.0F));
}

float legends_width(std::span<const Legend> legends, int width, int height) {
  if (legends.empty() || is_thumbnail(width, height)) return 0;
  const float scale = overlay_scale(height);
  return width_of(rows_of(legends, most_legend_entries(height)), width, scale) + 2 * (kInner + kMargin) * scale;
}

void add_legends(std::span<const Legend> legends, int width, int height, Overlay& overlay,
                 const Background& background) {
  if (legends.empty() || is_thumbnail(width, height)) return;
  const float scale = overlay_scale(height), letter = kLetter * scale;
  const std::vector<Row> rows = rows_of(legends, most_legend_entries(height));
  const float beside = (kSwatch + kBesideSwatch) * scale;
  const float wide = width_of(rows, width, scale);
  const bool light = is_light(background);
  const Paint plate = light ? Paint{1, 1, 1, 0.9F} : kPlatePaint;
  const Paint ink = light ? overlay_ink(light) : kPlateInk;

  OverlayBuilder builder(overlay);
  const Point corner(static_cast<float>(width) - kMargin * scale, static_cast<float>(height) - kMargin * scale);
  const float high = (static_cast<float>(rows.size()) * kPitch + 2 * kInner) * scale;
  builder.rectangle(corner - Point(wide + 2 * kInner * scale, high), corner, plate);
  Point at = corner - Point(wide + kInner * scale, (kInner + 0.5F * (kPitch + kLetter)) * scale);
  for (const Row& row : rows) {
    const Point words = row.entry != nullptr ? Point(at + Point(beside, 0)) : at;
    if (row.entry != nullptr) {
      const Point low = at - Point(0, 0.5F * (kSwatch * scale - letter)), side(kSwatch * scale, kSwatch * scale);
      builder.rectangle(low - Point(1, 1), low + side + Point(1, 1), ink);  // seen in any colour
      builder.rectangle(low, low + side, opaque(row.entry->color));
    }
    if (row.ramp != nullptr) add_ramp(builder, *row.ramp, at, wide, scale, ink);
    builder.text(words, fitted(row.words, wide - (words - at).x(), letter), letter, ink);
    at.y() -= kPitch * scale;
  }
}

}  // namespace raylift::viewer
