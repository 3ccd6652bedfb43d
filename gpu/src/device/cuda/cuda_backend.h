// SPDX-License-Identifier: Apache-2.0
// The CUDA backend, on a device's primary context.
#pragma once

#include <cuda_runtime_api.h>
#include <raylift/gpu/device/backend.h>

#include <string>

#include "check.h"
#include "driver.h"
#include "own_pages.h"

namespace raylift::cuda {

class CudaBackend : public detail::Backend {
 public:
  explicit CudaBackend(int ordinal);
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
    const auto unused = unused_by_pool();
    return {free + unused, total, unused};
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
    check_allocation(cudaMallocFromPoolAsync(&data, bytes, pool_, stream), ErrorKind::out_of_device_memory, bytes,
                     "allocation from the pool of " + info_.id);
    return data;
  }

  void release_on(StreamHandle stream, void* device) noexcept override {
    const CurrentDevice current(ordinal_);
    (void)(pool_ == nullptr ? cudaFree(device) : cudaFreeAsync(device, stream));
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

  [[nodiscard]] detail::HostBlock allocate_pinned(std::size_t bytes, PinnedFlags flags) override;
  void release_pinned(const detail::HostBlock& block) noexcept override;
  [[nodiscard]] detail::HostBlock register_host(void* host, std::size_t bytes, PinnedFlags flags) override;
  void unregister_host(const detail::HostBlock& block) noexcept override;

  [[nodiscard]] detail::SplitBlock allocate_split(std::size_t device_bytes, std::size_t host_bytes) override;
  void release_split(const detail::SplitBlock& block) noexcept override;

  [[nodiscard]] StreamHandle create_stream() override {
    const CurrentDevice current(ordinal_);
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    return stream;
  }
  void release_stream(StreamHandle stream) noexcept override {
    const CurrentDevice current(ordinal_);
    if (stream != nullptr) (void)cudaStreamDestroy(stream);
  }
  void synchronize(StreamHandle stream) override {
    const CurrentDevice current(ordinal_);
    check(cudaStreamSynchronize(stream), "work on a stream of " + info_.id);
  }
  [[nodiscard]] EventHandle create_event() override {
    const CurrentDevice current(ordinal_);
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
    return event;
  }
  void release_event(EventHandle event) noexcept override {
    const CurrentDevice current(ordinal_);
    if (event != nullptr) (void)cudaEventDestroy(event);
  }
  void record(EventHandle event, StreamHandle stream) override {
    const CurrentDevice current(ordinal_);
    check(cudaEventRecord(event, stream), "cudaEventRecord");
  }
  [[nodiscard]] bool passed(EventHandle event) override {
    const CurrentDevice current(ordinal_);
    const cudaError_t code = cudaEventQuery(event);
    if (code == cudaErrorNotReady) {
      (void)cudaGetLastError();
      return false;
    }
    check(code, "work before an event of " + info_.id);
    return true;
  }
  void wait(EventHandle event) override {
    const CurrentDevice current(ordinal_);
    check(cudaEventSynchronize(event), "work before an event of " + info_.id);
  }
  void wait_on(StreamHandle stream, EventHandle event) override {
    const CurrentDevice current(ordinal_);
    check(cudaStreamWaitEvent(stream, event, 0), "cudaStreamWaitEvent");
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

  [[nodiscard]] bool reaches(detail::Backend& other) override;
  void copy_to_peer(detail::Backend& other, void* to, const void* from, std::size_t bytes,
                    StreamHandle stream) override {
    const CurrentDevice current(ordinal_);
    check(cudaMemcpyPeerAsync(to, other.info().cuda_device, from, ordinal_, bytes, stream),
          "a copy of " + std::to_string(bytes) + " bytes to " + other.info().id);
  }

 private:
  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, StreamHandle stream) {
    const CurrentDevice current(ordinal_);
    check(cudaMemcpyAsync(to, from, bytes, kind, stream), "a copy of " + std::to_string(bytes) + " bytes");
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
  OwnPages own_pages_;
  cudaStream_t stream_ = nullptr;  // of allocations that belong to no stream
  VirtualMemory driver_;
  int numa_node_ = 0;
};

}  // namespace raylift::cuda
