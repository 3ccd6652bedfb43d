// SPDX-License-Identifier: Apache-2.0
#include "remote/verb_actions.h"

#include <raylift/geometry/error.h>

#include <array>
#include <memory>
#include <numbers>

#include "cli/options.h"
#include "cli/quantity.h"
#include "cli/text.h"
#include "model/colors/palette.h"
#include "model/settings/setting_json.h"
#include "model/solids/clip_box.h"
#include "model/solids/find.h"
#include "model/solids/measured_points.h"
#include "model/solids/solid_facts.h"
#include "remote/arguments.h"
#include "remote/state_json.h"
#include "state/task.h"

namespace raylift::viewer::act {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

/// Runs work whose failure the state only shows, and throws that failure.
template <class Work>
void attempted(ViewerState& state, const Work& work) {
  const std::uint64_t before = state.messages().failures();
  work();
  if (state.messages().failures() != before) throw Error(*state.messages().failure());
}

const Solids& solids_of(const ViewerState& state) {
  if (state.solids() == nullptr) throw Error(ErrorKind::usage, "no scene is shown", {}, "open one first");
  return *state.solids();
}

/// Applies `change` to the solids that the parameters name.
template <class Change>  // void(Solids&, found)
Json change_found(const ControlTarget& to, const Arguments& with, const Change& change) {
  const std::vector<std::uint32_t> found = find_each(solids_of(to.state), with.texts("solids"));
  to.state.change_solids([&](Solids& solids) { change(solids, found); });
  return {{"solids", found.size()}};
}

/// Answers once the scene that the state now requests is shown.
Answer once_shown(const ControlTarget& to) {
  return Pending([&state = to.state, &loader = to.loader, request = to.state.requests()]() -> std::optional<Json> {
    if (state.requests() != request)
      throw Error(ErrorKind::cancelled, "another file was opened before this one was read");
    if (loader.reads(state)) return std::nullopt;
    if (state.shown_request() == request) return scene_json(state);
    if (!state.messages().error().empty() && state.messages().failure()) throw Error(*state.messages().failure());
    throw Error(ErrorKind::cancelled, "reading the file was stopped in the window");
  });
}

/// The number of steps and points that are shown.
Json light_counts(const ViewerState& state) {
  if (!state.photons().set()) return {{"steps", nullptr}, {"points", nullptr}};
  const PhotonChoice& chosen = state.photons().choice(state.settings().photons.filter);
  return {{"steps", chosen.steps.size()}, {"points", chosen.points.size()}};
}

/// Answers once the photons that the state now requests are shown.
Answer once_lit(const ControlTarget& to) {
  return Pending([&state = to.state, &loader = to.loader, request = to.state.light().photon_requests(),
                  failures = to.state.messages().failures()]() -> std::optional<Json> {
    if (state.light().photon_requests() != request)
      throw Error(ErrorKind::cancelled, "other light was requested before these photons were read");
    if (loader.reads_photons(state)) return std::nullopt;
    if (state.photons().set()) return light_counts(state);
    if (state.messages().failures() != failures) throw Error(*state.messages().failure());
    throw Error(ErrorKind::cancelled, "reading the photons was stopped in the window");
  });
}

/// Throws Error(usage) for a position or direction that no camera can have.
void move(Camera& camera, const Arguments& with) {
  if (const auto up = with.point("up")) {
    if (!(up->norm() > 0)) throw Error(ErrorKind::usage, "the camera's up vector has length 0");
    camera.up = up->normalized();
    camera.look(camera.forward(), camera.up);
  }
  const auto eye = with.point("eye"), target = with.point("target");
  if (eye)
    camera.look_from(*eye, target.value_or(camera.target), camera.up);
  else if (target)
    camera.target = *target;
  if (const auto azimuth = with.number("azimuth")) camera.orbit(*azimuth * kDegree, 0);
  if (const auto elevation = with.number("elevation")) camera.orbit(0, -*elevation * kDegree);
  if (const auto zoom = with.number("zoom")) camera.zoom(1 / *zoom);
}

}  // namespace

void set_given(const Arguments& with, Settings& settings, const SettingTable& table) {
  for (const Setting& row : table)
    if (row.verb == with.verb() && with.has(row.name))
      row.set(settings, setting_value(row, with.json()[std::string(row.name)]));
}

Answer open(const ControlTarget& to, const Arguments& with) {
  to.state.open(*with.text("file"));
  return once_shown(to);
}

Answer reload(const ControlTarget& to, const Arguments&) {
  if (to.state.file().empty()) throw Error(ErrorKind::usage, "no file is shown", {}, "open one first");
  to.state.reload();
  return once_shown(to);
}

