// SPDX-License-Identifier: Apache-2.0
#include "remote/state_json.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <span>
#include <vector>

#include "model/colors/palette.h"
#include "model/settings/measurement.h"
#include "model/settings/setting_json.h"

namespace raylift::viewer {
namespace {

using cli::Json;
using Part = Setting::Part;

/// Clients have other working folders.
std::string absolute(const std::string& file) {
  std::error_code ignored;
  return file.empty() ? file : std::filesystem::absolute(file, ignored).string();
}

/// The number of solids by style, without the plain one.
Json styled_json(const Solids* solids) {
  Json json = Json::object();
  for (std::size_t style = 1; style != kStyleNames.size(); ++style)
    json[std::string(kStyleNames[style])] =
        solids == nullptr ? 0 : std::count(solids->styles().begin(), solids->styles().end(), style);
  return json;
}

/// The own opacities of solids with the style glass, in ascending order, with the number of solids.
Json opacities_json(const Solids* solids) {
  std::map<std::uint8_t, int> counts;
  for (std::size_t i = 0; solids != nullptr && i != solids->styles().size(); ++i)
    if (solids->styles()[i] == static_cast<std::uint8_t>(Style::glass) && solids->opacities()[i] != 0)
      ++counts[solids->opacities()[i]];
  Json json = Json::array();
  for (const auto& [opacity, count] : counts) json.push_back({{"opacity", opacity / 100.0}, {"solids", count}});
  return json;
}

/// The solids' own colours, with the number of solids.
Json colors_json(const Solids* solids) {
  std::map<std::uint32_t, int> counts;
  if (solids != nullptr)
    for (const std::uint32_t color : solids->colors())
      if (color != 0) ++counts[color];
  Json json = Json::array();
  for (const auto& [color, count] : counts) json.push_back({{"color", color_text(unpacked(color))}, {"solids", count}});
  return json;
}

/// Keys are the parameters of the verbs `photons` and `time`; null: none.
Json light_json(const ViewerState& state) {
  Json json{{"file", nullptr}, {"compare", nullptr}, {"source", nullptr}};
  json.update(origin_json(state.light().origin()));
  const PhotonSet* set = state.photons().set().get();
  const bool events = set != nullptr && !set->events.empty();
  json["event"] = events ? Json(set->events[set->event]) : Json();
  json["events"] = events ? set->events.size() : 0;
  const auto position = state.light().source_position();
  json["source_position"] = position ? cli::point_json(*position) : Json();
  json["source_now"] = position ? Json(state.light().source_text()) : Json();
  json.update(settings_json(state.settings(), {Part::light, Part::time}));
  return json;
}

}  // namespace

Json clip_json(const Settings& s) {
  Json json{{"planes", Json::array()}, {"box", nullptr}};
  if (s.clip_box)
    json["box"] = {{"min", cli::point_json(s.clip_box->box.min)},
                   {"max", cli::point_json(s.clip_box->box.max)},
                   {"away", s.clip_box->away}};
  else
    for (const ClipPlane& plane : s.planes()) json["planes"].push_back(clip_text(plane));
  return json;
}

Json to_json(const Camera& camera) {
  return {{"eye", cli::point_json(camera.eye())},
          {"target", cli::point_json(camera.target)},
          {"up", cli::point_json(camera.up)},
          {"above", cli::point_json(camera.above())},
          {"fov", camera.fov_degrees},
          {"orthographic", camera.orthographic}};
}

Json selection_json(const ViewerState& state) {
  if (!state.selection()) return nullptr;
  const SelectedSolids& selected = *state.selection();
  const Json position = cli::point_json(selected.position);
  if (!selected.is_one())
    return {{"solid", nullptr},
            {"name", selected.name},
            {"path", selected.path},
            {"solids", selected.solids.size()},
            {"position", position}};
  return {{"solid", selected.instance}, {"name", selected.name},       {"path", selected.path},
          {"mesh", selected.mesh},      {"material", selected.inside}, {"position", position}};
}

Json facts_json(const SolidFacts& facts) {
  const auto or_null = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  const auto point = [&](const Double3& p) { return facts.box.empty() ? Json() : cli::point_json(p); };
  return {{"solids", facts.solids},
          {"triangles", facts.triangles},
          {"min", point(facts.box.min)},
          {"max", point(facts.box.max)},
          {"size", point(facts.box.size())},
          {"centre",
           facts.centre ? cli::point_json(Double3{facts.centre->x(), facts.centre->y(), facts.centre->z()}) : Json()},
          {"area", facts.area},
          {"volume", or_null(facts.volume)},
          {"outer_volume", or_null(facts.outer_volume)},
          {"not_closed", facts.checked ? Json(facts.not_closed) : Json()},
          {"inward", facts.checked ? Json(facts.inward) : Json()}};
}

Json measured_json(const ViewerState& state) {
  const std::vector<Eigen::Vector3d>& points = state.settings().measured;
  if (points.empty()) return nullptr;
  const Measurement measured = measure(points);
  const auto list = [](const std::vector<Eigen::Vector3d>& all) {
    Json json = Json::array();
    for (const Eigen::Vector3d& one : all) json.push_back(cli::point_json(one));
    return json;
  };
  return {{"points", list(points)},
          {"steps", list(measured.steps)},
          {"distances", measured.distances},
          {"angle", measured.angle ? Json(*measured.angle) : Json()}};
}

Json scene_json(const ViewerState& state) {
  if (!state.scene()) return nullptr;
  std::uint64_t triangles = 0;
  for (const Instance& instance : state.scene()->instances)
    triangles += state.scene()->meshes[instance.mesh].triangles.size();
  return {
      {"file", absolute(state.scene()->source)}, {"solids", state.scene()->instances.size()}, {"triangles", triangles}};
}

Json progress_json(const ControlTarget& of) {
  const SceneLoader::Activity work = of.loader.activity();
  const auto hundredths_of = [](double share) { return share < 0 ? Json() : Json(std::floor(100 * share) / 100); };
  if (!work.what.empty()) return {{"what", work.what}, {"share", hundredths_of(static_cast<double>(work.share))}};
  if (of.frames == nullptr) return nullptr;
  if (const auto rays = of.frames->ray_progress(of.state))
    return {{"what", "casting rays"}, {"share", hundredths_of(static_cast<double>(*rays))}};
  if (const auto share = of.frames->drawn_share()) return {{"what", "drawing"}, {"share", hundredths_of(*share)}};
  return nullptr;
}

Json state_json(const ControlTarget& of) {
  const ViewerState& state = of.state;
  Json json{{"file", absolute(state.file())}, {"loading", of.loader.reads(state)}};
  json["progress"] = progress_json(of);
  json["error"] = state.messages().error().empty() ? Json() : Json(state.messages().error());
  const std::span<const std::uint8_t> visible =
      state.solids() != nullptr ? std::span(state.solids()->visible()) : std::span<const std::uint8_t>();
  json["solids"] = visible.size();
  json["visible"] = std::count(visible.begin(), visible.end(), 1);
  json["styled"] = styled_json(state.solids());
  json["opacities"] = opacities_json(state.solids());
  json["colors"] = colors_json(state.solids());
  json["camera"] = to_json(state.camera());
  json["selection"] = selection_json(state);
  json["measuring"] = state.measuring().active();
  json["measured"] = measured_json(state);
  json.update(settings_json(state.settings(), {Part::scene, Part::background, Part::overlay, Part::window}));
  json.update(clip_json(state.settings()));
  json["photons"] = light_json(state);
  json["panels"] = of.layout.panels;
  json["legend"] = of.layout.legend;
  json["bookmarks"] = Json::array();
  for (const Bookmark& bookmark : state.bookmarks().all()) json["bookmarks"].push_back(bookmark.name);
  json["size"] = Json::array({state.framebuffer().width, state.framebuffer().height});
  return json;
}

}  // namespace raylift::viewer
