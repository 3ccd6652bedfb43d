// SPDX-License-Identifier: Apache-2.0
// Settings as text, the command line with its configuration file, and colours.
#include "model/settings/settings.h"

#include <gtest/gtest.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/scene.h>

#include <array>
#include <cstdlib>
#include <set>

#include "draw/overlay/overlay.h"
#include "model/colors/palette.h"
#include "state/options/view_options.h"
#include "support/images.h"
#include "support/paths.h"
#include "viewer/window/typed.h"

namespace raylift::viewer {
namespace {

void expect_usage(const std::function<void()>& work) {
  try {
    work();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
  }
}

TEST(Settings, ReadsPlanes) {
  EXPECT_EQ(parse_clip("x").normal, Eigen::Vector3d(1, 0, 0));
  EXPECT_FALSE(parse_clip("x").offset);
  EXPECT_EQ(parse_clip("-y").normal, Eigen::Vector3d(0, -1, 0));
  EXPECT_EQ(parse_clip("z=12.5").offset, 12.5);
  EXPECT_EQ(parse_clip("-x=100").offset, -100) << "the plane x = 100 from the other side";
  EXPECT_NEAR(parse_clip("1,1,0=3").normal.x(), std::sqrt(0.5), 1e-12);
  for (const char* bad : {"", "w", "x=", "x=nan", "1,2", "0,0,0", "1,2,3,4", "x=1e999", "xy"})
    expect_usage([&] { (void)parse_clip(bad); });
}

TEST(Settings, PlanesComeBackFromTheirText) {
  for (const char* text : {"x", "-y", "z=12.5", "-x=100", "1,2,-3=0.1"}) {
    const ClipPlane plane = parse_clip(text);
    const ClipPlane again = parse_clip(clip_text(plane));
    EXPECT_LT((plane.normal - again.normal).norm(), 1e-15) << text;
    EXPECT_EQ(plane.offset, again.offset) << text;
  }
}

TEST(Settings, ReadsResolutions) {
  EXPECT_EQ(parse_resolution("1920x1080").width, 1920);
  EXPECT_EQ(parse_resolution("1920x1080").height, 1080);
  for (const char* bad : {"", "0x10", "10x0", "10", "x", "10x", "-1x5", "99999x10", "10x10x10", "1e3x10"})
    expect_usage([&] { (void)parse_resolution(bad); });
}

TEST(Settings, ReadsBackgrounds) {
  EXPECT_TRUE(parse_background("none").transparent);
  EXPECT_EQ(packed(parse_background("#0080ff").top), 0xFFFF8000U);
  EXPECT_EQ(packed(parse_background("#000000,#ffffff").bottom), 0xFFFFFFFFU);
  for (const char* bad : {"", "drak", "#12345", "#12345g", "#000000,", "#000000,white"})
    expect_usage([&] { (void)parse_background(bad); });
}

TEST(Settings, ReadsTheCommandLine) {
  const ViewOptions options =
      typed({"--no-config", "a.dae", "b.dae", "--output", "{name}.png", "--color", "solid", "--clip=-x=5", "--flat",
             "--no-axes", "--hide", "World*", "--hide", "Pool*", "--eye", "1,2,3", "--up", "y"});
  EXPECT_EQ(options.files, (std::vector<std::string>{"a.dae", "b.dae"}));
  EXPECT_EQ(options.settings.color, ColorBy::solid);
  EXPECT_FALSE(options.settings.smooth);
  EXPECT_FALSE(options.settings.axes);
  EXPECT_EQ(options.solids.hide, (std::vector<std::string>{"World*", "Pool*"}));
  EXPECT_EQ(options.camera.eye, Eigen::Vector3d(1, 2, 3));
  EXPECT_EQ(options.load.up_axis, UpAxis::y);
}

TEST(Settings, ReadsTheOptionsOfLight) {
  const test::TemporaryFolder folder;
  const std::string config = folder.write(
      "view.json", R"({"photons": "run", "photon-color": "time", "photon-size": 3, "photon-paths": false})");
  const ViewOptions options = typed({"a.dae",
                                     "--config",
                                     config,
                                     "--photon-filter",
                                     "TO * SD",
                                     "--photon-time",
                                     "12.5",
                                     "--photon-channel",
                                     "10-19",
                                     "--photon-wavelength=350",
                                     "--photon-trail",
                                     "4",
                                     "--photon-speed",
                                     "20",
                                     "--no-photon-loop",
                                     "--photon-play",
                                     "--photon-limit",
                                     "10k",
                                     "--photon-color",
                                     "number"});
  const PhotonSettings& light = options.settings.photons;
  EXPECT_EQ(options.light.origin.photons, "run");
  EXPECT_EQ(options.light.limit, 10'000U);
  EXPECT_TRUE(options.light.play);
  EXPECT_EQ(light.color, PhotonColor::photon) << "the command line wins";
  EXPECT_EQ(light.size, 3);
  EXPECT_FALSE(light.paths);
  EXPECT_TRUE(light.points);
  EXPECT_EQ(light.filter.history, "TO * SD");
  EXPECT_EQ(light.filter.channel, (Between<std::int32_t>{10, 19}));
  EXPECT_EQ(light.filter.wavelength, (Between<float>{350, 350}));
  EXPECT_EQ(light.time, 12.5);
  EXPECT_EQ(light.trail, 4);
  EXPECT_EQ(light.speed, 20);
  EXPECT_FALSE(light.loop);
  for (const auto& wrong : {std::pair("--photon-color", "red"),
                            {"--photon-filter", "QQ"},
                            {"--photon-time", "now"},
                            {"--photon-size", "0"}})
    expect_usage([&] { (void)typed({"a.dae", "--no-config", wrong.first, wrong.second}); });
  expect_usage([&] { (void)typed({"a.dae", "--no-config", "-o", "{frame}.png"}); });
  EXPECT_TRUE(typed({"a.dae", "--no-config", "-o", "{frame}.png", "--frames", "3"}).image.writes_frames());
  EXPECT_EQ(output_name("{name}_{n}_{frame}.png", "x/a.dae.gz", 2, 7), "a_2_0007.png");
}

TEST(Settings, APatternTakesOneValueAndNoFile) {
  using List = std::vector<std::string>;
  for (const char* name : {"--hide", "--only"}) {
    const auto list = [&](const ViewOptions& options) {
      return name[2] == 'h' ? options.solids.hide : options.solids.only;
    };
    const ViewOptions before = typed({"--no-config", name, "top", "a.dae"});
    EXPECT_EQ(list(before), List{"top"});
    EXPECT_EQ(before.files, List{"a.dae"});
    EXPECT_EQ(list(typed({"--no-config", name, "top,Pool*", "a.dae", name, "x"})), (List{"top", "Pool*", "x"}));
    EXPECT_EQ(list(typed({"--no-config", "a.dae", std::string(name) + "=top"})), List{"top"});
  }
}

TEST(Settings, PatternsOfTheConfigurationThatMatchNothingWarn) {
  const test::TemporaryFolder folder;
  const std::string config =
      folder.write("view.json", R"({"hide": ["Nowhere*"], "only": ["Nothing"], "focus": "None"})");
  Scene scene;
  scene.meshes.resize(1);
  scene.meshes[0].name = "box";
  scene.meshes[0].parts = {{0, 0}};
  scene.bindings = {{kNone}};
  scene.instances.resize(1);
  Solids solids(scene);
  const ViewOptions options = typed({"a.dae", "--config", config});
  const Notes notes = apply_visibility(options, solids);
  EXPECT_EQ(notes.warnings.size(), 2U);
  EXPECT_EQ(solids.visible(), std::vector<std::uint8_t>{1});
  EXPECT_EQ(open_view(options, solids, {}, 1).notes.warnings.size(), 1U);
  // What is typed must match.
  expect_usage([&] { (void)apply_visibility(typed({"a.dae", "--config", config, "--hide", "Missing"}), solids); });
  expect_usage([&] { (void)open_view(typed({"a.dae", "--config", config, "--focus", "Missing"}), solids, {}, 1); });
  EXPECT_EQ(apply_visibility(typed({"a.dae", "--no-config", "--hide", "box"}), solids).counts,
            std::vector<std::string>{"'box': 1 solid by name"});
}

TEST(Settings, SeveralPlanesHoldTogether) {
  const test::TemporaryFolder folder;
  const std::string config = folder.write("view.json", R"({"clip": "y"})");
  const auto planes = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"a.dae", "--config", config});
    std::string text;
    for (const ClipPlane& plane : typed(arguments).settings.planes()) text += clip_text(plane) + ' ';
    return text;
  };
  EXPECT_EQ(planes({}), "0,1,0 ");
  EXPECT_EQ(planes({"--clip", "x", "--clip=-z=5"}), "1,0,0 -0,-0,-1=-5 ") << "the command line wins";
  EXPECT_EQ(planes({"--clip", "off"}), "");
  EXPECT_EQ(planes({"--clip", "x", "--clip", "off", "--clip", "z"}), "0,0,1 ");
  EXPECT_TRUE(typed({"a.dae", "--no-config", "--clip", "facing"}).clip_facing);
  expect_usage([&] { (void)planes({"--clip", "w"}); });
  expect_usage([&] { (void)planes(std::vector<std::string>(14, "--clip=x")); });
}

