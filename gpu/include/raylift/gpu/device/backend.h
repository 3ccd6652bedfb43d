// SPDX-License-Identifier: Apache-2.0
// The interface between raylift and a device. Two implementations: the embedded
// host device and CUDA. Everything above uses only this interface; users use Device and the buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

// The CUDA runtime's types that a cudaStream_t and a cudaEvent_t point to.
struct CUstream_st;
struct CUevent_st;

namespace raylift {

/// What a device is and can do. Fixed for its life.
struct DeviceInfo {
  std::string name;
  std::string id;  ///< "host", "cuda:0": what Device::parse takes
  bool is_host = false;
  int cuda_device = -1;   ///< CUDA's number of it; -1 on the host device
  int compute_major = 0;  ///< compute capability; 0 on the host device
  int compute_minor = 0;
  std::uint64_t total_bytes = 0;
  int multiprocessors = 0;        ///< cores on the host device
  bool maps_host_memory = false;  ///< kernels can read pinned host memory
  bool virtual_memory = false;    ///< address ranges can be reserved and backed page by page
  bool host_numa_pages = false;   ///< such a range may hold pages of host memory
  bool gl_interop = false;        ///< can share buffers with an OpenGL context, if that is on the same GPU
  bool splits_arrays = false;     ///< virtual_memory and host_numa_pages: Residency::split is possible
  std::uint64_t page_bytes = 0;   ///< granularity of splits; 0 where there are none
  std::string link;               ///< its connection to the host: "PCIe 5.0 x16", or empty if not known
  double link_gb_per_second = 0;  ///< of the link, one way, by its specification; 0 where it is not known
};

/// Device memory as the driver reports it. A hint: free memory may be gone by the time it is allocated.
struct MemoryInfo {
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t pooled_bytes = 0;  ///< of those free, what the device's pool keeps until Device::trim()
  /// What the driver itself can give: the local memory of kernels' threads comes from there, never from the pool.
  [[nodiscard]] std::uint64_t free_outside_pool() const {
    return free_bytes > pooled_bytes ? free_bytes - pooled_bytes : 0;
  }
};

/// Flags of pinned host memory, as CUDA has them.
struct PinnedFlags {
  bool portable = true;        ///< pinned for all devices, not only for this one
  bool mapped = true;          ///< kernels can read it
  bool write_combined = true;  ///< bypasses the CPU's caches; the CPU must then never read it
  friend bool operator==(const PinnedFlags&, const PinnedFlags&) = default;
};

using StreamHandle = CUstream_st*;  ///< a cudaStream_t; of no meaning on the host device
using EventHandle = CUevent_st*;    ///< a cudaEvent_t, likewise

/// How many CUDA devices there are; `why_none` says why there are none.
[[nodiscard]] int cuda_device_count(std::string* why_none = nullptr);

namespace detail {

/// One block of memory with its host address and its device address. They differ: never mix them.
struct HostBlock {
  void* host = nullptr;    ///< for the CPU
  void* device = nullptr;  ///< for kernels and copies
  std::size_t bytes = 0;
};

/// One address range whose first part is device memory, and whose rest is host memory.
struct SplitBlock {
  void* device = nullptr;        ///< of the whole range, for kernels
  void* host_part = nullptr;     ///< of the host's part, for the CPU; null where it has none
  std::size_t device_bytes = 0;  ///< a multiple of DeviceInfo::page_bytes
  std::size_t host_bytes = 0;
};

/// All functions may be called from any thread. Those that allocate throw Error: out_of_device_memory or
/// out_of_host_memory, with the bytes asked for, or device. Those that release never throw, and tolerate a driver that
/// has shut down. No function waits for work in flight unless it says so.
class Backend {
 public:
  virtual ~Backend() = default;

  [[nodiscard]] virtual const DeviceInfo& info() const = 0;
  [[nodiscard]] virtual MemoryInfo memory_info() const = 0;

