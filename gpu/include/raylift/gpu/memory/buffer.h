// SPDX-License-Identifier: Apache-2.0
// Memory that kernels read, owned: on the device, in pinned host memory, or in one address range over both.
#pragma once

#include <raylift/geometry/error.h>
#include <raylift/gpu/device/device.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

namespace raylift {

/// A device address and a number of elements. Not owning; a kernel may take it by value.
template <class T>
struct DeviceSpan {
  T* data = nullptr;
  std::size_t size = 0;
};

namespace detail {

/// Shared by the owners: move-only, empty after a move. What they held before an assignment is released by it.
template <class Block>
class Owner {
 public:
  Owner() = default;
  Owner(std::shared_ptr<Backend> backend, Block block) : backend_(std::move(backend)), block_(block) {}
  Owner(Owner&& other) noexcept : backend_(std::move(other.backend_)), block_(std::exchange(other.block_, {})) {}
  Owner& operator=(Owner&&) = delete;
  [[nodiscard]] Backend* backend() const { return backend_.get(); }
  [[nodiscard]] const Block& block() const { return block_; }

 protected:
  ~Owner() = default;
  void swap(Owner& other) noexcept {
    std::swap(backend_, other.backend_);
    std::swap(block_, other.block_);
  }

 private:
  std::shared_ptr<Backend> backend_;
  Block block_{};
};

struct DeviceBlock {
  void* device = nullptr;
};

/// Owns its elements, and is gone at the end of the statement.
template <class Range>
concept Temporary =
    !std::is_lvalue_reference_v<Range> && std::ranges::contiguous_range<Range> && !std::ranges::borrowed_range<Range>;

template <class T>
std::size_t bytes_of(std::size_t count) {
  if (count > static_cast<std::size_t>(-1) / sizeof(T))
    throw Error(ErrorKind::usage, "an array is larger than any memory");
  return count * sizeof(T);
}

/// An array of `whole` elements does not hold `count` of them from `first` on.
inline void check_range(std::size_t first, std::size_t count, std::size_t whole) {
  if (first > whole || count > whole - first)
    throw Error(ErrorKind::usage, "a copy of " + std::to_string(count) + " elements at " + std::to_string(first) +
                                      " leaves an array of " + std::to_string(whole));
}

}  // namespace detail

/// `size` elements in device memory, not initialised. Releasing it waits for the device.
template <class T>
class DeviceBuffer : public detail::Owner<detail::DeviceBlock> {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  DeviceBuffer() = default;
  /// Throws Error: out_of_device_memory, device.
  DeviceBuffer(const Device& device, std::size_t size)
      : Owner(device.backend(), {size == 0 ? nullptr : device.backend()->allocate(detail::bytes_of<T>(size))}),
        size_(size) {}
  ~DeviceBuffer() {
    if (backend() != nullptr && block().device != nullptr) backend()->release(block().device);
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept : Owner(std::move(other)), size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    DeviceBuffer taken(std::move(other));
    this->swap(taken);
    std::swap(size_, taken.size_);
    return *this;
  }

  [[nodiscard]] T* device() const { return static_cast<T*>(block().device); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] DeviceSpan<T> span() const { return {device(), size_}; }
  [[nodiscard]] DeviceSpan<const T> view() const { return {device(), size_}; }

  /// Copies to elements `first` and after, in the stream's order. `source` must stay until the stream is past the copy.
  void copy_from(std::span<const T> source, const Stream& stream, std::size_t first = 0) {
    detail::check_range(first, source.size(), size_);
    if (!source.empty())
      backend()->copy_to_device(device() + first, source.data(), source.size_bytes(), stream.handle());
  }
  /// Nothing is copied from a temporary, which would be gone before the copy.
  template <detail::Temporary Range>
  void copy_from(Range&& temporary, const Stream&, std::size_t = 0) = delete;
  /// Copies from elements `first` and after. `target` is filled once the stream is past the copy.
  void copy_to(std::span<T> target, const Stream& stream, std::size_t first = 0) const {
    detail::check_range(first, target.size(), size_);
    if (!target.empty()) backend()->copy_to_host(target.data(), device() + first, target.size_bytes(), stream.handle());
  }

 private:
  std::size_t size_ = 0;
};

/// `size` elements in pinned host memory that kernels read over the link. Not initialised. The host writes at host();
/// where it is write-combined (the default) the host must never read it. Releasing it waits for the device.
template <class T>
class MappedBuffer : public detail::Owner<HostBlock> {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  MappedBuffer() = default;
  /// Throws Error: out_of_host_memory, device.
  MappedBuffer(const Device& device, std::size_t size, PinnedFlags flags = {})
      : Owner(device.backend(),
              size == 0 ? HostBlock{} : device.backend()->allocate_pinned(detail::bytes_of<T>(size), flags)),
        size_(size),
        flags_(flags) {}
  ~MappedBuffer() {
    if (backend() != nullptr && block().host != nullptr) backend()->release_pinned(block());
  }
  MappedBuffer(MappedBuffer&& other) noexcept
      : Owner(std::move(other)), size_(std::exchange(other.size_, 0)), flags_(other.flags_) {}
  MappedBuffer& operator=(MappedBuffer&& other) noexcept {
    MappedBuffer taken(std::move(other));
    this->swap(taken);
    std::swap(size_, taken.size_);
    std::swap(flags_, taken.flags_);
    return *this;
  }

