// SPDX-License-Identifier: Apache-2.0
// The window as programs move it: raylift-view under Xvfb, asked through its socket, seen by its screenshots.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "remote/verbs.h"
#include "support/images.h"
#include "support/paths.h"
#include "viewer/meshes/shell.h"
#include "viewer/remote/view_client.h"
#include "with_window.h"

namespace raylift::viewer {
namespace {

class WindowFromOutside : public Window {
 protected:
  /// Starts the program, and waits until its scene is shown. No key is pressed for it.
  void run(const std::string& file, const std::vector<std::string>& options = {}) {
    start(file, options);
    socket_ = runtime() / "raylift" / ("view-" + std::to_string(program_->pid()) + ".sock");
    ASSERT_TRUE(eventually([&] { return std::filesystem::exists(socket_); })) << "no socket";
    client_ = std::make_unique<ViewClient>(socket_);
    ASSERT_TRUE(eventually([&] { return call("state")["solids"] != 0; })) << "the scene does not appear";
  }
  Json ask(const std::string& verb, const Json& params = Json::object()) {
    client_->send(Json{{"jsonrpc", "2.0"}, {"id", ++id_}, {"method", verb}, {"params", params}}.dump() + '\n');
    Json answer;
    do answer = client_->next();  // notifications have no id
    while (answer.contains("method"));
    EXPECT_EQ(answer["id"], id_);
    return answer;
  }
  Json call(const std::string& verb, const Json& params = Json::object()) {
    const Json answer = ask(verb, params);
    EXPECT_TRUE(answer.contains("result")) << verb << params << ": " << answer;
    return answer.value("result", Json());
  }
  Image screenshot() {
    const std::string file = folder_.path() / ("shot" + std::to_string(++shots_) + ".png");
    EXPECT_EQ(call("screenshot", {{"file", file}})["file"], file);
    return read_png(file);
  }
  /// Whether a verb changes at least this share of the image.
  void expect_seen(double share, const std::string& verb, const Json& params) {
    const Image before = screenshot();
    (void)call(verb, params);
    EXPECT_GT(compare(before, screenshot()).share, share) << verb << params;
  }
  /// The result of the program with --send.
  static Ended send(const std::string& arguments) {
    return run_by_shell("'" + test::program("raylift-view").string() + "' --send " + arguments + " 2>&1");
  }