  /// Device memory, aligned to at least 256 bytes, for any stream. `bytes` is never 0. On CUDA, releasing waits for the
  /// device, and the memory comes from the device's pool, which keeps it for reuse until it is trimmed.
  [[nodiscard]] virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* device) noexcept = 0;
  /// The same, ordered on a stream, out of the device's pool.
  [[nodiscard]] virtual void* allocate_on(StreamHandle stream, std::size_t bytes) = 0;
  virtual void release_on(StreamHandle stream, void* device) noexcept = 0;
  /// Bytes that the pool holds from the driver, and of these, bytes in use.
  struct PoolBytes {
    std::uint64_t held = 0;
    std::uint64_t active = 0;
  };
  [[nodiscard]] virtual PoolBytes pool_bytes() const = 0;
  /// Returns the pool's unused memory to the driver, except for `keep` bytes.
  virtual void trim_pool(std::size_t keep) = 0;

  [[nodiscard]] virtual HostBlock allocate_pinned(std::size_t bytes, PinnedFlags flags) = 0;
  virtual void release_pinned(const HostBlock& block) noexcept = 0;
  /// Pins existing memory (page-aligned or not); it must stay allocated until unregistered.
  [[nodiscard]] virtual HostBlock register_host(void* host, std::size_t bytes, PinnedFlags flags) = 0;
  virtual void unregister_host(const HostBlock& block) noexcept = 0;

  /// Only where info().splits_arrays. `device_bytes` is a multiple of info().page_bytes.
  [[nodiscard]] virtual SplitBlock allocate_split(std::size_t device_bytes, std::size_t host_bytes) = 0;
  virtual void release_split(const SplitBlock& block) noexcept = 0;

  [[nodiscard]] virtual StreamHandle create_stream() = 0;
  virtual void release_stream(StreamHandle stream) noexcept = 0;
  /// Waits until all work on the stream is done.
  virtual void synchronize(StreamHandle stream) = 0;
  [[nodiscard]] virtual EventHandle create_event() = 0;
  virtual void release_event(EventHandle event) noexcept = 0;
  virtual void record(EventHandle event, StreamHandle stream) = 0;
  /// Whether the work recorded before the event is done.
  [[nodiscard]] virtual bool passed(EventHandle event) = 0;
  /// Waits for it.
  virtual void wait(EventHandle event) = 0;
  /// Makes what is enqueued on the stream from now on wait for it. The event may be another device's.
  virtual void wait_on(StreamHandle stream, EventHandle event) = 0;

  /// In stream order; returns before the copy is done if the host side is pinned. Neither side may cross the boundary
  /// of a split range: SplitBuffer takes care of that.
  virtual void copy_to_device(void* device, const void* host, std::size_t bytes, StreamHandle stream) = 0;
  virtual void copy_to_host(void* host, const void* device, std::size_t bytes, StreamHandle stream) = 0;
  virtual void copy_on_device(void* to, const void* from, std::size_t bytes, StreamHandle stream) = 0;

  /// Whether this device can write to the other one's memory by peer access (NVLink or PCIe). The first call enables it
  /// for good.
  [[nodiscard]] virtual bool reaches(Backend& other) = 0;
  /// In the order of a stream of this device. Only where it reaches `other`; neither side may be split or mapped.
  virtual void copy_to_peer(Backend& other, void* to, const void* from, std::size_t bytes, StreamHandle stream) = 0;
};

/// The embedded host device: ordinary memory under a budget that represents the device's memory. Its streams execute
/// work immediately. Mapped memory has two addresses there too, so that code that confuses them fails on any machine.
[[nodiscard]] std::shared_ptr<Backend> make_host_backend(std::uint64_t budget_bytes);

/// CUDA device number `ordinal`, on its primary context. Throws Error(device), also where raylift was built without
/// CUDA.
[[nodiscard]] std::shared_ptr<Backend> make_cuda_backend(int ordinal);

}  // namespace detail
}  // namespace raylift
