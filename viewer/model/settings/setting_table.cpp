// SPDX-License-Identifier: Apache-2.0
#include "model/settings/setting_table.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <type_traits>

#include "cli/options.h"
#include "cli/quantity.h"
#include "cli/text.h"
#include "photon/src/histories.h"

namespace raylift::viewer {
namespace {

using Part = Setting::Part;

constexpr double kMaxTime = 1e12;  // ns

/// What has the members of `Of`: the settings, or what they have of light.
template <class Of, class S>
auto& owner(S& s) {
  if constexpr (std::is_same_v<Of, Settings>)
    return s;
  else if constexpr (std::is_same_v<Of, PhotonSettings>)
    return s.photons;
  else
    return s.photons.filter;
}

/// A row whose values `read` makes of the member, and `write` of a value for it.
template <class T, class Of, class Read, class Write>
Setting row(std::string_view name, Setting::Type type, std::string_view metavar, std::string_view help, T Of::*member,
            Read read, Write write) {
  Setting one{name,
              type,
              metavar,
              help,
              [=](const Settings& s) -> SettingValue { return read(owner<Of>(s).*member); },
              [=](Settings& s, const SettingValue& value) { owner<Of>(s).*member = write(value); }};
  if (std::is_same_v<Of, Settings>) return one;
  one.part = Part::light;
  one.verb = "photons";
  return one;
}

template <class Of>
Setting flag(std::string_view name, std::string_view help, bool Of::*member, std::string_view negative = {}) {
  Setting one = row(
      name, Setting::Type::flag, "", help, member, [](bool on) { return on; },
      [](const SettingValue& value) { return std::get<bool>(value); });
  one.flag = [=](Settings& s) -> bool& { return owner<Of>(s).*member; };
  one.negative = negative;
  return one;
}

template <class T, class Of>
Setting number(std::string_view name, std::string_view metavar, double least, double most, std::string_view unit,
               std::string_view help, T Of::*member) {
  Setting one = row(
      name, Setting::Type::number, metavar, help, member, [](T value) { return static_cast<double>(value); },
      [](const SettingValue& value) { return static_cast<T>(std::get<double>(value)); });
  one.least = least;
  one.most = most;
  one.unit = unit;
  return one;
}

template <class T, class Of, std::size_t N>
Setting choice(std::string_view name, std::string_view metavar, const std::array<std::string_view, N>& words,
               std::string_view help, T Of::*member) {
  Setting one = row(
      name, Setting::Type::choice, metavar, help, member, [&words](T value) { return cli::name_of(value, words); },
      [&words](const SettingValue& value) { return cli::enum_of<T>(std::get<std::string>(value), words); });
  one.words = cli::words_of(words);
  return one;
}

/// `print` makes the text that `parse` reads.
template <class T, class Of, class Parse, class Print>
Setting text(std::string_view name, std::string_view metavar, std::string_view help, T Of::*member, Parse parse,
             Print print) {
  return row(name, Setting::Type::text, metavar, help, member, print,
             [parse](const SettingValue& value) { return parse(std::get<std::string>(value)); });
}

/// A range, or an empty text.
template <class T>
Setting range(std::string_view name, std::string_view metavar, std::string_view help,
              std::optional<T> PhotonFilter::*member, T (*parse)(std::string_view)) {
  return text(
      name, metavar, help, member,
      [parse](const std::string& typed) { return typed.empty() ? std::nullopt : std::optional(parse(typed)); },
      [](const std::optional<T>& value) { return value ? range_text(*value) : std::string(); });
}

template <class Of>
Setting scale_map(std::string_view help) {
  return choice("scale_map", "MAP", kColorMapNames, help, &Of::scale_map);
}
template <class Of>
Setting scale_log() {
  return flag("scale_log", "Make this scale logarithmic", &Of::scale_log);
}
/// A range of values; "auto": none.
template <class Of>
Setting value_range(std::string_view name, std::string_view help, std::optional<Between<double>> Of::*member) {
  return text(
      name, "LOW-HIGH", help, member,
      [](const std::string& typed) {
        return typed.empty() || typed == "auto" ? std::nullopt : std::optional(parse_scale_range(typed));
      },
      [](const std::optional<Between<double>>& range) { return range ? range_text(*range) : std::string("auto"); });
}
template <class Of>
Setting scale_range(std::string_view help) {
  return value_range("scale_range", help, &Of::scale_range);
}

/// A number with a word for one of its values.
Setting worded(std::string_view word, SettingValue value, Setting one) {
  one.word = word;
  one.word_value = std::move(value);
  return one;
}

Setting time_of_light() {
  Setting one = row(
      "time", Setting::Type::number, "NS",
      "Show light as it is at this time, with the heads of its paths; all: light of all times", &PhotonSettings::time,
      [](const std::optional<double>& at) { return at ? SettingValue(*at) : SettingValue(); },
      [](const SettingValue& value) {
        const double* at = std::get_if<double>(&value);
        return at == nullptr ? std::nullopt : std::optional(*at);
      });
  one.least = -kMaxTime;
  one.most = kMaxTime;
  one.unit = "ns";
  return worded("all", {}, std::move(one));
}

std::string checked_history(const std::string& pattern) {
  (void)photon::HistoryPattern(pattern);  // for its errors
  return pattern;
}

/// A choice with older words for some of its words.
Setting renamed(std::vector<std::pair<std::string_view, std::string_view>> older, Setting one) {
  one.older_words = std::move(older);
  one.set = [set = one.set, words = one.older_words](Settings& s, const SettingValue& value) {
    const auto& typed = std::get<std::string>(value);
    const auto found = std::find_if(words.begin(), words.end(), [&](const auto& word) { return word.first == typed; });
    set(s, found == words.end() ? value : SettingValue(std::string(found->second)));
  };
  return one;
}

Setting formerly(std::string_view alias, Setting one) {
  one.aliases.push_back(alias);
  return one;
}
Setting in(Part part, std::string_view verb, Setting one) {
  one.part = part;
  one.verb = verb;
  return one;
}

SettingTable make_table() {
  using S = Settings;
  using P = PhotonSettings;
  using F = PhotonFilter;
  const auto color = choice("color", "BY", kColorNames, "What the colours of solids mean", &S::color);
  const auto background =
      text("background", "COLOR", "dark, light, white, black, none, #rrggbb or two of these: #rrggbb,#rrggbb",
           &S::background, parse_background, background_text);
  return {
      in(Part::scene, "color", formerly("by", color)),
      in(Part::scene, "color", scale_map<S>("Colour scale of hits, first hits, depths and crossings")),
      in(Part::scene, "color", scale_log<S>()),
      in(Part::scene, "color",
         scale_range<S>("Range of the scale of hits or first hits: 10-500 (photons or ns); auto: that of the data")),
      formerly("rays", choice("ray_cast", "MODE", kRayModeNames, "Cast rays instead of rasterising", &S::ray_cast)),
      choice("shells", "LOOK", kShellsNames,
             "Solids that enclose nearly all others; a clipping plane opens all but the largest", &S::shells),
      flag("wireframe", "Draw lines instead of surfaces", &S::wireframe),
      flag("edges", "Draw the triangles' edges over the surfaces", &S::edges),
      flag("feature_edges", "Edges and wireframes only where faces meet at 40 degrees or more, or a surface ends",
           &S::feature_edges, "all-edges"),
      flag("smooth", "Smooth or flat shading", &S::smooth, "flat"),
      flag("back_faces", "Draw back faces in red stripes", &S::back_faces),
      number("opacity", "SHARE", kMinOpacity, 1, "", "Opacity of all surfaces", &S::opacity),
      formerly("glass", number("glass_opacity", "SHARE", kMinOpacity, 1, "",
                               "Opacity of solids with the style glass without one of their own", &S::glass_opacity)),
      worded("off", 0.0,
             number("detail", "PIXELS", 0, kMaxDetail, "pixels",
                    "Largest error of solids that are simplified because they appear small; off or 0: none is",
                    &S::detail)),
      flag("caps", "Close solids where planes cut them, in their colours", &S::caps),
      in(Part::background, "draw", background),
      in(Part::overlay, "draw", flag("axes", "Show the axes", &S::axes)),
      in(Part::overlay, "draw", flag("scale_bar", "Show the scale bar", &S::scale_bar)),
      in(Part::window, "window",
         choice("controls", "SCHEME", kMouseSchemeNames,
                "Buttons of the mouse as in raylift, in VTK (ParaView, F3D) or in Blender", &S::controls)),
      in(Part::window, "window",
         flag("hover", "Show name, material and position of what is under a resting cursor", &S::hover)),
      in(Part::window, "window",
         flag("snap", "Measured points snap to vertices, edges and centres of solids; Alt held: not now", &S::snap)),
      renamed({{"flag", "process"}, {"number", "photon"}},
              choice("color", "BY", kPhotonColorNames,
                     "What the colours of light mean; auto: the time where all light has one wavelength, else the "
                     "wavelength",
                     &P::color)),
      scale_map<P>("Colour scale of time"),
      scale_log<P>(),
      scale_range<P>("Range of this scale: 10-500 (ns); auto: that of the data"),
      formerly("history", text("filter", "PATTERN",
                               "Photons with these histories: 'TO * RE * SD', where * is any number of interactions; "
                               "one alone, such as SD or !SC: photons that have it",
                               &F::history, checked_history, [](const std::string& pattern) { return pattern; })),
      range("wavelength", "NM", "Light of these wavelengths: 420 or 350-500", &F::wavelength, parse_wavelengths),
      range("channel", "NUMBER", "Photons that these channels detected: 12 or 10-19", &F::channel, parse_channels),
      flag("paths", "Draw steps as lines", &P::paths),
      flag("points", "Draw final photons or hits as points", &P::points),
      flag("clip", "Clipping planes and the clipping box cut light too, not only solids", &P::clip),
      number("size", "PIXELS", 1, 64, "pixels", "Width of lines; points are larger", &P::size),
      number("opacity", "SHARE", kMinOpacity, 1, "", "Opacity of light", &P::opacity),
      worded("all", 0.0,
             number("density", "SHARE", 0, 100, "",
                    "Largest share of the image that paths cover, and points; the others are left out evenly; all or "
                    "0: none is",
                    &P::density)),
      worded("all", 0.0,
             number("trail", "NS", 0, kMaxTime, "ns", "Length of each path behind its head; all or 0: all of it",
                    &P::trail)),
      in(Part::time, "time", formerly("at", time_of_light())),
      in(Part::time, "time",
         worded("auto", 0.0,
                number("speed", "NS", 0, kMaxTime, "ns/s",
                       "Time that a second of play shows; auto or 0: all in 10 s, slower where there is more light",
                       &P::speed))),
      in(Part::time, "time", flag("loop", "Play begins again at the end", &P::loop)),
      in(Part::time, "time", value_range("play_range", "Times that play shows: 0-50 (ns); auto: all", &P::play_range))};
}

std::string with_dashes(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

}  // namespace

const SettingTable& setting_table() {
  static const SettingTable table = make_table();
  return table;
}

bool Setting::in(std::initializer_list<Part> parts) const {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

std::string Setting::option() const {
  return (in({Part::light, Part::time}) ? "photon-" : "") + with_dashes(name);
}

std::string Setting::negative_option() const {
  return negative.empty() ? "no-" + option() : std::string(negative);
}

std::vector<std::string> Setting::accepted_words() const {
  std::vector<std::string> accepted = words;
  for (const auto& [older, now] : older_words) accepted.emplace_back(older);
  return accepted;
}

std::string Setting::fallback() const {
  const SettingValue value = get(Settings());
  if (!word.empty() && value == word_value) return std::string(word);
  if (const bool* on = std::get_if<bool>(&value)) return *on ? "on" : "off";
  if (const double* one = std::get_if<double>(&value)) return cli::short_number(*one);
  const std::string* typed = std::get_if<std::string>(&value);
  return typed == nullptr ? "" : *typed;
}

SettingValue read_value(const Setting& setting, const std::string& text) {
  if (setting.type == Setting::Type::flag) throw Error(ErrorKind::usage, "a flag has no value");
  if (setting.type != Setting::Type::number) return text;
  if (!setting.word.empty() && text == setting.word) return setting.word_value;
  const auto value = cli::number(text);
  if (!value || !(*value >= setting.least && *value <= setting.most))
    throw Error(ErrorKind::usage, "'" + cli::printable(text) + "' is not a number from " +
                                      cli::short_number(setting.least) + " to " + cli::short_number(setting.most) +
                                      (setting.word.empty() ? "" : ", or " + std::string(setting.word)));
  return *value;
}

std::string with_range(std::string_view help, double least, double most, std::string_view unit) {
  constexpr double kAny = 1e9;
  std::string range = most < kAny ? cli::short_number(least) + " to " + cli::short_number(most) : "";
  if (!unit.empty()) range += (range.empty() ? "" : " ") + std::string(unit);
  return std::string(help) + (range.empty() ? "" : " (" + range + ')');
}

bool same_scene(const Settings& a, const Settings& b, const SettingTable& table) {
  return a.clip == b.clip && a.more_clips == b.more_clips && a.clip_box == b.clip_box &&
         std::all_of(table.begin(), table.end(), [&](const Setting& row) {
           return !row.in({Part::scene, Part::background}) || row.get(a) == row.get(b);
         });
}

void copy_settings(const Settings& from, Settings& to, std::initializer_list<Part> parts, const SettingTable& table) {
  for (const Setting& row : table)
    if (row.in(parts)) row.set(to, row.get(from));
}

}  // namespace raylift::viewer
