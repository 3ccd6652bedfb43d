// SPDX-License-Identifier: Apache-2.0
#include "upload_to_all.h"

#include <fmt/format.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/residency.h>
#include <raylift/gpu/upload/broadcast.h>
#include <raylift/gpu/upload/verify_upload.h>

#include <algorithm>

#include "base/json.h"
#include "cli/text.h"

namespace raylift::batch {
using namespace cli;

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

int upload_to_all(Session& session, const UploadToAll& options) {
  const std::vector<Device> devices = several_devices(options.devices);
  warn_of_no_gpu(session, options.devices, devices);
  return session.for_each_file(options.files, [&](const std::string& file, Json& json) {
    const Progress progress = session.progress();
    const Scene scene = load(file, options.load, options.cache.with(session), progress);
    report_loaded(session, file, scene);
    const std::vector<GpuGeometry> geometries = broadcast(scene, devices, options.upload, progress);
    std::uint64_t verified = 0;
    Json reports = Json::array();
    std::string text = fmt::format("{}\n{} on {}\n", printable(file),
                                   counted(geometries.front().view().triangle_count, "triangle", "triangles"),
                                   counted(devices.size(), "device", "devices"));
    for (const GpuGeometry& geometry : geometries) {
      if (options.verify) verified += verify_upload(scene, geometry);
      reports.push_back(base::parse_json<Json>(geometry.report().json()));
      text += '\n' + geometry.report().table();
    }
    if (options.verify)
      text += "\nverified: " + human_bytes(verified) + " read back from the devices, all as in the scene\n";
    if (session.options().json)
      json = {{"file", file},
              {"triangles", geometries.front().view().triangle_count},
              {"flattened", options.upload.flatten},
              {"verified_bytes", options.verify ? Json(verified) : Json()},
              {"devices", std::move(reports)}};
    else
      session.write(text);
    return 0;
  });
}

}  // namespace raylift::batch
