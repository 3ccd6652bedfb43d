// SPDX-License-Identifier: Apache-2.0
// raylift devices: the devices there are, and what each can do.
#include <fmt/format.h>
#include <raylift/gpu/device/device.h>
#include <raylift/gpu/memory/residency.h>

#include <optional>

#include "base/json.h"
#include "cli/options.h"
#include "cli/table.h"
#include "commands.h"
#include "geometry/src/import/import_process.h"

namespace raylift::batch {
using namespace cli;
namespace {

struct Found {
  std::vector<Device> devices;
  std::vector<Device::Attempt> attempts;
  std::optional<std::string> chosen;  ///< what --device auto stands for
  std::optional<Error> why_none_chosen;
};

Found find_devices() {
  Found found;
  found.devices = Device::all(&found.attempts);
  std::erase_if(found.attempts, [](const Device::Attempt& attempt) { return attempt.failure.empty(); });
  try {
    found.chosen = Device::choose().info().id;
  } catch (const Error& error) {
    found.why_none_chosen = error;
  }
  return found;
}

std::string link_text(const DeviceInfo& info) {
  if (info.link.empty()) return "-";
  return info.link_gb_per_second > 0 ? fmt::format("{}, {:.0f} GB/s", info.link, info.link_gb_per_second) : info.link;
}

std::string compute_capability(const DeviceInfo& info) {
  return info.is_host ? "-" : fmt::format("{}.{}", info.compute_major, info.compute_minor);
}

/// What confines import processes here, and what does not.
std::string sandbox_text() {
  const ImportSandbox sandbox = import_sandbox();
  Table table({{"", Align::left}, {"", Align::left}});
  table.add({"Landlock", sandbox.landlock ? "they read their input and its folder"
                                          : "missing in this kernel or build: an importer may read any file"});
  table.add({"seccomp", sandbox.seccomp ? "they write no file, make no connection and start nothing"
                                        : "missing in this kernel or build: an importer may do what its user may"});
  return table.text(2);
}

std::string text_of(const Found& found) {
  // One column for each device: they are few, and their properties many.
  std::vector<Table::Column> columns{{"", Align::left}};
  for (const Device& device : found.devices)
    columns.push_back({device.info().id + (device.info().id == found.chosen ? " (auto)" : ""), Align::left});
  Table table(columns);
  const auto row = [&](const char* property, const auto& value) {
    std::vector<std::string> cells{property};
    for (const Device& device : found.devices) cells.push_back(value(device));
    table.add(std::move(cells));
  };
  const auto yes_no = [&](const char* property, bool DeviceInfo::*member) {
    row(property, [&](const Device& device) -> std::string { return device.info().*member ? "yes" : "no"; });
  };
  row("name", [](const Device& device) { return device.info().name; });
  row("compute capability", [](const Device& device) { return compute_capability(device.info()); });
  row("multiprocessors", [](const Device& device) { return std::to_string(device.info().multiprocessors); });
  row("memory free", [](const Device& device) { return human_bytes(device.memory_info().free_bytes); });
  row("memory total", [](const Device& device) { return human_bytes(device.memory_info().total_bytes); });
  yes_no("maps host memory", &DeviceInfo::maps_host_memory);
  yes_no("virtual memory", &DeviceInfo::virtual_memory);
  yes_no("host NUMA pages", &DeviceInfo::host_numa_pages);
  yes_no("splits arrays", &DeviceInfo::splits_arrays);
  yes_no("OpenGL interop", &DeviceInfo::gl_interop);
  row("link", [](const Device& device) { return link_text(device.info()); });
  std::string text = table.text();
  if (!found.attempts.empty()) {
    Table failures({{"", Align::left}, {"", Align::left}});
    for (const Device::Attempt& attempt : found.attempts) failures.add({attempt.device, attempt.failure});
    text += "\nnot usable\n" + failures.text(2);
  }
  return text + "\nimport processes\n" + sandbox_text();
}

Json json_of(const Found& found) {
  const ImportSandbox sandbox = import_sandbox();
  Json json = {{"import_sandbox", {{"landlock", sandbox.landlock}, {"seccomp", sandbox.seccomp}}},
               {"auto", found.chosen ? Json(*found.chosen) : Json()},
               {"devices", Json::array()},
               {"failed", Json::array()}};
  for (const Device& device : found.devices) {
    const DeviceInfo& info = device.info();
    const MemoryInfo memory = device.memory_info();
    json["devices"].push_back(
        {{"id", info.id},
         {"name", info.name},
         {"is_host", info.is_host},
         {"compute_capability", info.is_host ? Json() : Json(compute_capability(info))},
         {"multiprocessors", info.multiprocessors},
         {"free_bytes", memory.free_bytes},
         {"total_bytes", memory.total_bytes},
         {"maps_host_memory", info.maps_host_memory},
         {"virtual_memory", info.virtual_memory},
         {"host_numa_pages", info.host_numa_pages},
         {"splits_arrays", info.splits_arrays},
         {"page_bytes", info.page_bytes},
         {"gl_interop", info.gl_interop},
         {"link", info.link},
         {"link_gb_per_second", info.link_gb_per_second > 0 ? Json(info.link_gb_per_second) : Json()}});
  }
  for (const Device::Attempt& attempt : found.attempts)
    json["failed"].push_back({{"device", attempt.device}, {"why", attempt.failure}});
  return json;
}

int devices(Session& session) {
  const Found found = find_devices();
  session.write(session.options().json ? base::json_text(json_of(found), 2) + '\n' : text_of(found));
  if (!found.why_none_chosen) return 0;
  session.report(*found.why_none_chosen);
  return exit_code_of(*found.why_none_chosen);
}

}  // namespace

void add_devices(CLI::App& program, GeneralOptions& general, CommandRun& run) {
  CLI::App* app = add_command(program, "devices", "List the devices and their properties");
  add_general_options(*app, general, true);
  finish_command(*app, R"(
"auto" is the default of --device: the device that $CUDA_DEVICE, ~/.cuda_device or ~/.cuda-device names, else the first
CUDA device that works, else the host. The exit code is 9 if there are CUDA devices and the one of "auto" does not work.

Examples:
  raylift devices
  raylift devices --json | jq -r '.devices[].id')",
                 [&run] { run = [](Session& session) { return devices(session); }; });
}

}  // namespace raylift::batch
