// SPDX-License-Identifier: Apache-2.0
// The window with real input: raylift-view under Xvfb, moved and clicked by xdotool, seen through its screenshots.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <thread>

#include "draw/overlay/overlay.h"
#include "support/images.h"
#include "support/paths.h"
#include "viewer/light/photon_rows.h"
#include "with_window.h"

namespace raylift::viewer {
namespace {

TEST_F(Window, AnswersToMouseAndKeys) {
  show("instances.dae", {"--color", "solid"});
  (void)tool("key p");  // no panels in the mouse's way
  const auto like = [](const Image& reference) {
    return [&reference](const Image& image) { return compare(reference, image).share < 0.003; };
  };
  const auto unlike = [](const Image& reference) {
    return [&reference](const Image& image) { return compare(reference, image).share > 0.02; };
  };
  // The same as without a window.
  const auto file = folder_.path() / "reference.png";
  ASSERT_EQ(std::system(("'" + test::program("raylift-view").string() + "' '" + test::data("instances.dae").string() +
                         "' --color solid --gl software -r 800x600 --samples 1 -o '" + file.string() + "'")
                            .c_str()),
            0);
  const Image reference = read_png(file);
  const Image start = image_until(like(reference));
  EXPECT_LT(compare(reference, start).share, 0.003);

  ASSERT_TRUE(tool("mousemove 500 300 mousedown 1 mousemove 520 310 mousemove 640 340 mouseup 1"));
  const Image orbited = image_until(unlike(start));
  EXPECT_GT(compare(start, orbited).share, 0.02) << "a drag orbits";
  ASSERT_TRUE(tool("key KP_0"));
  EXPECT_LT(compare(start, image_until(like(start))).share, 0.003) << "the numpad's 0 goes back";

  ASSERT_TRUE(tool("click 4 click 4 click 4"));
  EXPECT_GT(compare(start, image_until(unlike(start))).share, 0.02) << "the wheel zooms";
  ASSERT_TRUE(tool("key KP_0"));
  (void)image_until(like(start));

  ASSERT_TRUE(tool("key m"));
  EXPECT_GT(compare(start, image_until(unlike(start))).share, 0.02) << "m: wireframe";
  ASSERT_TRUE(tool("key ctrl+p type wirefr"));  // in one go, before the palette is drawn
  ASSERT_TRUE(tool("key Return"));
  EXPECT_LT(compare(start, image_until(like(start))).share, 0.003) << "the palette does what m does";

  ASSERT_TRUE(tool("key ctrl+2"));
  EXPECT_TRUE(eventually([&] {
    const auto images = folder_.path() / "raylift/bookmarks";
    return std::filesystem::exists(folder_.path() / "raylift/bookmarks.json") && std::filesystem::exists(images) &&
           !std::filesystem::is_empty(images);
  })) << "with its image";
  // The end of the axis X, in the lower left corner.
  const auto ends = [] {
    Camera camera;
    camera.look(StandardView::iso);
    return gizmo_ends(camera, {800, 600});
  }();
  const auto x_end = std::find_if(ends.begin(), ends.end(), [](const GizmoEnd& end) { return end.axis.x() == 1; });
  ASSERT_NE(x_end, ends.end());
  ASSERT_TRUE(tool("mousemove " + std::to_string(static_cast<int>(x_end->at.x())) + ' ' +
                   std::to_string(600 - static_cast<int>(x_end->at.y())) + " click 1"));
  EXPECT_GT(compare(start, image_until(unlike(start))).share, 0.02) << "the gizmo turns the view";
  ASSERT_TRUE(tool("key 2"));
  EXPECT_LT(compare(start, image_until(like(start))).share, 0.003) << "2 goes to the bookmark";

  ASSERT_TRUE(tool("key ctrl+q"));
  EXPECT_EQ(program_->wait(kPatience), 0);
}

/// The position of a pixel that is not background, as xdotool takes it; a solid lies near the middle.
std::string place_of_a_solid(const Image& image) {
  int x = 400, y = 300;
  for (int i = 0; i < 200000 && std::abs(image.at(x, y)[0] - image.at(3, y)[0]) < 25; ++i) {
    x = 200 + (i * 7919) % 400;
    y = 150 + (i * 104729) % 300;
  }
  return std::to_string(x) + " " + std::to_string(y);
}

TEST_F(Window, AClickSelectsTheSolidUnderIt) {
  show("detector.dae", {"--only", "Sensor_1*", "--view", "top", "--color", "solid"});
  (void)tool("key p");
  const Image before = saved_image();
  const std::string there = place_of_a_solid(before);
  ASSERT_TRUE(tool("mousemove " + there + " click 1"));
  EXPECT_TRUE(eventually([&] { return contents(folder_.path() / "out").find("Sensor_1") != std::string::npos; }))
      << contents(folder_.path() / "out");
  const Image after = image_until([&](const Image& image) { return compare(before, image).share > 0; });
  EXPECT_GT(compare(before, after).share, 0) << "the selection is marked";
  EXPECT_LT(compare(before, after).share, 0.2);
}

TEST_F(Window, TheRightButtonOpensAMenuByAClickAndPansByADrag) {
  show("detector.dae", {"--only", "Sensor_1*", "--view", "top", "--color", "solid"});
  (void)tool("key p");
  const Image before = saved_image();
  const std::string there = place_of_a_solid(before);
  const auto out = [&] { return contents(folder_.path() / "out"); };
  ASSERT_TRUE(tool("mousemove " + there + " mousedown 3 mousemove_relative 30 10 mousemove_relative 30 10 mouseup 3"));
  const Image moved = image_until([&](const Image& image) { return compare(before, image).share > 0.01; });
  EXPECT_GT(compare(before, moved).share, 0.01) << "a drag pans";
  EXPECT_EQ(out(), "") << "and selects nothing";
  ASSERT_TRUE(tool("key KP_7"));
  (void)image_until([&](const Image& image) { return compare(before, image).share < 0.003; });

  ASSERT_TRUE(tool("mousemove " + there + " click 3"));
  EXPECT_TRUE(eventually([&] { return out().find("Sensor_1") != std::string::npos; })) << out();
  // A click beside the menu closes it, and does no more: the solid stays selected.
  const Image selected = image_until([&](const Image& image) { return compare(before, image).share > 0; });
  ASSERT_TRUE(tool("mousemove 790 590 click 1"));
  std::this_thread::sleep_for(500ms);
  EXPECT_LT(compare(selected, saved_image()).share, 0.0005);
  ASSERT_TRUE(tool("mousemove 790 590 click 1"));
  const Image without = image_until([&](const Image& image) { return compare(before, image).share < 0.0005; });
  EXPECT_LT(compare(before, without).share, 0.0005) << "the next one deselects";
}

TEST_F(Window, WhatIsSelectedLeavesTheImageFree) {
  show("detector.dae", {"--only", "Sensor_*", "--view", "top", "--color", "solid"});
  const Image image_before = saved_image();
  // Some sensor between the panels, and another one right of the tree, above the tip of the first.
  const auto click_within = [&](int left, int top, int width, int height, int from) {
    for (int i = from; i < from + 100000; ++i) {
      const int x = left + (i * 7919) % width, y = top + (i * 104729) % height;
      if (std::abs(image_before.at(x, y)[0] - image_before.at(3, y)[0]) < 25) continue;
      return tool("mousemove " + std::to_string(x) + " " + std::to_string(y) + " click 1");
    }
    return false;
  };
  const auto paths = [&] {
    const std::string text = contents(folder_.path() / "out");
    return std::count(text.begin(), text.end(), '\n');
  };
  ASSERT_TRUE(click_within(450, 300, 90, 200, 0));
  ASSERT_TRUE(eventually([&] { return paths() == 1; }));
  // Not before the panel has its size.
  int tries = 0;
  EXPECT_TRUE(eventually([&] {
    std::this_thread::sleep_for(500ms);
    return ++tries > 2 && click_within(350, 140, 75, 180, tries) && eventually([&] { return paths() > 1; });
  })) << contents(folder_.path() / "out");
}

TEST_F(Window, SavesTheImageAsTheLastKeyMadeIt) {
  show("cube.dae");
  const Image before = saved_image();
  ASSERT_TRUE(tool("key m key F12"));  // in one go: both may come before the next image is drawn
  const auto file = folder_.path() / (stem_ + "_" + std::to_string(++images_) + ".png");
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(file); }));
  EXPECT_GT(compare(before, read_png(file)).share, 0.02);
}