TEST(Settings, RefusesWhatMakesNoSense) {
  expect_usage([] { typed({"--no-config", "a.dae", "b.dae", "-o", "c.png"}); });
  expect_usage([] { typed({"--no-config", "-o", "c.png"}); });
  expect_usage([] { typed({"--no-config", "a.dae", "--opacity", "0"}); });
  expect_usage([] { typed({"--no-config", "a.dae", "--colr", "solid"}); });
  expect_usage([] { typed({"--no-config", "a.dae", "--frames", "2.5"}); });
  expect_usage([] { typed({"--no-config", "a.dae", "-o", ""}); });
  expect_usage([] { typed({"--no-config", "a.dae", "-o", "-", "--frames", "2"}); });
}

TEST(Settings, NoImageTakesTheFileOfAnother) {
  expect_usage([] { typed({"--no-config", "a/x.dae", "b/x.dae", "-o", "{name}.png"}); });
  typed({"--no-config", "a/x.dae", "b/x.dae", "-o", "{name}_{n}.png"});
  typed({"--no-config", "run.1.dae", "run.2.dae", "-o", "{name}.png"});
  typed({"--no-config", "a.dae", "a.dae"});
}

TEST(Settings, TheConfigurationGivesWhatTheCommandLineDoesNot) {
  const test::TemporaryFolder folder;
  const std::string config =
      folder.write("view.json", R"({"color": "mesh", "edges": true, "smooth": false, "samples": 8, "fov": 55.5,
                                    "resolution": "640x480", "hide": ["A*", "B"], "eye": [1, 2, 3]})");
  const ViewOptions options = typed({"a.dae", "--config", config, "--color", "solid", "--no-edges"});
  EXPECT_EQ(options.settings.color, ColorBy::solid);
  EXPECT_FALSE(options.settings.edges);
  EXPECT_FALSE(options.settings.smooth);
  EXPECT_EQ(options.image.samples, 8);
  EXPECT_EQ(options.camera.fov_degrees, 55.5);
  EXPECT_EQ(options.image.resolution.height, 480);
  EXPECT_EQ(options.solids.hide, (std::vector<std::string>{"A*", "B"}));
  EXPECT_EQ(options.camera.eye, Eigen::Vector3d(1, 2, 3));
}