  std::filesystem::path socket_;
  std::unique_ptr<ViewClient> client_;
  int id_ = 0, shots_ = 0;
};

TEST_F(WindowFromOutside, DrawsByVerbsWhatOptionsDraw) {
  run("instances.dae");
  (void)call("draw", {{"panels", false}});
  (void)call("color", {{"by", "solid"}});
  (void)call("clip", {{"planes", "y=20"}});
  (void)call("draw", Json::parse(R"({"background": "white", "edges": true, "axes": false})"));
  const auto file = folder_.path() / "reference.png";
  const std::string command =
      "'" + test::program("raylift-view").string() + "' '" + test::data("instances.dae").string() +
      "' --color solid --view top --fov 50 --zoom 1.5 --clip y=20 --background white --edges --no-axes --gl software "
      "-r 800x600 --samples 1 -o '" +
      file.string() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const Image reference = read_png(file);
  EXPECT_GT(scene_pixels(reference), 1000);
  // The panels leave the image free with the next one that is drawn.
  EXPECT_TRUE(eventually([&] {
    (void)call("look", Json::parse(R"({"fov": 50, "view": "top", "zoom": 1.5})"));
    return compare(reference, screenshot()).share < 0.003;
  }));
}

TEST_F(WindowFromOutside, ShowsWhatEachVerbDoes) {
  run("cube.dae", {"--device", "host", "-r", "320x240"});
  (void)call("draw", {{"panels", false}, {"axes", false}});  // the whole image for the scene
  const Image start = screenshot();
  expect_seen(0.02, "draw", {{"wireframe", true}});
  expect_seen(0.02, "draw", {{"wireframe", false}});
  expect_seen(0.02, "look", {{"azimuth", 30}});
  expect_seen(0.02, "look", {{"zoom", 3}});
  (void)call("bookmark", {{"name", "near"}});
  expect_seen(0.02, "look", {{"view", "iso"}});
  EXPECT_LT(compare(start, screenshot()).share, 0.003);
  expect_seen(0.02, "bookmark", {{"name", "near"}, {"action", "open"}});
  expect_seen(0.02, "focus", Json::object());
  expect_seen(0.02, "clip", {{"planes", Json::array({"facing"})}});
  expect_seen(0.02, "clip", {{"planes", "off"}});
  expect_seen(0.0005, "select", {{"solid", "cub?"}});
  EXPECT_EQ(call("state")["selection"]["path"], "/World/cube");
  expect_seen(0.0005, "select", Json::object());
  expect_seen(0.02, "color", {{"by", "normal"}});
  expect_seen(0.05, "draw", {{"ray_cast", "depth"}});
  expect_seen(0.05, "draw", {{"ray_cast", "off"}});
  expect_seen(0.02, "hide", {{"solids", "cube"}});
  EXPECT_LT(scene_pixels(screenshot()), 100);
  expect_seen(0.02, "undo", Json::object());
  (void)call("hide", {{"solids", "cube"}});
  expect_seen(0.02, "show", Json::object());
  expect_seen(0.02, "open", {{"file", test::data("instances.dae").string()}});
  EXPECT_GT(call("state")["solids"], 1);
  expect_seen(0.01, "only", {{"solids", call("select", {{"solid", "*"}})["selection"]["path"]}});
  (void)call("reload");
  // The rays' image is the whole one at once.
  (void)call("draw", {{"ray_cast", "shaded"}});
  const Image rays = screenshot();
  std::this_thread::sleep_for(500ms);
  EXPECT_EQ(compare(rays, screenshot(), 0).share, 0);
}

TEST_F(WindowFromOutside, TellsTheSizeOfSolidsOnceTheirMeshesAreChecked) {
  run("cube.dae");
  const Json cube = call("facts", {{"solids", "cube"}});
  EXPECT_EQ(cube["triangles"], 12);
  const double side = cube["size"][0];
  EXPECT_GT(side, 0);
  EXPECT_NEAR(cube["volume"].get<double>(), side * side * side, 1e-9 * side * side * side);
  EXPECT_NEAR(cube["area"].get<double>(), 6 * side * side, 1e-9 * side * side);
  (void)call("select", {{"solid", "cube"}});
  EXPECT_EQ(call("facts"), cube) << "of what is selected";
}

TEST_F(WindowFromOutside, MeasuresBetweenClicks) {
  show("cube.dae", {"--view", "front", "--orthographic"});
  client_ = std::make_unique<ViewClient>(runtime() / "raylift" / ("view-" + std::to_string(program_->pid()) + ".sock"));
  (void)call("draw", {{"panels", false}});
  const Json facts = call("facts", {{"solids", "cube"}});
  ASSERT_TRUE(tool("key y"));
  ASSERT_TRUE(eventually([&] { return call("state")["measuring"] == true; }));
  const Image before = screenshot();
  for (const char* at : {"360 300", "440 300", "440 240"}) {
    const Json points = call("state")["measured"];
    ASSERT_TRUE(tool("mousemove " + std::string(at)));
    std::this_thread::sleep_for(500ms);  // two clicks are no double click
    ASSERT_TRUE(tool("click 1"));
    ASSERT_TRUE(eventually([&] { return call("state")["measured"] != points; })) << at;
  }
  const Json state = call("state");
  const Json& measured = state["measured"];
  EXPECT_TRUE(state["selection"].is_null());
  ASSERT_EQ(measured["points"].size(), 3U) << measured;
  for (const Json& point : measured["points"])
    EXPECT_NEAR(point[1].get<double>(), facts["min"][1].get<double>(), 1e-6) << "on the face in front";
  EXPECT_NEAR(measured["angle"].get<double>(), 90, 1e-6);
  EXPECT_NEAR(measured["distances"][1].get<double>() / measured["distances"][0].get<double>(), 0.75, 1e-6);
  EXPECT_GT(compare(before, screenshot()).share, 0.001) << "they are drawn";
  EXPECT_NE(contents(folder_.path() / "out").find(" mm), 90 degrees"), std::string::npos);
  ASSERT_TRUE(tool("key Escape"));
  EXPECT_TRUE(eventually([&] { return call("state")["measured"].is_null(); }));
  EXPECT_EQ(call("state")["measuring"], false);
  expect_seen(0.001, "measure", {{"points", measured["points"]}});
}

TEST_F(WindowFromOutside, DragsTheFacesOfTheClippingBox) {
  show("cube.dae", {"--view", "front", "--orthographic"});
  client_ = std::make_unique<ViewClient>(runtime() / "raylift" / ("view-" + std::to_string(program_->pid()) + ".sock"));
  ASSERT_TRUE(tool("key ctrl+x"));
  ASSERT_TRUE(eventually([&] { return !call("state")["box"].is_null(); }));
  const Json before = call("state");
  const double pixel = 2 * std::tan(before["camera"]["fov"].get<double>() * 3.14159265358979 / 360) / 600;
  const auto coordinate = [](const Json& of, const char* name, int axis) { return of[name][axis].get<double>(); };
  const Json camera = before["camera"], box = before["box"];
  const double scale = pixel * std::abs(coordinate(camera, "target", 1) - coordinate(camera, "eye", 1));
  // The cube's middle follows from where it is drawn.
  const Image image = screenshot();
  double sum_x = 0, count = 0;
  for (int y = 0; y < image.height * 3 / 4; ++y)
    for (int x = 0; x < image.width; ++x)
      if (std::abs(image.at(x, y)[0] - image.at(0, y)[0]) > 16) sum_x += x, count += 1;
  ASSERT_GT(count, 1000);
  // That of the lower face, where no panel lies. Between motion and press the window draws, and finds what is there.
  const double reach = 0.5 * (coordinate(box, "max", 2) - coordinate(box, "min", 2)) / scale;
  const int x = static_cast<int>(sum_x / count), y = image.height / 2 + static_cast<int>(reach);
  const auto at = [](int column, int row) { return std::to_string(column) + ' ' + std::to_string(row); };
  ASSERT_TRUE(tool("mousemove " + at(x, y) + " sleep 0.3 mousedown 1 mousemove " + at(x, y - 20) + " mousemove " +
                   at(x, y - 60) + " mouseup 1"));
  EXPECT_TRUE(eventually([&] { return call("state")["box"] != box; }));
  const Json after = call("state");
  EXPECT_NEAR(coordinate(after["box"], "min", 2), coordinate(box, "min", 2) + 60 * scale, 12 * scale);
  EXPECT_EQ(after["box"]["max"], box["max"]);
  EXPECT_EQ(after["camera"], camera) << "it did not orbit";
  EXPECT_TRUE(after["selection"].is_null());
  EXPECT_GT(compare(image, screenshot()).share, 0.005);
}

TEST_F(WindowFromOutside, OpensFilesByADialog) {
  std::filesystem::create_directory(folder_.path() / "scenes");
  std::filesystem::copy_file(test::data("instances.dae"), folder_.path() / "scenes/second.dae");
  show("cube.dae");
  client_ = std::make_unique<ViewClient>(runtime() / "raylift" / ("view-" + std::to_string(program_->pid()) + ".sock"));
  const Json before = call("state");
  const std::string folder = (folder_.path() / "scenes/").string();
  ASSERT_TRUE(tool("key ctrl+o"));
  std::this_thread::sleep_for(1s);
  ASSERT_TRUE(tool("type --delay 40 '" + folder + "'"));
  ASSERT_TRUE(tool("key --delay 200 Return"));
  std::this_thread::sleep_for(500ms);
  ASSERT_TRUE(tool("type --delay 40 'ECON'"));
  ASSERT_TRUE(tool("key --delay 200 Return"));
  EXPECT_TRUE(eventually([&] { return call("state")["file"] == folder + "second.dae"; })) << call("state")["file"];
  EXPECT_TRUE(eventually([&] { return call("state")["solids"] != before["solids"]; }));
  // What was typed did nothing else, and the dialog is closed: keys act again.
  EXPECT_EQ(call("state")["ray_cast"], "off");
  ASSERT_TRUE(tool("key m"));
  EXPECT_TRUE(eventually([&] { return call("state")["wireframe"] == true; }));
  // Escape closes it.
  ASSERT_TRUE(tool("key ctrl+o"));
  std::this_thread::sleep_for(500ms);
  ASSERT_TRUE(tool("key Escape"));
  std::this_thread::sleep_for(500ms);
  ASSERT_TRUE(tool("key m"));
  EXPECT_TRUE(eventually([&] { return call("state")["wireframe"] == false; }));
}

TEST_F(WindowFromOutside, KeepsTheSpeedOfFlyingAndTheFiles) {
  show("cube.dae");
  const auto kept = [&] { return Json::parse(contents(folder_.path() / "raylift/window.json"), nullptr, false); };
  ASSERT_TRUE(eventually([&] { return kept().is_object(); }));
  EXPECT_EQ(kept()["recent"], Json::array({test::data("cube.dae").string()}));
  client_ = std::make_unique<ViewClient>(runtime() / "raylift" / ("view-" + std::to_string(program_->pid()) + ".sock"));
  const Json before = call("look");
  ASSERT_TRUE(tool("key p mousemove 400 300 keydown e click 4 click 4 keyup e"));
  EXPECT_TRUE(eventually([&] { return kept().value("fly-speed", 1.0) > 1.5; })) << kept();
  EXPECT_EQ(kept()["fly-speed"], 1.25 * 1.25);
  EXPECT_NE(call("look")["eye"], before["eye"]) << "it flew meanwhile";
  (void)call("open", {{"file", test::data("instances.dae").string()}});
  EXPECT_EQ(kept()["recent"], Json::array({test::data("instances.dae").string(), test::data("cube.dae").string()}));
}

TEST_F(WindowFromOutside, IsAskedByTheProgram) {
  EXPECT_EQ(send("state").code, 3) << "no viewer runs";
  run("cube.dae");
  Ended ended = send("select cube");
  EXPECT_EQ(ended.code, 0) << ended.out;
  EXPECT_NE(ended.out.find("/World/cube"), std::string::npos) << ended.out;
  EXPECT_EQ(Json::parse(send("state --json").out)["selection"]["name"], "cube");
  EXPECT_EQ(Json::parse(send("state --json --to " + std::to_string(program_->pid())).out)["solids"], 1);
  EXPECT_EQ(Json::parse(send("state --json --to '" + socket_.string() + "'").out)["solids"], 1);
  EXPECT_EQ(send("look eye=0,-9000,0 target=0,0,0").code, 0);
  EXPECT_EQ(call("look")["target"], Json::array({0.0, 0.0, 0.0}));
  // A file's name is the sender's; the image is whole.
  EXPECT_EQ(send("screenshot '" + (folder_.path() / "sent.png").string() + "'").code, 0);
  EXPECT_EQ(read_png(folder_.path() / "sent.png").width, 800);
  // Exit codes are those of the viewer's errors.
  for (const auto& [arguments, code] : std::vector<std::pair<std::string, int>>{{"look fov=0", 2},
                                                                                {"lok", 2},
                                                                                {"hide missing", 2},
                                                                                {"state --to 1", 3},
                                                                                {"state --to x", 2},
                                                                                {"state --to /nowhere.sock", 3},
                                                                                {"open /nowhere.dae", 3},
                                                                                {"screenshot /nowhere/x.png", 3}})
    EXPECT_EQ(send(arguments).code, code) << arguments;
  EXPECT_EQ(send("open '" + (test::source_dir() / "tests/data/malformed/array_nan.dae").string() + "'").code, 4);
  EXPECT_EQ(send("quit").code, 0);
  EXPECT_EQ(program_->wait(kPatience), 0);
  EXPECT_FALSE(std::filesystem::exists(socket_));
}

TEST_F(WindowFromOutside, GoesOnAfterHostileMessages) {
  run("cube.dae");
  const std::vector<std::string> hostile{std::string(std::size_t{2} << 20, 'x'), std::string(10000, '[') + '\n',
                                         "{\"jsonrpc\": \"2.0\", \"id\": NaN}\n\xFF\xFE\n\n{}\n[]\n",
                                         R"({"jsonrpc": "2.0", "id": 1, "meth)"};
  for (const std::string& text : hostile) {
    ViewClient client(socket_);
    for (std::size_t done = 0; done < text.size() && client.open();) {
      done += client.try_send(std::string_view(text).substr(done));
      std::this_thread::sleep_for(100us);
    }
  }
  std::string flood;
  for (int i = 0; i != 1000; ++i)
    flood += R"({"jsonrpc": "2.0", "method": "look", "params": {"azimuth": 1}})"
             "\n";
  { ViewClient(socket_).send(flood); }
  for (const double number : {1e30, -1e30, 1e-300})
    (void)ask("look", {{"eye", Json::array({number, number, 0})}, {"zoom", 1e6}, {"up", Json::array({0, 0, 1e30})}});
  EXPECT_FALSE(screenshot().pixels.empty());
  (void)call("look", {{"view", "iso"}});
  EXPECT_GT(scene_pixels(screenshot()), 1000);
  (void)call("quit");
  EXPECT_EQ(program_->wait(kPatience), 0);
}

TEST_F(WindowFromOutside, TellsWhatKeysAndMouseDo) {
  show("cube.dae");
  client_ = std::make_unique<ViewClient>(runtime() / "raylift" / ("view-" + std::to_string(program_->pid()) + ".sock"));
  (void)call("subscribe");
  ASSERT_TRUE(tool("key KP_7"));
  // What the panels leave free may move the camera before.
  Json reply;
  for (int i = 0; i != 20 && !(reply.contains("params") && reply["params"]["above"][1] > 0.999); ++i)
    reply = client_->next();
  EXPECT_EQ(reply["method"], "camera");
  EXPECT_NEAR(reply["params"]["above"][1].get<double>(), 1, 1e-9);
  (void)call("subscribe", {{"to", "selection"}});
  ASSERT_TRUE(tool("mousemove 390 310 mousemove 400 300 click 1"));
  reply = client_->next();
  EXPECT_EQ(reply["method"], "selection");
  EXPECT_EQ(reply["params"]["selection"]["name"], "cube");
  // Who listens costs nothing.
  std::this_thread::sleep_for(1s);
  EXPECT_TRUE(eventually([&] {
    const long before = ticks();
    std::this_thread::sleep_for(1500ms);
    return ticks() - before <= 1;  // of a hundred a second
  }));
  EXPECT_TRUE(client_->try_next().is_null());
}

TEST_F(WindowFromOutside, SavesNoImageThatIsNotTheOneAskedFor) {
  run("cube.dae", {"--device", "cuda:99"});
  (void)call("draw", {{"ray_cast", "depth"}});
  const auto file = folder_.path() / "rays.png";
  EXPECT_EQ(ask("screenshot", {{"file", file.string()}})["error"]["data"]["kind"], "device");
  EXPECT_FALSE(std::filesystem::exists(file));
  (void)call("draw", {{"ray_cast", "off"}});
  EXPECT_GT(scene_pixels(screenshot()), 1000);
}

/// The inodes of a process's sockets that belong to the network.
std::set<std::string> network_sockets(pid_t process) {
  const std::filesystem::path of = "/proc/" + std::to_string(process);
  std::set<std::string> all, found;
  for (const char* table : {"tcp", "tcp6", "udp", "udp6", "raw", "raw6"}) {
    std::istringstream lines(contents(of / "net" / table));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      std::string field;
      for (int i = 0; i != 10; ++i) fields >> field;
      all.insert("socket:[" + field + "]");
    }
  }
  for (const auto& entry : std::filesystem::directory_iterator(of / "fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (all.contains(target)) found.insert(target);
  }
  return found;
}

TEST_F(WindowFromOutside, OpensNoNetworkSocket) {
  run("cube.dae");
  (void)call("screenshot", {{"file", (folder_.path() / "x.png").string()}});
  EXPECT_EQ(network_sockets(program_->pid()), std::set<std::string>());
  // The test sees what it looks for.
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr any{};
  any.sa_family = AF_INET;
  ASSERT_EQ(::bind(socket, &any, sizeof any), 0);
  EXPECT_EQ(network_sockets(::getpid()).size(), 1U);
  ::close(socket);
}

TEST_F(WindowFromOutside, PrintsNoNameAsACommand) {
  run("cube.dae");
  (void)call("bookmark", {{"name", "\x1b]0;title\x07\u202e"}});
  const Ended ended = send("state");
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(ended.out.find("\u202e"), std::string::npos);
  EXPECT_NE(ended.out.find("bookmarks: "), std::string::npos);
}

TEST_F(WindowFromOutside, LeavesNothingThatTheNextDoesNotRemove) {
  run("cube.dae");
  const std::filesystem::path first = socket_;
  program_.reset();  // killed
  EXPECT_TRUE(std::filesystem::exists(first));
  run("cube.dae");
  EXPECT_FALSE(std::filesystem::exists(first));
  start("cube.dae", {"--no-socket"});
  ASSERT_TRUE(eventually([] { return tool("search --name raylift-view"); }));
  std::this_thread::sleep_for(500ms);
  for (const auto& entry : std::filesystem::directory_iterator(runtime() / "raylift"))
    EXPECT_EQ(entry.path().string().find(std::to_string(program_->pid())), std::string::npos);
}

}  // namespace
}  // namespace raylift::viewer
