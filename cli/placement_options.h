// SPDX-License-Identifier: Apache-2.0
// The options of the device and of placement, for all programs that upload a scene.
#pragma once

#include <raylift/geometry/import/load.h>
#include <raylift/gpu/upload/upload.h>
#include <string>

#include "cli11_forward.h"
#include "output.h"

namespace raylift::cli {

/// --device: auto, host or cuda:N. `group` is the heading in the help; "" is the default one.
void add_device_option(CLI::App& app, std::string& device, const std::string& help, const std::string& group = "");

/// --budget, --reserve, --policy, --raster and --positions.
void add_placement_options(CLI::App& app, UploadOptions& upload, LoadOptions& load, const std::string& group = "");

/// --raster and --positions alone. Fine positions need Mesh::rests, which `load` keeps then.
void add_precision_options(CLI::App& app, UploadOptions& upload, LoadOptions& load, const std::string& group = "");

/// --raster in a report: start and step in nm and the number of wavelengths, or null.
[[nodiscard]] Json raster_json(const Raster& raster);

}  // namespace raylift::cli
