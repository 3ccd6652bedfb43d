// SPDX-License-Identifier: Apache-2.0
// The options of commands that put a scene onto devices, and their report of the time that took.
#pragma once

#include <raylift/gpu/device/device.h>
#include <raylift/gpu/upload/gpu_geometry.h>
#include <chrono>
#include <string>
#include <vector>

#include "cli/cli11_forward.h"
#include "cli/session.h"

namespace raylift::batch {

/// What cli::add_placement_options() adds, and --flatten.
void add_upload_options(CLI::App& app, UploadOptions& upload, LoadOptions& load);
/// The same with --device, which names one.
void add_device_options(CLI::App& app, std::string& device, UploadOptions& upload, LoadOptions& load);
/// --device that names one or several: what several_devices() reads, or auto.
void add_devices_option(CLI::App& app, std::string& devices, const std::string& help);

/// "all", or names with commas between: the devices. Every "host" is a host device of its own. Throws Error: usage,
/// device.
[[nodiscard]] std::vector<Device> several_devices(const std::string& text);
/// Says so where "all" is the host alone.
void warn_of_no_gpu(cli::Session& session, const std::string& text, const std::vector<Device>& devices);

/// The device that --device names; what was tried on the way is said at level debug. Throws Error: usage, device.
[[nodiscard]] Device open_device(cli::Session& session, const std::string& device);

/// Warns of arrays that went elsewhere than planned.
void warn_of_steps(cli::Session& session, const std::string& file, const GpuGeometry& geometry);

/// The times of stages with the rest since `start`, "other", and their sum, "total".
[[nodiscard]] std::vector<Progress::StageTime> with_total(std::vector<Progress::StageTime> times,
                                                          std::chrono::steady_clock::time_point start);
[[nodiscard]] std::string timings_text(const std::vector<Progress::StageTime>& times);
[[nodiscard]] cli::Json timings_json(const std::vector<Progress::StageTime>& times);

}  // namespace raylift::batch
