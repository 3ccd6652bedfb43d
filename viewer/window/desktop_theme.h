// SPDX-License-Identifier: Apache-2.0
// Whether the desktop prefers a light or a dark theme, asked in the background. No GLFW, no ImGui.
#pragma once

#include <atomic>
#include <functional>
#include <string_view>
#include <thread>

namespace raylift::viewer {

enum class DesktopTheme : int { unknown, dark, light };

/// The `color-scheme` of the settings portal of freedesktop.org, as gdbus, dbus-send and busctl print it: 1 is dark, 2
/// is light; unknown where there is no preference.
[[nodiscard]] DesktopTheme theme_of_portal(std::string_view answer);
/// By the contents of GTK's settings.ini.
[[nodiscard]] DesktopTheme theme_of_gtk(std::string_view settings);

class DesktopThemeWatch {
 public:
  /// `answered` is called by another thread, once the answer differs from the last one.
  explicit DesktopThemeWatch(std::function<void()> answered) : answered_(std::move(answered)) {}
  ~DesktopThemeWatch() { stop(); }
  DesktopThemeWatch(const DesktopThemeWatch&) = delete;
  DesktopThemeWatch& operator=(const DesktopThemeWatch&) = delete;

  /// Asks the portal by the first of gdbus, dbus-send and busctl that is installed, for two seconds at most; without an
  /// answer, reads GTK_THEME and GTK's settings. Returns at once; while it asks, nothing happens.
  void ask();
  /// The last answer.
  [[nodiscard]] DesktopTheme theme() const { return theme_; }

 private:
  void stop();

  std::function<void()> answered_;
  std::atomic<DesktopTheme> theme_{DesktopTheme::unknown};
  std::atomic<bool> asking_{false}, stopping_{false};
  std::thread thread_;
};

}  // namespace raylift::viewer
