// SPDX-License-Identifier: Apache-2.0
// The base of SharedBuffer, SharedImage and SharedGeometry: bytes that both OpenGL
// and kernels access.
#pragma once

#include <raylift/gpu/device/device.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace raylift {

/// How memory is shared.
enum class Sharing : std::uint8_t {
  automatic,  ///< shared if possible; otherwise two blocks of memory and copies
  required,   ///< shared, or Error(device)
  copied,     ///< two blocks of memory and copies, for comparison
};

struct SharedOptions {
  /// What kernels do with a mapped buffer: CUDA's flags of the same names. If memory is copied, they avoid needless
  /// copies.
  enum class Access : std::uint8_t {
    none,           ///< read and write
    read_only,      ///< what kernels write is lost
    write_discard,  ///< what was there before is lost
  };

  Access access = Access::none;
  Sharing sharing = Sharing::automatic;
};

namespace detail {

class SharedMemory {
 public:
  SharedMemory() = default;
  /// Throws Error: no_display where no OpenGL context is current; device where the context is on another GPU than the
  /// device, or where sharing is required and not possible; out_of_device_memory.
  SharedMemory(const Device& device, std::size_t bytes, const SharedOptions& options);
  ~SharedMemory() { close(); }
  SharedMemory(SharedMemory&&) noexcept = default;
  SharedMemory& operator=(SharedMemory&& other) noexcept;

  [[nodiscard]] unsigned id() const;
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] bool shares() const;
  [[nodiscard]] const std::string& why_not() const;
  [[nodiscard]] bool mapped() const;
  /// Not of an empty one.
  [[nodiscard]] const Device& device() const;
  [[nodiscard]] const SharedOptions& options() const;
  void resize(std::size_t bytes);
  void freeze();
  void close() noexcept;

 private:
  friend class MappedMemory;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// Several of them, mapped together for a scope.
class MappedMemory {
 public:
  MappedMemory();
  MappedMemory(std::span<const SharedMemory* const> memories, StreamRef stream);
  ~MappedMemory();
  MappedMemory(MappedMemory&& other) noexcept;
  MappedMemory& operator=(MappedMemory&& other) noexcept;

  /// The device address of the `i`-th memory; null where it is empty, or after unmap().
  [[nodiscard]] std::byte* device(std::size_t i) const;
  void unmap();
  /// What is to be done in the context after it has been unmapped.
  void afterwards(std::function<void()> action);

 private:
  struct Held;
  std::unique_ptr<Held> held_;
};

}  // namespace detail
}  // namespace raylift
