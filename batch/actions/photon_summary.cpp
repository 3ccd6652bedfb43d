// SPDX-License-Identifier: Apache-2.0
#include "photon_summary.h"

#include <fmt/format.h>
#include <raylift/gpu/upload/optics_arrays.h>

#include <cmath>

#include "cli/placement_options.h"
#include "cli/table.h"
#include "cli/text.h"

namespace raylift::batch {
using namespace cli;
using photon::BirthKind;
using photon::StepKind;
namespace {

constexpr std::array kEnds{StepKind::detected, StepKind::absorbed, StepKind::absorbed_at_surface,
                           StepKind::escaped,  StepKind::no_index, StepKind::inconsistent,
                           StepKind::cut};
constexpr std::size_t kMaxRows = 10;

/// How many ended in each way; `count` gives that.
template <class Count>
Json ends_json(const Count& count) {
  Json json = Json::object();
  for (const StepKind kind : kEnds) json[std::string(to_string(kind))] = count(kind);
  return json;
}

/// Rows of what has photons: its name, or null for none, and how they ended.
template <class Count>
Json rows_json(const char* what, const std::vector<std::string>& names, const Count& count) {
  Json json = Json::array();
  for (std::uint32_t i = 0; i <= names.size(); ++i) {
    std::uint64_t sum = 0;
    for (const StepKind kind : kEnds) sum += count(i, kind);
    if (sum == 0) continue;
    json.push_back({{what, i < names.size() ? Json(names[i]) : Json()},
                    {"photons", sum},
                    {"ends", ends_json([&](StepKind kind) { return count(i, kind); })}});
  }
  return json;
}

/// A table of those rows.
std::string rows_text(const char* what, const Json& rows, std::uint64_t photons) {
  Table table({{what, Align::left}, {"end", Align::left}, {"photons"}, {"share"}});
  std::size_t shown = 0, all = 0;
  for (const Json& row : rows)
    for (const auto& [end, count] : row["ends"].items()) {
      if (count == 0) continue;
      if (++all > kMaxRows) continue;
      ++shown;
      const double share = 100.0 * count.get<double>() / static_cast<double>(photons);
      table.add({row[what].is_null() ? "(none)" : row[what].get<std::string>(), end,
                 grouped(count.get<std::uint64_t>()), fmt::format("{:.3f} %", share)});
    }
  std::string text = table.empty() ? "" : '\n' + table.text(2);
  if (all > shown) text += fmt::format("  and {} more; summary.json lists all\n", all - shown);
  return text;
}

double rate(std::uint64_t count, double seconds) {
  return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

Json materials_json(const PhotonSummary& summary) {
  return rows_json("material", summary.materials,
                   [&](std::uint32_t i, StepKind kind) { return summary.tally.in_material(i, kind); });
}
/// Rows of materials and properties whose tables did not cover the wavelength of some steps.
Json end_values_json(const PhotonSummary& summary) {
  Json json = Json::array();
  for (std::uint32_t i = 0; i != summary.materials.size(); ++i)
    for (std::size_t of = 0; of != kBulkProperties; ++of) {
      const auto property = static_cast<BulkProperty>(of);
      if (const std::uint64_t steps = summary.tally.end_values(i, property); steps != 0)
        json.push_back({{"material", summary.materials[i]}, {"property", name_of(property)}, {"steps", steps}});
    }
  return json;
}
std::string end_values_text(const PhotonSummary& summary) {
  Table table({{"material", Align::left}, {"property", Align::left}, {"steps beyond its table"}, {"share"}});
  const auto all = static_cast<double>(summary.tally.steps());
  for (const Json& row : end_values_json(summary)) {
    const auto steps = row["steps"].get<std::uint64_t>();
    table.add({row["material"].get<std::string>(), row["property"].get<std::string>(), grouped(steps),
               fmt::format("{:.3f} %", 100.0 * static_cast<double>(steps) / all)});
  }
  return table.empty() ? "" : '\n' + table.text(2);
}
Json surfaces_json(const PhotonSummary& summary) {
  Json rows = rows_json("surface", summary.surfaces,
                        [&](std::uint32_t i, StepKind kind) { return summary.tally.at_surface(i, kind); });
  // Photons that ended at no surface are among the materials' already.
  if (!rows.empty() && rows.back()["surface"].is_null()) rows.erase(rows.size() - 1);
  return rows;
}

}  // namespace

Json photon_head(const PhotonOptions& options, const PhotonInputs& inputs) {
  return {{"summary", "raylift photons"},
          {"version", RAYLIFT_VERSION},
          {"scene", options.file},
          {"scene_sha256", inputs.scene},
          {"optics", inputs.optics},
          {"load", inputs.load},
          {"raster", raster_json(options.upload.raster)},
          {"positions", to_string(options.upload.positions)},
          {"flattened", options.upload.flatten},
          {"source", options.source},
          {"source_files", inputs.source},
          {"seed", options.seed},
          {"first", options.first},
          {"photons", options.photons},
          {"max_steps", options.most_steps},
          {"max_time_ns", std::isinf(options.latest) ? Json() : Json(options.latest)},
          {"format", kPhotonFormats[static_cast<std::size_t>(options.format)]},
          {"final", options.final},
          {"seq", options.sequences},
          {"record", options.record_file.empty() ? Json(options.record) : Json(options.record_file)},
          {"times", options.time_bins == 0 ? Json() : Json{options.time_bins, options.time_from, options.time_to}}};
}

void PhotonSummary::name(const Scene& scene) {
  bounds = scene.bounds;
  for (const Material& material : scene.materials) materials.push_back(material.name);
  for (const OpticalSurface& surface : scene.optics.surfaces) surfaces.push_back(surface.name);
}

Json photon_json(Json head, const PhotonSummary& summary) {
  const photon::Tally& tally = summary.tally;
  std::uint64_t hit_channels = 0, in_channels = 0;
  for (std::size_t i = 0; i != tally.channels.size(); ++i) {
    hit_channels += tally.in_channel(i) != 0 ? 1 : 0;
    in_channels += tally.in_channel(i);
  }
  const std::uint64_t here = tally.photons() - summary.resumed_at;
  head.update({{"device", summary.device},
               {"ranks", summary.ranks},
               {"steps", tally.steps()},
               {"inconsistent", tally.of(StepKind::inconsistent)},
               {"births",
                {{"cerenkov", tally.born(BirthKind::cerenkov)},
                 {"scintillation", tally.born(BirthKind::scintillation)},
                 {"torch", tally.born(BirthKind::torch)}}},
               {"ends", ends_json([&](StepKind kind) { return tally.of(kind); })},
               {"materials", summary.by_server ? Json() : materials_json(summary)},
               {"surfaces", summary.by_server ? Json() : surfaces_json(summary)},
               {"end_values", summary.by_server ? Json() : end_values_json(summary)},
               {"channels", {{"count", tally.channels.size()}, {"hit", hit_channels}, {"detected", in_channels}}},
               {"files", summary.files},
               {"resumed_at", summary.resumed_at},
               {"batch", summary.batch},
               {"seconds", summary.seconds},
               {"photons_per_second", rate(here, summary.seconds)}});
  return head;
}

std::string photon_text(const PhotonOptions& options, const PhotonSummary& summary) {
  const photon::Tally& tally = summary.tally;
  const std::uint64_t photons = tally.photons();
  std::string text = fmt::format("{}\n{} from {}, seed {}, on {}: {} steps\n", printable(options.file),
                                 counted(photons, "photon", "photons"), printable(options.source), options.seed,
                                 summary.device, grouped(tally.steps()));
  if (photons > summary.resumed_at)
    text += fmt::format(
        "{} photons/s\n",
        grouped(static_cast<std::uint64_t>(std::llround(rate(photons - summary.resumed_at, summary.seconds)))));
  if (summary.by_server) {
    Json row{{"server", "all"}, {"ends", ends_json([&](StepKind kind) { return tally.of(kind); })}};
    text += rows_text("server", Json::array({row}), photons);
  } else {
    text += rows_text("material", materials_json(summary), photons);
    text += rows_text("surface", surfaces_json(summary), photons);
    text += end_values_text(summary);
  }
  text += fmt::format("\nin {}: ", printable(options.output));
  for (const std::string& file : summary.files) text += file + ", ";
  return text + "summary.json\n";
}

}  // namespace raylift::batch
