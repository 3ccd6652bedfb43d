// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <fmt/format.h>
#include <raylift/geometry/error.h>
#include <CLI/CLI.hpp>
#include <array>
#include <csignal>
#include <map>
#include <string>

#include "cli/describe.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/session.h"
#include "commands.h"

namespace raylift::batch {
using namespace cli;
namespace {

/// What an exit code means, by ErrorKind.
constexpr std::array<const char*, static_cast<std::size_t>(ErrorKind::system) + 1> kMeanings{
    "a file can't be opened, read or written",
    "the input violates its own format, or has invalid numbers",
    "valid input that raylift does not read",
    "a limit was reached: size, depth, count, time or memory of the import",
    "the machine's memory ran out",
    "the device's memory, or its --budget, ran out",
    "no usable device, or a device call failed",
    "no OpenGL context could be made",
    "a wrong option or argument",
    "interrupted: 128 and the number of the signal",
    "the machine lacks a process, a file descriptor or a file system",
};

/// The text below the help: exit codes, in their order, and examples.
std::string footer() {
  std::map<int, ErrorKind> kinds;
  for (std::size_t kind = 0; kind != kMeanings.size(); ++kind)
    kinds[exit_code(static_cast<ErrorKind>(kind))] = static_cast<ErrorKind>(kind);
  std::string text =
      "\nExit codes:\n  0    success\n  1    check: not watertight, or volumes overlap; compare: other histories\n";
  for (const auto& [code, kind] : kinds)
    text += fmt::format("  {:<4} {}: {}\n", code, to_string(kind), kMeanings[static_cast<std::size_t>(kind)]);
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
  Run run;
  CLI::App program(
      "Reads 3D scenes, checks them, uploads them to a GPU, and traces rays and optical photons through them.\n"
      "It needs neither a GPU nor a display: the device 'host' runs everything on the CPU.",
      "raylift");
  program.footer(footer());
  program.set_version_flag("--version", "raylift " RAYLIFT_VERSION, "Print the version");
  add_generate_option(program);
  add_general_options(program, general, false);
  add_info(program, general, run);
  add_optics(program, general, run);
  add_check(program, general, run);
  add_upload(program, general, run);
  add_trace(program, general, run);
  add_photons(program, general, run);
  add_compare(program, general, run);
  add_batch(program, general, run, hooks);
  add_cache(program, general, run);
  add_devices(program, general, run);
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