TEST(Settings, AWrongConfigurationIsNamed) {
  const test::TemporaryFolder folder;
  const auto kind = [&](const std::string& text) {
    try {
      typed({"a.dae", "--config", folder.write("c.json", text)});
    } catch (const Error& error) {
      return std::string(to_string(error.kind())) + ": " + error.what();
    }
    return std::string("none");
  };
  EXPECT_EQ(kind("{}"), "none");
  EXPECT_NE(kind(R"({"colr": "solid"})").find("did you mean 'color'"), std::string::npos);
  EXPECT_EQ(kind("[1]").substr(0, 9), "malformed");
  EXPECT_EQ(kind("{").substr(0, 9), "malformed");
  EXPECT_EQ(kind(R"({"color": null})").substr(0, 9), "malformed");
  EXPECT_EQ(kind(R"({"color": "sold"})").substr(0, 5), "usage");
  EXPECT_NE(kind(R"({"color": "sold"})").find("c.json"), std::string::npos) << "no user typed it";
  EXPECT_EQ(kind(R"({"hide": [["a"]]})").substr(0, 9), "malformed");
  EXPECT_THROW(typed({"a.dae", "--config", folder.path().string()}), Error);
  std::string config = "--config=" + folder.write("c.json", "{").string(), program = "raylift-view", help = "--help";
  std::array<char*, 3> words{program.data(), config.data(), help.data()};
  ViewOptions options;
  EXPECT_NE(parse_view_options(3, words.data(), options).find("--color"), std::string::npos) << "help there is";
  EXPECT_THROW(typed({"a.dae", "--config", "/nowhere/c.json"}), Error);
}

