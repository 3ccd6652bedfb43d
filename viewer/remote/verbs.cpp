// SPDX-License-Identifier: Apache-2.0
#include "remote/verbs.h"

#include "cli/camera.h"
#include "cli/options.h"
#include "model/settings.h"
#include "remote/verb_actions.h"

namespace raylift::viewer {
namespace {

using Type = Parameter::Type;

constexpr double kLargestCoordinate = 1e30;  // mm: squares of coordinates stay finite

Parameter number(std::string_view name, double least, double most, std::string_view unit, std::string_view help) {
  return {name, Type::number, help, false, unit, least, most};
}
Parameter flag(std::string_view name, std::string_view help) {
  return {name, Type::flag, help};
}
Parameter point(std::string_view name, std::string_view unit, std::string_view help) {
  return {name, Type::point, help, false, unit, -kLargestCoordinate, kLargestCoordinate};
}
template <std::size_t N>
Parameter choice(std::string_view name, const std::array<std::string_view, N>& words, std::string_view help) {
  return {name, Type::choice, help, false, {}, 0, 0, cli::words_of(words)};
}
Parameter required(Parameter parameter) {
  parameter.required = true;
  return parameter;
}
Parameter solids(std::string_view help) {
  return {"solids", Type::patterns, help};
}

std::vector<Parameter> camera_parameters() {
  return {choice("view", kViewNames, "a standard view of what is shown"),
          point("eye", "mm", "position of the camera"),
          point("target", "mm", "point that the camera looks at"),
          point("up", "", "upward direction of the image"),
          number("azimuth", -36000, 36000, "degrees", "turn around the target"),
          number("elevation", -180, 180, "degrees", "raise the camera"),
          number("fov", 1, 170, "degrees", "vertical field of view"),
          number("zoom", 1e-6, 1e6, "", "magnification of the present image"),
          flag("orthographic", "parallel projection")};
}

std::vector<Parameter> clip_parameters() {
  return {{"planes", Type::planes, "as --clip takes them: x, -y, z=100, 1,1,0=250, facing or off"},
          {"box", Type::text, "as --clip-box takes it: two corners, or a pattern of solids"},
          flag("away", "cut away what is in the box, or what is outside")};
}

std::vector<Parameter> drawing_parameters() {
  return {choice("ray_cast", kRayModeNames, "cast rays instead of rasterising"),
          choice("shells", kShellsNames, "solids that enclose nearly all others"),
          flag("wireframe", "lines instead of surfaces"),
          flag("edges", "the triangles' edges over the surfaces"),
          flag("feature_edges", "of edges and wireframes, only where faces meet at 40 degrees or more, or end"),
          flag("smooth", "smooth or flat shading"),
          flag("back_faces", "back faces in red stripes"),
          number("opacity", kMinOpacity, 1, "", "of all surfaces"),
          number("glass", kMinOpacity, 1, "", "opacity of solids with the style glass, without one of their own"),
          number("detail", 0, kMaxDetail, "pixels", "how far simplified solids may lie off; 0: none is simplified"),
          flag("caps", "close solids where planes cut them"),
          flag("axes", "show the axes"),
          flag("scale_bar", "show the scale bar"),
          flag("panels", "show the panels"),
          flag("legend", "show the legend"),
          {"background", Type::text, "as --background takes it"}};
}

std::vector<Parameter> photon_parameters() {
  return {{"file", Type::file, "photons to open, as --photons takes them; answers once they are shown"},
          {"compare", Type::file, "another run, as --photon-compare takes it"},
          choice("color", kPhotonColorNames, "what the colour of light means"),
          {"history", Type::text, "a pattern, as --photon-filter takes it; empty: all"},
          {"wavelength", Type::text, "nm, as --photon-wavelength takes it; empty: all"},
          {"channel", Type::text, "that detected, as --photon-channel takes it; empty: all"},
          flag("paths", "show steps"),
          flag("points", "show where photons ended"),
          number("size", 1, 64, "pixels", "width of lines; points are larger"),
          number("opacity", kMinOpacity, 1, "", "of lines"),
          number("trail", 0, 1e9, "ns", "of each path behind its head; 0: all of it"),
          {"source", Type::text, "to be followed, as --photon-source takes it; empty: none"}};
}

std::vector<Parameter> time_parameters() {
  return {number("at", -1e9, 1e9, "ns", "show light as it is then"), flag("all", "show the light of all times at once"),
          flag("play", "let time run, or stop it"),
          number("speed", 0, 1e9, "ns/s", "of play; 0: all times in ten seconds"),
          flag("loop", "play begins again at the end")};
}

std::vector<std::string> notification_names() {
  std::vector<std::string> names;
  for (const Notification& one : notifications()) names.emplace_back(one.name);
  return names;
}

constexpr std::string_view kScene = "file, solids, triangles", kCount = "solids: how many were found";

/// What is shown, from where, and how.
std::vector<Verb> verbs_of_the_scene() {
  return {{"open",
           "open a file; answers once it is shown",
           {{"file", Type::file, "the scene's file", true}},
           kScene,
           act::open},
          {"reload", "read the file again; answers once it is shown", {}, kScene, act::reload},
          {"ready", "answer once the file is shown", {}, kScene, act::ready},
          {"look", "move the camera; what is left out stays", camera_parameters(), "the camera", act::look},
          {"focus",
           "frame solids and draw all others faintly; without solids: frame the selected one, or the scene",
           {solids("patterns of solids, as --focus takes one")},
           kCount,
           act::focus},
          {"hide", "hide solids", {required(solids("patterns of solids, as --hide takes them"))}, kCount, act::hide},
          {"show", "show solids; without solids: all", {solids("patterns of solids")}, kCount, act::show},
          {"only",
           "show only these solids",
           {required(solids("patterns of solids, as --only takes them"))},
           kCount,
           act::only},
          {"style",
           "choose how solids are drawn: as all are, faintly, transparent, as lines, with edges",
           {required(solids("patterns of solids, as --hide takes them")),
            required(choice("as", kStyleNames, "plain is as all others")),
            number("opacity", kMinOpacity, 1, "", "of glass; without it: that of all, by draw")},
           kCount,
           act::style},
          {"undo", "take the last change of what is hidden, or of styles, back", {}, "", act::undo},
          {"clip", "clip at planes or at a box, in place of those before", clip_parameters(),
           "planes: as texts; box: min, max and away, or null", act::clip},
          {"color",
           "choose what colours mean",
           {required(choice("by", kColorNames, "as --color takes it"))},
           "",
           act::color},
          {"draw", "choose how the scene is drawn; what is left out stays", drawing_parameters(), "", act::draw},
          {"photons", "open photons, choose which light is shown, and how; what is left out stays", photon_parameters(),
           "steps, points: how many are shown; null without photons", act::photons},
          {"time", "choose the time of the light that is shown; what is left out stays", time_parameters(),
           "time: ns, or null for all; playing", act::time}};
}

std::vector<Verb> other_verbs() {
  return {{"select",
           "select the first solid that a pattern finds, or a node with all solids below it; without solid: none",
           {{"solid", Type::text, "a pattern of solids"},
            flag("below", "with all solids below it, as of a node without a solid of its own")},
           "solids: how many were found; selection",
           act::select},
          {"facts",
           "tell box, area and volume of solids together; without solids: of what is selected",
           {solids("patterns of solids")},
           "solids, triangles; min, max, size: mm; area: mm^2; volume, outer_volume: mm^3, or null; not_closed, inward",
           act::facts},
          {"measure",
           "draw and tell the distance between two points, and the angle at the second of three; without points: none",
           {{"points", Type::points, "two or three", false, "mm", -kLargestCoordinate, kLargestCoordinate}},
           "points, steps, distances: mm; angle: degrees, or null",
           act::measure},
          {"bookmark",
           "save, open or remove a bookmark; a saved one without a name is view 1, or the next free one",
           {{"name", Type::text, "of the bookmark"},
            {"action", Type::choice, "save, unless given", false, {}, 0, 0, {"save", "open", "remove"}}},
           "name",
           act::bookmark},
          {"screenshot",
           "write the image, without panels, into a PNG file; answers once all rays are cast",
           {{"file", Type::file, "of the image", true}},
           "file, width, height",
           act::screenshot},
          {"state",
           "tell what is shown, and how",
           {},
           "file, loading, error, solids, visible, styled, opacities, camera, selection, bookmarks, ...",
           act::state},
          {"subscribe",
           "be told of changes by notifications",
           {{"to", Type::words, "all, unless given", false, {}, 0, 0, notification_names()}},
           "to: what is subscribed to",
           nullptr},
          {"unsubscribe", "be told of nothing more", {}, "", nullptr},
          {"quit", "close the window", {}, "", act::quit}};
}

}  // namespace

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> table = [] {
    std::vector<Verb> all = verbs_of_the_scene();
    for (Verb& verb : other_verbs()) all.push_back(std::move(verb));
    return all;
  }();
  return table;
}

const Verb* find_verb(std::string_view name) {
  for (const Verb& verb : verbs())
    if (verb.name == name) return &verb;
  return nullptr;
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) names.emplace_back(verb.name);
  return names;
}

const std::vector<Notification>& notifications() {
  static const std::vector<Notification> table{{"selection", "the solid that is selected now, or null"},
                                               {"camera", "the camera, at most once for each image"},
                                               {"opened", "a scene that is shown: file, solids, triangles"}};
  return table;
}

}  // namespace raylift::viewer
