// SPDX-License-Identifier: Apache-2.0
// raylift check: whether each mesh is watertight, since a photon leaks through an open one; whether solids overlap,
// since a photon there is in two media; and whether solids are thick enough for the resolution of a photon's position.
#include <fmt/format.h>
#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/checks/overlaps.h>
#include <raylift/geometry/checks/thickness.h>
#include <raylift/geometry/import/load.h>
#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "batch/actions/overlap_text.h"
#include "batch/actions/thickness_text.h"
#include "cli/options.h"
#include "cli/quantity.h"
#include "cli/table.h"
#include "cli/text.h"
#include "commands.h"

namespace raylift::batch {
using namespace cli;
namespace {

constexpr std::size_t kMaxOverlaps = 20;    // that are listed without --all, and by default pairs that touch
constexpr std::size_t kMaxThin = 5;         // the thinnest solids, likewise
constexpr std::size_t kMaxUnresolved = 20;  // those that are thinner than can be resolved, likewise

struct CheckCommandOptions {
  CheckCommandOptions() { overlaps.touching_examples = kMaxOverlaps; }

  std::vector<std::string> files;
  LoadOptions load;
  std::size_t examples = 4;
  Overlap::Options overlaps;
  bool no_overlaps = false;
  bool all = false;
  bool strict = false;
};

/// One word or two on what a mesh is: what to look at first.
std::string verdict(const MeshCheck& mesh) {
  if (mesh.watertight()) return "watertight";
  if (!mesh.closed()) return "open";
  return mesh.inverted() ? "inside out" : "no volume";
}

bool flawless(const MeshCheck& mesh) {
  for (const std::uint64_t count : mesh.counts)
    if (count != 0) return false;
  return mesh.watertight() && mesh.inward_shells == 0;
}

std::string point_text(const Double3& point) {
  return fmt::format("({}, {}, {})", short_number(point.x), short_number(point.y), short_number(point.z));
}

std::string example_text(const MeshCheck::Example& example) {
  std::string text(to_string(example.flaw));
  for (char& c : text)
    if (c == '_') c = ' ';
  if (example.triangle != kNone) text += fmt::format(" at triangle {}", example.triangle);
  text += ": " + point_text(example.place[0]);
  if (example.place[0] != example.place[1]) text += " to " + point_text(example.place[1]);
  return text;
}

/// The smallest and the largest volume of the solids that are made of a mesh, in mm^3; by the mesh's number. Nothing
/// for one that is not closed, or not in use.
struct SolidVolume {
  double min = 0, max = 0;
};
std::vector<std::optional<SolidVolume>> solid_volumes(const Scene& scene, const SceneCheck& check) {
  std::vector<std::optional<SolidVolume>> volumes(scene.meshes.size());
  for (const Instance& instance : scene.instances) {
    if (!check.meshes[instance.mesh].closed()) continue;
    const double volume =
        check.meshes[instance.mesh].volume * std::abs(to_eigen(instance.transform).linear().determinant());
    std::optional<SolidVolume>& known = volumes[instance.mesh];
    if (!known) known = SolidVolume{volume, volume};
    known = SolidVolume{std::min(known->min, volume), std::max(known->max, volume)};
  }
  return volumes;
}

/// One number where the solids differ by rounding alone.
std::string text_of(const std::optional<SolidVolume>& volume, double unit_mm) {
  if (!volume) return "-";
  const auto text = [unit_mm](double mm3) { return volume_text(mm3 / (unit_mm * unit_mm * unit_mm), unit_mm); };
  const std::string least = text(volume->min);
  const std::string most = text(volume->max);
  return least == most ? least : least + " to " + most;
}

std::string text_of(const Scene& scene, const SceneCheck& check, const CheckCommandOptions& options) {
  Table table({{"mesh", Align::left},
               {"solids"},
               {"triangles"},
               {"open"},
               {"non-manifold"},
               {"inconsistent"},
               {"degenerate"},
               {"duplicate"},
               {"unused vertices"},
               {"shells"},
               {"inward"},
               {"solid's volume"},
               {"verdict", Align::left}});
  const std::vector<std::optional<SolidVolume>> volumes = solid_volumes(scene, check);
  std::string examples;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i != scene.meshes.size(); ++i) {
    const MeshCheck& mesh = check.meshes[i];
    if (!options.all && flawless(mesh)) {
      ++left_out;
      continue;
    }
    std::vector<std::string> cells{scene.meshes[i].name, grouped(mesh.instances), grouped(mesh.triangles)};
    for (const std::uint64_t count : mesh.counts) cells.push_back(grouped(count));
    cells.push_back(grouped(mesh.shells));
    cells.push_back(grouped(mesh.inward_shells));
    cells.push_back(text_of(volumes[i], scene.unit_mm));
    cells.push_back(verdict(mesh));
    table.add(std::move(cells));
    if (mesh.examples.empty()) continue;
    examples += "\n  " + printable(scene.meshes[i].name);
    if (mesh.first_instance != kNone)
      examples += ", first placed as " + printable(scene.path(scene.instances[mesh.first_instance]));
    examples += '\n';
    for (const MeshCheck::Example& example : mesh.examples) examples += "    " + example_text(example) + '\n';
  }
  std::string text = printable(scene.source) + '\n';
  if (!table.empty()) text += table.text(2);
  if (left_out != 0) text += fmt::format("  {} without a flaw\n", counted(left_out, "mesh", "meshes"));
  if (!examples.empty()) text += "\nwhere, in the mesh's own frame and unit" + examples;
  text += "\nwatertight: ";
  text += check.watertight()
              ? "yes\n"
              : fmt::format("no: {} of {} leak, and with them {} of {}\n", grouped(check.leaking_meshes),
                            counted(scene.meshes.size(), "mesh", "meshes"), grouped(check.leaking_instances),
                            counted(scene.instances.size(), "solid", "solids"));
  return text;
}

Json json_of(const Scene& scene, const SceneCheck& check) {
  Json json = {{"file", scene.source},
               {"watertight", check.watertight()},
               {"leaking_meshes", check.leaking_meshes},
               {"leaking_solids", check.leaking_instances},
               {"unit_mm", scene.unit_mm},
               {"counts", Json::object()},
               {"meshes", Json::array()}};
  const auto set_counts = [](Json& target, const std::array<std::uint64_t, MeshCheck::kFlaws>& counts) {
    for (std::size_t i = 0; i != MeshCheck::kFlaws; ++i)
      target[std::string(to_string(static_cast<MeshCheck::Flaw>(i)))] = counts[i];
  };
  set_counts(json["counts"], check.counts);
  const std::vector<std::optional<SolidVolume>> volumes = solid_volumes(scene, check);
  for (std::size_t i = 0; i != scene.meshes.size(); ++i) {
    const MeshCheck& mesh = check.meshes[i];
    Json one = {
        {"name", scene.meshes[i].name},
        {"watertight", mesh.watertight()},
        {"verdict", verdict(mesh)},
        {"closed", mesh.closed()},
        {"solids", mesh.instances},
        {"first_solid", mesh.first_instance == kNone ? Json() : Json(scene.path(scene.instances[mesh.first_instance]))},
        {"triangles", mesh.triangles},
        {"counts", Json::object()},
        {"shells", mesh.shells},
        {"inward_shells", mesh.inward_shells},
        {"area", mesh.area},
        {"volume", mesh.closed() ? Json(mesh.volume) : Json()},
        {"solid_volume_mm3", volumes[i] ? Json{{"min", volumes[i]->min}, {"max", volumes[i]->max}} : Json()},
        {"min", point_json(mesh.bounds.min)},
        {"max", point_json(mesh.bounds.max)},
        {"examples", Json::array()}};
    set_counts(one["counts"], mesh.counts);
    for (const MeshCheck::Example& example : mesh.examples)
      one["examples"].push_back({{"flaw", to_string(example.flaw)},
                                 {"triangle", example.triangle == kNone ? Json() : Json(example.triangle)},
                                 {"place", Json::array({point_json(example.place[0]), point_json(example.place[1])})}});
    json["meshes"].push_back(std::move(one));
  }
  return json;
}

int check_files(Session& session, const CheckCommandOptions& options) {
  bool first = true;
  return session.for_each_file(options.files, [&](const std::string& file, Json& json) {
    const Progress progress = session.progress();
    const Scene scene = load(file, options.load, progress);
    report_loaded(session, file, scene);
    const SceneCheck result = check(scene, progress, options.examples);
    std::optional<OverlapReport> overlaps;
    if (!options.no_overlaps) overlaps = find_overlaps(scene, result, options.overlaps, progress);
    const ThicknessReport thickness = measure_thickness(scene, thickness_options(scene), progress);
    constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
    if (session.options().json) {
      json = json_of(scene, result);
      json["overlaps"] = overlaps ? overlaps_json(scene, *overlaps, kAll) : Json();
      json["thickness"] = thickness_json(scene, thickness, kAll);
    } else {
      session.write((first ? "" : "\n") + text_of(scene, result, options));
      if (overlaps) session.write(overlaps_text(scene, *overlaps, options.all ? kAll : kMaxOverlaps));
      session.write(
          thickness_text(scene, thickness, options.all ? kAll : kMaxThin, options.all ? kAll : kMaxUnresolved));
    }
    first = false;
    if (options.strict) refuse_thin_solids(scene, thickness);
    const bool overlap = overlaps && !overlaps->overlaps.empty();
    return result.watertight() && !overlap && thickness.unresolved_solids == 0 ? 0 : kNegative;
  });
}

}  // namespace

