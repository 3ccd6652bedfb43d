// SPDX-License-Identifier: Apache-2.0
#include "remote/verbs.h"

#include <array>
#include <utility>

#include "cli/camera.h"
#include "cli/options.h"
#include "model/settings/measurement.h"
#include "remote/arguments.h"
#include "remote/verb_actions.h"

namespace raylift::viewer {
namespace {

using Type = Parameter::Type;

constexpr double kLargestCoordinate = 1e30;  // mm; squares stay finite

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
  return {{"planes", Type::planes, "in the form of --clip: x, -y, z=100, 1,1,0=250, facing or off"},
          {"box", Type::text, "in the form of --clip-box: two corners, or a pattern of solids"},
          flag("away", "cut away the inside of the box, not the outside")};
}

/// The verb's settings, between other parameters.
std::vector<Parameter> with_settings(std::string_view verb, std::vector<Parameter> before,
                                     const std::vector<Parameter>& after) {
  for (Parameter& one : setting_parameters(verb)) before.push_back(std::move(one));
  before.insert(before.end(), after.begin(), after.end());
  return before;
}

std::vector<Parameter> drawing_parameters() {
  return with_settings("draw", {}, {flag("panels", "show the panels"), flag("legend", "show the legend")});
}

std::vector<Parameter> photon_parameters() {
  return with_settings(
      "photons",
      {{"file", Type::file, "photons to open, in the form of --photons; answers once they are shown"},
       {"compare", Type::file, "another run, in the form of --photon-compare"}},
      {{"source", Type::text, "source of photons to simulate, in the form of --photon-source; empty: none"}});
}

std::vector<Parameter> time_parameters() {
  return with_settings("time", {},
                       {flag("all", "show the light of all times at once"), flag("play", "let time run, or stop it")});
}

std::vector<std::string> notification_names() {
  std::vector<std::string> names;
  for (const Notification& one : notifications()) names.emplace_back(one.name);
  return names;
}

constexpr std::string_view kScene = "file, solids, triangles", kCount = "solids: how many were found";

std::vector<Verb> verbs_of_the_scene() {
  return {
      {"open",
       "open a file; answers once it is shown",
       {{"file", Type::file, "the scene's file", true}},
       kScene,
       act::open},
      {"reload", "read the file again; answers once it is shown", {}, kScene, act::reload},
      {"ready", "answer once the file is shown", {}, kScene, act::ready},
      {"look", "move the camera; parameters left out don't change", camera_parameters(), "the camera", act::look},
      {"focus",
       "frame solids and draw all others faintly; without solids: frame the selected one, or the scene",
       {solids("patterns of solids, in the form of --focus")},
       kCount,
       act::focus},
      {"hide", "hide solids", {required(solids("patterns of solids, in the form of --hide"))}, kCount, act::hide},
      {"show", "show solids; without solids: all", {solids("patterns of solids")}, kCount, act::show},
      {"only",
       "show only these solids",
       {required(solids("patterns of solids, in the form of --only"))},
       kCount,
       act::only},
      {"style",
       "choose how solids are drawn: by default, faintly, transparent, as lines, with edges; and their colour",
       {required(solids("patterns of solids, in the form of --hide")),
        choice("as", kStyleNames, "default: no style of its own; left out: as before"),
        number("opacity", kMinOpacity, 1, "", "of glass; left out: glass_opacity of draw"),
        {"color", Type::text, "their own, #rrggbb; none: that of color"}},
       kCount,
       act::style},
      {"undo", "undo the last change of visibility or styles", {}, "", act::undo},
      {"clip", "clip at planes or at a box; replaces earlier ones", clip_parameters(),
       "planes: as texts; box: min, max and away, or null", act::clip},
      {"window", "choose how the window answers to the mouse; parameters left out don't change",
       with_settings("window", {}, {}), "", act::draw},
      {"color", "choose the meaning of colours, and their scale", setting_parameters("color"), "", act::draw},
      {"draw", "choose how the scene is drawn; parameters left out don't change", drawing_parameters(), "", act::draw},
      {"photons", "open photons, choose which light is shown, and how; parameters left out don't change",
       photon_parameters(), "steps, points: how many are shown; null without photons", act::photons},
      {"event",
       "show the photons of another event; answers once they are shown",
       {{"event", Type::text, "name or number of an event, in the form of --event; next, previous", true}},
       "event: its name; number: its place from 1 on; events: how many there are; steps, points",
       act::event},
      {"time", "choose the time of the light that is shown; parameters left out don't change", time_parameters(),
       "time: ns, or null for all; playing", act::time}};
}

std::vector<Verb> other_verbs() {
  return {
      {"select",
       "select the first solid that a pattern finds, or a node with all solids below it; without solid: none",
       {{"solid", Type::text, "a pattern of solids"}, flag("below", "with all solids below it")},
       "solids: how many were found; selection",
       act::select},
      {"facts",
       "report box, area and volume of solids together, and the centre of a single one; without solids: of the "
       "selection",
       {solids("patterns of solids")},
       "solids, triangles; min, max, size: mm; centre: mm, or null; area: mm^2; volume, outer_volume: mm^3, or null; "
       "not_closed, inward",
       act::facts},
      {"measure",
       "draw and report the distance between two points or centres of solids, and the angle at the second of three; "
       "without points: none",
       {{"points", Type::points, "two or three, or patterns of solids for their centres", false, "mm",
         -kLargestCoordinate, kLargestCoordinate}},
       "points, steps, distances: mm; angle: degrees, or null",
       act::measure},
      {"overlaps",
       "mark the overlaps of solids, and report them; without a file: search for them",
       {{"file", Type::file, "a report of raylift check --json"}},
       "overlaps: their number; found: the deepest 20, with place and depth in mm, and their solids",
       act::overlaps},
      {"bookmark",
       "save, open or remove a bookmark; the default name of a saved one has the number of its key: view 1",
       {{"name", Type::text, "of the bookmark"},
        number("key", 0, 9, "", "with save: the digit that goes to it"),
        {"action", Type::choice, "default: save", false, {}, 0, 0, {"save", "open", "remove"}}},
       "name",
       act::bookmark},
      {"path",
       "move the camera along bookmarks; without names: stop",
       {{"names", Type::text, "of the bookmarks, in the form of --path"},
        number("seconds", 0.1, 3600, "s", "of the whole path; default: 5 from each to the next")},
       "bookmarks, seconds",
       act::path},
      {"screenshot",
       "write the image, without panels, into a PNG file, or its outlines into an SVG file; answers once all rays are "
       "cast",
       {{"file", Type::file, "of the image", true}},
       "file, width, height",
       act::screenshot},
      {"state",
       "report the state: file, camera, selection and settings",
       {},
       "file, loading, error, solids, visible, styled, opacities, camera, selection, bookmarks, ...",
       act::state},
      {"subscribe",
       "receive notifications of changes",
       {{"to", Type::words, "default: all", false, {}, 0, 0, notification_names()}},
       "to: the topics",
       nullptr},
      {"unsubscribe", "receive no more notifications", {}, "", nullptr},
      {"quit", "close the window", {}, "", act::quit}};
}

Json text_schema(const Parameter& parameter) {
  Json schema{{"type", "string"}, {"maxLength", kLongestText}};
  if (parameter.type == Type::file) schema["format"] = "path";
  if (!parameter.choices.empty()) schema["enum"] = parameter.choices;
  return schema;
}

Json number_schema(const Parameter& parameter) {
  return {{"type", "number"}, {"minimum", parameter.least}, {"maximum", parameter.most}};
}

Json number_or_word_schema(const Parameter& parameter) {
  if (parameter.word.empty()) return number_schema(parameter);
  return {{"oneOf", Json::array({number_schema(parameter), {{"const", parameter.word}}})}};
}

Json schema_of(const Parameter& parameter) {
  switch (parameter.type) {
    case Type::flag:
      return {{"type", "boolean"}};
    case Type::number:
      return number_or_word_schema(parameter);
    case Type::point:
    case Type::points: {
      Json point{{"type", "array"}, {"items", number_schema(parameter)}, {"minItems", 3}, {"maxItems", 3}};
      if (parameter.type == Type::point) return point;
      const Json item{{"oneOf", Json::array({point, text_schema(parameter)})}};
      return {{"type", "array"}, {"items", item}, {"minItems", 2}, {"maxItems", kMaxMeasured}};
    }
    case Type::patterns:
    case Type::planes:
    case Type::words: {
      const Json list{{"type", "array"}, {"items", text_schema(parameter)}, {"minItems", 1}, {"maxItems", kMaxTexts}};
      return {{"oneOf", Json::array({text_schema(parameter), list})}};
    }
    case Type::text:
    case Type::file:
    case Type::choice:
      break;
  }
  return text_schema(parameter);
}

/// "file=FILE", "[fov=NUMBER]", "[view=front|back|...]".
std::string usage(const Parameter& parameter) {
  // By Parameter::Type; those of words and choices are listed.
  static constexpr std::array<const char*, 10> kValues{"TEXT", "FILE",   "PATTERN,...", "PLANE", "",
                                                       "",     "NUMBER", "true|false",  "X,Y,Z", "X,Y,Z ..."};
  std::string value = kValues[static_cast<std::size_t>(parameter.type)];
  if (parameter.type == Type::choice || parameter.type == Type::words)
    for (const std::string& word : parameter.choices)
      value += (value.empty() ? "" : parameter.type == Type::words ? "," : "|") + word;
  if (!parameter.word.empty()) value += '|' + std::string(parameter.word);
  value = std::string(parameter.name) + '=' + value;
  return parameter.required ? value : '[' + value + ']';
}

/// "vertical field of view (1 to 170 degrees)".
std::string described(const Parameter& parameter) {
  if (parameter.type == Type::number)
    return with_range(parameter.help, parameter.least, parameter.most, parameter.unit);
  return std::string(parameter.help) + (parameter.unit.empty() ? "" : ", " + std::string(parameter.unit));
}

}  // namespace

