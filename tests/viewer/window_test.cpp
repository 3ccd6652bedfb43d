// SPDX-License-Identifier: Apache-2.0
// The window with real input: raylift-view under Xvfb, moved and clicked by xdotool, seen through its screenshots.
#include <gtest/gtest.h>
#include <raylift/geometry/import/load.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "cli/image.h"
#include "photon_rows.h"
#include "support/paths.h"

namespace raylift::viewer {
namespace {

using namespace std::chrono_literals;

bool installed(const char* program) {
  return std::system(("command -v " + std::string(program) + " >/dev/null 2>&1").c_str()) == 0;
}

/// A child that ends with this.
class Child {
 public:
  Child(const std::vector<std::string>& words, const std::string& out) {
    pid_ = ::fork();
    if (pid_ != 0) return;
    if (std::freopen(out.c_str(), "w", stdout) == nullptr) ::_exit(126);
    std::vector<char*> pointers;
    for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
    pointers.push_back(nullptr);
    ::execvp(pointers[0], pointers.data());
    ::_exit(127);
  }
  ~Child() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Its exit code, if it ends within so long; else -1.
  int wait(std::chrono::seconds most) {
    const auto until = std::chrono::steady_clock::now() + most;
    while (std::chrono::steady_clock::now() < until) {
      int status = 0;
      if (::waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      std::this_thread::sleep_for(20ms);
    }
    return -1;
  }

 private:
  pid_t pid_ = -1;
};

std::string contents(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

class Window : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* program : {"Xvfb", "xdotool"})
      if (!installed(program)) GTEST_SKIP() << program << " is not installed";
    const std::string number = folder_.path() / "display";
    server_ = std::make_unique<Child>(
        std::vector<std::string>{"Xvfb", "-displayfd", "1", "-screen", "0", "1000x700x24", "-nolisten", "tcp"}, number);
    const bool started = eventually([&] { return contents(number).find('\n') != std::string::npos; });
    if (!started) GTEST_SKIP() << "Xvfb does not start here";
    std::string display = contents(number);
    display.resize(display.find('\n'));
    ::setenv("DISPLAY", (":" + display).c_str(), 1);
    ::unsetenv("WAYLAND_DISPLAY");
    ::setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
    ::setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1);
    // Mesa's GLX leaves memory behind, which the leak sanitizer would take for ours.
    ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  }

  /// Starts the program on a file of data/, and waits until it shows it.
  void show(const std::string& file, const std::vector<std::string>& options = {}) {
    std::vector<std::string> words{"sh",
                                   "-c",
                                   "cd \"$0\" && exec \"$@\"",
                                   folder_.path().string(),
                                   test::program("raylift-view").string(),
                                   test::data(file).string(),
                                   "-r",
                                   "800x600",
                                   "--samples",
                                   "1"};
    words.insert(words.end(), options.begin(), options.end());
    stem_ = file.substr(0, file.find('.'));
    program_ = std::make_unique<Child>(words, folder_.path() / "out");
    ASSERT_TRUE(eventually([] { return tool("search --name raylift-view"); })) << "no window";
    // The scene is there once rows of an image have more than the background. A window that is not shown yet can't be
    // given the keys.
    const bool shown = eventually([&] {
      (void)tool("search --name raylift-view windowmove 0 0 windowfocus mousemove 400 330");
      return scene_pixels(saved_image()) > 1000;
    });
    ASSERT_TRUE(shown) << "the scene does not appear";
  }

  /// How many pixels differ from the background at their row's end, the corners with axes and scale bar aside.
  static int scene_pixels(const Image& image) {
    int count = 0;
    for (int y = 0; y < image.height * 3 / 4; ++y)
      for (int x = 0; x < image.width; ++x)
        for (std::size_t c = 0; c < 3; ++c)
          if (std::abs(image.at(x, y)[c] - image.at(0, y)[c]) > 16) {
            ++count;
            break;
          }
    return count;
  }
  static bool tool(const std::string& arguments) {
    return std::system(("xdotool " + arguments + " >/dev/null 2>&1").c_str()) == 0;
  }
  template <class Condition>
  static bool eventually(const Condition& condition) {
    const auto until = std::chrono::steady_clock::now() + 25s;
    while (std::chrono::steady_clock::now() < until) {
      if (condition()) return true;
      std::this_thread::sleep_for(60ms);
    }
    return false;
  }
  /// What F12 saves; empty where nothing comes.
  Image saved_image() {
    const auto file = folder_.path() / (stem_ + "_" + std::to_string(images_ + 1) + ".png");
    if (!tool("key F12")) return {};
    for (int i = 0; i < 100; ++i) {
      std::this_thread::sleep_for(40ms);
      std::error_code ignored;
      if (!std::filesystem::exists(file, ignored)) continue;
      ++images_;
      return read_png(file);
    }
    return {};
  }
  /// The image once it satisfies a condition; the last one in the end.
  template <class Condition>
  Image image_until(const Condition& condition) {
    Image image;
    (void)eventually([&] {
      image = saved_image();
      return !image.pixels.empty() && condition(image);
    });
    return image;
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<Child> server_, program_;
  std::string stem_;
  int images_ = 0;
};

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
  ASSERT_TRUE(tool("key 0"));
  EXPECT_LT(compare(start, image_until(like(start))).share, 0.003) << "0 goes back";

