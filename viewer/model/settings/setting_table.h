// SPDX-License-Identifier: Apache-2.0
// The table of settings. Options, the configuration file, verbs, the state as JSON, bookmarks, comparisons and
// docs/viewer.md follow from its rows. Panels, keys and drawing use the members of Settings directly.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/settings/settings.h"

namespace raylift::viewer {

/// A value of a setting: a flag, a number, or a text. None: a setting that is off, such as the time of photons.
using SettingValue = std::variant<std::monostate, bool, double, std::string>;

struct Setting {
  enum class Type { flag, number, choice, text };
  enum class Part {
    scene,       ///< how solids are drawn; bookmarks save it
    background,  ///< of the window: bookmarks don't save it
    overlay,     ///< drawn over the scene; bookmarks don't save it
    window,      ///< how the window answers to the mouse; bookmarks don't save it
    light,       ///< how photons are drawn; bookmarks save it
    time,        ///< at which time photons are drawn; bookmarks save it
  };

  std::string_view name;  ///< in JSON; the option has dashes, and the prefix "photon-" for light and time
  Type type = Type::flag;
  std::string_view metavar;  ///< of the option's value in --help
  std::string_view help;
  std::function<SettingValue(const Settings&)> get;
  /// Throws Error(usage) for a text that is not valid. Numbers are within their range.
  std::function<void(Settings&, const SettingValue&)> set;
  double least = 0, most = 0;
  std::string_view unit = {};
  std::vector<std::string> words = {};  ///< of a choice
  /// A word for one of a number's values, such as "all" for 0, or for none.
  std::string_view word = {};
  SettingValue word_value = {};
  /// Words that a choice still takes, and what they are called now.
  std::vector<std::pair<std::string_view, std::string_view>> older_words = {};
  std::function<bool&(Settings&)> flag = {};   ///< the member of a flag
  std::string_view negative = {};              ///< option of a flag that turns it off; empty: --no-NAME
  std::vector<std::string_view> aliases = {};  ///< older names in verbs and bookmarks
  Part part = Part::scene;
  std::string_view verb = "draw";

  [[nodiscard]] bool in(std::initializer_list<Part> parts) const;
  /// "back-faces", "photon-size".
  [[nodiscard]] std::string option() const;
  /// The option that turns a flag off: "no-back-faces", "flat".
  [[nodiscard]] std::string negative_option() const;
  /// The words of a choice, and the older ones.
  [[nodiscard]] std::vector<std::string> accepted_words() const;
  /// The value by default as text; empty for an empty text.
  [[nodiscard]] std::string fallback() const;
};

using SettingTable = std::vector<Setting>;
[[nodiscard]] const SettingTable& setting_table();

/// The value that an option's text means. Throws Error(usage).
[[nodiscard]] SettingValue read_value(const Setting& setting, const std::string& text);

/// "Width (1 to 64 pixels)": the help of a number with its range and unit. A range up to 1e9 or more is left out.
[[nodiscard]] std::string with_range(std::string_view help, double least, double most, std::string_view unit);

/// Whether two images show the scene alike. Light and overlay may differ.
[[nodiscard]] bool same_scene(const Settings& a, const Settings& b, const SettingTable& table = setting_table());

/// Copies the settings of these parts.
void copy_settings(const Settings& from, Settings& to, std::initializer_list<Setting::Part> parts,
                   const SettingTable& table = setting_table());

}  // namespace raylift::viewer