TEST_F(Window, BookmarksThatCanNotBeSavedEndNothing) {
  std::filesystem::create_directories(folder_.path() / "raylift");
  (void)folder_.write("raylift/bookmarks.json", "{");
  show("cube.dae");
  ASSERT_TRUE(tool("key ctrl+d"));
  ASSERT_FALSE(saved_image().pixels.empty()) << "it goes on";
  EXPECT_EQ(contents(folder_.path() / "raylift/bookmarks.json"), "{");
  ASSERT_TRUE(tool("key ctrl+q"));
  EXPECT_EQ(program_->wait(kPatience), 0);
}

TEST_F(Window, CastsRaysProgressively) {
  show("cube.dae", {"--device", "host"});
  const Image raster = saved_image();
  ASSERT_TRUE(tool("key k key k"));  // shaded, depth
  EXPECT_GT(compare(raster, image_until([&](const Image& image) { return compare(raster, image).share > 0.05; })).share,
            0.05);
}

TEST_F(Window, TwoClicksAreADoubleClickOnlyWhenTheyAreClose) {
  show("cube.dae");
  (void)tool("key p");
  const auto lines = [&] {
    const std::string text = contents(folder_.path() / "out");
    return std::count(text.begin(), text.end(), '\n');
  };
  (void)tool("mousemove 380 320 mousemove 400 300");
  std::this_thread::sleep_for(500ms);
  const Image before = saved_image();
  (void)tool("click 1");
  std::this_thread::sleep_for(900ms);
  (void)tool("click 1");
  EXPECT_TRUE(eventually([&] { return lines() >= 2; })) << "two clicks, each of which prints the path";
  EXPECT_LT(compare(before, saved_image()).share, 0.1) << "no camera has moved";
  std::this_thread::sleep_for(600ms);
  ::kill(program_->pid(), SIGSTOP);
  (void)tool("click 1");
  (void)tool("click 1");
  ::kill(program_->pid(), SIGCONT);
  EXPECT_GT(compare(before, image_until([&](const Image& image) { return compare(before, image).share > 0.1; })).share,
            0.1)
      << "a double click frames the solid";
}

