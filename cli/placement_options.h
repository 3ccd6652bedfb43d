// SPDX-License-Identifier: Apache-2.0
// The options that say where on a device the arrays of a scene go, for all programs that upload one.
#pragma once

#include <raylift/gpu/upload/upload.h>
#include <string>

#include "cli11_forward.h"

namespace raylift::cli {

/// --device, of which there is one: auto, host or cuda:N. In the help it stands under `group`; "" is the default group.
void add_device_option(CLI::App& app, std::string& device, const std::string& help, const std::string& group = "");

/// --budget, --reserve and --policy.
void add_placement_options(CLI::App& app, UploadOptions& upload, const std::string& group = "");

}  // namespace raylift::cli
