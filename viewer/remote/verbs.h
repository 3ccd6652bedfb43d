// SPDX-License-Identifier: Apache-2.0
// The table of verbs, by which other programs control the viewer. Requests are checked against it, and the schema, the
// help of --send, docs/viewer.md and Python's methods follow from it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cli/output.h"
#include "model/settings/setting_table.h"
#include "state/control_target.h"

namespace raylift::viewer {

using cli::Json;

class Arguments;

struct Parameter {
  enum class Type {
    text,
    file,      ///< an absolute path
    patterns,  ///< of solids, as find() reads them: a text or a list of texts
    planes,    ///< as --clip takes them: a text or a list of texts
    words,     ///< some of `choices`: a text or a list of texts
    choice,    ///< one of `choices`
    number,    ///< from `least` to `most`
    flag,
    point,   ///< three numbers
    points,  ///< a list of two or three points, each as numbers or as a pattern of solids
  };
  std::string_view name;
  Type type = Type::text;
  std::string_view help;
  bool required = false;
  std::string_view unit = {};
  double least = 0, most = 0;
  std::vector<std::string> choices = {};
  std::vector<std::string_view> aliases = {};  ///< older names
  std::vector<std::string> accepted = {};      ///< all words of a choice, older ones included; empty: `choices`
  std::string_view word = {};                  ///< that a number may be in place of one
};

/// The parameters of a verb that are settings.
[[nodiscard]] std::vector<Parameter> setting_parameters(std::string_view verb,
                                                        const SettingTable& table = setting_table());

/// Gives the result of a request later: called until it returns one. Throws Error where the work failed.
using Pending = std::function<std::optional<Json>()>;
using Answer = std::variant<Json, Pending>;
/// What a verb does. Throws Error.
using Action = Answer(const ControlTarget& to, const Arguments& with);

struct Verb {
  std::string_view name, help;
  std::vector<Parameter> parameters;  ///< --send sets the first by a value without a name
  std::string_view result;            ///< describes the answer
  Action* act;                        ///< null for verbs that change subscriptions, which the conversation handles
};

[[nodiscard]] const std::vector<Verb>& verbs();
/// Null for an unknown name.
[[nodiscard]] const Verb* find_verb(std::string_view name);
[[nodiscard]] std::vector<std::string> verb_names();

/// A topic of subscriptions.
struct Notification {
  std::string_view name, help;
};
[[nodiscard]] const std::vector<Notification>& notifications();

/// An OpenRPC document (open-rpc.org) with the JSON schema of each parameter, older names of parameters
/// ("x-aliases"), and the notifications ("x-notifications").
[[nodiscard]] Json describe_verbs();
/// The parameters of a verb, such as "[fov=NUMBER]", each with its help.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> parameters_help(const Verb& verb);
/// The text for --help: a paragraph for each verb.
[[nodiscard]] std::string verbs_help();

}  // namespace raylift::viewer
