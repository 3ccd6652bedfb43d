// SPDX-License-Identifier: Apache-2.0
// The options of commands that put a scene onto one device, and what they say of the time that took.
#pragma once

#include <raylift/gpu/device/device.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <chrono>
#include <string>
#include <vector>

#include "cli/cli11_forward.h"
#include "cli/session.h"

namespace raylift::batch {

/// --device, --budget, --reserve, --policy and --flatten.
void add_device_options(CLI::App& app, std::string& device, UploadOptions& upload);

/// The device that --device names; what was tried on the way is said at level debug. Throws Error: usage, device.
[[nodiscard]] Device open_device(cli::Session& session, const std::string& device);

/// Warns of arrays that went elsewhere than planned.
void warn_of_steps(cli::Session& session, const std::string& file, const GpuGeometry& geometry);

/// The times of stages with the rest since `start`, "other", and their sum, "total".
[[nodiscard]] std::vector<StageTime> with_total(std::vector<StageTime> times,
                                                std::chrono::steady_clock::time_point start);
[[nodiscard]] std::string timings_text(const std::vector<StageTime>& times);
[[nodiscard]] cli::Json timings_json(const std::vector<StageTime>& times);

}  // namespace raylift::batch
