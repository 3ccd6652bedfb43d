// SPDX-License-Identifier: Apache-2.0
// The CUDA backend, on a device's primary context.
#include <cuda_runtime_api.h>
#include <raylift/gpu/device/backend.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>

#include "check.h"
#include "driver.h"

namespace raylift {
namespace {

using cuda::check;
using cuda::check_allocation;
using cuda::CurrentDevice;

cudaStream_t stream_of(StreamHandle handle) {
  return static_cast<cudaStream_t>(handle);
}
cudaEvent_t event_of(EventHandle handle) {
  return static_cast<cudaEvent_t>(handle);
}

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// How the device hangs on the host, as the kernel tells it.
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

class CudaBackend : public Backend {
 public:
  explicit CudaBackend(int ordinal) : ordinal_(ordinal) {
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
  ~CudaBackend() override {
    const CurrentDevice current(ordinal_);
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
    if (pool_ != nullptr) (void)cudaMemPoolDestroy(pool_);
  }
  CudaBackend(const CudaBackend&) = delete;
  CudaBackend& operator=(const CudaBackend&) = delete;

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }

  [[nodiscard]] MemoryInfo memory_info() const override {
    const CurrentDevice current(ordinal_);
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    // What the pool holds unused is as good as free: allocate() takes it back when it has to.
    return {free + unused_by_pool(), total};
  }

  // Out of the pool too: the driver cleans memory that it gets back and gives out again, and the first copy into it
  // waits for that: 2.4 ms for 1 GiB on the H200. Kernels read memory of the pool as fast as cudaMalloc's.
  [[nodiscard]] void* allocate(std::size_t bytes) override {
    const CurrentDevice current(ordinal_);
    void* data = nullptr;
    const auto attempt = [&] {
      return pool_ == nullptr ? cudaMalloc(&data, bytes) : cudaMallocFromPoolAsync(&data, bytes, pool_, stream_);
    };
    cudaError_t code = attempt();
    if (code == cudaErrorMemoryAllocation && unused_by_pool() != 0) {
      (void)cudaGetLastError();
      trim_pool(0);
      code = attempt();
    }
    check_allocation(code, ErrorKind::out_of_device_memory, bytes, "allocation on " + info_.id);
    if (pool_ != nullptr) check(cudaStreamSynchronize(stream_), "allocation on " + info_.id);
    return data;
  }

  void release(void* device) noexcept override {
    const CurrentDevice current(ordinal_);
    if (pool_ == nullptr) {
      (void)cudaFree(device);
      return;
    }
    // As cudaFree does, and unlike cudaFreeAsync alone: whatever still reads it, on any stream, comes first.
    (void)cudaDeviceSynchronize();
    (void)cudaFreeAsync(device, stream_);
    (void)cudaStreamSynchronize(stream_);
  }

  [[nodiscard]] void* allocate_on(StreamHandle stream, std::size_t bytes) override {
    const CurrentDevice current(ordinal_);
    if (pool_ == nullptr) return allocate(bytes);
    void* data = nullptr;
    check_allocation(cudaMallocFromPoolAsync(&data, bytes, pool_, stream_of(stream)), ErrorKind::out_of_device_memory,
                     bytes, "allocation from the pool of " + info_.id);
    return data;
  }

  void release_on(StreamHandle stream, void* device) noexcept override {
    const CurrentDevice current(ordinal_);
    (void)(pool_ == nullptr ? cudaFree(device) : cudaFreeAsync(device, stream_of(stream)));
  }

