// SPDX-License-Identifier: Apache-2.0
// The program raylift-view as a shell runs it: images, several scenes, errors and their exit codes.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>
#include <string>

#include "support/images.h"
#include "support/paths.h"
#include "viewer/light/photon_rows.h"
#include "viewer/meshes/shell.h"

namespace raylift::viewer {
namespace {

/// Through a shell, so that redirections may be given; a bare environment but for what comes first. The leak sanitizer
/// crashes at times where it looks at Mesa's threads.
Ended view(const std::string& arguments, const std::string& environment = "") {
  return run_by_shell("env -u DISPLAY -u WAYLAND_DISPLAY XDG_CONFIG_HOME=/nowhere ASAN_OPTIONS=detect_leaks=0 " +
                      environment + " '" + test::program("raylift-view").string() + "' " + arguments);
}

std::string data(const char* name) {
  return "'" + test::data(name).string() + "'";
}

bool has_gl() {
  static const bool has = view(data("cube.dae") + " --gl software -r 32x32 -o - 2>/dev/null").code == 0;
  return has;
}
#define NEEDS_GL() \
  if (!has_gl()) GTEST_SKIP() << "no OpenGL by EGL here"

TEST(ViewProgram, DrawsToStandardOutput) {
  NEEDS_GL();
  const Ended ended = view(data("cube.dae") + " --gl software -r 200x100 --background none --output - 2>/dev/null");
  EXPECT_EQ(ended.code, 0);
  const Image image = decode_png(ended.out);
  EXPECT_EQ(image.width, 200);
  EXPECT_EQ(image.height, 100);
  EXPECT_EQ(image.at(100, 50)[3], 255);
  EXPECT_EQ(image.at(1, 1)[3], 0);
}

TEST(ViewProgram, DrawsSeveralScenesAndGoesOnAfterAFailure) {
  NEEDS_GL();
  const test::TemporaryFolder folder;
  const Ended ended = view(data("cube.dae") + " /nowhere.dae " + data("materials.dae") +
                           " --gl software -r 64x48 -o '" + folder.path().string() + "/{n}_{name}.png' 2>&1");
  EXPECT_EQ(ended.code, 3) << ended.out;
  EXPECT_EQ(read_png(folder.path() / "1_cube.png").width, 64);
  EXPECT_EQ(read_png(folder.path() / "3_materials.png").height, 48);
}

TEST(ViewProgram, SaysHowFastItDraws) {
  NEEDS_GL();
  const Ended ended = view(data("cube.dae") + " --gl software -r 64x48 --frames 3");
  EXPECT_EQ(ended.code, 0);
  EXPECT_NE(ended.out.find("3 frames of 64 x 48"), std::string::npos) << ended.out;
}

TEST(ViewProgram, GlassHasTheOpacityThatOptionsAndBookmarksSay) {
  NEEDS_GL();
  const test::TemporaryFolder folder;
  const std::string file = std::filesystem::canonical(test::data("cube.dae")).string();
  const auto bookmark = [](const std::string& name, const std::string& opacity) {
    return R"({"name": ")" + name + R"(", "target": [0, 0, 0],
      "up": [0, 0, 1], "orientation": [0, 0, 0, 1], "distance": 5000, "fov": 40, "orthographic": false, "color": "solid",
      "rays": "off", "shells": "solid", "wireframe": false, "edges": false, "smooth": true, "back-faces": false, "caps": true,
      "opacity": 1, "hidden": [], "styled": {"glass": ["/World/cube/"]}, "opacities": [{"opacity": )" +
           opacity + R"(, "solids": ["/World/cube/"]}]})";
  };
  const std::string bookmarks = folder.write("bookmarks.json", R"({")" + file + R"(": [)" + bookmark("thin", "0.05") +
                                                                   ", " + bookmark("thick", "1e300") + "]}");
  const std::string common =
      data("cube.dae") + " --gl software -r 64x48 --background black --bookmarks '" + bookmarks + "'";
  const auto light = [&](const std::string& options) {
    const Ended ended = view(common + " " + options + " -o - 2>&1");
    EXPECT_EQ(ended.code, 0) << ended.out;
    const auto pixel = decode_png(ended.out).at(32, 24);
    return pixel[0] + pixel[1] + pixel[2];
  };
  const int thin = light("--glass '*=0.05'"), thick = light("--glass '*=0.9'");
  EXPECT_GT(thick, 2 * thin);
  EXPECT_EQ(light("--glass '*' --glass-opacity 0.9"), thick);
  EXPECT_GT(light("--bookmark thick"), 2 * light("--bookmark thin"));
}

TEST(ViewProgram, SaysThatNoTriangleHasAnArea) {
  NEEDS_GL();
  const test::TemporaryFolder folder;
  const std::string flat = folder.write("flat.obj", "v 0 0 0\nv 1 1 1\nv 2 2 2\nf 1 2 3\n");
  const Ended ended =
      view("'" + flat + "' --gl software -r 64x48 -o " + (folder.path() / "flat.png").string() + " 2>&1");
  EXPECT_EQ(ended.code, 4);
  EXPECT_NE(ended.out.find("none of the scene's 1 triangle has an area"), std::string::npos) << ended.out;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "flat.png"));
}

TEST(ViewProgram, PutsTheLegendBesideTheScene) {
  NEEDS_GL();
  const auto drawn = [](const std::string& options) {
    const Ended ended =
        view(data("cube.dae") + " --gl software -r 640x480 --no-axes --no-scale-bar --background black " + options +
             " -o - 2>&1");
    EXPECT_EQ(ended.code, 0) << ended.out;
    return decode_png(ended.out);
  };
  // The rightmost pixel of the cube: below the legend, whose plate is at the top.
  const auto rightmost = [](const Image& image) {
    int right = 0;
    for (int y = 200; y != 300; ++y)
      for (int x = 0; x != 640; ++x)
        if (image.at(x, y)[0] + image.at(x, y)[1] + image.at(x, y)[2] > 60) right = std::max(right, x);
    return right;
  };
  const int alone = rightmost(drawn("")), beside = rightmost(drawn("--legend"));
  EXPECT_LT(beside, alone - 30);
  EXPECT_EQ(rightmost(drawn("--legend --eye 0,-6000,0")), rightmost(drawn("--eye 0,-6000,0")))
      << "a given camera stays";
}

TEST(ViewProgram, CastsRays) {
  NEEDS_GL();
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "rays.png").string();
  const Ended ended = view(
      data("cube.dae") + " --gl software -r 64x48 --device host --ray-cast solid --ray-samples 2 -o " + file + " 2>&1");
  EXPECT_EQ(ended.code, 0) << ended.out;
  EXPECT_GT(read_png(file).at(32, 24)[1], 60);
}

