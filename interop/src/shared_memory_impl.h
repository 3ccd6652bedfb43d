// SPDX-License-Identifier: Apache-2.0
// The memory behind a SharedBuffer. It outlives that as long as a mapping needs it.
#pragma once

#include <raylift/gpu/device/pool.h>
#include <raylift/gpu/memory/buffer.h>
#include <raylift/interop/shared_memory.h>

#include <algorithm>
#include <atomic>

#include "context_state.h"
#include "gl_buffer.h"

namespace raylift::detail {

/// Where the bytes are.
enum class Way {
  cuda,      ///< in OpenGL's buffer, which CUDA maps
  in_place,  ///< in OpenGL's buffer, in host memory, where the host device is at home
  copied,    ///< in OpenGL's buffer and on the device
};

struct SharedMemory::Impl final : ContextResource {
  Impl(const Device& on, std::size_t size, const SharedOptions& with);
  ~Impl() { close(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void choose_way();
  void allocate(std::size_t size);
  void release(bool current) noexcept;
  void close() noexcept;
  void wait_for(StreamHandle on) const noexcept;
  void context_goes(bool current) noexcept override;
  /// Brings the bytes to the device, or takes them back, where they are copied and need to be.
  void copy_in(StreamHandle on);
  void copy_out(StreamHandle on);
  /// Calls copy(first byte, count) chunk by chunk.
  template <class Copy>
  void in_chunks(const Copy& copy) const {
    for (std::size_t first = 0; first < bytes; first += kChunk) copy(first, std::min(kChunk, bytes - first));
  }
  [[nodiscard]] PinnedPool::Block staging() const { return device.pinned_pool().allocate(std::min(kChunk, bytes)); }

  static constexpr std::size_t kChunk = std::size_t{16} << 20;  // of copies through pinned memory

  Device device;
  SharedOptions options;
  std::shared_ptr<ContextState> context;
  Way way = Way::copied;
  std::string why_not;
  bool closed = false;
  bool frozen = false;
  std::size_t bytes = 0;
  GlBuffer buffer;
  void* resource = nullptr;              // CUDA's
  DeviceBuffer<std::byte> twin;          // on the device, where it is copied
  std::atomic<std::uint64_t> serial{0};  // of the mapping; 0: not mapped
  StreamHandle stream = nullptr;
};

}  // namespace raylift::detail