std::vector<Parameter> setting_parameters(std::string_view verb, const SettingTable& table) {
  std::vector<Parameter> parameters;
  for (const Setting& row : table) {
    if (row.verb != verb) continue;
    Parameter one{row.name, Type::text, row.help, false, row.unit, row.least, row.most, row.words, row.aliases};
    if (row.type == Setting::Type::flag) one.type = Type::flag;
    if (row.type == Setting::Type::number) one.type = Type::number;
    if (row.type == Setting::Type::choice) one.type = Type::choice;
    if (row.type == Setting::Type::choice) one.accepted = row.accepted_words();
    one.word = row.word;
    parameters.push_back(std::move(one));
  }
  return parameters;
}

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
  static const std::vector<Notification> table{{"selection", "the selected solid, or null"},
                                               {"camera", "the camera, at most once for each image"},
                                               {"opened", "the scene that is now shown: file, solids, triangles"},
                                               {"progress", "the work that goes on: what, share; or null"}};
  return table;
}

Json describe_verbs() {
  Json methods = Json::array();
  for (const Verb& verb : verbs()) {
    Json parameters = Json::array();
    for (const Parameter& parameter : verb.parameters) {
      Json one{{"name", parameter.name},
               {"description", described(parameter)},
               {"required", parameter.required},
               {"schema", schema_of(parameter)}};
      if (!parameter.unit.empty()) one["x-unit"] = parameter.unit;
      if (!parameter.aliases.empty()) one["x-aliases"] = parameter.aliases;
      parameters.push_back(std::move(one));
    }
    methods.push_back({{"name", verb.name},
                       {"description", verb.help},
                       {"paramStructure", "by-name"},
                       {"params", std::move(parameters)},
                       {"result", {{"name", "result"}, {"description", verb.result}, {"schema", Json::object()}}}});
  }
  Json sent = Json::array();
  for (const Notification& one : notifications()) sent.push_back({{"name", one.name}, {"description", one.help}});
  return {{"openrpc", "1.3.2"},
          {"info", {{"title", "raylift-view"}, {"version", RAYLIFT_VERSION}}},
          {"methods", std::move(methods)},
          {"x-notifications", std::move(sent)}};
}

std::vector<std::pair<std::string, std::string>> parameters_help(const Verb& verb) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Parameter& parameter : verb.parameters) all.emplace_back(usage(parameter), described(parameter));
  return all;
}

std::string verbs_help() {
  constexpr std::size_t kColumn = 28;
  std::string text;
  for (const Verb& verb : verbs()) {
    text += "  " + std::string(verb.name) + ": " + std::string(verb.help) + '\n';
    for (const auto& [named, help] : parameters_help(verb))
      text +=
          "    " + named +
          (named.size() < kColumn ? std::string(kColumn - named.size(), ' ') : "\n" + std::string(kColumn + 4, ' ')) +
          help + '\n';
  }
  return text;
}

}  // namespace raylift::viewer