TEST(ViewProgram, TakesTheConfigurationOfItsPageForTheDetector) {
  NEEDS_GL();
  const std::string page = test::bytes_in(test::source_dir() / "docs/viewer.md");
  const std::size_t begin = page.find("    {\"color\"");
  ASSERT_NE(begin, std::string::npos);
  const test::TemporaryFolder folder;
  const std::string config = folder.write("view.json", page.substr(begin, page.find('}', begin) + 1 - begin));
  const Ended ended = view(data("detector.dae") + " --gl software --config '" + config + "' -r 64x48 -o - 2>/dev/null");
  EXPECT_EQ(ended.code, 0);
  EXPECT_NE(decode_png(ended.out).at(32, 24), decode_png(ended.out).at(1, 24));  // the vessel, and nothing beside it
}

TEST(ViewProgram, TakesTheConfigurationOfItsHelpForAnyScene) {
  NEEDS_GL();
  const std::string help = view("--help").out;
  const std::size_t begin = help.find("{\"color\"");
  ASSERT_NE(begin, std::string::npos);
  const test::TemporaryFolder folder;
  const std::string config = folder.write("view.json", help.substr(begin, help.find('}', begin) + 1 - begin));
  const Ended ended = view(data("cube.dae") + " --gl software --config '" + config + "' -r 64x48 -o /dev/null 2>&1");
  EXPECT_EQ(ended.code, 0) << ended.out;
  EXPECT_NE(ended.out.find("matches 'Pool*', of the configuration"), std::string::npos) << ended.out;
}