  ASSERT_TRUE(tool("click 4 click 4 click 4"));
  EXPECT_GT(compare(start, image_until(unlike(start))).share, 0.02) << "the wheel zooms";
  ASSERT_TRUE(tool("key 0"));
  (void)image_until(like(start));

  ASSERT_TRUE(tool("key m"));
  EXPECT_GT(compare(start, image_until(unlike(start))).share, 0.02) << "m: wireframe";
  ASSERT_TRUE(tool("key m"));
  (void)image_until(like(start));

  ASSERT_TRUE(tool("key ctrl+d"));
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(folder_.path() / "raylift/bookmarks.json"); }));

  ASSERT_TRUE(tool("key ctrl+q"));
  EXPECT_EQ(program_->wait(25s), 0);
}

TEST_F(Window, AClickSelectsTheSolidUnderIt) {
  show("detector.dae", {"--only", "Sensor_1*", "--view", "top", "--color", "solid"});
  (void)tool("key p");
  const Image before = saved_image();
  // Somewhere in the middle there is a sensor: go through pixels until one is not background.
  int x = 400, y = 300;
  for (int i = 0; i < 200000 && std::abs(before.at(x, y)[0] - before.at(3, y)[0]) < 25; ++i) {
    x = 200 + (i * 7919) % 400;
    y = 150 + (i * 104729) % 300;
  }
  ASSERT_TRUE(tool("mousemove " + std::to_string(x) + " " + std::to_string(y) + " click 1"));
  EXPECT_TRUE(eventually([&] { return contents(folder_.path() / "out").find("Sensor_1") != std::string::npos; }))
      << contents(folder_.path() / "out");
  const Image after = image_until([&](const Image& image) { return compare(before, image).share > 0; });
  EXPECT_GT(compare(before, after).share, 0) << "the selection is marked";
  EXPECT_LT(compare(before, after).share, 0.2);
}

TEST_F(Window, WhatIsSelectedLeavesTheImageFree) {
  show("detector.dae", {"--only", "Sensor_*", "--view", "top", "--color", "solid"});
  const Image image_before = saved_image();
  // Some sensor between the panels, and another one right of the tree, above what is told of the first.
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
  EXPECT_EQ(program_->wait(25s), 0);
}

TEST_F(Window, CastsRaysProgressively) {
  show("cube.dae", {"--device", "host"});
  const Image raster = saved_image();
  ASSERT_TRUE(tool("key k key k"));  // shaded, depth
  EXPECT_GT(compare(raster, image_until([&](const Image& image) { return compare(raster, image).share > 0.05; })).share,
            0.05);
}

TEST_F(Window, TwoClicksAreADoubleClickByTheirOwnTimes) {
  show("cube.dae");
  (void)tool("key p");
  const auto lines = [&] {
    const std::string text = contents(folder_.path() / "out");
    return std::count(text.begin(), text.end(), '\n');
  };
  (void)tool("mousemove 380 320 mousemove 400 300");
  std::this_thread::sleep_for(500ms);
  const Image before = saved_image();
  // While the program does nothing: both clicks come to it at once, and were far apart.
  ::kill(program_->pid(), SIGSTOP);
  (void)tool("click 1");
  std::this_thread::sleep_for(900ms);
  (void)tool("click 1");
  ::kill(program_->pid(), SIGCONT);
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

TEST_F(Window, AnIdleWindowTakesNoProcessorTime) {
  show("detector.dae");
  std::this_thread::sleep_for(2s);  // the check of the scene ends
  const auto ticks = [&] {
    std::string text = contents("/proc/" + std::to_string(program_->pid()) + "/stat");
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string skipped;
    long user = 0, system = 0;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    fields >> user >> system;
    return user + system;
  };
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
  show("cube.dae", {"--photons", (folder_.path() / "record.npy").string(), "--view", "front", "--photon-size", "5"});
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
  ASSERT_TRUE(tool("key o key o key o"));
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
