// SPDX-License-Identifier: Apache-2.0
#include "device_options.h"

#include <fmt/format.h>
#include <raylift/gpu/memory/residency.h>
#include <algorithm>

#include "cli/options.h"
#include "cli/placement_options.h"
#include "cli/table.h"

namespace raylift::batch {
using namespace cli;

void add_device_options(CLI::App& app, std::string& device, UploadOptions& upload) {
  add_device_option(app, device, "auto, host (the CPU) or cuda:N; 'raylift devices' lists them");
  add_placement_options(app, upload);
  add_flag(app, "--flatten", upload.flatten, "Copy each instance's mesh into one mesh in world coordinates");
}

Device open_device(Session& session, const std::string& device) {
  if (device != "auto") return Device::parse(device);
  std::vector<DeviceAttempt> attempts;
  Device chosen = Device::choose(&attempts);
  for (const DeviceAttempt& attempt : attempts)
    session.debug(attempt.device + ": " + (attempt.failure.empty() ? "taken" : attempt.failure));
  return chosen;
}

void warn_of_steps(Session& session, const std::string& file, const GpuGeometry& geometry) {
  for (const ArrayResidency& array : geometry.report().arrays)
    if (array.fell_back) session.warn(fmt::format("{}: array '{}': {}", file, array.name, array.why));
}

std::vector<StageTime> with_total(std::vector<StageTime> times, std::chrono::steady_clock::time_point start) {
  double stages = 0;
  for (const StageTime& time : times) stages += time.seconds;
  const double total =
      std::max(stages, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  times.push_back({"other", total - stages});
  times.push_back({"total", total});
  return times;
}

std::string timings_text(const std::vector<StageTime>& times) {
  Table table({{"stage", Align::left}, {"time"}});
  for (const StageTime& time : times) table.add({time.stage, human_seconds(time.seconds)});
  return table.text(2);
}

Json timings_json(const std::vector<StageTime>& times) {
  Json json = Json::array();
  for (const StageTime& time : times) json.push_back({{"stage", time.stage}, {"seconds", time.seconds}});
  return json;
}

}  // namespace raylift::batch
