// SPDX-License-Identifier: Apache-2.0
#include "device_options.h"

#include <fmt/format.h>
#include <raylift/gpu/memory/residency.h>
#include <algorithm>

#include "cli/options.h"
#include "cli/placement_options.h"
#include "cli/table.h"
#include "cli/text.h"

namespace raylift::batch {
using namespace cli;

void add_upload_options(CLI::App& app, UploadOptions& upload, LoadOptions& load) {
  add_placement_options(app, upload, load);
  add_flag(app, "--flatten", upload.flatten, "Copy each instance's mesh into one mesh in world coordinates");
}

void add_device_options(CLI::App& app, std::string& device, UploadOptions& upload, LoadOptions& load) {
  add_device_option(app, device, "auto, host (the CPU) or cuda:N; 'raylift devices' lists them");
  add_upload_options(app, upload, load);
}

void add_devices_option(CLI::App& app, std::string& devices, const std::string& help) {
  const std::vector<std::string> words{"all", "auto", "host", "cuda:0"};
  offer(add_parsed(app, "--device", "DEVICES", devices, help,
                   [&devices, words](const std::string& text) {
                     if (text.find("cuda:") == std::string::npos && text.find(',') == std::string::npos)
                       one_of(text, words);
                     devices = text;
                   }),
        words);
}

std::vector<Device> several_devices(const std::string& text) {
  std::vector<Device> devices;
  if (text == "all") {
    devices = Device::all();
    if (devices.size() > 1) devices.pop_back();  // the host, where there is a GPU
    return devices;
  }
  for (const std::string& name : cli::split_at_commas(text)) devices.push_back(Device::parse(name));
  return devices;
}

void warn_of_no_gpu(Session& session, const std::string& text, const std::vector<Device>& devices) {
  if (text == "all" && devices.size() == 1 && devices.front().info().is_host)
    session.warn("there is no GPU: 'all' is the host alone; see 'raylift devices'");
}

Device open_device(Session& session, const std::string& device) {
  if (device != "auto") return Device::parse(device);
  std::vector<Device::Attempt> attempts;
  Device chosen = Device::choose(&attempts);
  for (const Device::Attempt& attempt : attempts)
    session.debug(attempt.device + ": " + (attempt.failure.empty() ? "taken" : attempt.failure));
  return chosen;
}

void warn_of_steps(Session& session, const std::string& file, const GpuGeometry& geometry) {
  for (const ResidencyReport::Array& array : geometry.report().arrays)
    if (array.fell_back) session.warn(fmt::format("{}: array '{}': {}", file, array.name, array.why));
}

std::vector<Progress::StageTime> with_total(std::vector<Progress::StageTime> times,
                                            std::chrono::steady_clock::time_point start) {
  double stages = 0;
  for (const Progress::StageTime& time : times) stages += time.seconds;
  const double total =
      std::max(stages, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  times.push_back({"other", total - stages});
  times.push_back({"total", total});
  return times;
}

std::string timings_text(const std::vector<Progress::StageTime>& times) {
  Table table({{"stage", Align::left}, {"time"}});
  for (const Progress::StageTime& time : times) table.add({time.stage, human_seconds(time.seconds)});
  return table.text(2);
}

Json timings_json(const std::vector<Progress::StageTime>& times) {
  Json json = Json::array();
  for (const Progress::StageTime& time : times) json.push_back({{"stage", time.stage}, {"seconds", time.seconds}});
  return json;
}

}  // namespace raylift::batch
