// SPDX-License-Identifier: Apache-2.0
#include "overlap_text.h"

#include <fmt/format.h>
#include <raylift/geometry/scene/solids.h>

#include <algorithm>

#include "cli/table.h"
#include "cli/text.h"

namespace raylift::batch {
using namespace cli;
namespace {

std::string words(Overlap::Kind kind) {
  switch (kind) {
    case Overlap::Kind::crosses_mother:
      return "crosses its mother";
    case Overlap::Kind::outside_mother:
      return "is outside its mother";
    case Overlap::Kind::siblings_cross:
      return "crosses its sibling";
    case Overlap::Kind::contains_sibling:
      return "contains its sibling";
    case Overlap::Kind::siblings_coincide:
      return "coincides with its sibling";
  }
  return "overlaps";
}

std::string path(const Scene& scene, std::uint32_t solid) {
  return scene.path(scene.instances[solid]);
}

/// No solid lies in another one by the file's tree: which may be all that is wrong.
bool flat(const Scene& scene) {
  const SolidTree tree = solid_tree(scene);
  return std::all_of(tree.mother.begin(), tree.mother.end(), [](std::uint32_t mother) { return mother == kNone; });
}

std::string table_of(const Scene& scene, const std::vector<Overlap>& overlaps, std::size_t most) {
  // The facets of most formats are the surfaces.
  const bool facets =
      std::any_of(overlaps.begin(), overlaps.end(), [](const Overlap& overlap) { return overlap.facets != 0; });
  std::vector<Table::Column> columns{
      {"solid", Align::left}, {"overlap", Align::left}, {"solid", Align::left}, {"depth, mm"}};
  if (facets) columns.push_back({"facets, mm"});
  columns.push_back({"at, mm", Align::left});
  columns.push_back({"pairs alike"});
  Table table(std::move(columns));
  const std::size_t shown = std::min(most, overlaps.size());
  for (std::size_t i = 0; i != shown; ++i) {
    const Overlap& overlap = overlaps[i];
    const Double3& at = overlap.place;
    std::vector<std::string> row{path(scene, overlap.first), words(overlap.kind), path(scene, overlap.second),
                                 short_number(overlap.depth)};
    if (facets) row.push_back(short_number(overlap.facets));
    row.push_back(fmt::format("({:.3f}, {:.3f}, {:.3f})", at.x, at.y, at.z));
    row.push_back(grouped(overlap.pairs));
    table.add(std::move(row));
  }
  std::string text = table.text(2);
  if (shown != overlaps.size())
    text += fmt::format("  and {} that are less deep (--all lists them)\n", grouped(overlaps.size() - shown));
  return text;
}

/// What to think of first where the file's tree may mean something else than raylift takes it for.
std::string advice(const Scene& scene, const OverlapReport& report) {
  if (report.overlaps.empty()) return "";
  if (flat(scene))
    return R"(  No solid of this file has a mother, so all are siblings, which must not overlap. If they are meant to lie in each
  other, the file's nodes have to say so. --no-overlaps leaves this test out.
)";
  const bool outside = std::any_of(report.overlaps.begin(), report.overlaps.end(), [](const Overlap& overlap) {
    return overlap.kind == Overlap::Kind::outside_mother;
  });
  if (!outside) return "";
  return R"(  A solid's mother is the solid of the nearest node above its own. If this file's nodes do not say which solid lies
  in which, these overlaps mean nothing. --no-overlaps leaves this test out.
)";
}

}  // namespace

std::string overlaps_text(const Scene& scene, const OverlapReport& report, std::size_t most) {
  std::string text;
  if (!report.overlaps.empty()) text += "\noverlaps, the deepest first\n" + table_of(scene, report.overlaps, most);
  if (!report.by_tessellation.empty())
    text += "\noverlaps that may be by tessellation alone, the deepest first\n" +
            table_of(scene, report.by_tessellation, most);
  if (!report.touching.empty()) {
    text += "\npairs that touch\n";
    for (const auto& [first, second] : report.touching)
      text += "  " + printable(path(scene, first)) + " and " + printable(path(scene, second)) + '\n';
    if (const std::uint64_t more = report.touching_pairs - report.touching.size(); more != 0)
      text += fmt::format("  and {} (--touching lists them)\n", counted(more, "further pair", "further pairs"));
  }
  text += "\noverlaps: ";
  if (report.overlaps.empty())
    text += fmt::format("no ({} tested)", counted(report.pairs, "pair of solids", "pairs of solids"));
  else
    text +=
        fmt::format("yes: {}, by up to {} mm", counted(report.overlapping_pairs, "pair of solids", "pairs of solids"),
                    short_number(report.overlaps.front().depth));
  if (report.touching_pairs != 0)
    text += fmt::format("; {} without an overlap", counted(report.touching_pairs, "pair touches", "pairs touch"));
  text += '\n';
  if (!report.by_tessellation.empty())
    text +=
        fmt::format("  by tessellation: {} by no more than facets lie off the true surfaces, and count as touching\n",
                    counted(report.tessellation_pairs, "further pair overlaps", "further pairs overlap"));
  if (report.undecided_pairs != 0)
    text += fmt::format("  {} of those that touch could not be decided\n", grouped(report.undecided_pairs));
  if (report.untested_solids != 0)
    text +=
        fmt::format("  {} without an inside (not watertight, or flat) {} not tested\n",
                    counted(report.untested_solids, "solid", "solids"), report.untested_solids == 1 ? "was" : "were");
  return text + advice(scene, report);
}

namespace {

Json list_json(const Scene& scene, const std::vector<Overlap>& overlaps, std::size_t most) {
  Json list = Json::array();
  for (std::size_t i = 0; i != std::min(most, overlaps.size()); ++i) {
    const Overlap& overlap = overlaps[i];
    list.push_back({{"kind", to_string(overlap.kind)},
                    {"first", path(scene, overlap.first)},
                    {"second", path(scene, overlap.second)},
                    {"place_mm", point_json(overlap.place)},
                    {"depth_mm", overlap.depth},
                    {"depth_at_most_mm", overlap.depth_at_most},
                    {"facets_mm", overlap.facets},
                    {"pairs", overlap.pairs}});
  }
  return list;
}

}  // namespace

Json overlaps_json(const Scene& scene, const OverlapReport& report, std::size_t most) {
  Json json = {{"pairs", report.pairs},
               {"tests", report.tests},
               {"overlapping_pairs", report.overlapping_pairs},
               {"tessellation_pairs", report.tessellation_pairs},
               {"touching_pairs", report.touching_pairs},
               {"undecided_pairs", report.undecided_pairs},
               {"untested_solids", report.untested_solids},
               {"deepest_mm", report.overlaps.empty() ? Json() : Json(report.overlaps.front().depth)},
               {"found", list_json(scene, report.overlaps, most)},
               {"by_tessellation", list_json(scene, report.by_tessellation, most)},
               {"touching", Json::array()}};
  for (const auto& [first, second] : report.touching)
    json["touching"].push_back(Json::array({path(scene, first), path(scene, second)}));
  return json;
}

}  // namespace raylift::batch
