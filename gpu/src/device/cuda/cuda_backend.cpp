// SPDX-License-Identifier: Apache-2.0
#include "cuda_backend.h"

#include <cctype>
#include <cstdio>
#include <fstream>

namespace raylift {
namespace cuda {
namespace {

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The device's link to the host, as the kernel reports it.
void read_link(int ordinal, DeviceInfo& info) {
  char bus[32] = "";
  if (cudaDeviceGetPCIBusId(bus, sizeof bus, ordinal) != cudaSuccess) {
    (void)cudaGetLastError();
    return;
  }
  std::string name = bus;
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const std::string folder = "/sys/bus/pci/devices/" + name + "/";
  double transfers = 0;
  int width = 0;
  if (std::sscanf(read_line(folder + "max_link_speed").c_str(), "%lf", &transfers) != 1 ||
      std::sscanf(read_line(folder + "max_link_width").c_str(), "%d", &width) != 1 || width <= 0 || width > 64)
    return;
  const int generation = transfers > 60   ? 6
                         : transfers > 30 ? 5
                         : transfers > 15 ? 4
                         : transfers > 7  ? 3
                         : transfers > 4  ? 2
                                          : 1;
  const double coding = generation >= 3 ? 128.0 / 130 : 0.8;
  info.link = "PCIe " + std::to_string(generation) + ".0 x" + std::to_string(width);
  info.link_gb_per_second = transfers * width * coding / 8;
}

}  // namespace

CudaBackend::CudaBackend(int ordinal) : ordinal_(ordinal) {
  const CurrentDevice current(ordinal);
  check(current.code(), "selecting device " + std::to_string(ordinal));
  check(cudaFree(nullptr), "making a context on device " + std::to_string(ordinal));
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  info_.name = properties.name;
  info_.id = "cuda:" + std::to_string(ordinal);
  info_.cuda_device = ordinal;
  info_.compute_major = properties.major;
  info_.compute_minor = properties.minor;
  info_.total_bytes = properties.totalGlobalMem;
  info_.multiprocessors = properties.multiProcessorCount;
  info_.maps_host_memory = properties.canMapHostMemory != 0;
  info_.gl_interop = properties.tccDriver == 0;
  read_link(ordinal, info_);
  find_virtual_memory();
  make_pool();
}

void CudaBackend::make_pool() {
  int supported = 0;
  if (cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, ordinal_) != cudaSuccess)
    (void)cudaGetLastError();
  if (supported == 0) return;  // then pooled memory is allocated directly
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = ordinal_;
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  check(cudaMemPoolCreate(&pool_, &properties), "cudaMemPoolCreate");
  // Keep released memory for the next allocation.
  std::uint64_t threshold = UINT64_MAX;
  check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &threshold), "cudaMemPoolSetAttribute");
}

bool CudaBackend::reaches(detail::Backend& other) {
  auto* const peer = dynamic_cast<CudaBackend*>(&other);
  if (peer == nullptr || peer == this) return false;
  int possible = 0;
  if (cudaDeviceCanAccessPeer(&possible, ordinal_, peer->ordinal_) != cudaSuccess || possible == 0) {
    (void)cudaGetLastError();
    return false;
  }
  const CurrentDevice current(ordinal_);
  const cudaError_t enabled = cudaDeviceEnablePeerAccess(peer->ordinal_, 0);
  if (enabled != cudaSuccess) (void)cudaGetLastError();
  if (enabled != cudaSuccess && enabled != cudaErrorPeerAccessAlreadyEnabled) return false;
  // Memory out of a pool is for its own device alone, unless the pool says otherwise.
  if (peer->pool_ == nullptr) return true;
  cudaMemAccessDesc access{};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = ordinal_;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  if (cudaMemPoolSetAccess(peer->pool_, &access, 1) == cudaSuccess) return true;
  (void)cudaGetLastError();
  return false;
}

}  // namespace cuda

std::shared_ptr<detail::Backend> detail::make_cuda_backend(int ordinal) {
  std::string why_none;
  const int count = cuda_device_count(&why_none);
  if (ordinal < 0 || ordinal >= count)
    throw Error(ErrorKind::device,
                "there is no cuda:" + std::to_string(ordinal) + ": " +
                    (count == 0 ? why_none : "there are " + std::to_string(count) + " CUDA devices"),
                {}, "use another device, or the host device");
  return std::make_shared<cuda::CudaBackend>(ordinal);
}

int cuda_device_count(std::string* why_none) {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) {
    (void)cudaGetLastError();
    count = 0;
  }
  if (count == 0 && why_none != nullptr)
    *why_none = code == cudaSuccess ? "no CUDA device was found"
                                    : std::string(cudaGetErrorName(code)) + ", " + cudaGetErrorString(code);
  return count;
}

}  // namespace raylift
