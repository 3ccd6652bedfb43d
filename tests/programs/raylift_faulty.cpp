// SPDX-License-Identifier: Apache-2.0
// raylift-faulty: raylift with failures that environment variables ask for, so that tests see how a batch handles them.
//   RAYLIFT_BATCH_SLOW=MS                     each scene takes so many milliseconds longer
//   RAYLIFT_BATCH_FAULT=SUFFIX                the worker crashes on scenes whose path ends so
//   RAYLIFT_BATCH_STRAY=FILE                  workers return rows of this file, whichever scene they were given
//   RAYLIFT_BATCH_DEAD_DEVICE=DEVICE=gone     the device can't be opened
//   RAYLIFT_BATCH_DEAD_DEVICE=DEVICE=busy     the device fails in use
//   RAYLIFT_BATCH_LINES=MS                    time between two lines of progress
#include <raylift/geometry/error.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "batch/commands/program.h"
#include "batch/run/report.h"

namespace {

using raylift::batch::BatchHooks;

std::string variable(const char* name) {
  const char* set = std::getenv(name);
  return set != nullptr ? set : "";
}

void fail_device(const std::string& device, const std::string& how) {
  if (variable("RAYLIFT_BATCH_DEAD_DEVICE") == device + '=' + how)
    throw raylift::Error(raylift::ErrorKind::device, "the device is dead, as was ordered");
}

BatchHooks faults() {
  BatchHooks hooks;
  hooks.skips_check = [](const std::string& device) {
    return variable("RAYLIFT_BATCH_DEAD_DEVICE").starts_with(device + '=');
  };
  hooks.before_open = [](const std::string& device) { fail_device(device, "gone"); };
  hooks.before_device_action = [](const std::string& device) { fail_device(device, "busy"); };
  hooks.before_scene = [](const std::string& path) {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(variable("RAYLIFT_BATCH_SLOW").c_str())));
    const std::string suffix = variable("RAYLIFT_BATCH_FAULT");
    if (!suffix.empty() && path.ends_with(suffix)) ::raise(SIGSEGV);
  };
  hooks.before_row = [](raylift::cli::Json& row) {
    const std::string file = variable("RAYLIFT_BATCH_STRAY");
    if (!file.empty()) raylift::batch::set_file(row, file);
  };
  if (const std::string time = variable("RAYLIFT_BATCH_LINES"); !time.empty())
    hooks.line_interval = std::chrono::milliseconds(std::stoi(time));
  return hooks;
}

}  // namespace

int main(int argc, char** argv) {
  return raylift::batch::run_raylift(argc, argv, faults());
}