TEST(ViewProgram, SaysWhatRaysDoNotShow) {
  NEEDS_GL();
  const std::string command = data("cube.dae") + " --gl software -r 64x48 --device host -o /dev/null --opacity 0.5 ";
  EXPECT_NE(view(command + "--ray-cast shaded 2>&1").out.find("opaque surfaces"), std::string::npos);
  EXPECT_EQ(view(command + "2>&1").out, "");
}

TEST(ViewProgram, OpensWithABookmark) {
  NEEDS_GL();
  const test::TemporaryFolder folder;
  const std::string file = std::filesystem::canonical(test::data("instances.dae")).string();
  const std::string bookmarks =
      folder.write("bookmarks.json", R"({")" + file + R"(": [{"name": "far", "target": [0, 0, 0],
      "up": [0, 0, 1], "orientation": [0, 0, 0, 1], "distance": 1e9, "fov": 40, "orthographic": false, "color": "solid",
      "rays": "off", "shells": "faint", "wireframe": false, "edges": false, "smooth": true, "back-faces": false, "caps": true,
      "opacity": 1, "hidden": []}]})");
  const std::string command = data("instances.dae") +
                              " --gl software -r 64x48 --background black --no-axes --no-scale-bar --bookmarks '" +
                              bookmarks + "' -o - 2>/dev/null";
  const auto lit = [](const Image& image) {
    return std::count_if(image.pixels.begin(), image.pixels.end(), [](const Pixel& p) { return p[1] > 40; });
  };
  EXPECT_GT(lit(decode_png(view(command).out)), 100);
  EXPECT_LT(lit(decode_png(view("--bookmark far " + command).out)), 10) << "from far away it is a point";
  EXPECT_EQ(view("--bookmark near " + command).code, 2);
  // A film along two bookmarks comes nearer.
  const std::string two =
      folder.write("two.json", R"({")" + file + R"(": [{"name": "far", "target": [0, 0, 0], "up": [0, 0, 1],
      "orientation": [0, 0, 0, 1], "distance": 1e6, "fov": 40, "orthographic": false}, {"name": "near", "target": [20, 15, 0],
      "up": [0, 0, 1], "orientation": [0, 0, 0, 1], "distance": 50, "fov": 40, "orthographic": false}]})");
  const std::string film = data("instances.dae") +
                           " --gl software -r 64x48 --background black --no-axes --no-scale-bar --bookmarks '" + two +
                           "' -o '" + folder.path().string() + "/{frame}.png' --frames 3 ";
  EXPECT_EQ(view(film + "--path far,near >/dev/null").code, 0);
  const auto frame = [&](const char* name) { return lit(read_png(folder.path() / name)); };
  EXPECT_LT(frame("0000.png"), 10);
  EXPECT_GT(frame("0002.png"), 100);
  EXPECT_EQ(view(film + "--path far,nowhere 2>/dev/null").code, 2);
  EXPECT_EQ(view(film + "--path far,near --orbit 90 2>/dev/null").code, 2);
}

TEST(ViewProgram, WaitsForAnAnswerNoLongerThanItIsTo) {
  const test::TemporaryFolder folder;
  // A viewer that accepts a connection, and says nothing.
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = folder.path() / "mute.sock";
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  path.copy(address.sun_path, path.size());
  const int listening = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::listen(listening, 4), 0);
  const Ended ended = view("--send state --to '" + path + "' --send-timeout 0.1 2>&1");
  EXPECT_EQ(ended.code, 6) << ended.out;
  EXPECT_NE(ended.out.find("no answer within 0.1 s"), std::string::npos) << ended.out;
  EXPECT_EQ(view("--send state --send-timeout never 2>/dev/null").code, 2);
  ::close(listening);
}

