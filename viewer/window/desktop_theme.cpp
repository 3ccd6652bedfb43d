// SPDX-License-Identifier: Apache-2.0
#include "window/desktop_theme.h"

#include <fcntl.h>
#include <poll.h>
#include <raylift/geometry/error.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "cli/text.h"
#include "geometry/src/process.h"

namespace raylift::viewer {
namespace {

constexpr auto kPatience = std::chrono::seconds(2);
constexpr std::size_t kMaxBytes = 4096;  // of an answer

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Where a program is; empty where it is not installed.
std::string in_path(const std::string& program) {
  std::istringstream folders(variable("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string file = folder + '/' + program; ::access(file.c_str(), X_OK) == 0) return file;
  return {};
}

/// Whether a session bus runs. Without one, dbus-send would start its own.
bool has_bus() {
  std::error_code ignored;
  return !variable("DBUS_SESSION_BUS_ADDRESS").empty() ||
         (!variable("XDG_RUNTIME_DIR").empty() &&
          std::filesystem::exists(variable("XDG_RUNTIME_DIR") + "/bus", ignored));
}

/// The first program's command that asks the portal.
std::vector<std::string> command() {
  const std::string service = "org.freedesktop.portal.Desktop", object = "/org/freedesktop/portal/desktop",
                    read = "org.freedesktop.portal.Settings.Read", space = "org.freedesktop.appearance",
                    key = "color-scheme";
  for (std::vector<std::string> one :
       {std::vector<std::string>{"gdbus", "call", "--session", "--dest", service, "--object-path", object, "--method",
                                 read, space, key},
        {"dbus-send", "--session", "--print-reply", "--dest=" + service, object, read, "string:" + space,
         "string:" + key},
        {"busctl", "--user", "call", service, object, "org.freedesktop.portal.Settings", "Read", "ss", space, key}}) {
    one.insert(one.begin(), in_path(one.front()));
    if (!one.front().empty()) return one;
  }
  return {};
}

/// What a program prints until it ends. It is killed after kPatience, or once `stopping` is set.
std::string output_of(std::vector<std::string> program, const std::atomic<bool>& stopping) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  base::Descriptor from(ends[0]), to(ends[1]);
  const base::Descriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const std::string path = program.front();
  program.erase(program.begin());
  const std::array<int, 3> descriptors{nothing.get(), to.get(), nothing.get()};
  const int process = detail::spawn(path, std::move(program), detail::own_environment(), descriptors);
  (void)to.close();
  std::string text;
  const auto until = std::chrono::steady_clock::now() + kPatience;
  bool ended = false;
  while (!ended && !stopping && std::chrono::steady_clock::now() < until && text.size() < kMaxBytes) {
    constexpr int kSlice = 50;  // milliseconds
    pollfd readable{from.get(), POLLIN, 0};
    if (::poll(&readable, 1, kSlice) <= 0) continue;
    std::array<char, 512> buffer{};
    const ssize_t bytes = ::read(from.get(), buffer.data(), buffer.size());
    ended = bytes <= 0;
    if (!ended) text.append(buffer.data(), static_cast<std::size_t>(bytes));
  }
  if (!ended) (void)::kill(-process, SIGKILL);
  int status = 0;
  (void)::waitpid(process, &status, 0);
  return ended && status == 0 ? text : "";
}

DesktopTheme ask_portal(const std::atomic<bool>& stopping) {
  if (!has_bus()) return DesktopTheme::unknown;
  try {
    const std::vector<std::string> program = command();
    return program.empty() ? DesktopTheme::unknown : theme_of_portal(output_of(program, stopping));
  } catch (const Error&) {
    return DesktopTheme::unknown;  // a desktop without an answer
  }
}

DesktopTheme ask_gtk() {
  if (const std::string named = variable("GTK_THEME"); !named.empty()) return theme_of_gtk("gtk-theme-name=" + named);
  const std::string own = variable("XDG_CONFIG_HOME"), config = own.empty() ? variable("HOME") + "/.config" : own;
  for (const char* version : {"gtk-4.0", "gtk-3.0"}) {
    std::ostringstream text;
    text << std::ifstream(config + '/' + version + "/settings.ini").rdbuf();
    if (const DesktopTheme theme = theme_of_gtk(text.str()); theme != DesktopTheme::unknown) return theme;
  }
  return DesktopTheme::unknown;
}

}  // namespace

DesktopTheme theme_of_portal(std::string_view answer) {
  // "(<<uint32 1>>,)", "   variant       variant          uint32 1", "v v u 1": the last number.
  const std::size_t last = answer.find_last_of("0123456789");
  if (last == std::string_view::npos || last == 0 || (answer[last - 1] != ' ')) return DesktopTheme::unknown;
  return answer[last] == '1' ? DesktopTheme::dark : answer[last] == '2' ? DesktopTheme::light : DesktopTheme::unknown;
}

DesktopTheme theme_of_gtk(std::string_view settings) {
  DesktopTheme theme = DesktopTheme::unknown;
  std::istringstream lines{std::string(settings)};
  for (std::string line; std::getline(lines, line);) {
    std::erase_if(line, [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '"'; });
    line = cli::lower(line);
    const std::size_t equal = line.find('=');
    if (equal == std::string::npos) continue;
    const std::string name = line.substr(0, equal), value = line.substr(equal + 1);
    if (name == "gtk-application-prefer-dark-theme" && (value == "1" || value == "true")) return DesktopTheme::dark;
    if (name == "gtk-theme-name" && !value.empty())
      theme = value.find("dark") != std::string::npos ? DesktopTheme::dark : DesktopTheme::light;
  }
  return theme;
}

void DesktopThemeWatch::ask() {
  if (asking_.exchange(true)) return;
  if (thread_.joinable()) thread_.join();
  thread_ = std::thread([this] {
    DesktopTheme now = ask_portal(stopping_);
    if (now == DesktopTheme::unknown) now = ask_gtk();
    const bool changed = theme_.exchange(now) != now;
    asking_ = false;
    if (changed && !stopping_) answered_();
  });
}

void DesktopThemeWatch::stop() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

}  // namespace raylift::viewer
