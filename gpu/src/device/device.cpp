// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/error.h>
#include <raylift/gpu/device/device.h>
#include <raylift/gpu/device/pool.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/parse_number.h"

namespace raylift {
namespace {

std::string list_of(const std::vector<Device::Attempt>& attempts) {
  std::string text;
  for (const Device::Attempt& attempt : attempts)
    text += (text.empty() ? "" : "; ") + attempt.device + ": " + attempt.failure;
  return text;
}

int parse_ordinal(std::string_view text, const std::string& origin) {
  const auto first = text.find_first_not_of(" \t\r\n");
  const auto last = text.find_last_not_of(" \t\r\n");
  const std::string_view trimmed = first == std::string_view::npos ? "" : text.substr(first, last - first + 1);
  const int value = base::parse_number<int>(trimmed).value_or(-1);
  if (value < 0)
    throw Error(ErrorKind::device, origin + " holds '" + std::string(trimmed) + "', which is no device number", {},
                "set it to 0, 1, ..., or remove it");
  return value;
}

struct Wish {
  int ordinal;
  std::string origin;
};

/// The device that environment or home directory name.
std::optional<Wish> wished_device() {
  if (const char* set = std::getenv("CUDA_DEVICE"); set != nullptr && *set != '\0')
    return Wish{parse_ordinal(set, "$CUDA_DEVICE"), "$CUDA_DEVICE"};
  const char* home = std::getenv("HOME");
  if (home == nullptr) return std::nullopt;
  for (const char* name : {".cuda_device", ".cuda-device"}) {
    const std::filesystem::path path = std::filesystem::path(home) / name;
    std::ifstream file(path);
    if (!file) continue;
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    return Wish{parse_ordinal(text, path.string()), path.string()};
  }
  return std::nullopt;
}

}  // namespace

Device::Device(std::shared_ptr<detail::Backend> backend, PinnedFlags staging)
    : backend_(std::move(backend)), pool_(PinnedPool::make(backend_, staging)) {}

void Device::trim() const {
  pool_->free_held();
  backend_->trim_pool(0);
}

Device Device::host(std::optional<std::uint64_t> budget_bytes) {
  const auto memory =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return Device(detail::make_host_backend(budget_bytes.value_or(memory / 2)));
}

Device Device::cuda(int ordinal) {
  return Device(detail::make_cuda_backend(ordinal));
}

Device Device::choose(std::vector<Device::Attempt>* attempts) {
  std::vector<Device::Attempt> own;
  std::vector<Device::Attempt>& tried = attempts != nullptr ? *attempts : own;
  if (const std::optional<Wish> wish = wished_device()) {
    const std::string name = "cuda:" + std::to_string(wish->ordinal) + " (" + wish->origin + ")";
    try {
      Device device = cuda(wish->ordinal);
      tried.push_back({name, ""});
      return device;
    } catch (const Error& error) {
      tried.push_back({name, error.what()});
      throw Error(ErrorKind::device, "the device that " + wish->origin + " asks for does not work: " + error.problem(),
                  {}, "name another one there, or none");
    }
  }
  std::string why_none;
  const int count = cuda_device_count(&why_none);
  if (count == 0) {
    tried.push_back({"cuda", why_none});
    tried.push_back({"host", ""});
    return host();
  }
  for (int ordinal = 0; ordinal != count; ++ordinal) {
    const std::string name = "cuda:" + std::to_string(ordinal);
    try {
      Device device = cuda(ordinal);
      tried.push_back({name, ""});
      return device;
    } catch (const Error& error) {
      tried.push_back({name, error.what()});
    }
  }
  throw Error(ErrorKind::device, "no CUDA device gives a context: " + list_of(tried), {},
              "free one of them, or use the host device");
}

Device Device::parse(std::string_view text, std::optional<std::uint64_t> host_budget) {
  if (text == "host") return host(host_budget);
  if (text == "auto") {
    Device device = choose();
    return device.info().is_host && host_budget ? host(host_budget) : device;
  }
  if (text.starts_with("cuda:")) {
    const auto ordinal = base::parse_number<int>(text.substr(5));
    if (ordinal && *ordinal >= 0) return cuda(*ordinal);
  }
  throw Error(ErrorKind::usage, "'" + std::string(text) + "' is no device", {}, "use auto, host, or cuda:N");
}

std::vector<Device> Device::all(std::vector<Device::Attempt>* attempts) {
  std::vector<Device::Attempt> own;
  std::vector<Device::Attempt>& tried = attempts != nullptr ? *attempts : own;
  std::vector<Device> devices;
  std::string why_none;
  const int count = cuda_device_count(&why_none);
  if (count == 0) tried.push_back({"cuda", why_none});
  for (int ordinal = 0; ordinal != count; ++ordinal) {
    const std::string name = "cuda:" + std::to_string(ordinal);
    try {
      devices.push_back(cuda(ordinal));
      tried.push_back({name, ""});
    } catch (const Error& error) {
      tried.push_back({name, error.what()});
    }
  }
  devices.push_back(host());
  tried.push_back({"host", ""});
  return devices;
}

}  // namespace raylift