TEST(Settings, OutputNamesAreMadeFromScenes) {
  EXPECT_EQ(output_name("out/{name}_{n}.png", "/data/pmt.dae.gz", 3), "out/pmt_3.png");
  EXPECT_EQ(output_name("plain.png", "a.dae", 1), "plain.png");
  EXPECT_EQ(output_name("{name}", "run.1.dae", 1), "run.1");
  EXPECT_EQ(output_name("{x}{name}", ".hidden", 1), "{x}.hidden");
}

TEST(Palette, ColorsAreDistinctAndStable) {
  std::set<std::uint32_t> seen;
  for (std::uint32_t i = 0; i < 64; ++i) seen.insert(packed(distinct_color(i)));
  EXPECT_EQ(seen.size(), 64U);
  EXPECT_EQ(packed(unpacked(0xFF123456U)), 0xFF123456U);
}

TEST(Palette, MaterialsThatAllLookTheSameGetColorsOfTheirOwn) {
  Scene scene;
  scene.materials = {{"a", {1, 1, 1, 1}}, {"b", {1, 1, 1, 1}}};
  EXPECT_NE(material_palette(scene)[0], material_palette(scene)[1]);
  scene.materials[1].color = {1, 0, 0, 1};
  EXPECT_EQ(material_palette(scene)[1], packed({1, 0, 0}));
  EXPECT_EQ(material_palette(scene).size(), 3U);
}

TEST(Overlay, LengthsAreRound) {
  EXPECT_DOUBLE_EQ(round_length(730), 500);
  EXPECT_DOUBLE_EQ(round_length(0.03), 0.02);
  EXPECT_DOUBLE_EQ(round_length(1), 1);
  EXPECT_EQ(length_text(500), "500 mm");
  EXPECT_EQ(length_text(2000), "2 m");
  EXPECT_EQ(length_text(5e6), "5 km");
  EXPECT_EQ(length_text(0.05), "50 µm");
  EXPECT_EQ(length_text(2e14), "200000000 km") << "an exponent could not be drawn";
  EXPECT_EQ(length_text(5e-9), "0.000005 µm");
}

TEST(Overlay, TheScaleBarHoldsItsLength) {
  Camera camera;
  camera.distance = 1000;
  Settings settings;
  settings.axes = false;
  const Overlay overlay = make_overlay(camera, settings, 1000, 720);
  float low = 1e9F, high = -1e9F;
  for (const OverlayItem& item : overlay) {
    if (item.kind != OverlayItem::Kind::line || item.paint[3] < 1) continue;  // of the halo
    low = std::min(low, item.box().min().x());
    high = std::max(high, item.box().max().x());
  }
  // The strokes of the ticks at both ends aside: half their width.
  const double length = static_cast<double>(high - low - 2.0F) * camera.pixel_size(720);
  EXPECT_NEAR(length, round_length(length * 1.01), 0.01 * length);
  EXPECT_TRUE(make_overlay(camera, settings, 100, 100).empty());
}

TEST(Image, ComesBackFromItsFile) {
  Image image(3, 2);
  for (std::size_t i = 0; i < image.pixels.size(); ++i)
    image.pixels[i] = {static_cast<std::uint8_t>(40 * i), 7, 255, static_cast<std::uint8_t>(i == 4 ? 128 : 255)};
  const test::TemporaryFolder folder;
  write_png(image, folder.path() / "a.png");
  const Image again = read_png(folder.path() / "a.png");
  EXPECT_EQ(again.pixels, image.pixels);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "something is left over";
  EXPECT_EQ(compare(image, again, 0).share, 0);
  EXPECT_EQ(compare(image, Image(2, 3)).share, 1);
}

TEST(Image, FailsWithoutLeavingAFile) {
  try {
    write_png(Image(2, 2), "/nowhere/a.png");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
  }
  EXPECT_THROW((void)decode_png("no image"), Error);
}

}  // namespace
}  // namespace raylift::viewer