Answer ready(const ControlTarget& to, const Arguments&) {
  if (to.state.file().empty()) throw Error(ErrorKind::usage, "no file is shown", {}, "open one first");
  return once_shown(to);
}

Answer look(const ControlTarget& to, const Arguments& with) {
  Camera trial = to.state.camera();
  move(trial, with);  // before anything changes
  if (const auto orthographic = with.flag("orthographic")) to.state.viewpoint().set_orthographic(*orthographic);
  if (const auto fov = with.number("fov"))
    to.state.viewpoint().move([&](Camera& camera) { camera.fov_degrees = *fov; });
  if (const auto view = with.text("view")) to.state.viewpoint().look(standard_view(*view));
  // A framed scene stays framed where the window changes, unless the camera is moved.
  bool moves = false;
  for (const auto& [name, value] : with.json().items())
    moves |= name != "view" && name != "orthographic" && name != "fov";
  if (moves) to.state.viewpoint().move([&](Camera& camera) { move(camera, with); });
  return to_json(to.state.camera());
}

Answer focus(const ControlTarget& to, const Arguments& with) {
  solids_of(to.state);
  if (!with.has("solids")) {
    to.state.viewpoint().focus_selection();
    return Json{{"solids", to.state.selection() ? to.state.selection()->solids.size() : 0}};
  }
  const std::vector<std::uint32_t> found = find_each(solids_of(to.state), with.texts("solids"));
  to.state.viewpoint().focus_alone(found);
  return Json{{"solids", found.size()}};
}

Answer hide(const ControlTarget& to, const Arguments& with) {
  return change_found(to, with, [](Solids& solids, const auto& found) { solids.set_visible(found, false); });
}

Answer show(const ControlTarget& to, const Arguments& with) {
  if (with.has("solids"))
    return change_found(to, with, [](Solids& solids, const auto& found) { solids.set_visible(found, true); });
  const std::size_t all = solids_of(to.state).visible().size();
  to.state.change_solids(&Solids::show_all);
  return Json{{"solids", all}};
}

Answer only(const ControlTarget& to, const Arguments& with) {
  return change_found(to, with, [](Solids& solids, const auto& found) { solids.show_only(found); });
}

Answer style(const ControlTarget& to, const Arguments& with) {
  if (!with.has("as") && !with.has("color"))
    throw Error(ErrorKind::usage, "style needs a style or a colour", {}, "give as, or color");
  const auto as = with.has("as") ? std::optional(cli::enum_of<Style>(*with.text("as"), kStyleNames)) : std::nullopt;
  const auto opacity = with.number("opacity");
  std::optional<std::uint32_t> color;
  if (const auto text = with.text("color")) {
    const auto parsed = parse_color(*text);
    if (!parsed && *text != "none")
      throw Error(ErrorKind::usage, "'" + cli::printable(*text) + "' is not a colour", {}, "give #rrggbb, or none");
    color = parsed ? packed(*parsed) : 0;
  }
  if (opacity && as != Style::glass) throw Error(ErrorKind::usage, "only glass has an opacity", {}, "say as=glass");
  return change_found(to, with, [&](Solids& solids, const auto& found) {
    if (as) solids.set_style(found, *as, opacity ? hundredths(*opacity) : std::uint8_t{0});
    if (color) solids.set_color(found, *color);
  });
}

Answer undo(const ControlTarget& to, const Arguments&) {
  to.state.appearance().undo();
  return Json();
}

Answer clip(const ControlTarget& to, const Arguments& with) {
  Settings cut = to.state.settings();
  if (with.has("planes") == with.has("box") && (with.has("planes") || !with.has("away")))
    throw Error(ErrorKind::usage, "clip takes planes or a box", {}, "give one of them");
  if (with.has("planes")) {
    ClipPlanes clips = parse_clips(with.texts("planes"));
    if (clips.facing) clips.planes.front() = facing_plane(to.state.camera().forward());
    cut.set_planes(clips.planes);
  }
  if (const auto box = with.text("box")) cut.set_clip_box({find_box(solids_of(to.state), *box), cut.cuts_away()});
  if (const auto away = with.flag("away")) {
    if (!cut.clip_box) throw Error(ErrorKind::usage, "there is no box that could be cut away", {}, "give one: box");
    cut.clip_box->away = *away;
  }
  to.state.change_settings([&](Settings& s) { s = cut; });
  return clip_json(cut);
}

Answer draw(const ControlTarget& to, const Arguments& with) {
  Settings drawn = to.state.settings();
  set_given(with, drawn);
  to.state.change_settings([&](Settings& s) { s = drawn; });
  to.layout.panels = with.flag("panels").value_or(to.layout.panels);
  to.layout.legend = with.flag("legend").value_or(to.layout.legend);
  return Json();
}