  [[nodiscard]] PoolBytes pool_bytes() const override {
    PoolBytes bytes;
    if (pool_ == nullptr) return bytes;
    check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &bytes.held), "cudaMemPoolGetAttribute");
    check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &bytes.active), "cudaMemPoolGetAttribute");
    return bytes;
  }

  void trim_pool(std::size_t keep) override {
    const CurrentDevice current(ordinal_);
    if (pool_ != nullptr) check(cudaMemPoolTrimTo(pool_, keep), "cudaMemPoolTrimTo");
  }

  [[nodiscard]] HostBlock allocate_pinned(std::size_t bytes, PinnedFlags flags) override {
    const CurrentDevice current(ordinal_);
    unsigned bits = cudaHostAllocDefault;
    if (flags.portable) bits |= cudaHostAllocPortable;
    if (flags.mapped) bits |= cudaHostAllocMapped;
    if (flags.write_combined) bits |= cudaHostAllocWriteCombined;
    HostBlock block{nullptr, nullptr, bytes};
    check_allocation(cudaHostAlloc(&block.host, bytes, bits), ErrorKind::out_of_host_memory, bytes,
                     "allocation of pinned memory");
    if (!flags.mapped) return block;
    const cudaError_t code = cudaHostGetDevicePointer(&block.device, block.host, 0);
    if (code != cudaSuccess) release_pinned(block);
    check(code, "cudaHostGetDevicePointer");
    return block;
  }

  void release_pinned(const HostBlock& block) noexcept override {
    const CurrentDevice current(ordinal_);
    if (block.host != nullptr) (void)cudaFreeHost(block.host);
  }

  [[nodiscard]] HostBlock register_host(void* host, std::size_t bytes, PinnedFlags flags) override {
    const CurrentDevice current(ordinal_);
    unsigned bits = cudaHostRegisterDefault;
    if (flags.portable) bits |= cudaHostRegisterPortable;
    if (flags.mapped) bits |= cudaHostRegisterMapped;
    HostBlock block{host, nullptr, bytes};
    check_allocation(cudaHostRegister(host, bytes, bits), ErrorKind::out_of_host_memory, bytes,
                     "registration of host memory");
    if (!flags.mapped) return block;
    const cudaError_t code = cudaHostGetDevicePointer(&block.device, host, 0);
    if (code != cudaSuccess) unregister_host(block);
    check(code, "cudaHostGetDevicePointer");
    return block;
  }

  void unregister_host(const HostBlock& block) noexcept override {
    const CurrentDevice current(ordinal_);
    (void)cudaHostUnregister(block.host);
  }

  [[nodiscard]] SplitBlock allocate_split(std::size_t device_bytes, std::size_t host_bytes) override;
  void release_split(const SplitBlock& block) noexcept override;

  [[nodiscard]] StreamHandle create_stream() override {
    const CurrentDevice current(ordinal_);
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    return stream;
  }
  void release_stream(StreamHandle stream) noexcept override {
    const CurrentDevice current(ordinal_);
    if (stream != nullptr) (void)cudaStreamDestroy(stream_of(stream));
  }
  void synchronize(StreamHandle stream) override {
    const CurrentDevice current(ordinal_);
    check(cudaStreamSynchronize(stream_of(stream)), "work on a stream of " + info_.id);
  }
  [[nodiscard]] EventHandle create_event() override {
    const CurrentDevice current(ordinal_);
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
    return event;
  }
  void release_event(EventHandle event) noexcept override {
    const CurrentDevice current(ordinal_);
    if (event != nullptr) (void)cudaEventDestroy(event_of(event));
  }
  void record(EventHandle event, StreamHandle stream) override {
    const CurrentDevice current(ordinal_);
    check(cudaEventRecord(event_of(event), stream_of(stream)), "cudaEventRecord");
  }
  [[nodiscard]] bool passed(EventHandle event) override {
    const CurrentDevice current(ordinal_);
    const cudaError_t code = cudaEventQuery(event_of(event));
    if (code == cudaErrorNotReady) {
      (void)cudaGetLastError();
      return false;
    }
    check(code, "work before an event of " + info_.id);
    return true;
  }
  void wait(EventHandle event) override {
    const CurrentDevice current(ordinal_);
    check(cudaEventSynchronize(event_of(event)), "work before an event of " + info_.id);
  }

  void copy_to_device(void* device, const void* host, std::size_t bytes, StreamHandle stream) override {
    copy(device, host, bytes, cudaMemcpyHostToDevice, stream);
  }
  void copy_to_host(void* host, const void* device, std::size_t bytes, StreamHandle stream) override {
    // Default: the source may also be host memory that is mapped, or the host part of a split.
    copy(host, device, bytes, cudaMemcpyDefault, stream);
  }
  void copy_on_device(void* to, const void* from, std::size_t bytes, StreamHandle stream) override {
    copy(to, from, bytes, cudaMemcpyDefault, stream);
  }

  [[nodiscard]] bool reaches(Backend& other) override;
  void copy_to_peer(Backend& other, void* to, const void* from, std::size_t bytes, StreamHandle stream) override {
    const CurrentDevice current(ordinal_);
    check(cudaMemcpyPeerAsync(to, other.info().cuda_device, from, ordinal_, bytes, stream_of(stream)),
          "a copy of " + std::to_string(bytes) + " bytes to " + other.info().id);
  }

 private:
  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, StreamHandle stream) {
    const CurrentDevice current(ordinal_);
    check(cudaMemcpyAsync(to, from, bytes, kind, stream_of(stream)), "a copy of " + std::to_string(bytes) + " bytes");
  }

  void find_virtual_memory();
  void make_pool();
  /// The two numbers are not read at one moment: other threads may allocate in between.
  [[nodiscard]] std::uint64_t unused_by_pool() const {
    const PoolBytes pool = pool_bytes();
    return pool.held > pool.active ? pool.held - pool.active : 0;
  }
  [[nodiscard]] CUmemAllocationProp properties_of(CUmemLocationType type, int id) const;
  void check_driver(CUresult code, ErrorKind kind, std::size_t bytes, const char* what) const;

  int ordinal_;
  DeviceInfo info_;
  cudaMemPool_t pool_ = nullptr;
  cudaStream_t stream_ = nullptr;  // of allocations that belong to no stream
  cuda::VirtualMemory driver_;
  int numa_node_ = 0;
};

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
  // Hold what has been released until somebody needs it.
  std::uint64_t threshold = UINT64_MAX;
  check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &threshold), "cudaMemPoolSetAttribute");
}

