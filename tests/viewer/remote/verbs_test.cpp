// SPDX-License-Identifier: Apache-2.0
// The table of verbs: the page has it, wrong parameters are refused by it, and each verb does what its option or key
// does.
#include "remote/verbs.h"

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include "model/solids/find.h"
#include "remote/arguments.h"
#include "support/paths.h"
#include "with_outside.h"

namespace raylift::viewer {
namespace {

using Verbs = Outside;
using Type = Parameter::Type;

std::string page() {
  std::ostringstream text;
  text << std::ifstream(test::source_dir() / "docs/viewer.md").rdbuf();
  return text.str();
}

/// The table in Markdown, for docs/viewer.md.
std::string verbs_page() {
  std::string text = "| verb | parameters | |\n|---|---|---|\n";
  for (const Verb& verb : verbs()) {
    std::string parameters;
    for (const Parameter& parameter : verb.parameters) {
      const std::string name = '`' + std::string(parameter.name) + '`';
      parameters += (parameters.empty() ? "" : ", ") + (parameter.required ? name : '[' + name + ']');
    }
    text += "| `" + std::string(verb.name) + "` | " + parameters + " | " + std::string(verb.help) + " |\n";
  }
  return text;
}

TEST_F(Verbs, AreInTheDocsAsTheyAre) {
  const std::string text = page();
  const std::size_t begin = text.find("\n", text.find("<!-- verbs:")) + 1;
  const std::size_t end = text.find("<!-- end of verbs -->");
  ASSERT_NE(end, std::string::npos);
  EXPECT_EQ(text.substr(begin, end - begin), verbs_page()) << "copy the table into docs/viewer.md";
}

TEST_F(Verbs, AreDescribedInOneDocument) {
  const Json document = call("rpc.discover");
  EXPECT_EQ(document, describe_verbs());
  std::set<std::string> names;
  ASSERT_EQ(document["methods"].size(), verbs().size());
  for (std::size_t i = 0; i != verbs().size(); ++i) {
    const Json& method = document["methods"][i];
    EXPECT_TRUE(names.insert(method["name"]).second) << method["name"];
    EXPECT_FALSE(method["description"].get<std::string>().empty());
    bool optional = false;
    std::set<std::string> parameters;
    for (const Json& parameter : method["params"]) {
      EXPECT_TRUE(parameters.insert(parameter["name"]).second);
      EXPECT_FALSE(parameter["description"].get<std::string>().empty()) << parameter;
      EXPECT_TRUE(parameter["schema"].contains("type") || parameter["schema"].contains("oneOf"));
      EXPECT_FALSE(optional && parameter["required"]) << "OpenRPC has those that are required first";
      optional |= !parameter["required"].get<bool>();
    }
    EXPECT_NE(verbs_help().find("  " + method["name"].get<std::string>() + ": "), std::string::npos);
  }
}

/// Values that are wrong for a parameter, by its type.
std::vector<Json> wrong_values(const Parameter& parameter) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  std::vector<Json> values{Json::object(), Json{{"a", 1}}, Json::array(), Json::array({nullptr}),
                           Json::array({Json::array()})};
  const bool text = parameter.type != Type::number && parameter.type != Type::flag && parameter.type != Type::point &&
                    parameter.type != Type::points;
  const bool list = parameter.type == Type::patterns || parameter.type == Type::planes || parameter.type == Type::words;
  if (parameter.type != Type::flag) values.insert(values.end(), {true, false});
  if (parameter.type != Type::number) values.insert(values.end(), {0, -1, 1e300});
  if (text) {
    values.insert(values.end(), {std::string(kLongestText + 1, 'a'), std::string("a\0b", 3)});
    if (!list) values.push_back(Json::array({"a", "b"}));
    if (list) values.push_back(Json::array({"x", 1}));
    if (list) values.push_back(std::vector<std::string>(kMaxTexts + 1, "x"));
    if (!parameter.choices.empty()) values.insert(values.end(), {"", "x", "FRONT"});
    if (parameter.type == Type::file) values.insert(values.end(), {"", "a.png", "../a.png", "~/a.png"});
    return values;
  }
  values.insert(values.end(), {"", "1", "1,2,3"});
  if (parameter.type == Type::number)
    values.insert(values.end(), {nan, inf, -inf, 1e300, -1e300, parameter.most * 1.01 + 1});
  if (parameter.type == Type::point)
    for (const Json& last : {Json(nan), Json(inf), Json(1e300), Json("3"), Json(nullptr), Json::array({3})})
      values.push_back(Json::array({1, 2, last}));
  if (parameter.type == Type::point) values.insert(values.end(), {Json::array({1, 2}), Json::array({1, 2, 3, 4})});
  return values;
}

TEST_F(Verbs, RefuseParametersOfWrongTypesAndChangeNothing) {
  const std::uint64_t before = state_.revision(), requests = state_.requests();
  std::size_t count = 0;
  for (const Verb& verb : verbs()) {
    for (const Parameter& parameter : verb.parameters)
      for (const Json& value : wrong_values(parameter)) {
        ++count;
        EXPECT_THROW(Arguments(verb, Json{{std::string(parameter.name), value}}), Error)
            << verb.name << ' ' << parameter.name << ' ' << value;
        if (value.dump() == "null") continue;  // JSON has no NaN
        const Json answer = ask(request(std::string(verb.name), {{std::string(parameter.name), value}}));
        EXPECT_EQ(code(answer), kParams) << answer;
      }
    EXPECT_EQ(code(ask(request(std::string(verb.name), {{"no_such", 1}}))), kParams) << verb.name;
  }
  EXPECT_GT(count, 300U);
  EXPECT_EQ(state_.revision(), before);
  EXPECT_EQ(state_.requests(), requests);
}

TEST_F(Verbs, ReadTheWordsOfACommandLineAsOptionsDo) {
  const auto read = [](const char* verb, const std::vector<std::string>& words) {
    return Arguments::of_words(*find_verb(verb), words).json();
  };
  EXPECT_EQ(read("look", {"eye=1,-2,3e2", "fov=50", "orthographic=true", "view=top"}),
            Json::parse(R"({"eye": [1.0, -2.0, 300.0], "fov": 50.0, "orthographic": true, "view": "top"})"));
  EXPECT_EQ(read("look", {"top"}), Json::parse(R"({"view": "top"})"));
  EXPECT_EQ(read("photons", {"history=TO * SD"}), Json::parse(R"({"filter": "TO * SD"})")) << "an older name";
  EXPECT_EQ(read("hide", {"A*,B", "solids=name:C=D"}), Json::parse(R"({"solids": ["A*", "B", "name:C=D"]})"));
  EXPECT_EQ(read("clip", {"x=100", "planes=1,1,0=250"}), Json::parse(R"({"planes": ["x=100", "1,1,0=250"]})"));
  EXPECT_EQ(read("open", {"a=b.dae"})["file"], (std::filesystem::current_path() / "a=b.dae").string());
  EXPECT_EQ(read("subscribe", {"camera,selection"}), Json::parse(R"({"to": ["camera", "selection"]})"));
  const std::vector<std::pair<const char*, std::vector<std::string>>> wrong{
      {"look", {"fob=3"}},
      {"look", {"fov=3px"}},
      {"look", {"fov=nan"}},
      {"look", {"eye=1,2"}},
      {"look", {"fov=3", "fov=4"}},
      {"look", {"fov=0"}},
      {"look", {"orthographic=1"}},
      {"look", {"up"}},
      {"undo", {"x"}},
      {"hide", {}},
      {"open", {""}},
      {"look", {R"({"fov": 50})"}},
      {"draw", {"glass=0.5", "glass_opacity=0.6"}},
      {"bookmark", {"a", "b"}},
      {"state", {"a=b"}}};
  for (const auto& [verb, words] : wrong) try {
      const Json json = read(verb, words);
      ADD_FAILURE() << verb << ' ' << json;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
    }
}

TEST_F(Verbs, MoveTheCamera) {
  const Json seen = call("look", Json::parse(R"({"eye": [0, -5000, 10], "target": [1, 2, 3], "fov": 50})"));
  EXPECT_LT((state_.camera().eye() - Eigen::Vector3d(0, -5000, 10)).norm(), 1e-9);
  EXPECT_EQ(state_.camera().target, Eigen::Vector3d(1, 2, 3));
  EXPECT_EQ(state_.camera().fov_degrees, 50);
  EXPECT_EQ(seen, call("look")) << "what is left out stays";
  (void)call("look", {{"azimuth", 90}});
  EXPECT_EQ(state_.camera().target, Eigen::Vector3d(1, 2, 3));
  EXPECT_NEAR(state_.camera().eye().y(), 2, 20);
  const double distance = state_.camera().distance;
  (void)call("look", {{"zoom", 2}, {"orthographic", true}});
  EXPECT_NEAR(state_.camera().distance, distance / 2, 1e-9);
  EXPECT_TRUE(state_.camera().orthographic);
  (void)call("look", {{"view", "top"}});
  EXPECT_LT((state_.camera().forward() - Eigen::Vector3d(0, 0, -1)).norm(), 1e-9);
  // What it says, it takes back.
  const Json before = call("look", Json::parse(R"({"eye": [-100, 200, 3000], "target": [5, 6, 7], "up": [0, 1, 0]})"));
  (void)call("look", {{"view", "left"}});
  Json again = before;
  again.erase("above");
  EXPECT_EQ(call("look", again)["above"], before["above"]);
  const std::uint64_t revision = state_.revision();
  EXPECT_EQ(code(ask(request("look", Json::parse(R"({"eye": [1, 2, 3], "target": [1, 2, 3]})")))), kRaylift);
  EXPECT_EQ(code(ask(request("look", Json::parse(R"({"up": [0, 0, 0], "fov": 20})")))), kRaylift);
  EXPECT_EQ(state_.revision(), revision);
}

TEST_F(Verbs, ChooseWhatIsSeen) {
  using Visible = std::vector<std::uint8_t>;
  EXPECT_EQ(call("hide", {{"solids", "pmt_*"}})["solids"], 2);
  EXPECT_EQ(state_.solids()->visible(), (Visible{1, 0, 0}));
  EXPECT_EQ(call("show", {{"solids", Json::array({"pmt_2"})}})["solids"], 1);
  EXPECT_EQ(state_.solids()->visible(), (Visible{1, 0, 1}));
  (void)call("undo");
  EXPECT_EQ(state_.solids()->visible(), (Visible{1, 0, 0}));
  (void)call("only", {{"solids", "material:Glass"}});
  EXPECT_EQ(state_.solids()->visible(), (Visible{0, 1, 1}));
  (void)call("show");
  EXPECT_EQ(state_.solids()->visible(), (Visible{1, 1, 1}));
  EXPECT_EQ(call("focus", {{"solids", "pmt_1"}})["solids"], 1);
  EXPECT_NEAR(state_.camera().target.x(), -300, 20);
  EXPECT_EQ(state_.appearance().looks()[2], static_cast<std::uint8_t>(Look::faint)) << "all others, as by --focus";
  const Json selected = call("select", {{"solid", "pmt_*"}});
  EXPECT_EQ(selected["solids"], 2);
  EXPECT_EQ(selected["selection"]["path"], "/tank/pmt_1");
  EXPECT_EQ(state_.selection()->name, "pmt_1");
  (void)call("look", {{"view", "iso"}});
  (void)call("focus");
  EXPECT_NEAR(state_.camera().target.x(), -300, 20) << "the selected one";
  EXPECT_EQ(call("select")["selection"], nullptr);
  EXPECT_FALSE(state_.selection());
  for (const char* verb : {"hide", "show", "only", "focus"}) {
    const Json answer = ask(request(verb, {{"solids", Json::array({"pmt_1", "missing"})}}));
    EXPECT_EQ(answer["error"]["data"]["kind"], "usage") << verb;
    EXPECT_NE(answer["error"]["message"].get<std::string>().find("'missing'"), std::string::npos);
  }
  EXPECT_EQ(state_.solids()->visible(), (Visible{1, 1, 1})) << "all of it, or nothing";
}

TEST_F(Verbs, SelectNodesWithoutASolid) {
  Scene scene = *three_boxes();
  scene.nodes = {{"tank", kNone, {}, kNone}, {"ring", 0, {}, kNone}, {"pmt_1", 1, {}, kNone}, {"pmt_2", 1, {}, kNone}};
  scene.instances[1].node = 2;
  scene.instances[2].node = 3;
  state_.show(std::make_shared<const Scene>(std::move(scene)));
  for (const char* text : {"ring", "/tank/ring", "name:r*"}) {
    (void)call("select");
    const Json selected = call("select", {{"solid", text}})["selection"];
    EXPECT_TRUE(selected["solid"].is_null()) << text;
    EXPECT_EQ(selected["path"], "/tank/ring");
    EXPECT_EQ(selected["solids"], 2);
    EXPECT_EQ(state_.selection()->group, 1U);
  }
  EXPECT_EQ(call("select", {{"solid", "pmt_*"}})["selection"]["path"], "/tank/ring/pmt_1");
  EXPECT_EQ(call("select", {{"solid", "*"}})["selection"]["solid"], 0) << "a solid goes before";
  EXPECT_EQ(call("select", {{"solid", "tank"}, {"below", true}})["selection"]["solids"], 3);
}

TEST_F(Verbs, ChooseHowItIsDrawn) {
  (void)call("color", {{"color", "solid"}});
  EXPECT_EQ(state_.settings().color, ColorBy::solid);
  (void)call("draw", Json::parse(R"({"wireframe": true, "opacity": 0.5, "shells": "hidden", "ray_cast": "depth",
                                     "edges": true, "feature_edges": true, "smooth": false, "back_faces": true,
                                     "caps": false, "axes": false, "scale_bar": false, "detail": 2.5, "background": "#ff0000"})"));
  const Settings& s = state_.settings();
  EXPECT_TRUE(s.wireframe);
  EXPECT_EQ(s.opacity, 0.5F);
  EXPECT_EQ(s.shells, Shells::hidden);
  EXPECT_EQ(s.detail, 2.5F);
  EXPECT_EQ(s.ray_cast, RayMode::depth);
  EXPECT_TRUE(s.edges && s.feature_edges && !s.smooth && s.back_faces && !s.caps && !s.axes && !s.scale_bar);
  EXPECT_EQ(s.background.top[0], 1);
  const std::uint64_t revision = state_.revision();
  EXPECT_EQ(code(ask(request("draw", {{"axes", true}, {"background", "blue"}}))), kRaylift);
  EXPECT_EQ(code(ask(request("clip", {{"planes", Json::array({"x", "w"})}}))), kRaylift);
  EXPECT_EQ(code(ask(request("clip", {{"planes", std::vector<std::string>(7, "x")}}))), kRaylift);
  EXPECT_EQ(state_.revision(), revision);
  (void)call("clip", {{"planes", Json::array({"-y=5", "facing"})}});
  ASSERT_EQ(s.planes().size(), 2U);
  EXPECT_EQ(s.planes()[0].normal, facing_plane(state_.camera().forward()).normal);
  EXPECT_EQ(s.planes()[1].normal, Eigen::Vector3d(0, -1, 0));
  const Json reply = call("state");
  EXPECT_EQ(reply["color"], "solid");
  EXPECT_EQ(reply["planes"].size(), 2U);
  (void)call("clip", {{"planes", "off"}});
  EXPECT_TRUE(s.planes().empty());
  // Whatever `draw` takes, `state` has.
  for (const Parameter& parameter : find_verb("draw")->parameters)
    EXPECT_TRUE(reply.contains(std::string(parameter.name))) << parameter.name;
}

TEST_F(Verbs, ChooseWhichLightIsSeenAndWhen) {
  const Json none = call("photons", Json::parse(R"({"color": "time", "filter": "TO * SD", "wavelength": "350-500",
                                                    "channel": "12", "paths": false, "size": 3, "opacity": 0.25,
                                                    "trail": 5, "source": "point:0,0,0"})"));
  EXPECT_TRUE(none["steps"].is_null()) << "there are no photons yet";
  const PhotonSettings& light = state_.settings().photons;
  EXPECT_EQ(light.color, PhotonColor::time);
  EXPECT_EQ(light.filter.history, "TO * SD");
  EXPECT_EQ(light.filter.wavelength, (Between<float>{350, 500}));
  EXPECT_EQ(light.filter.channel, (Between<std::int32_t>{12, 12}));
  EXPECT_TRUE(!light.paths && light.points);
  EXPECT_EQ(light.size, 3);
  EXPECT_EQ(light.opacity, 0.25F);
  EXPECT_EQ(light.trail, 5);
  EXPECT_EQ(state_.options().light.origin.source, "point:0,0,0");
  (void)call("photons", {{"wavelength", ""}, {"channel", ""}, {"source", ""}});
  EXPECT_TRUE(!light.filter.wavelength && !light.filter.channel && state_.options().light.origin.source.empty());
  // What can't be read changes nothing.
  const std::uint64_t revision = state_.revision();
  for (const char* given :
       {R"({"color": "flag", "filter": "TO NOWHERE"})", R"({"color": "flag", "wavelength": "blue"})",
        R"({"color": "flag", "channel": "1-x"})", R"({"color": "flag", "source": "candle"})"})
    EXPECT_EQ(code(ask(request("photons", Json::parse(given)))), kRaylift) << given;
  EXPECT_EQ(light.color, PhotonColor::time);
  EXPECT_EQ(state_.revision(), revision);

  EXPECT_EQ(call("time", {{"time", 12.5}, {"speed", 3}, {"loop", false}}),
            Json::parse(R"({"time": 12.5, "playing": false})"));
  EXPECT_TRUE(light.speed == 3 && !light.loop);
  EXPECT_EQ(call("state")["photons"]["time"], 12.5);
  EXPECT_EQ(code(ask(request("time", {{"time", 1}, {"all", true}}))), kRaylift);
  EXPECT_TRUE(call("time", {{"all", true}})["time"].is_null());
  EXPECT_FALSE(call("time", {{"play", true}})["playing"].get<bool>()) << "no light whose time could run";
}

TEST_F(Verbs, SaveAndOpenBookmarks) {
  const test::TemporaryFolder folder;
  ViewOptions options;
  options.bookmarks = (folder.path() / "bookmarks.json").string();
  ViewerState state(options, {640, 480});
  const ControlTarget target{state, nullptr, layout_, loader_, [](const std::string&) {}};
  const auto reply = [&](const Json& params) {
    Conversation talk(target);
    return ask(talk, request("bookmark", params));
  };
  state.open("/boxes.dae");
  state.show(three_boxes());
  state.change_settings([](Settings& s) { s.color = ColorBy::mesh; });
  EXPECT_EQ(reply({{"name", "here"}})["result"]["name"], "here");
  EXPECT_EQ(reply(Json::object())["result"]["name"], "view 2") << "its key is 2";
  state.change_settings([](Settings& s) { s.color = ColorBy::solid; });
  EXPECT_EQ(code(reply({{"name", "here"}, {"action", "open"}})), 0);
  EXPECT_EQ(state.settings().color, ColorBy::mesh);
  EXPECT_EQ(code(reply({{"name", "here"}, {"action", "remove"}})), 0);
  EXPECT_EQ(state.bookmarks().all().size(), 1U);
  EXPECT_EQ(reply({{"name", "here"}, {"action", "open"}})["error"]["data"]["kind"], "usage");
  // What can't be saved is an error here, too.
  (void)folder.write("bookmarks.json", "{");
  EXPECT_EQ(reply({{"name", "there"}})["error"]["data"]["kind"], "malformed");
}

TEST_F(Verbs, SayWhatTheyNeed) {
  ViewerState empty(without_bookmarks(), {640, 480});
  const ControlTarget target{empty, nullptr, layout_, loader_, [](const std::string&) {}};
  for (const char* line : {R"("hide", "params": {"solids": "x"})", R"("show")", R"("focus")", R"("reload")",
                           R"("ready")", R"("select", "params": {"solid": "x"})"}) {
    Conversation talk(target);
    const Json answer = ask(talk, R"({"jsonrpc": "2.0", "id": 1, "method": )" + std::string(line) + "}");
    EXPECT_EQ(answer["error"]["data"]["kind"], "usage") << line;
  }
  EXPECT_EQ(ask(request("screenshot", {{"file", "/tmp/x.png"}}))["error"]["data"]["kind"], "unsupported");
  EXPECT_FALSE(layout_.closing);
  (void)call("quit");
  EXPECT_TRUE(layout_.closing);
}

}  // namespace
}  // namespace raylift::viewer