TEST(ViewProgram, SaysHowLargeAnImageCanBe) {
  NEEDS_GL();
  const Ended ended = view(data("cube.dae") + " --gl software -r 16384x16384 --samples 16 -o /dev/null 2>&1");
  if (ended.code == 0) GTEST_SKIP() << "this OpenGL draws it";
  EXPECT_EQ(ended.code, 6) << ended.out;
  EXPECT_NE(ended.out.find("16384x16384 pixels with"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find(" is possible"), std::string::npos) << ended.out;
}

/// A photon before the cube, from the left to the right.
void write_light(const std::filesystem::path& file) {
  using namespace test_photons;
  write_record(file, {{event(flags::kTorch, {-900, -1500, 0}, 0, 5, 470),
                       event(flags::kBulkAbsorb, {900, -1500, 0}, 10, 5, 470)}});
}
int light_of(const Image& image) {
  return static_cast<int>(
      std::count_if(image.pixels.begin(), image.pixels.end(), [](const Pixel& p) { return p[2] > p[0] + 120; }));
}

TEST(ViewProgram, DrawsPhotons) {
  NEEDS_GL();
  const test::TemporaryFolder folder;
  write_light(folder.path() / "record.npy");
  const std::string command =
      data("cube.dae") +
      " --gl software -r 128x96 --view front --photon-color wavelength --photon-size 3 -o - --photons '" +
      folder.path().string() + "' ";
  const auto light = [&](const std::string& more) {
    return light_of(decode_png(view(command + more + " 2>/dev/null").out));
  };
  EXPECT_GT(light(""), 60);
  EXPECT_GT(light("--photon-filter 'TO AB'"), 60);
  EXPECT_EQ(light("--photon-filter SD"), 0);
  EXPECT_EQ(light("--photon-wavelength 500-600"), 0);
  EXPECT_EQ(light("--no-photon-paths"), 0);
  EXPECT_EQ(light("--photon-color flag"), 0) << "another colour";
  EXPECT_GT(light("--photon-time 5"), light("") / 3);
  EXPECT_LT(light("--photon-time 5"), light("") * 3 / 4) << "half of it, and its head";
  EXPECT_EQ(view(command + "--photon-filter QQ 2>/dev/null").code, 2);
  EXPECT_NE(view(command + "-v 2>&1 >/dev/null").out.find("1 step in 1 path"), std::string::npos);
  EXPECT_NE(view(command + "--device host --ray-cast shaded 2>&1 >/dev/null").out.find("no photons"),
            std::string::npos);
  // A filter that no photon passes says so; one that some pass says nothing.
  EXPECT_NE(view(command + "--photon-filter 'TO CK' 2>&1 >/dev/null").out.find("no light is drawn"), std::string::npos);
  EXPECT_EQ(view(command + "--photon-filter 'TO *' 2>&1 >/dev/null").out, "");
  const Ended missing = view(data("cube.dae") + " --gl software -o - --photons /nowhere 2>&1");
  EXPECT_EQ(missing.code, 3) << missing.out;
}

TEST(ViewProgram, DrawsAFilmFrameByFrame) {
  NEEDS_GL();
  const test::TemporaryFolder folder;
  write_light(folder.path() / "record.npy");
  const std::string command =
      data("cube.dae") + " --gl software -r 128x96 --view front --photon-color wavelength --photon-size 3 --photons '" +
      folder.path().string() + "/record.npy' -o '" + folder.path().string() + "/film/{name}_{frame}.png' ";
  EXPECT_EQ(view(command + "2>/dev/null").code, 2) << "{frame} without --frames";
  const Ended ended = view(command + "--photon-play --frames 5 2>&1");
  EXPECT_EQ(ended.code, 0) << ended.out;
  int before = -1;
  for (int i = 0; i != 5; ++i) {
    const int light = light_of(read_png(folder.path() / "film" / ("cube_000" + std::to_string(i) + ".png")));
    EXPECT_GT(light, before + 8) << i;
    before = light;
  }
  EXPECT_GT(before, 60) << "the last frame has all light";
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "film/cube_0005.png"));
  // Without play, the camera goes round.
  EXPECT_EQ(view(command + "--frames 3 2>&1").code, 0);
  EXPECT_GT(
      compare(read_png(folder.path() / "film/cube_0000.png"), read_png(folder.path() / "film/cube_0001.png")).share,
      0.05);
}

