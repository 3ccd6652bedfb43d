// SPDX-License-Identifier: Apache-2.0
// The hooks of a batch: calls into the program that runs it. raylift itself sets none; the tests' raylift-faulty
// injects failures through them.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "cli/output.h"

namespace raylift::batch {

struct BatchHooks {
  /// Whether a device needs no check before the batch starts.
  std::function<bool(const std::string& device)> skips_check = [](const std::string&) { return false; };
  /// In a worker, before it opens its device, and before each action that uses the device. Error(device) is reported
  /// as if the device had failed.
  std::function<void(const std::string& device)> before_open = [](const std::string&) {};
  std::function<void(const std::string& device)> before_device_action = [](const std::string&) {};
  /// In a worker, before it loads a scene, and before it sends the scene's row.
  std::function<void(const std::string& path)> before_scene = [](const std::string&) {};
  std::function<void(cli::Json& row)> before_row = [](cli::Json&) {};
  /// Time between two lines of progress where there is no terminal.
  std::chrono::milliseconds line_interval = std::chrono::minutes(1);
};

}  // namespace raylift::batch
