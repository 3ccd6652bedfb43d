// SPDX-License-Identifier: Apache-2.0
#include "window/desktop_theme.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <map>
#include <string>

#include "support/paths.h"

namespace raylift::viewer {
namespace {

using namespace std::chrono_literals;

TEST(DesktopTheme, ReadsThePortal) {
  for (const char* format : {"(<<uint32 {}>>,)\n",
                             "method return time=1.5 sender=:1.2 -> destination=:1.9 serial=7\n   variant       "
                             "variant          uint32 {}\n",
                             "v v u {}\n"}) {
    const auto answer = [&](const char* number) {
      std::string text = format;
      return theme_of_portal(text.replace(text.find("{}"), 2, number));
    };
    EXPECT_EQ(answer("1"), DesktopTheme::dark) << format;
    EXPECT_EQ(answer("2"), DesktopTheme::light) << format;
    EXPECT_EQ(answer("0"), DesktopTheme::unknown) << format;
    EXPECT_EQ(answer("21"), DesktopTheme::unknown) << format;
  }
  EXPECT_EQ(theme_of_portal(""), DesktopTheme::unknown);
  EXPECT_EQ(theme_of_portal("Error: no such service"), DesktopTheme::unknown);
}

TEST(DesktopTheme, ReadsGtksSettings) {
  EXPECT_EQ(theme_of_gtk("[Settings]\ngtk-application-prefer-dark-theme = true\ngtk-theme-name=Adwaita\n"),
            DesktopTheme::dark);
  EXPECT_EQ(theme_of_gtk("gtk-theme-name=Yaru-blue-Dark"), DesktopTheme::dark);
  EXPECT_EQ(theme_of_gtk("gtk-application-prefer-dark-theme=0\ngtk-theme-name=\"Adwaita\"\r\n"), DesktopTheme::light);
  EXPECT_EQ(theme_of_gtk("gtk-font-name=Sans 10"), DesktopTheme::unknown);
  EXPECT_EQ(theme_of_gtk(""), DesktopTheme::unknown);
}

/// With a gdbus of its own, and a home without settings.
class AskedDesktop : public testing::Test {
 protected:
  void SetUp() override {
    set("PATH", folder_.path().string() + ":/usr/bin:/bin");
    set("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere");
    set("XDG_CONFIG_HOME", folder_.path().string());
    set("GTK_THEME", "");
  }
  void TearDown() override {
    for (const auto& [name, value] : before_)
      value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);
  }
  void set(const char* name, const std::string& value) {
    const char* before = std::getenv(name);
    before_[name] = before == nullptr ? "" : before;
    ::setenv(name, value.c_str(), 1);
  }
  void answer_by(const std::string& script) {
    const auto file = folder_.write("gdbus", "#!/bin/sh\n" + script + '\n');
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  /// What the desktop answers within ten seconds, where that is not nothing.
  DesktopTheme asked() {
    std::promise<void> answered;
    DesktopThemeWatch watch([&] { answered.set_value(); });
    watch.ask();
    EXPECT_EQ(answered.get_future().wait_for(10s), std::future_status::ready);
    return watch.theme();
  }

  test::TemporaryFolder folder_;
  std::map<std::string, std::string> before_;
};

TEST_F(AskedDesktop, AnswersByThePortal) {
  answer_by("[ \"$9\" = org.freedesktop.appearance ] && echo '(<<uint32 2>>,)'");
  EXPECT_EQ(asked(), DesktopTheme::light);
}

TEST_F(AskedDesktop, AnswersByGtkWithoutAPortal) {
  answer_by("echo '(<<uint32 2>>,)'; exit 1");
  std::filesystem::create_directory(folder_.path() / "gtk-3.0");
  (void)folder_.write("gtk-3.0/settings.ini", "[Settings]\ngtk-application-prefer-dark-theme=1\n");
  EXPECT_EQ(asked(), DesktopTheme::dark);
}

TEST_F(AskedDesktop, IsNotWaitedFor) {
  answer_by("sleep 60");
  const auto begin = std::chrono::steady_clock::now();
  {
    DesktopThemeWatch watch([] {});
    watch.ask();
    EXPECT_EQ(watch.theme(), DesktopTheme::unknown);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s) << "of the 60";
}

}  // namespace
}  // namespace raylift::viewer