TEST(ViewProgram, FollowsDeviatingHistoriesAgain) {
  NEEDS_GL();
  const test::TemporaryFolder folder;
  const std::string run = (folder.path() / "run").string();
  ASSERT_EQ(
      std::system(("'" + test::program("raylift").string() + "' photons " + data("integrating_sphere.dae") +
                   " --device host --source point:0,0,0 --photons 300 --seq --output '" + run + "' >/dev/null 2>&1")
                      .c_str()),
      0);
  // The other run has one history alone.
  const photon::NpyReader file(run + "/seq.npy");
  const std::vector<photon::Sequence> alone(static_cast<std::size_t>(file.rows()), {{0x4D, 0}, {0, 0}});
  photon::NpyWriter writer(folder.path() / "other.npy", photon::NpyType::uint64, {2, 2});
  writer.append(std::span<const photon::Sequence>(alone));
  writer.finish();
  const std::string command =
      " --gl software -r 64x48 --device host -o /dev/null -v --photons '" + run + "' --photon-compare '";
  const Ended ended = view(data("integrating_sphere.dae") + command + folder.path().string() + "/other.npy' 2>&1");
  EXPECT_EQ(ended.code, 0) << ended.out;
  EXPECT_NE(ended.out.find("deviate"), std::string::npos) << ended.out;
  EXPECT_EQ(ended.out.find("in 0 paths"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find(" paths"), std::string::npos) << ended.out;
  EXPECT_NE(view(data("integrating_sphere.dae") + command + run + "' 2>&1").out.find("no history deviates"),
            std::string::npos);
  const Ended other = view(data("water_sphere.dae") + command + folder.path().string() + "/other.npy' 2>&1");
  EXPECT_EQ(other.code, 2) << other.out;
  EXPECT_NE(other.out.find("another history"), std::string::npos) << other.out;
}

TEST(ViewProgram, FailsAsDocumented) {
  EXPECT_EQ(view("--help >/dev/null").code, 0);
  EXPECT_NE(view("--version").out.find("raylift-view "), std::string::npos);
  EXPECT_EQ(view("--no-such-option 2>/dev/null").code, 2);
  EXPECT_EQ(view(data("cube.dae") + " --offscreen 2>/dev/null").code, 2);
  EXPECT_EQ(view(data("cube.dae") + " --clip w -o x.png 2>/dev/null").code, 2);
  EXPECT_EQ(view(data("cube.dae") + " -o x.jpg 2>/dev/null").code, 2);
  NEEDS_GL();
  EXPECT_EQ(view("/nowhere.dae --gl software -o /dev/null 2>/dev/null").code, 3);
  EXPECT_EQ(view(data("cube.dae") + " --gl software -o /nowhere/x.png 2>/dev/null").code, 3);
  EXPECT_EQ(view(data("cube.dae") + " --gl software --hide nothing -o /dev/null 2>/dev/null").code, 2);
  EXPECT_EQ(view("'" + (test::source_dir() / "tests/data/malformed/array_nan.dae").string() +
                 "' --gl software -o /dev/null 2>/dev/null")
                .code,
            4);
}

TEST(ViewProgram, SaysWhyThereIsNoWindow) {
  const Ended ended = view(data("cube.dae") + " 2>&1");
  EXPECT_EQ(ended.code, 10) << ended.out;
  EXPECT_NE(ended.out.find("--output"), std::string::npos) << ended.out;
  EXPECT_NE(ended.out.find("set DISPLAY"), std::string::npos) << ended.out;
  const Ended wayland = view(data("cube.dae") + " 2>&1", "WAYLAND_DISPLAY=wayland-9");
  EXPECT_EQ(wayland.code, 10) << wayland.out;
  EXPECT_NE(wayland.out.find("--output"), std::string::npos) << wayland.out;
  EXPECT_EQ(wayland.out.find("X11") != std::string::npos, wayland.out.find("XWayland") != std::string::npos)
      << "a GLFW for X11 names what is missing: " << wayland.out;
}

}  // namespace
}  // namespace raylift::viewer