bool CudaBackend::reaches(Backend& other) {
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

CUmemAllocationProp CudaBackend::properties_of(CUmemLocationType type, int id) const {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = type;
  properties.location.id = id;
  return properties;
}

void CudaBackend::find_virtual_memory() {
  driver_ = cuda::VirtualMemory::find();
  if (!driver_.complete()) return;
  const auto attribute = [this](CUdevice_attribute which) {
    int value = 0;
    return driver_.attribute(&value, which, ordinal_) == CUDA_SUCCESS ? value : 0;
  };
  info_.virtual_memory = attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) != 0;
  info_.host_numa_pages = attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) != 0;
  if (!info_.virtual_memory || !info_.host_numa_pages) return;
  numa_node_ = std::max(attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID), 0);
  std::size_t of_device = 0;
  std::size_t of_host = 0;
  const CUmemAllocationProp device = properties_of(CU_MEM_LOCATION_TYPE_DEVICE, ordinal_);
  const CUmemAllocationProp host = properties_of(CU_MEM_LOCATION_TYPE_HOST_NUMA, numa_node_);
  if (driver_.granularity(&of_device, &device, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) != CUDA_SUCCESS ||
      driver_.granularity(&of_host, &host, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) != CUDA_SUCCESS)
    return;
  info_.page_bytes = std::max(of_device, of_host);
  info_.splits_arrays = info_.page_bytes != 0;
}

void CudaBackend::check_driver(CUresult code, ErrorKind kind, std::size_t bytes, const char* what) const {
  if (code == CUDA_SUCCESS) return;
  const std::string text = std::string(what) + " of " + std::to_string(bytes) + " bytes on " + info_.id +
                           " failed: " + driver_.name_of(code);
  throw Error(code == CUDA_ERROR_OUT_OF_MEMORY ? kind : ErrorKind::device, text);
}

