// SPDX-License-Identifier: Apache-2.0
#include "batch_devices.h"

#include <fmt/format.h>
#include <raylift/geometry/error.h>
#include <raylift/gpu/device/backend.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/parse_number.h"
#include "cli/text.h"
#include "geometry/src/process.h"

namespace raylift::batch {
using namespace cli;
namespace {

bool uses_device(const BatchOptions& options) {
  return std::any_of(options.actions.begin(), options.actions.end(),
                     [](const Action* one) { return one->needs_device; });
}

/// The devices that the batch is to use, by name: without making a context on any.
std::vector<std::string> devices_of(const BatchOptions& options) {
  if (!uses_device(options)) return {};
  if (options.device != "all") return cli::split_at_commas(options.device);
  std::vector<std::string> names;
  for (int i = 0; i != cuda_device_count(); ++i) names.push_back("cuda:" + std::to_string(i));
  if (names.empty()) names.emplace_back("host");
  return names;
}

/// The share of a machine's devices for one of several processes on it.
std::vector<std::string> share_of(const std::vector<std::string>& devices, const RankPlace& place) {
  const auto own = static_cast<std::size_t>(place.local_rank);
  const auto all = static_cast<std::size_t>(place.local_ranks);
  if (devices.size() <= all) return devices.empty() ? devices : std::vector{devices[own % devices.size()]};
  std::vector<std::string> share;
  for (std::size_t i = own; i < devices.size(); i += all) share.push_back(devices[i]);
  return share;
}

/// The cores for this process: mpirun may have bound it to some of them already.
unsigned own_cores(const RankPlace& place) {
  const auto machine = static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN));
  const unsigned share = std::max(1U, machine / static_cast<unsigned>(place.local_ranks));
  return std::min(share, std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

void check_devices(const BatchOptions& options) {
  for (const std::string& device : devices_of(options)) {
    if (device == "host" || device == "auto" || options.hooks.skips_check(device)) continue;
    const int ordinal =
        device.starts_with("cuda:") ? base::parse_number<int>(std::string_view(device).substr(5)).value_or(-1) : -1;
    if (ordinal < 0)
      throw Error(ErrorKind::usage, "'" + printable(device) + "' is no device", {}, "use auto, host, or cuda:N");
    std::string why_none;
    const int count = cuda_device_count(&why_none);
    if (ordinal >= count)
      throw Error(
          ErrorKind::device,
          device + " is not there: " +
              (count == 0 ? why_none : "there are " + counted(static_cast<std::uint64_t>(count), "device", "devices")),
          {}, "see 'raylift devices'");
  }
}

WorkerPoolOptions pool_options(const BatchOptions& options, const RankPlace& place) {
  const std::vector<std::string> devices = share_of(devices_of(options), place);
  const bool host = devices.empty() || (devices.size() == 1 && devices.front() == "host");
  std::size_t jobs = options.jobs;
  if (jobs == 0) jobs = host ? std::max(1U, own_cores(place) / 2) : devices.size();
  WorkerPoolOptions pool;
  pool.actions = options.actions;
  for (std::size_t i = 0; i != jobs; ++i) pool.devices.push_back(devices.empty() ? "" : devices[i % devices.size()]);
  pool.seconds = options.seconds;
  // Each scene may take its share of what memory there is: several at a time would otherwise take it all.
  const std::uint64_t share = detail::usable_memory() / 4 * 3 / (jobs * static_cast<std::size_t>(place.local_ranks));
  const auto limit = [share](std::uint64_t asked) { return asked != 0 ? asked : share; };
  pool.bytes = limit(options.bytes);
  pool.import_bytes = limit(options.action.load.limits.isolate_bytes);
  pool.threads = std::max(1U, own_cores(place) / static_cast<unsigned>(jobs));
  pool.rank = place.rank;
  return pool;
}

}  // namespace raylift::batch
