// SPDX-License-Identifier: Apache-2.0
// An OpenGL buffer object, owned.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace raylift {

namespace detail {
class ContextState;
}

/// A buffer object of the context that is current when it is created. Move-only. May be destroyed on any thread, and
/// after its context: if the context is not current, the object is deleted as soon as it is.
class GlBuffer {
 public:
  GlBuffer() = default;
  /// `bytes` of memory that the driver places, not initialised. Throws Error: no_display where no context is current,
  /// out_of_device_memory, device.
  explicit GlBuffer(std::size_t bytes);
  /// The same in memory that the CPU reads and writes at host() at any time, also while OpenGL uses it. Fast only where
  /// OpenGL draws on the CPU.
  [[nodiscard]] static GlBuffer in_host_memory(std::size_t bytes);
  ~GlBuffer() { close(); }
  GlBuffer(GlBuffer&& other) noexcept;
  GlBuffer& operator=(GlBuffer&& other) noexcept;

  /// OpenGL's name of it; 0 where there is none.
  [[nodiscard]] unsigned id() const { return id_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Empty, but for a buffer in host memory.
  [[nodiscard]] std::span<std::byte> host() const { return {host_, host_ == nullptr ? 0 : bytes_}; }
  /// Deletes it. Again, or after its context has gone, does nothing.
  void close() noexcept;

 private:
  GlBuffer(std::size_t bytes, bool in_host_memory);

  std::shared_ptr<detail::ContextState> context_;
  unsigned id_ = 0;
  std::size_t bytes_ = 0;
  std::byte* host_ = nullptr;
};

}  // namespace raylift
