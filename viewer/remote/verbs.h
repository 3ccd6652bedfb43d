// SPDX-License-Identifier: Apache-2.0
// What can be asked of a viewer from outside: one table, by which requests are checked, and from which come the schema,
// the help of --send, docs/viewer.md and Python's methods. Verbs call what options and keys call.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/output.h"
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
    points,  ///< a list of two or three points
  };
  std::string_view name;
  Type type = Type::text;
  std::string_view help;
  bool required = false;
  std::string_view unit = {};
  double least = 0, most = 0;
  std::vector<std::string> choices = {};
};

/// What gives the result of a request later: called until it has one. Throws Error where there will be none.
using Pending = std::function<std::optional<Json>()>;
using Answer = std::variant<Json, Pending>;

struct Verb {
  std::string_view name, help;
  std::vector<Parameter> parameters;  ///< --send takes a value without a name for the first
  std::string_view result;            ///< what it returns
  /// Throws Error. Null for verbs that change what their client is told: the conversation has them.
  Answer (*act)(const ControlTarget&, const Arguments&);
};

[[nodiscard]] const std::vector<Verb>& verbs();
/// Null where there is none of this name.
[[nodiscard]] const Verb* find_verb(std::string_view name);
[[nodiscard]] std::vector<std::string> verb_names();

/// What a client may subscribe to.
struct Notification {
  std::string_view name, help;
};
[[nodiscard]] const std::vector<Notification>& notifications();

}  // namespace raylift::viewer
