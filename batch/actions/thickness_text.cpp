// SPDX-License-Identifier: Apache-2.0
#include "thickness_text.h"

#include <fmt/format.h>
#include <raylift/geometry/error.h>

#include <algorithm>

#include "cli/table.h"
#include "cli/text.h"
#include "geometry/src/scene/thin_layers.h"

namespace raylift::batch {
using namespace cli;
namespace {

std::string path(const Scene& scene, std::uint32_t solid) {
  return scene.path(scene.instances[solid]);
}

/// Calls one(solid, thickness) for each solid that is not resolved, the first `most`, the thinnest first.
template <class One>
void for_each_unresolved(const ThicknessReport& report, std::size_t most, const One& one) {
  for (const ThicknessReport::Solids& thickness : report.found) {
    if (thickness.resolved()) continue;
    for (const std::uint32_t solid : thickness.solids) {
      if (most-- == 0) return;
      one(solid, thickness);
    }
  }
}

/// "2e-07 mm thick, and resolved to 4.5e-09 mm".
std::string thickness_and_resolution(const ThicknessReport::Solids& thickness) {
  return fmt::format("{} mm thick, and resolved to {} mm", short_number(thickness.thickness),
                     short_number(thickness.resolution));
}

std::string thinnest_text(const Scene& scene, const ThicknessReport& report, std::size_t most) {
  Table table({{"solid", Align::left},
               {"thickness, mm"},
               {"resolution, mm"},
               {"at, mm", Align::left},
               {"rays"},
               {"solids alike"}});
  const std::size_t shown = std::min(most, report.found.size());
  for (std::size_t i = 0; i != shown; ++i) {
    const ThicknessReport::Solids& one = report.found[i];
    table.add({path(scene, one.solids.front()), short_number(one.thickness), short_number(one.resolution),
               fmt::format("({:.3f}, {:.3f}, {:.3f})", one.place.x, one.place.y, one.place.z), grouped(one.rays),
               grouped(one.solids.size())});
  }
  std::string text = table.text(2);
  if (shown != report.found.size())
    text += fmt::format("  and {} that are thicker (--all lists them)\n", grouped(report.found.size() - shown));
  return text;
}

}  // namespace

ThicknessReport::Options thickness_options(const Scene& scene) {
  ThicknessReport::Options options;
  if (!has_thin_layers(scene)) options.position_step = kFloatPositionStep;
  return options;
}

std::string thickness_text(const Scene& scene, const ThicknessReport& report, std::size_t most,
                           std::size_t most_unresolved) {
  std::string text;
  if (!report.found.empty()) text += "\nthe thinnest solids\n" + thinnest_text(scene, report, most);
  if (report.unresolved_solids != 0) {
    text += "\nthinner than can be resolved\n";
    for_each_unresolved(report, most_unresolved, [&](std::uint32_t solid, const ThicknessReport::Solids& thickness) {
      text += "  " + printable(path(scene, solid)) + ": " + thickness_and_resolution(thickness) + '\n';
    });
    if (report.unresolved_solids > most_unresolved)
      text += fmt::format("  and {} (--all lists them)\n",
                          counted(report.unresolved_solids - most_unresolved, "further solid", "further solids"));
  }
  text += "\nthickness: ";
  if (report.found.empty())
    text += "no solid has two faces that face each other";
  else if (report.unresolved_solids == 0)
    text += fmt::format("resolved: {} mm or more", short_number(report.found.front().thickness));
  else
    text += fmt::format("not resolved: {} of {}", grouped(report.unresolved_solids),
                        counted(report.measured_solids, "solid", "solids"));
  text += fmt::format(" ({})\n", counted(report.rays, "ray", "rays"));
  if (report.unmeasured_solids != 0)
    text += fmt::format("  {} without two faces that face each other {} not measured\n",
                        counted(report.unmeasured_solids, "solid", "solids"),
                        report.unmeasured_solids == 1 ? "was" : "were");
  return text;
}

Json thickness_json(const Scene& scene, const ThicknessReport& report, std::size_t most) {
  Json json = {{"rays", report.rays},
               {"measured_solids", report.measured_solids},
               {"unmeasured_solids", report.unmeasured_solids},
               {"unresolved_solids", report.unresolved_solids},
               {"thinnest_mm", report.found.empty() ? Json() : Json(report.found.front().thickness)},
               {"found", Json::array()},
               {"unresolved", Json::array()}};
  for (std::size_t i = 0; i != std::min(most, report.found.size()); ++i) {
    const ThicknessReport::Solids& one = report.found[i];
    json["found"].push_back({{"first_solid", path(scene, one.solids.front())},
                             {"solids", one.solids.size()},
                             {"thickness_mm", one.thickness},
                             {"resolution_mm", one.resolution},
                             {"resolved", one.resolved()},
                             {"place_mm", point_json(one.place)},
                             {"rays", one.rays}});
  }
  for_each_unresolved(report, most, [&](std::uint32_t solid, const ThicknessReport::Solids& thickness) {
    json["unresolved"].push_back({{"solid", path(scene, solid)},
                                  {"thickness_mm", thickness.thickness},
                                  {"resolution_mm", thickness.resolution}});
  });
  return json;
}

void warn_of_thin_solids(const Scene& scene, const ThicknessReport& report,
                         const std::function<void(const std::string&)>& warn) {
  constexpr std::size_t kMaxWarnings = 20;
  for_each_unresolved(report, kMaxWarnings, [&](std::uint32_t solid, const ThicknessReport::Solids& thickness) {
    warn(fmt::format("{}: solid '{}' is thinner than can be resolved: {}", scene.source, path(scene, solid),
                     thickness_and_resolution(thickness)));
  });
  if (report.unresolved_solids > kMaxWarnings)
    warn(fmt::format("{}: {} thinner than can be resolved too; 'raylift check' lists them", scene.source,
                     counted(report.unresolved_solids - kMaxWarnings, "other solid is", "other solids are")));
}

void refuse_thin_solids(const Scene& scene, const ThicknessReport& report) {
  for_each_unresolved(report, 1, [&](std::uint32_t solid, const ThicknessReport::Solids& thickness) {
    const std::string others =
        report.unresolved_solids == 1
            ? ""
            : ", and " + counted(report.unresolved_solids - 1, "other solid is too", "other solids are too");
    throw Error(
        ErrorKind::unsupported,
        fmt::format("the solid is thinner than can be resolved: {}{}", thickness_and_resolution(thickness), others),
        {scene.source, "solid '" + path(scene, solid) + "'"},
        "give its mesh coordinates around the mesh's own origin, make the world smaller, or leave out --strict");
  });
}

}  // namespace raylift::batch