  [[nodiscard]] std::span<T> host() const { return {static_cast<T*>(block().host), size_}; }
  /// For kernels. Null where the memory is pinned but not mapped.
  [[nodiscard]] T* device() const { return static_cast<T*>(block().device); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] PinnedFlags flags() const { return flags_; }
  [[nodiscard]] DeviceSpan<T> span() const { return {device(), size_}; }
  [[nodiscard]] DeviceSpan<const T> view() const { return {device(), size_}; }

 private:
  std::size_t size_ = 0;
  PinnedFlags flags_;
};

/// `size` elements in one address range for kernels, the first of them in device memory, the rest in host memory. Only
/// where DeviceInfo::splits_arrays.
template <class T>
class SplitBuffer : public detail::Owner<SplitBlock> {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SplitBuffer() = default;
  /// `device_bytes` is rounded down to whole pages. Throws Error: out_of_device_memory, out_of_host_memory, device, and
  /// usage where nothing would be left for one of the parts.
  SplitBuffer(const Device& device, std::size_t size, std::size_t device_bytes)
      : Owner(device.backend(), allocate(device, detail::bytes_of<T>(size), device_bytes)), size_(size) {}
  ~SplitBuffer() {
    if (backend() != nullptr && block().device != nullptr) backend()->release_split(block());
  }
  SplitBuffer(SplitBuffer&& other) noexcept : Owner(std::move(other)), size_(std::exchange(other.size_, 0)) {}
  SplitBuffer& operator=(SplitBuffer&& other) noexcept {
    SplitBuffer taken(std::move(other));
    this->swap(taken);
    std::swap(size_, taken.size_);
    return *this;
  }

  [[nodiscard]] T* device() const { return static_cast<T*>(block().device); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t device_bytes() const { return block().device_bytes; }
  /// The part in host memory, for the CPU to write: the bytes after device_bytes().
  [[nodiscard]] std::span<std::byte> host_part() const {
    return {static_cast<std::byte*>(block().host_part), detail::bytes_of<T>(size_) - block().device_bytes};
  }
  [[nodiscard]] DeviceSpan<T> span() const { return {device(), size_}; }
  [[nodiscard]] DeviceSpan<const T> view() const { return {device(), size_}; }

  /// As DeviceBuffer's. Copies each part on its own: one copy across the boundary crashes the driver.
  void copy_from(std::span<const T> source, const Stream& stream, std::size_t first = 0) {
    detail::check_range(first, source.size(), size_);
    const auto* from = reinterpret_cast<const std::byte*>(source.data());
    by_part(first, source.size(), [&](std::byte* part, std::size_t offset, std::size_t bytes) {
      backend()->copy_to_device(part, from + offset, bytes, stream.handle());
    });
  }
  /// Nothing is copied from a temporary, which would be gone before the copy.
  template <detail::Temporary Range>
  void copy_from(Range&& temporary, const Stream&, std::size_t = 0) = delete;
  void copy_to(std::span<T> target, const Stream& stream, std::size_t first = 0) const {
    detail::check_range(first, target.size(), size_);
    auto* to = reinterpret_cast<std::byte*>(target.data());
    by_part(first, target.size(), [&](const std::byte* part, std::size_t offset, std::size_t bytes) {
      backend()->copy_to_host(to + offset, part, bytes, stream.handle());
    });
  }

 private:
  static SplitBlock allocate(const Device& device, std::size_t bytes, std::size_t device_bytes) {
    const std::size_t page = device.info().page_bytes;
    if (!device.info().splits_arrays || page == 0)
      throw Error(ErrorKind::device, device.info().id + " can't back one address range by device and host memory");
    device_bytes = device_bytes / page * page;
    if (device_bytes == 0 || device_bytes >= bytes)
      throw Error(ErrorKind::usage, "a split needs at least one page on each side: " + std::to_string(device_bytes) +
                                        " of " + std::to_string(bytes) + " bytes on the device");
    return device.backend()->allocate_split(device_bytes, bytes - device_bytes);
  }

  template <class Copy>
  void by_part(std::size_t first, std::size_t count, const Copy& copy) const {
    auto* base = static_cast<std::byte*>(block().device);
    const std::size_t begin = first * sizeof(T);
    const std::size_t end = begin + count * sizeof(T);
    const std::size_t boundary = std::min(std::max(block().device_bytes, begin), end);
    if (boundary > begin) copy(base + begin, std::size_t{0}, boundary - begin);
    if (end > boundary) copy(base + boundary, boundary - begin, end - boundary);
  }

  std::size_t size_ = 0;
};

/// Pins memory of the caller's for its life, so that copies from it need no staging and kernels can read it. The memory
/// must outlive it.
class RegisteredMemory : public detail::Owner<HostBlock> {
 public:
  /// Throws Error: usage for an empty range, out_of_host_memory, device.
  RegisteredMemory(const Device& device, std::span<std::byte> memory, PinnedFlags flags = {true, true, false});
  ~RegisteredMemory() {
    if (backend() != nullptr && block().host != nullptr) backend()->unregister_host(block());
  }
  RegisteredMemory(RegisteredMemory&&) noexcept = default;
  RegisteredMemory& operator=(RegisteredMemory&& other) noexcept {
    RegisteredMemory taken(std::move(other));
    swap(taken);
    return *this;
  }

  [[nodiscard]] std::byte* host() const { return static_cast<std::byte*>(block().host); }
  [[nodiscard]] std::byte* device() const { return static_cast<std::byte*>(block().device); }
  [[nodiscard]] std::size_t size() const { return block().bytes; }
};

/// Pins `values` in place.
template <class T>
[[nodiscard]] RegisteredMemory register_host_memory(const Device& device, std::span<T> values) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>);
  return RegisteredMemory(device, std::as_writable_bytes(values));
}

}  // namespace raylift