TEST_F(Window, APressCountsWhereItIsAndNotWhereTheCursorWasInTheLastFrame) {
  show("cube.dae", {"--view", "front", "--zoom", "2", "--no-axes", "--no-scale-bar"});
  const auto lines = [&] {
    const std::string text = contents(folder_.path() / "out");
    return std::count(text.begin(), text.end(), '\n');
  };
  // Motion, press and release come at once, as they do where drawing takes long.
  const auto click_at_once = [&](const std::string& from, const std::string& there) {
    (void)tool("mousemove " + from);
    std::this_thread::sleep_for(500ms);
    (void)saved_image();
    ::kill(program_->pid(), SIGSTOP);
    (void)tool("mousemove " + there + " click 1");
    ::kill(program_->pid(), SIGCONT);
  };
  const Image image = saved_image();
  ASSERT_GT(std::abs(image.at(200, 300)[0] - image.at(0, 300)[0]), 16) << "the cube reaches behind the panel";
  click_at_once("150 250", "400 300");
  EXPECT_TRUE(eventually([&] { return lines() == 1; })) << "the cursor was over a panel";
  click_at_once("400 300", "200 300");
  std::this_thread::sleep_for(1s);
  (void)saved_image();
  EXPECT_EQ(lines(), 1) << "the panel has the click";
  ASSERT_TRUE(tool("mousemove 400 300 click 1"));
  EXPECT_TRUE(eventually([&] { return lines() == 2; })) << "and not the next one, elsewhere";
}

TEST_F(Window, AnIdleWindowTakesNoProcessorTime) {
  show("detector.dae");
  std::this_thread::sleep_for(2s);  // the check of the scene ends
  ASSERT_TRUE(eventually([&] {
    const long before = ticks();
    std::this_thread::sleep_for(1500ms);
    return ticks() - before <= 1;  // of a hundred a second
  }));
}

TEST_F(Window, HidingCanBeUndone) {
  show("cube.dae");
  (void)tool("key p");
  const Image start = saved_image();
  ASSERT_TRUE(tool("mousemove 390 310 mousemove 400 300 click 1"));
  (void)image_until([&](const Image& image) { return compare(start, image, 2).share > 0; });
  ASSERT_TRUE(tool("key l"));
  EXPECT_LT(scene_pixels(image_until([&](const Image& image) { return scene_pixels(image) < 100; })), 100);
  ASSERT_TRUE(tool("key ctrl+z"));
  EXPECT_GT(scene_pixels(image_until([&](const Image& image) { return scene_pixels(image) > 1000; })), 1000);
}

TEST_F(Window, LightRunsIsColouredAndSelected) {
  using namespace test_photons;
  // Across the image, before the cube.
  write_record(folder_.path() / "record.npy", {{event(flags::kTorch, {-3000, -3000, 0}, 0, 5, 470),
                                                event(flags::kBulkAbsorb, {3000, -3000, 0}, 10, 5, 470)}});
  show("cube.dae", {"--photons", (folder_.path() / "record.npy").string(), "--view", "front", "--photon-size", "5",
                    "--photon-color", "wavelength"});
  (void)tool("key p");
  const auto light = [](const Image& image) {
    int count = 0;
    for (int x = 0; x != image.width; ++x)
      count += image.at(x, image.height / 2)[2] > image.at(x, image.height / 2)[0] + 120;
    return count;
  };
  EXPECT_GT(light(image_until([&](const Image& image) { return light(image) > 500; })), 500)
      << "all of the row is blue";
  ASSERT_TRUE(tool("key o key o"));  // by time, by flag
  EXPECT_LT(light(image_until([&](const Image& image) { return light(image) < 100; })), 100);
  ASSERT_TRUE(tool("key o key o key o key o"));  // by photon, material, the one that varies, and wavelength again
  EXPECT_GT(light(image_until([&](const Image& image) { return light(image) > 500; })), 500);

  ASSERT_TRUE(tool("mousemove 700 300 click 1"));
  EXPECT_TRUE(eventually([&] { return contents(folder_.path() / "out").find("photon 5: TO AB") != std::string::npos; }))
      << contents(folder_.path() / "out");
  ASSERT_TRUE(tool("key Escape key space"));
  const Image early = image_until([&](const Image& image) { return light(image) < 300; });
  EXPECT_LT(light(early), 300) << "it begins at its birth";
  EXPECT_GT(light(image_until([&](const Image& image) { return light(image) > light(early) + 50; })), light(early) + 50)
      << "and runs by itself";
  ASSERT_TRUE(tool("key shift+space"));
  EXPECT_GT(light(image_until([&](const Image& image) { return light(image) > 500; })), 500);
}

}  // namespace
}  // namespace raylift::viewer
