// SPDX-License-Identifier: Apache-2.0
#include "program.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <string>

#include "cli/describe.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/session.h"
#include "commands.h"

namespace raylift::batch {
using namespace cli;
namespace {

constexpr const char* kFooter = R"(
Exit codes:
  0  success                           6  limit: a limit was reached
  1  check, compare: a negative answer 7  out_of_host_memory
  2  usage: a wrong option             8  out_of_device_memory
  3  io: a file can't be used          9  device: none works, or a call failed
  4  malformed: the input is broken    10  no_display: no OpenGL context
  5  unsupported: not read by raylift  11  system: no process, file descriptor or file system
  130  cancelled (128 + the signal's number)
Of several files, all are tried; the first error gives the exit code.

Examples:
  raylift info scene.dae
  raylift check --json *.dae > report.json
  raylift upload scene.dae --device host --budget 1GB
  raylift trace scene.dae --rays 10M --image depth.png
  raylift photons scene.dae --photons 10M --output run
  raylift COMMAND --help)";

int run_command(int argc, char** argv, const BatchHooks& hooks) {
  GeneralOptions general;
  Run run;
  CLI::App program("Lifts triangle geometry onto a GPU, for programs that trace rays and photons through it.",
                   "raylift");
  program.footer(kFooter);
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
