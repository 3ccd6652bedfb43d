// SPDX-License-Identifier: Apache-2.0
#include "report_head.h"

#include <fmt/format.h>
#include <raylift/geometry/error.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/json.h"
#include "cli/placement_options.h"
#include "report.h"

namespace raylift::batch {
using namespace cli;
namespace {

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

/// By the names of the options.
Json options_json(const BatchOptions& options) {
  const LoadOptions& load = options.action.load;
  const UploadOptions& upload = options.action.upload;
  constexpr std::array kAxes{"x", "y", "z"};
  const auto does = [&](std::string_view name) {
    return std::any_of(options.actions.begin(), options.actions.end(),
                       [&](const Action* action) { return action->name == name; });
  };
  Json json = {{"reader", load.reader == LoadOptions::Reader::assimp ? "assimp" : "raylift"},
               {"unit", or_null(load.unit_mm)},
               {"up", load.up_axis ? Json(kAxes[static_cast<std::size_t>(*load.up_axis)]) : Json()},
               {"weld", load.weld.enabled ? Json(load.weld.tolerance) : Json("off")},
               {"external", load.external},
               {"repair", load.repair},
               {"drop-degenerate", load.drop_degenerate},
               {"optics", !load.optics_beside   ? Json("off")
                          : load.optics.empty() ? Json()
                                                : Json(load.optics.string())},
               {"no-sensor-materials", !load.sensor_materials},
               {"no-computed-rayleigh", !load.compute_rayleigh},
               {"chord", load.fineness.chord},
               {"steps", load.fineness.steps},
               {"fit", to_string(load.fineness.fit)},
               {"setup", load.setup},
               {"skip-failed", load.skip_failed_solids},
               {"strict-optics", load.strict_optics},
               {"flatten", upload.flatten}};
  if (does("upload") || does("trace")) {
    json["budget"] = upload.budget == UINT64_MAX ? Json() : Json(upload.budget);
    json["reserve"] = upload.reserve;
    json["policy"] = to_string(upload.policy);
  }
  if (does("upload") || does("trace") || does("cache")) {
    json["raster"] = cli::raster_json(upload.raster);
    json["positions"] = to_string(upload.positions);
  }
  if (does("trace")) json["rays"] = options.action.rays;
  if (does("render")) json["pictures"] = options.action.pictures;
  if (does("cache")) json["cache"] = options.action.cache.options.folder.string();
  return json;
}

std::string shown(const Json& value) {
  return value.is_null() ? "not given" : base::json_text(value);
}

}  // namespace

Json make_head(const BatchOptions& options) {
  Json head = {{"report", "raylift batch"}, {"version", RAYLIFT_VERSION}};
  set_file(head, std::filesystem::current_path().string(), "folder");
  head["do"] = Json::array();
  for (const Action* action : options.actions) head["do"].push_back(action->name);
  head["options"] = options_json(options);
  return head;
}

bool is_head(const Json& line) {
  const auto has = [&](const char* member, auto is) { return line.contains(member) && (line[member].*is)(); };
  return line.is_object() && has("report", &Json::is_string) && has("version", &Json::is_string) &&
         has("folder", &Json::is_string) && has("do", &Json::is_array) && has("options", &Json::is_object);
}

std::string folder_of(const Json& head) {
  return file_of(head, "folder");
}

void check_head(const Json& theirs, const Json& ours, const std::string& report) {
  const auto fail = [&](const std::string& problem, const std::string& advice) {
    throw Error(ErrorKind::usage, problem, {report, ""}, advice);
  };
  if (theirs["version"] != ours["version"])
    fail(fmt::format("the report's rows are of raylift {}, and this is raylift {}", shown(theirs["version"]),
                     shown(ours["version"])),
         "finish it by that version, or use another report");
  if (theirs["do"] != ours["do"])
    fail(
        fmt::format("the report's rows are of another --do: {} there, {} here", shown(theirs["do"]), shown(ours["do"])),
        "use the same, or another report");
  for (const Json* options : {&ours["options"], &theirs["options"]})
    for (const auto& [name, value] : options->items()) {
      const Json here = ours["options"].value(name, Json());
      const Json there = theirs["options"].value(name, Json());
      if (here != there)
        fail(fmt::format("the report's rows are of another --{}: {} there, {} here", name, shown(there), shown(here)),
             "use the same, or another report");
    }
}

}  // namespace raylift::batch
