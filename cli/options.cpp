// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <raylift/geometry/error.h>
#include <CLI/CLI.hpp>

#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/suggest.h"
#include "quantity.h"
#include "text.h"

namespace raylift::cli {
namespace {

constexpr const char* kReading = "Reading";
constexpr const char* kLimits = "Limits";

/// The command on the command line, or the program itself.
const CLI::App& innermost(const CLI::App& program) {
  const auto given = program.get_subcommands();
  return given.empty() ? program : innermost(*given.back());
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

/// An app's commands, and theirs.
std::vector<CLI::App*> all_commands(CLI::App& app) {
  std::vector<CLI::App*> commands = app.get_subcommands([](CLI::App*) { return true; });
  for (std::size_t i = 0; i != commands.size(); ++i)
    for (CLI::App* inner : commands[i]->get_subcommands([](CLI::App*) { return true; })) commands.push_back(inner);
  return commands;
}

/// A command with its parents, without the program: "cache list".
std::string full_name(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  if (parent == nullptr) return "";
  const std::string outer = full_name(*parent);
  return outer + (outer.empty() ? "" : " ") + app.get_name();
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

/// The error for an argument that no option took.
std::string about_unknown(const CLI::App& program, const std::string& argument) {
  const CLI::App& app = innermost(program);
  const std::string word = argument.substr(0, argument.find('='));
  if (!word.empty() && word.front() == '-')
    return "unknown option '" + word + "'" + base::did_you_mean(word, option_names(app));
  if (&app == &program && !command_names(app).empty())
    return "unknown command '" + word + "'" +
           (word == "view" ? "; the viewer is the program raylift-view" : base::did_you_mean(word, command_names(app)));
  return "'" + argument + "' is one argument too many";
}

/// Throws Error(usage) for a value that is empty, as an unset shell variable leaves it. CLI11 would take the argument
/// after "--option=" for the value.
void check_empty(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--") return;
    const bool option = word.starts_with("--") && word.find('=') == word.size() - 1;
    if (!option && !word.empty()) continue;
    const std::string_view before = i > 1 ? argv[i - 1] : "";
    const std::string where(option                    ? word.substr(0, word.size() - 1)
                            : before.starts_with('-') ? before
                                                      : "an argument");
    throw Error(ErrorKind::usage, where + (option || before.starts_with('-') ? " has an empty value" : " is empty"), {},
                "is a variable of the shell not set?");
  }
}

/// The result of a check as CLI11 wants it: empty, or an error message.
std::string complaint(const std::function<void()>& check) {
  try {
    check();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

std::string list(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i != words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

/// Leaves out what CLI11 shows in braces, the values of flags and the words of offer(): the help texts have them.
class Formatter : public CLI::Formatter {
 public:
  Formatter() { column_width(34); }
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    return without_braces(CLI::Formatter::make_option_name(option, positional));
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    return without_braces(CLI::Formatter::make_option_opts(option));
  }

 private:
  static std::string without_braces(std::string text) {
    for (std::size_t open = text.find('{'); open != std::string::npos; open = text.find('{')) {
      const std::size_t end = text.find('}', open) + 1;
      if (open != 0 && text[open - 1] == ':') --open;
      text.erase(open, end - open);
    }
    return text;
  }
};

}  // namespace

CLI::App* add_command(CLI::App& program, const std::string& name, const std::string& help) {
  return program.add_subcommand(name, help);
}
void finish_command(CLI::App& app, const std::string& footer, std::function<void()> chosen) {
  if (!footer.empty()) app.footer(footer);  // commands take that of their parent
  app.callback(std::move(chosen));
}
bool has_command(const CLI::App& app) {
  return !app.get_subcommands().empty();
}
bool is_given(const CLI::App& app, const std::string& option) {
  return app.count(option) != 0;
}

CLI::Option* add_flag(CLI::App& app, const std::string& names, bool& value, const std::string& help) {
  return app.add_flag(names, value, help);
}
CLI::Option* add_flag(CLI::App& app, const std::string& names, std::function<void()> given, const std::string& help) {
  return app.add_flag_callback(names, std::move(given), help);
}

CLI::Option* add_flag_with_value(CLI::App& app, const std::string& name, std::function<void(const std::string&)> given,
                                 const std::string& help) {
  const std::string none = "*";
  return app.add_flag(name + '{' + none + '}')
      ->type_name("")
      ->each([given = std::move(given), none](const std::string& value) { given(value == none ? "" : value); })
      ->description(help);
}
void add_words(CLI::App& app, const std::string& name, std::vector<std::string>& words, const std::string& help,
               bool required) {
  app.add_option(name, words, help)->required(required);
}

void set_group(CLI::App& app, const std::string& group, const std::vector<std::string>& options) {
  for (const std::string& option : options) app.get_option(option)->group(group);
}

CLI::Option* add_parsed(CLI::App& app, const std::string& names, const std::string& type, const std::string& fallback,
                        const std::string& help, std::function<void(const std::string&)> read) {
  const std::string shown = names.substr(0, names.find(','));
  CLI::Option* option = app.add_option_function<std::string>(
      names,
      [read = std::move(read), shown](const std::string& text) {
        try {
          read(text);
        } catch (const Error& error) {
          throw CLI::ValidationError(shown, error.what());
        }
      },
      help);
  option->type_name(type);
  if (!fallback.empty()) option->default_str(fallback);
  return option;
}

CLI::Option* offer(CLI::Option* option, const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "{" : ",") + word;
  return option->check(CLI::Validator(list + '}'));
}

CLI::Option* add_choice(CLI::App& app, const std::string& names, const std::string& type, const std::string& fallback,
                        const std::string& help, const std::vector<std::string>& words,
                        std::function<void(const std::string&)> read) {
  return offer(add_parsed(app, names, type, fallback, help,
                          [words, read = std::move(read)](const std::string& text) { read(one_of(text, words)); }),
               words);
}

void add_general_options(CLI::App& app, GeneralOptions& options, bool json) {
  if (json) app.add_flag("--json", options.json, "Print one JSON document instead of text");
  // A flag with a value after '=': it never takes the next argument, a file.
  app.add_flag("--verbose{debug},-v{debug},-q{quiet}", options.verbosity,
               "Messages from this level on, --verbose=LEVEL: debug (-v), info, warning (default), error, quiet (-q)")
      ->check([](const std::string& text) {
        return complaint([&] { one_of(text, {"debug", "info", "warning", "error", "quiet"}); });
      });
  app.add_flag("--no-progress", options.no_progress, "Draw no progress bar, even on a terminal");
}

void set_optics(LoadOptions& options, const std::string& text) {
  options.optics_beside = text != "off";
  options.optics = options.optics_beside ? text : "";
}

void add_load_options(CLI::App& app, LoadOptions& options) {
  options.isolate = true;
  const auto add = [&](const char* group, const char* name, const char* type, const std::string& fallback,
                       const char* help,
                       auto read) { add_parsed(app, name, type, fallback, help, read)->group(group); };
  const auto flag = [&](const char* name, const char* help, bool& value, bool set) {
    app.add_flag_callback(
           name, [&value, set] { value = set; }, help)
        ->group(kReading);
  };
  add_choice(app, "--reader", "READER", "raylift",
             "What reads COLLADA, OBJ, STL, PLY and 3MF: raylift, or Assimp's own importers for comparison",
             {"raylift", "assimp"},
             [&](const std::string& text) {
               options.reader = text == "assimp" ? LoadOptions::Reader::assimp : LoadOptions::Reader::raylift;
             })
      ->group(kReading);
  add(kReading, "--unit", "UNIT", "", "Length unit instead of the file's: mm, cm, m, inch, ft, or a number of mm",
      [&](const std::string& text) { options.unit_mm = parse_unit(text); });
  offer(add_parsed(app, "--up", "AXIS", "", "Axis that points up instead of the file's: x, y or z",
                   [&](const std::string& text) { options.up_axis = parse_up_axis(text); }),
        {"x", "y", "z"})
      ->group(kReading);
  add(kReading, "--weld", "DISTANCE", "0",
      "Merge vertices within this distance, in the file's unit; 0: identical ones; off: none",
      [&](const std::string& text) { options.weld = parse_weld(text); });
  flag("--external", "Also read the COLLADA documents that a file refers to, in its folder or below", options.external,
       true);
  flag("--repair", "Drop invalid data (NaN, indices out of range) and count it, instead of refusing the file",
       options.repair, true);
  flag("--drop-degenerate", "Drop triangles of zero area; the numbers of later triangles change",
       options.drop_degenerate, true);
  add(kReading, "--optics", "FILE", "SCENE.dae.optics.json or SCENE.optics.json, if there is one",
      "Optics to lay over the file's own: a sidecar (.json) or GDML (.gdml); off: the file's own alone",
      [&](const std::string& text) { set_optics(options, text); });
  flag("--no-sensor-materials", "Do not treat volumes whose material has an EFFICIENCY as photosensors",
       options.sensor_materials, false);
  flag("--no-computed-rayleigh",
       "Do not compute RAYLEIGH as Geant4 does, for Water and by ISOTHERMAL_COMPRESSIBILITY, where it is not stated",
       options.compute_rayleigh, false);
  add(kReading, "--chord", "LENGTH", "0.1 % of each solid's size",
      "Of GDML's and STEP's solids: the largest distance of a facet from the true surface, in mm",
      [&](const std::string& text) { options.fineness.chord = parse_length(text); });
  add(kReading, "--steps", "COUNT", "by --chord", "Of GDML's and STEP's solids: facets of a full turn",
      [&](const std::string& text) {
        options.fineness.steps = static_cast<std::uint32_t>(std::min<std::uint64_t>(parse_count(text), UINT32_MAX));
      });
  add_choice(
      app, "--fit", "WHAT", "volume",
      "Of GDML's primitives: facets keep their volume or their area, or are inscribed, with vertices on the surface",
      {"volume", "area", "inscribed"},
      [&](const std::string& text) {
        options.fineness.fit = text == "volume" ? Fineness::Fit::volume
                               : text == "area" ? Fineness::Fit::area
                                                : Fineness::Fit::inscribed;
      })
      ->group(kReading);
  add(kReading, "--setup", "NAME", "Default, or else the first one", "Of GDML: the setup that names the world",
      [&](const std::string& text) { options.setup = text; });
  flag("--skip-failed", "Of GDML and STEP: leave out volumes whose solids can't be made, and list these in warnings",
       options.skip_failed_solids, true);
  flag("--strict-optics", "Refuse scenes with optical properties that the simulation does not honour",
       options.strict_optics, true);
  flag("--no-isolate", "Import in this process instead of a child: a crash of the importer ends the program",
       options.isolate, false);

  LoadLimits& limits = options.limits;
  const auto bytes = [&](const char* name, std::uint64_t& value, const char* help) {
    add(kLimits, name, "BYTES", exact_bytes(value), help,
        [&value](const std::string& text) { value = above_0(parse_bytes(text)); });
  };
  const auto count = [&](const char* name, auto& value, const char* help) {
    using Value = std::remove_reference_t<decltype(value)>;
    add(kLimits, name, "COUNT", exact_count(value), help, [&value](const std::string& text) {
      const std::uint64_t parsed = above_0(parse_count(text));
      if (parsed > std::numeric_limits<Value>::max())
        throw Error(ErrorKind::usage, "at most " + std::to_string(std::numeric_limits<Value>::max()) + " is possible");
      value = static_cast<Value>(parsed);
    });
  };
  bytes("--max-file-size", limits.file_bytes, "Size of the file on disk");
  bytes("--max-text-size", limits.text_bytes, "Size after decompression");
  count("--max-expansion", limits.expansion, "Decompressed bytes per byte stored, of an archive or a sparse file");
  count("--max-documents", limits.documents, "Documents of a scene: of COLLADA with --external, and of GDML");
  count("--max-depth", limits.node_depth, "Depth of XML elements and of the node tree");
  count("--max-instances", limits.instances, "Placed volumes, each instance counted");
  count("--max-nodes", limits.nodes, "Nodes, each instance counted");
  count("--max-triangles", limits.triangles, "Triangles, each mesh counted once");
  count("--max-polygon", limits.polygon_vertices, "Vertices of one polygon");
  add(kLimits, "--import-timeout", "SECONDS", short_number(limits.isolate_seconds),
      "Duration of the import, in seconds or as 10min, 2h",
      [&](const std::string& text) { limits.isolate_seconds = parse_seconds(text); });
  add(kLimits, "--import-memory", "BYTES", "3/4 of the memory",
      "Address space of the import process; three times the largest document is added",
      [&](const std::string& text) { limits.isolate_bytes = above_0(parse_bytes(text)); });
}

void add_files(CLI::App& app, std::vector<std::string>& files, bool required) {
  add_words(app, "FILE", files, "Scene files: COLLADA (.dae, .zae, .dae.gz), GDML, OBJ, STL, PLY, glTF and others",
            required);
}

const std::string& one_of(const std::string& text, const std::vector<std::string>& choices) {
  const auto found = std::find(choices.begin(), choices.end(), text);
  if (found == choices.end())
    throw Error(ErrorKind::usage,
                "'" + printable(text) + "' is not " + list(choices) + base::did_you_mean(text, choices));
  return text;
}

std::string parse_command_line(CLI::App& program, int argc, char** argv) {
  check_empty(argc, argv);
  // Collects unknown arguments, and reports them before missing ones that they may have caused.
  std::vector<CLI::App*> commands = all_commands(program);
  commands.push_back(&program);
  for (CLI::App* command : commands) {
    command->allow_extras();
    command->formatter(std::make_shared<Formatter>());
  }
  std::string failure;
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForVersion& version) {
    return std::string(version.what()) + '\n';
  } catch (const CLI::Success&) {
    return program.help();
  } catch (const CLI::ParseError& error) {
    failure = error.what();
  }
  const CLI::App& app = innermost(program);
  std::vector<std::string> unknown = program.remaining(true);
  // CLI11 keeps the "--" that ends the options.
  std::erase(unknown, "--");
  if (!unknown.empty())
    failure = about_unknown(program, unknown.front());
  else if (failure.empty() && &app == &program && !command_names(program).empty())
    failure = "a command is missing: " + list(command_names(program));
  if (failure.empty()) return {};
  const std::string command = &app == &program ? "" : full_name(app) + ' ';
  throw Error(ErrorKind::usage, failure, {}, "see '" + program.get_name() + ' ' + command + "--help'");
}

}  // namespace raylift::cli