Answer photons(const ControlTarget& to, const Arguments& with) {
  const auto file = with.text("file"), source = with.text("source");
  if (file && source && !source->empty())
    throw Error(ErrorKind::usage, "light comes from a file or from a source", {}, "give file, or source");
  if (with.has("compare") && !file)
    throw Error(ErrorKind::usage, "compare needs photons to compare", {}, "give file too");
  if (file && to.state.file().empty()) solids_of(to.state);
  Settings lit = to.state.settings();
  set_given(with, lit);
  if (source) to.state.light().set_source(*source);
  to.state.change_settings([&](Settings& s) { s = lit; });
  if (!file) return light_counts(to.state);
  to.state.messages().dismiss_error();  // of the last request
  to.state.light().open_photons(*file, with.text("compare").value_or(""));
  return once_lit(to);
}

Answer event(const ControlTarget& to, const Arguments& with) {
  const std::string wanted = *with.text("event");
  const auto set = to.state.photons().set();
  if (!set || set->events.empty())
    throw Error(ErrorKind::usage, "the photons have no events", {}, "open a folder with a run for each: photons FILE");
  if (wanted == "next" || wanted == "previous") {
    to.state.light().step_event(wanted == "next" ? 1 : -1);
  } else {
    (void)find_event(set->events, wanted);
    to.state.light().set_event(wanted);
  }
  return Pending([&state = to.state, &loader = to.loader, request = to.state.light().photon_requests(),
                  failures = to.state.messages().failures()]() -> std::optional<Json> {
    if (state.light().photon_requests() != request)
      throw Error(ErrorKind::cancelled, "other light was requested before these photons were read");
    if (loader.reads_photons(state)) return std::nullopt;
    if (state.messages().failures() != failures) throw Error(*state.messages().failure());
    if (!state.photons().set()) throw Error(ErrorKind::cancelled, "reading the photons was stopped in the window");
    const PhotonSet& now = *state.photons().set();
    Json json{{"event", now.events.empty() ? Json() : Json(now.events[now.event])},
              {"number", now.event + 1},
              {"events", now.events.size()}};
    json.update(light_counts(state));
    return json;
  });
}

Answer time(const ControlTarget& to, const Arguments& with) {
  const bool all = with.flag("all").value_or(false);
  if (all && with.has("time"))
    throw Error(ErrorKind::usage, "light is shown at one time, or at all", {}, "give time, or all");
  to.state.change_settings([&](Settings& s) {
    set_given(with, s);
    if (all) s.photons.time.reset();
  });
  if (const auto play = with.flag("play")) to.state.light().play(*play);
  const std::optional<double>& shown = to.state.settings().photons.time;
  return Json{{"time", shown ? Json(*shown) : Json()}, {"playing", to.state.light().playing()}};
}

Answer select(const ControlTarget& to, const Arguments& with) {
  std::vector<std::uint32_t> found;
  if (const auto solid = with.text("solid")) found = find_each(solids_of(to.state), std::array{*solid});
  std::uint32_t group = found.empty() ? kNone : find_group(solids_of(to.state), *with.text("solid"));
  if (!found.empty() && group == kNone && with.flag("below").value_or(false))
    group = to.state.scene()->instances[found.front()].node;
  if (group != kNone)
    to.state.selection().select_group(group);
  else
    to.state.selection().select(found.empty() ? std::nullopt : std::optional(found.front()));
  return Json{{"solids", found.size()}, {"selection", selection_json(to.state)}};
}

Answer facts(const ControlTarget& to, const Arguments& with) {
  std::vector<std::uint32_t> chosen;
  if (with.has("solids"))
    chosen = find_each(solids_of(to.state), with.texts("solids"));
  else if (to.state.selection())
    chosen = to.state.selection()->solids;
  else
    throw Error(ErrorKind::usage, "nothing is selected", {}, "name solids, or select one first");
  return Pending([&state = to.state, &loader = to.loader, chosen = std::move(chosen), measurer = to.state.measurer(),
                  task = std::shared_ptr<Task<SolidFacts>>()]() mutable -> std::optional<Json> {
    if (state.measurer() != measurer) throw Error(ErrorKind::cancelled, "another scene was opened");
    if (!task && !state.check() && loader.checks(state)) return std::nullopt;  // volumes need it
    if (!task)
      task = std::make_shared<Task<SolidFacts>>([measurer, chosen, check = state.check()](const Progress& progress) {
        return measurer->facts(chosen, check.get(), progress);
      });
    return task->ready() ? std::optional(facts_json(task->result())) : std::nullopt;
  });
}