void add_check(CLI::App& program, GeneralOptions& general, CommandRun& run) {
  auto options = std::make_shared<CheckCommandOptions>();
  CLI::App* app =
      add_command(program, "check",
                  "Check that all meshes are watertight, no volumes overlap and none is too thin; exit code 1 if not");
  add_files(*app, options->files);
  add_flag(*app, "--all", options->all,
           "Also list meshes without a flaw, all overlaps and how thick all volumes are (always with --json)");
  add_parsed(*app, "--examples", "COUNT", std::to_string(options->examples),
             "Positions to print for each kind of flaw of a mesh, at most",
             [options](const std::string& text) { options->examples = parse_count(text); });
  add_flag(*app, "--no-overlaps", options->no_overlaps, "Check the meshes alone, without the search for overlaps");
  add_parsed(*app, "--overlap-tolerance", "LENGTH", "0",
             "Ignore overlaps up to this depth; those within the rounding of the vertices are always ignored",
             [options](const std::string& text) { options->overlaps.tolerance = parse_length(text); });
  add_parsed(*app, "--touching", "COUNT", std::to_string(options->overlaps.touching_examples),
             "Pairs of touching volumes to list, at most",
             [options](const std::string& text) { options->overlaps.touching_examples = parse_count(text); });
  add_flag(*app, "--strict", options->strict,
           "Refuse scenes with volumes that are thinner than can be resolved, as raylift photons --strict does");
  add_general_options(*app, general, true);
  add_load_options(*app, options->load);
  finish_command(*app, R"(
A mesh is watertight if each edge belongs to two triangles that traverse it in opposite directions, and if its normals
point outward. Open, non-manifold and inconsistent edges make it leak; the other flaws in the table do not.

A volume has to lie within its mother, the volume of the nearest node above its own, and must share no space with its
siblings, the volumes that have the same mother. Contact is no overlap. Facets of curved solids (GDML) lie off the true
surfaces by a part of the chord, so that volumes that touch may overlap by as much. What is no deeper is listed apart, as
by tessellation, and is no fault; a smaller --chord separates it from true overlaps. A volume that is not watertight has no inside and
is not tested for overlaps.

The thickness of a volume is the smallest distance between faces that face each other, measured by rays from its surface.
The resolution is the step to which a photon's position is known there. A volume that is less than 100 steps thick is
thinner than can be resolved: its absorption would be off by more than 1 %.

Examples:
  raylift check scene.dae
  raylift check --overlap-tolerance 1um scene.dae
  raylift check -q --no-overlaps scene.dae > /dev/null || echo leaks
  raylift check --json *.dae | jq -r '.[] | select(.watertight | not).file'
  raylift check --json scene.dae | jq '.[].overlaps.found[] | [.first, .second, .depth_mm]'
  raylift check --json scene.dae | jq '.[].thickness.unresolved[].solid')",
                 [options, &run] { run = [options](Session& session) { return check_files(session, *options); }; });
}

}  // namespace raylift::batch
