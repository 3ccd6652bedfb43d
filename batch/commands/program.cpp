// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/describe.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/session.h"
#include "commands.h"
#include "geometry/src/error_kinds.h"

namespace raylift::batch {
using namespace cli;
namespace {

/// The text below the help: exit codes, in their order, and examples.
std::string footer() {
  std::map<int, std::string> meanings{{0, "success"},
                                      {1, "check: not watertight, overlapping or too thin; compare: other histories"},
                                      {kInternalError, "an internal error: please report it"}};
  for (const ErrorKindRow& row : error_kinds())
    meanings.emplace(row.exit_code, fmt::format("{}: {}", row.name, row.meaning));
  std::string text = "\nExit codes:\n";
  for (const auto& [code, meaning] : meanings) text += fmt::format("  {:<4} {}\n", code, meaning);
  return text + R"(Of several files, all are processed; the first error gives the exit code.

Examples:
  raylift info scene.dae
  raylift check --json *.dae > report.json
  raylift upload scene.dae --device host --budget 1GB
  raylift trace scene.dae --rays 10M --image depth.png
  raylift photons scene.dae --photons 10M --output run
  raylift COMMAND --help)";
}

int run_command(int argc, char** argv, const BatchHooks& hooks) {
  GeneralOptions general;
  CommandRun run;
  CLI::App program(
      "Reads 3D scenes, checks them, uploads them to a GPU, and traces rays and optical photons through them.\n"
      "It needs neither a GPU nor a display: the device 'host' runs everything on the CPU.",
      "raylift");
  program.footer(footer());
  program.set_version_flag("--version", "raylift " RAYLIFT_VERSION, "Print the version");
  add_generate_option(program);
  add_general_options(program, general, false);
  const auto add_batch_with_hooks = [&](CLI::App& app, GeneralOptions& options, CommandRun& chosen) {
    add_batch(app, options, chosen, hooks);
  };
  const std::pair<std::string_view, std::function<void(CLI::App&, GeneralOptions&, CommandRun&)>> commands[] = {
      {"info", add_info},       {"optics", add_optics},
      {"convert", add_convert}, {"check", add_check},
      {"upload", add_upload},   {"trace", add_trace},
      {"photons", add_photons}, {"serve", add_serve},
      {"compare", add_compare}, {"batch", add_batch_with_hooks},
      {"cache", add_cache},     {"devices", add_devices}};
  // Only the command that is named gets its options: a file may have the name of another command.
  const std::vector<std::string_view> words(argv + 1, argv + std::max(argc, 1));
  const auto word = std::ranges::find_if(words, [](std::string_view text) { return !text.starts_with('-'); });
  const auto is_named = [&](const auto& command) { return word != words.end() && command.first == *word; };
  const bool names_one = std::ranges::any_of(commands, is_named);
  for (const auto& command : commands)
    if (!names_one || is_named(command)) command.second(program, general, run);
  const std::string text = parse_command_line(program, argc, argv);
  if (!text.empty()) {
    write_output(text);
    return 0;
  }
  Session session(general);
  return run(session);
}

}  // namespace

int run_raylift(int argc, char** argv, const BatchHooks& hooks) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that must not grow is an error like a full disk
  return run_program("raylift", [&] { return run_command(argc, argv, hooks); });
}

}  // namespace raylift::batch
