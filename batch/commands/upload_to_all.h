// SPDX-License-Identifier: Apache-2.0
// raylift upload on several devices: one scene to all of them, or to one with the others' help.
#pragma once

#include <raylift/gpu/upload/gpu_geometry.h>
#include <string>
#include <vector>

#include "batch/actions/cache_options.h"
#include "cli/session.h"

namespace raylift::batch {

/// "all", or names with commas between: the devices. Every "host" is a host device of its own. Throws Error: usage,
/// device.
[[nodiscard]] std::vector<Device> several_devices(const std::string& text);
/// Says so where "all" is the host alone.
void warn_of_no_gpu(cli::Session& session, const std::string& text, const std::vector<Device>& devices);

/// What is to be put on all devices, and how.
struct UploadToAll {
  std::vector<std::string> files;
  LoadOptions load;
  UploadOptions upload;
  CacheSettings cache;
  std::string devices;
  bool verify = false;
};

int upload_to_all(cli::Session& session, const UploadToAll& options);

}  // namespace raylift::batch
