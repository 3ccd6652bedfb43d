// SPDX-License-Identifier: Apache-2.0
// The table of settings: what options, configuration, verbs, state, bookmarks and docs have follows from its rows.
#include "model/settings/setting_table.h"

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/text.h"
#include "model/settings/setting_json.h"
#include "remote/arguments.h"
#include "remote/verb_actions.h"
#include "state/options/bookmarks.h"
#include "state/options/view_options.h"
#include "support/paths.h"
#include "with_outside.h"

namespace raylift::viewer {
namespace {

using SettingRows = Outside;
using Part = Setting::Part;

/// The table in Markdown, for docs/viewer.md.
std::string settings_page(const SettingTable& table = setting_table()) {
  std::string page = "| option | verb | JSON | default | |\n|---|---|---|---|---|\n";
  for (const Setting& row : table) {
    std::string options = "`--" + row.option();
    options +=
        row.type == Setting::Type::flag ? "`, `--" + row.negative_option() + '`' : ' ' + std::string(row.metavar) + '`';
    std::string help(row.help);
    if (row.type == Setting::Type::number) help = with_range(help, row.least, row.most, row.unit);
    for (const std::string& word : row.words) help += (word == row.words.front() ? ": " : ", ") + word;
    page += "| " + options + " | `" + std::string(row.verb) + "` | `" + std::string(row.name) + "` | " +
            row.fallback() + " | " + help + " |\n";
  }
  return page;
}

std::string settings_in_docs() {
  std::ostringstream text;
  text << std::ifstream(test::source_dir() / "docs/viewer.md").rdbuf();
  const std::string page = text.str();
  const std::size_t begin = page.find('\n', page.find("<!-- settings:")) + 1;
  return page.substr(begin, page.find("<!-- end of settings -->") - begin);
}

/// What options of a program with this table say; or the help.
Settings typed_with(const SettingTable& table, std::vector<std::string> words, std::string* help = nullptr) {
  words.insert(words.begin(), {"raylift-view", "a.dae"});
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  ViewOptions options;
  const std::string text =
      parse_view_options(static_cast<int>(pointers.size()), pointers.data(), options, {{}, "", "", table});
  if (help != nullptr) *help = text;
  return options.settings;
}

/// A value that is not the default: as a text of the command line and as JSON.
std::pair<std::string, Json> another_value(const Setting& row) {
  if (row.type == Setting::Type::flag) return {"", !std::get<bool>(row.get(Settings()))};
  if (row.type == Setting::Type::number) return {cli::short_number(row.most / 2), row.most / 2};
  if (row.type == Setting::Type::choice) return {row.words.back(), row.words.back()};
  if (row.name == "background") return {"#000000,#ffffff", "#000000,#ffffff"};
  const std::string text = row.name == "filter" ? "TO * SD" : "12-14";
  return {text, text};
}

TEST_F(SettingRows, AreInTheDocsAsTheyAre) {
  EXPECT_EQ(settings_in_docs(), settings_page()) << "copy the table into docs/viewer.md";
}

/// What the help names as a value is a value.
TEST_F(SettingRows, TakeTheWordsOfTheirHelp) {
  int words = 0;
  for (const Setting& row : setting_table()) {
    const std::vector<std::string> accepted = row.accepted_words();
    for (const std::string& word : accepted)
      EXPECT_NO_THROW((void)typed_with(setting_table(), {"--" + row.option(), word}));
    if (row.type == Setting::Type::flag || row.fallback().empty()) continue;
    // The default as it is shown.
    EXPECT_EQ(row.get(typed_with(setting_table(), {"--" + row.option(), row.fallback()})), row.get(Settings()))
        << row.option();
    // "all: all of it", "off or 0: none is": the word before a colon.
    const std::string_view help = row.help;
    for (std::size_t at = help.find(": "); row.words.empty() && at != help.npos; at = help.find(": ", at + 1)) {
      std::string before(help.substr(0, at));
      if (before.ends_with(" or 0")) before.resize(before.size() - 5);
      const std::string word = before.substr(before.find_last_of(" (") + 1);
      if (word != "all" && word != "off" && word != "auto") continue;
      ++words;
      EXPECT_NO_THROW((void)typed_with(setting_table(), {"--" + row.option(), word})) << row.option() << ' ' << word;
      const Verb* verb = find_verb(row.verb);
      ASSERT_NE(verb, nullptr);
      EXPECT_NO_THROW((void)Arguments::of_words(*verb, std::vector<std::string>{std::string(row.name) + '=' + word}))
          << row.option() << ' ' << word;
    }
    for (std::size_t at = help.find(" or 0:"); at != help.npos; at = help.find(" or 0:", at + 1))
      EXPECT_NO_THROW((void)typed_with(setting_table(), {"--" + row.option(), "0"})) << row.option();
  }
  EXPECT_GE(words, 6);
  EXPECT_EQ(typed_with(setting_table(), {"--photon-trail", "all"}).photons.trail, 0);
  EXPECT_FALSE(typed_with(setting_table(), {"--photon-time", "5", "--photon-time", "all"}).photons.time);
  EXPECT_EQ(typed_with(setting_table(), {"--photon-color", "flag"}).photons.color, PhotonColor::process)
      << "an older word";
}

TEST_F(SettingRows, AreEverywhere) {
  std::string help;
  (void)typed_with(setting_table(), {"--help"}, &help);
  const test::TemporaryFolder folder;
  for (const Setting& row : setting_table()) {
    const std::string name(row.name);
    const bool light = row.in({Part::light, Part::time}), kept = light || row.in({Part::scene});
    SCOPED_TRACE(row.option());
    const auto [text, value] = another_value(row);
    const std::string option =
        "--" + (value == false ? row.negative_option() : row.option()) + (text.empty() ? "" : "=" + text);
    EXPECT_NE(help.find("--" + row.option()), std::string::npos);
    const SettingValue wanted = row.get(typed_with(setting_table(), {"--no-config", option}));
    EXPECT_EQ(to_json(wanted), value);
    const std::string config = folder.write("view.json", Json{{row.option(), value}}.dump());
    EXPECT_EQ(row.get(typed_with(setting_table(), {"--config", config})), wanted);
    // By the verb; in the state.
    (void)call(std::string(row.verb), {{name, value}});
    EXPECT_EQ(row.get(state_.settings()), wanted);
    const Json reply = call("state");
    EXPECT_EQ((light ? reply["photons"] : reply)[name], value);
    // In bookmarks.
    const auto file = folder.path() / ("bookmarks-" + row.option() + ".json");
    Bookmark bookmark;
    row.set(bookmark.settings, wanted);
    bookmark.light.photons = "/run";
    Bookmarks(file, "a.dae").add(bookmark);
    const Bookmarks read(file, "a.dae");
    EXPECT_EQ(row.get(read.all()[0].settings) == wanted, kept);
    EXPECT_EQ(row.get(with_bookmark(Settings(), bookmark)) == wanted, kept);
    // In comparisons.
    EXPECT_EQ(same_scene(Settings(), bookmark.settings), !row.in({Part::scene, Part::background}));
  }
}

/// A row that is not in the program, with a member that no other row has.
Setting wobble() {
  Setting row{"wobble_width",
              Setting::Type::number,
              "WIDTH",
              "Width of the wobble",
              [](const Settings& s) -> SettingValue { return s.box ? s.box->max.x : 0.0; },
              [](Settings& s, const SettingValue& value) {
                s.box.emplace();
                s.box->add(Eigen::Vector3d::Constant(std::get<double>(value)));
              }};
  row.most = 64;
  row.unit = "pixels";
  row.aliases = {"wobble"};
  return row;
}

TEST_F(SettingRows, OneMoreIsFoundByAllWhoUseTheTable) {
  SettingTable table = setting_table();
  table.push_back(wobble());
  const Setting& row = table.back();
  const SettingValue two(2.0);
  Settings set;
  row.set(set, two);
  // The option, its help, and the configuration's key.
  std::string help;
  (void)typed_with(table, {"--help"}, &help);
  EXPECT_NE(help.find("--wobble-width WIDTH"), std::string::npos) << help;
  EXPECT_NE(help.find("Width of the wobble (0 to 64 pixels)"), std::string::npos) << help;
  EXPECT_EQ(row.get(typed_with(table, {"--no-config", "--wobble-width", "2"})), two);
  const test::TemporaryFolder folder;
  std::string config = folder.write("view.json", R"({"wobble-width": 2})");
  EXPECT_EQ(row.get(typed_with(table, {"--config", config})), two);
  config = folder.write("view.json", R"({"wobble-width": 65})");
  EXPECT_THROW((void)typed_with(table, {"--config", config}), Error) << "beyond its range";
  EXPECT_THROW((void)typed_with(table, {"--no-config", "--wobble-width", "wide"}), Error);
  // The verb's parameter, by its older name too.
  const Verb draw{"draw", "", setting_parameters("draw", table), "", act::draw};
  for (const char* name : {"wobble_width", "wobble"}) {
    Settings drawn;
    act::set_given(Arguments(draw, {{name, 2}}), drawn, table);
    EXPECT_EQ(row.get(drawn), two) << name;
  }
  EXPECT_THROW(Arguments(draw, {{"wobble", 65}}), Error);
  // JSON of state and bookmarks, with the older name, and with one with dashes.
  const Json json = settings_json(set, {Part::scene}, table);
  EXPECT_EQ(json["wobble_width"], 2.0);
  for (const char* name : {"wobble_width", "wobble", "wobble-width"}) {
    Settings read;
    read_settings(Json{{name, 2}}, read, {Part::scene}, table);
    EXPECT_EQ(row.get(read), two) << name;
  }
  Settings copy;
  copy_settings(set, copy, {Part::scene}, table);
  EXPECT_EQ(row.get(copy), two);
  EXPECT_FALSE(same_scene(set, Settings(), table));
  EXPECT_TRUE(same_scene(set, copy, table));
  EXPECT_NE(settings_page(table).find("| `--wobble-width WIDTH` | `draw` | `wobble_width` | 0 |"), std::string::npos);
}

TEST_F(SettingRows, OfAnOldBookmarkAreRead) {
  const test::TemporaryFolder folder;
  // As they were written before the table of settings.
  const auto file = folder.write("bookmarks.json", R"({"/a.dae": [{"name": "old", "target": [1.0, 2.0, 3.0],
      "up": [0.0, 0.0, 1.0], "orientation": [0.0, 0.0, 0.0, 1.0], "distance": 5.0, "fov": 40.0, "orthographic": false,
      "clip": "1,0,0=5", "more-clips": ["0,1,0"], "color": "solid", "rays": "depth", "shells": "hidden",
      "wireframe": true, "edges": true, "feature-edges": true, "smooth": false, "back-faces": true, "caps": false,
      "opacity": 0.5, "hidden": ["/World/"], "glass": 0.25, "detail": 2.0, "light": {"file": "/run", "color": "flag",
      "history": "TO * SD", "wavelength": "350-500", "channel": "12", "paths": false, "points": true, "size": 3.0,
      "opacity": 0.25, "trail": 5.0, "time": 12.5, "speed": 3.0, "loop": false}}]})");
  const Bookmarks bookmarks(file, "/a.dae");
  ASSERT_EQ(bookmarks.all().size(), 1U);
  const Settings& s = bookmarks.all()[0].settings;
  EXPECT_EQ(s.color, ColorBy::solid);
  EXPECT_EQ(s.ray_cast, RayMode::depth);
  EXPECT_EQ(s.shells, Shells::hidden);
  EXPECT_TRUE(s.wireframe && s.edges && s.feature_edges && !s.smooth && s.back_faces && !s.caps);
  EXPECT_EQ(s.opacity, 0.5F);
  EXPECT_EQ(s.glass_opacity, 0.25F);
  EXPECT_EQ(s.detail, 2);
  EXPECT_EQ(s.planes().size(), 2U);
  EXPECT_EQ(s.photons.color, PhotonColor::process);
  EXPECT_EQ(s.photons.filter.history, "TO * SD");
  EXPECT_EQ(s.photons.filter.wavelength, (Between<float>{350, 500}));
  EXPECT_EQ(s.photons.time, 12.5);
  EXPECT_TRUE(!s.photons.paths && !s.photons.loop);
  EXPECT_EQ(bookmarks.all()[0].hidden, std::vector<std::string>{"/World/"});
}

}  // namespace
}  // namespace raylift::viewer
