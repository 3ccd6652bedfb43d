// SPDX-License-Identifier: Apache-2.0
#include "actions.h"

#include <raylift/geometry/checks/check.h>
#include <raylift/geometry/checks/overlaps.h>
#include <raylift/geometry/checks/thickness.h>
#include <raylift/geometry/error.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "array_sizes.h"
#include "cli/option_words.h"
#include "cli/options.h"
#include "cli/text.h"
#include "enclosure.h"
#include "overlap_text.h"
#include "ray_pattern.h"
#include "render_scene.h"
#include "thickness_text.h"
#include "trace_rays.h"

namespace raylift::batch {
using namespace cli;
namespace {

constexpr std::size_t kMaxWarnings = 10;  // of a scene, in its row
constexpr std::size_t kMaxOverlaps = 10;  // likewise, the deepest
constexpr std::size_t kMaxThin = 10;      // likewise, the thinnest solids

/// Warnings of the cache, which are not the scene's: a row is the same with and without it.
void warn(const std::string& line) {
  std::fprintf(stderr, "raylift: warning: %s\n", printable(line).c_str());
}

Json info(SceneWork& work) {
  const Scene& scene = work.scene();
  const std::vector<std::string> warnings = cli::in_option_words(scene.report.warnings);
  constexpr std::array kAxes{"x", "y", "z"};
  Json json = {{"format", scene.format},
               {"faces_checked", scene.report.faces_checked},
               {"unit_mm", scene.unit_mm},
               {"up_axis", kAxes[static_cast<std::size_t>(scene.up_axis)]},
               {"meshes", scene.meshes.size()},
               {"instances", scene.instances.size()},
               {"nodes", scene.nodes.size()},
               {"materials", scene.materials.size()},
               {"triangles", {{"unique", scene.unique_triangles()}, {"expanded", scene.expanded_triangles()}}},
               {"vertices", {{"unique", scene.unique_vertices()}, {"expanded", scene.expanded_vertices()}}},
               {"bounds_mm", {{"min", point_json(scene.bounds.min)}, {"max", point_json(scene.bounds.max)}}},
               {"bytes", total_bytes(array_sizes(scene, work.options().upload.flatten))},
               {"warnings", Json::array()}};
  for (std::size_t i = 0; i != std::min(warnings.size(), kMaxWarnings); ++i) json["warnings"].push_back(warnings[i]);
  if (warnings.size() > kMaxWarnings) json["more_warnings"] = warnings.size() - kMaxWarnings;
  const std::filesystem::path optics = optics_file(work.file(), work.options().load);
  json["optics_file"] = optics.empty() ? Json() : Json(optics.string());
  return json;
}

Json check_scene(SceneWork& work) {
  const SceneCheck result = check(work.scene(), work.progress());
  const OverlapReport overlaps = find_overlaps(work.scene(), result, {}, work.progress());
  const ThicknessReport thickness = measure_thickness(work.scene(), thickness_options(work.scene()), work.progress());
  if (!result.watertight() || !overlaps.overlaps.empty() || thickness.unresolved_solids != 0) work.set_negative();
  Json json = {{"watertight", result.watertight()},
               {"leaking_meshes", result.leaking_meshes},
               {"leaking_solids", result.leaking_instances}};
  for (std::size_t i = 0; i != MeshCheck::kFlaws; ++i)
    json["counts"][std::string(to_string(static_cast<MeshCheck::Flaw>(i)))] = result.counts[i];
  json["overlaps"] = overlaps_json(work.scene(), overlaps, kMaxOverlaps);
  json["thickness"] = thickness_json(work.scene(), thickness, kMaxThin);
  return json;
}

Json upload_scene(SceneWork& work) {
  const GpuGeometry& geometry = work.geometry();
  Json json = {{"triangles", geometry.view().triangle_count},
               {"vertices", geometry.view().vertex_count},
               {"instances", geometry.view().instance_count}};
  std::uint64_t bytes = 0;
  std::uint64_t on_device = 0;
  for (const ResidencyReport::Array& array : geometry.report().arrays) {
    bytes += array.bytes;
    on_device += array.device_bytes;
  }
  json["bytes"] = bytes;
  json["device_bytes"] = on_device;
  return json;
}

Json cache_scene(SceneWork& work) {
  const CacheFile& file = work.cached();
  return {{"file", file.path().filename().string()}, {"bytes", file.file_bytes()}};
}

/// Rays in all directions from the middle of the scene, as raylift trace makes them.
Json trace_scene(SceneWork& work) {
  RayOptions options;
  options.radius = 0;
  const GpuGeometry& geometry = work.geometry();
  const std::optional<std::uint32_t> enclosed_by = enclosing_solid(work.scene(), ball_of(options, work.scene()));
  const double* const origin = geometry.view().origin;
  const RayMaker make = make_rays(options, work.scene(), {origin[0], origin[1], origin[2]});
  const TraceFigures figures = trace_rays(geometry, make, work.options().rays, work.progress()).figures;
  return {{"rays", figures.rays},
          {"hits", figures.hits},
          {"lost", enclosed_by ? Json(figures.rays - figures.hits) : Json()},
          {"mean_distance_mm", figures.hits == 0 ? Json() : Json(figures.mean())}};
}

constexpr std::array kActions{
    Action{"info", false, info},         Action{"check", false, check_scene},
    Action{"cache", false, cache_scene}, Action{"upload", true, upload_scene},
    Action{"trace", true, trace_scene},  Action{"render", false, render_scene, check_renderer}};

}  // namespace

const Scene& SceneWork::scene() {
  if (scene_) return *scene_;
  if (options_.fill_cache && can_be_cached(file_) && !options_.upload.flatten) {
    // One file serves both, so that nothing is loaded twice.
    scene_ = cached_scene(cached(), file_, progress_);
  } else {
    scene_ = load(file_, options_.load, options_.cache.with(warn), progress_);
  }
  return *scene_;
}

const CacheFile& SceneWork::cached() {
  if (cached_) return *cached_;
  UploadOptions upload = options_.upload;
  upload.bvh = true;
  CacheOptions cache = options_.cache.options;
  cache.warn = warn;
  cached_ = make_cache(file_, options_.load, upload, cache, progress_).file;
  return *cached_;
}

const GpuGeometry& SceneWork::geometry() {
  if (!geometry_) geometry_ = upload(scene(), *device_, options_.upload, progress_);
  return *geometry_;
}

std::span<const Action> all_actions() {
  return kActions;
}

std::vector<const Action*> parse_actions(std::string_view text) {
  std::vector<std::string> names;
  for (const Action& action : kActions) names.emplace_back(action.name);
  std::vector<std::string> given;
  for (const std::string& name : cli::split_at_commas(text)) given.push_back(one_of(name, names));
  std::vector<const Action*> result;
  for (const Action& action : kActions)
    if (std::find(given.begin(), given.end(), action.name) != given.end()) result.push_back(&action);
  return result;
}

}  // namespace raylift::batch