/// A reserved range is backed by two allocations, one in each memory. Kernels may read and write both; the CPU may
/// write the host's part, at the same address. The driver forbids CPU access to the part on the device.
SplitBlock CudaBackend::allocate_split(std::size_t device_bytes, std::size_t host_bytes) {
  const CurrentDevice current(ordinal_);
  check(current.code(), "selecting " + info_.id);
  const std::size_t page = info_.page_bytes;
  const std::size_t host_pages = (host_bytes + page - 1) / page * page;
  const std::size_t whole = device_bytes + host_pages;

  CUdeviceptr base = 0;
  std::size_t mapped = 0;  // bytes from base on
  try {
    check_driver(driver_.reserve(&base, whole, page, 0, 0), ErrorKind::out_of_host_memory, whole,
                 "reserving addresses");
    const auto back = [&](const CUmemAllocationProp& properties, std::size_t bytes, ErrorKind kind) {
      CUmemGenericAllocationHandle handle = 0;
      CUresult made = driver_.create(&handle, bytes, &properties, 0);
      if (made == CUDA_ERROR_OUT_OF_MEMORY && kind == ErrorKind::out_of_device_memory && unused_by_pool() != 0) {
        trim_pool(0);
        made = driver_.create(&handle, bytes, &properties, 0);
      }
      check_driver(made, kind, bytes, "allocation");
      const CUresult code = driver_.map(base + mapped, bytes, 0, handle, 0);
      // The mapping keeps the memory alive; it goes when it is unmapped.
      (void)driver_.release(handle);
      check_driver(code, kind, bytes, "mapping");
      mapped += bytes;
    };
    back(properties_of(CU_MEM_LOCATION_TYPE_DEVICE, ordinal_), device_bytes, ErrorKind::out_of_device_memory);
    back(properties_of(CU_MEM_LOCATION_TYPE_HOST_NUMA, numa_node_), host_pages, ErrorKind::out_of_host_memory);
    CUmemAccessDesc access[2] = {};
    access[0].location = {CU_MEM_LOCATION_TYPE_DEVICE, {ordinal_}};
    access[0].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    access[1].location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, {numa_node_}};
    access[1].flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    check_driver(driver_.set_access(base, device_bytes, access, 1), ErrorKind::device, device_bytes, "granting access");
    check_driver(driver_.set_access(base + device_bytes, host_pages, access, 2), ErrorKind::device, host_pages,
                 "granting access");
  } catch (const Error&) {
    if (mapped != 0) (void)driver_.unmap(base, mapped);
    if (base != 0) (void)driver_.unreserve(base, whole);
    throw;
  }
  auto* address = reinterpret_cast<std::byte*>(base);
  return {address, address + device_bytes, device_bytes, host_bytes};
}

void CudaBackend::release_split(const SplitBlock& block) noexcept {
  const CurrentDevice current(ordinal_);
  // Unlike cudaFree, unmapping does not wait for kernels that still read.
  (void)cudaDeviceSynchronize();
  const std::size_t page = info_.page_bytes;
  const std::size_t whole = block.device_bytes + (block.host_bytes + page - 1) / page * page;
  const auto base = reinterpret_cast<CUdeviceptr>(block.device);
  (void)driver_.unmap(base, whole);
  (void)driver_.unreserve(base, whole);
}

}  // namespace

std::shared_ptr<Backend> make_cuda_backend(int ordinal) {
  std::string why_none;
  const int count = cuda_device_count(&why_none);
  if (ordinal < 0 || ordinal >= count)
    throw Error(ErrorKind::device,
                "there is no cuda:" + std::to_string(ordinal) + ": " +
                    (count == 0 ? why_none : "there are " + std::to_string(count) + " CUDA devices"),
                {}, "use another device, or the host device");
  return std::make_shared<CudaBackend>(ordinal);
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
