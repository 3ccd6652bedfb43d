// SPDX-License-Identifier: Apache-2.0
// What tests of the window have in common: raylift-view under Xvfb, with input by xdotool.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/images.h"
#include "support/paths.h"

namespace raylift::viewer {

using namespace std::chrono_literals;

inline bool installed(const char* program) {
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

inline std::string contents(const std::filesystem::path& file) {
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
    // A server that resets itself when its last client leaves may refuse the next one.
    server_ = std::make_unique<Child>(std::vector<std::string>{"Xvfb", "-displayfd", "1", "-screen", "0", "1000x700x24",
                                                               "-nolisten", "tcp", "-noreset"},
                                      number);
    const bool started = eventually([&] { return contents(number).find('\n') != std::string::npos; });
    if (!started) GTEST_SKIP() << "Xvfb does not start here";
    std::string display = contents(number);
    display.resize(display.find('\n'));
    ::setenv("DISPLAY", (":" + display).c_str(), 1);
    ::unsetenv("WAYLAND_DISPLAY");
    ::setenv("LIBGL_ALWAYS_SOFTWARE", "1", 1);
    ::setenv("XDG_CONFIG_HOME", folder_.path().c_str(), 1);
    // Not that of the configuration, which others may read.
    std::filesystem::create_directory(runtime());
    ::setenv("XDG_RUNTIME_DIR", runtime().c_str(), 1);
    // Mesa's GLX leaves memory behind, which the leak sanitizer would take for ours.
    ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  }

  [[nodiscard]] std::filesystem::path runtime() const { return folder_.path() / "run"; }

  /// Starts the program on a file of data/.
  void start(const std::string& file, const std::vector<std::string>& options = {}) {
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
  }
  /// The same, and waits until it shows the file.
  void show(const std::string& file, const std::vector<std::string>& options = {}) {
    start(file, options);
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
  /// How long a program may take on a machine with much else to do.
  static constexpr auto kPatience = 90s;
  template <class Condition>
  static bool eventually(const Condition& condition) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < until) {
      if (condition()) return true;
      std::this_thread::sleep_for(60ms);
    }
    return false;
  }
  /// The processor time that the program has used so far, in hundredths of a second.
  [[nodiscard]] long ticks() const {
    const std::string text = contents("/proc/" + std::to_string(program_->pid()) + "/stat");
    std::istringstream fields(text.substr(text.rfind(')') + 2));
    std::string skipped;
    long user = 0, system = 0;
    for (int i = 0; i < 11; ++i) fields >> skipped;
    fields >> user >> system;
    return user + system;
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

}  // namespace raylift::viewer
