// SPDX-License-Identifier: Apache-2.0
// Memory that kernels read, by bytes. buffer.h has arrays of elements over it.
#pragma once

#include <raylift/gpu/device/detail/owned.h>
#include <raylift/gpu/device/device.h>
#include <raylift/gpu/memory/device_resource.h>
#include <raylift/gpu/memory/placement.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace raylift {

namespace detail {

struct MemoryBlock {
  enum class Kind : std::uint8_t { device, pooled, lent, mapped, split, registered, external };
  Kind kind = Kind::device;
  std::byte* device = nullptr;  // of the whole
  std::byte* host = nullptr;    // of the host's part
  std::size_t device_bytes = 0;
  std::size_t host_bytes = 0;
  StreamHandle stream = nullptr;                       // of pooled and of lent memory
  std::shared_ptr<DeviceResource> resource = nullptr;  // of lent memory
};
void release_memory(detail::Backend& backend, const MemoryBlock& block) noexcept;

}  // namespace detail

/// One block of memory that kernels read: in device memory, in pinned host memory, or in one address range over both.
/// Owns it, unless it is external. Not initialised. Move-only. Releasing it waits for the device, unless it is pooled
/// or comes from a resource.
class Memory {
 public:
  // All that allocate throw Error(usage) for sizes that no memory has: more than half of all addresses.

  /// No memory.
  Memory() = default;
  /// In device memory. Throws Error: out_of_device_memory, device.
  [[nodiscard]] static Memory on_device(const Device& device, std::size_t bytes);
  /// From the device's pool: valid for work that follows on `stream`, which must outlive it. Freed when the stream
  /// reaches its release. Throws Error(out_of_device_memory), after the pool has given back what it holds and a second
  /// try, with the bytes asked, free, held and active.
  [[nodiscard]] static Memory pooled(const Device& device, StreamRef stream, std::size_t bytes);
  /// From a resource, likewise stream-ordered: valid for work that follows on `stream`, which must outlive it. Throws
  /// Error: out_of_device_memory, usage for memory that is not aligned to 256 bytes, and what the resource throws.
  [[nodiscard]] static Memory from(std::shared_ptr<DeviceResource> resource, const Device& device, StreamRef stream,
                                   std::size_t bytes);
  /// In pinned host memory. Throws Error: out_of_host_memory, device.
  [[nodiscard]] static Memory mapped(const Device& device, std::size_t bytes, PinnedFlags flags);
  /// The first `device_bytes`, rounded down to whole pages, in device memory, the rest in host memory. Throws Error:
  /// out_of_device_memory, out_of_host_memory, device (also where not DeviceInfo::splits_arrays), and usage where
  /// nothing would be left for one of the parts.
  [[nodiscard]] static Memory split(const Device& device, std::size_t bytes, std::size_t device_bytes);
  /// The caller's memory, pinned for the life of this; it must outlive it. Throws Error: usage for an empty range,
  /// out_of_host_memory, device.
  [[nodiscard]] static Memory registered(const Device& device, std::span<std::byte> memory, PinnedFlags flags);
  /// Device memory that the caller owns. Throws Error(usage) where `data` is null and `bytes` is not 0.
  [[nodiscard]] static Memory external(const Device& device, std::byte* data, std::size_t bytes);

  /// For kernels. Null where there is no memory, and where it is pinned but not mapped.
  [[nodiscard]] std::byte* device() const { return block_.get().device; }
  template <class T>
  [[nodiscard]] T* as() const {
    return reinterpret_cast<T*>(device());
  }
  [[nodiscard]] std::size_t bytes() const { return block_.get().device_bytes + block_.get().host_bytes; }
  [[nodiscard]] std::size_t device_bytes() const { return block_.get().device_bytes; }
  /// The part that the CPU writes, after the device's part; empty if all of it is on the device.
  [[nodiscard]] std::span<std::byte> host_part() const { return {block_.get().host, block_.get().host_bytes}; }
  [[nodiscard]] Residency where() const;
  /// Whether other devices may write to it: it lies whole in device memory of its own.
  [[nodiscard]] bool peers_write() const { return block_.get().kind == Kind::device; }
  /// Null where there is no memory.
  [[nodiscard]] detail::Backend* backend() const { return block_.backend(); }

  /// Copies to bytes `first` and after, in the stream's order. `source` must stay until the stream is past the copy.
  /// Both throw Error(usage) for a range that leaves the memory.
  void copy_from(std::span<const std::byte> source, StreamRef stream, std::size_t first = 0);
  /// Copies from bytes `first` and after. `target` is filled once the stream is past the copy. Host parts are read over
  /// the device too, never by the CPU.
  void copy_to(std::span<std::byte> target, StreamRef stream, std::size_t first = 0) const;
  /// Copies all of it to the same device's memory `target`, in the stream's order; both must stay until the stream is
  /// past it. Throws Error(usage) where that is smaller, or only partly in device memory.
  void copy_to(Memory& target, StreamRef stream) const;

 private:
  using Kind = detail::MemoryBlock::Kind;
  Memory(const Device& device, const detail::MemoryBlock& block) : block_(device.backend(), block) {}
  template <class Copy>
  void by_part(std::size_t first, std::size_t count, const Copy& copy) const;

  detail::Owned<detail::MemoryBlock, &detail::release_memory> block_;
};

}  // namespace raylift