Answer measure(const ControlTarget& to, const Arguments& with) {
  to.state.measuring().set_points(with.points(
      "points", [&](const std::string& text) { return find_point(solids_of(to.state), *to.state.measurer(), text); }));
  return measured_json(to.state);
}

Answer overlaps(const ControlTarget& to, const Arguments& with) {
  const Scene& scene = solids_of(to.state).scene();
  if (const auto file = with.text("file"))
    to.state.set_overlaps(std::make_shared<const OverlapMarks>(read_overlap_marks(*file, scene)));
  else
    to.state.want_overlaps();
  return Pending([&state = to.state, shown = to.state.scene(),
                  failures = to.state.messages().failures()]() -> std::optional<Json> {
    if (state.scene() != shown) throw Error(ErrorKind::cancelled, "another scene was opened");
    if (state.messages().failures() != failures) throw Error(*state.messages().failure());
    if (state.wants_overlaps()) return std::nullopt;
    if (!state.overlaps()) throw Error(ErrorKind::cancelled, "the search was stopped in the window");
    constexpr std::size_t kMax = 20;
    Json found = Json::array();
    for (const OverlapMark& mark : *state.overlaps()) {
      if (found.size() == kMax) break;
      found.push_back({{"place", cli::point_json(Double3{mark.place.x(), mark.place.y(), mark.place.z()})},
                       {"depth", mark.depth},
                       {"first", state.scene()->path(state.scene()->instances[mark.first])},
                       {"second", state.scene()->path(state.scene()->instances[mark.second])}});
    }
    return Json{{"overlaps", state.overlaps()->size()}, {"found", std::move(found)}};
  });
}

Answer bookmark(const ControlTarget& to, const Arguments& with) {
  const std::string action = with.text("action").value_or("save");
  std::string name = with.text("name").value_or("");
  const auto key = with.number("key");
  if (key && *key != std::floor(*key)) throw Error(ErrorKind::usage, "'key' must be a whole number from 0 to 9");
  if (action == "save") {
    attempted(to.state,
              [&] { to.state.add_bookmark(name, key ? std::optional(static_cast<int>(*key)) : std::nullopt); });
    if (name.empty()) name = to.state.bookmarks().all().back().name;
    return Json{{"name", name}};
  }
  const Bookmark* found = to.state.bookmarks().find(name);
  if (found == nullptr) throw Error(ErrorKind::usage, "no bookmark has the name '" + cli::printable(name) + "'");
  if (action == "open")
    to.state.go_to(Bookmark(*found));
  else
    attempted(to.state,
              [&] { to.state.remove_bookmark(static_cast<std::size_t>(found - to.state.bookmarks().all().data())); });
  return Json{{"name", name}};
}

Answer path(const ControlTarget& to, const Arguments& with) {
  const auto names = with.text("names");
  if (!names) {
    to.state.stop_path();
    return Json();
  }
  constexpr double kSecondsOfEach = 5;
  const std::vector<std::string> bookmarks = cli::split_at_commas(*names);
  const double seconds =
      with.number("seconds").value_or(kSecondsOfEach * std::max(1.0, static_cast<double>(bookmarks.size()) - 1));
  to.state.play_path(bookmarks, seconds);
  return Json{{"bookmarks", bookmarks}, {"seconds", seconds}};
}

Answer screenshot(const ControlTarget& to, const Arguments& with) {
  if (to.frames == nullptr) throw Error(ErrorKind::unsupported, "nothing is drawn here");
  return Pending([&state = to.state, &loader = to.loader, &frames = *to.frames,
                  file = cli::parse_drawing_name(*with.text("file"))]() -> std::optional<Json> {
    if (loader.owes(state)) return std::nullopt;
    // The window goes on without rays, and says why; an image without them is not what was asked for.
    if (state.wants_device_scene() && !state.device_scene())
      throw state.messages().failure() ? Error(*state.messages().failure())
                                       : Error(ErrorKind::cancelled, "the upload was stopped");
    // A window that is minimised does not draw by itself.
    const bool rays = state.settings().ray_cast != RayMode::off;
    if (rays && frames.busy(state)) frames.draw(state);
    if (rays && frames.busy(state)) return std::nullopt;
    frames.save_image(state, file);
    const Resolution& size = frames.renderer().resolution();
    return Json{{"file", file}, {"width", size.width}, {"height", size.height}};
  });
}

Answer state(const ControlTarget& to, const Arguments&) {
  return state_json(to);
}

Answer quit(const ControlTarget& to, const Arguments&) {
  to.layout.closing = true;
  return Json();
}

}  // namespace raylift::viewer::act
