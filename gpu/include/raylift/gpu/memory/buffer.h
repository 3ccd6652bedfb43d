// SPDX-License-Identifier: Apache-2.0
// Arrays that kernels read, owned: on the device, in pinned host memory, or in one address range over both.
#pragma once

#include <raylift/gpu/memory/device_span.h>
#include <raylift/gpu/memory/memory.h>

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

namespace raylift {

namespace detail {

/// Owns its elements, and is gone at the end of the statement.
template <class Range>
concept Temporary =
    !std::is_lvalue_reference_v<Range> && std::ranges::contiguous_range<Range> && !std::ranges::borrowed_range<Range>;

[[noreturn]] void refuse_size();
template <class T>
std::size_t bytes_of(std::size_t count) {
  if (count > PTRDIFF_MAX / sizeof(T)) refuse_size();
  return count * sizeof(T);
}

/// Throws Error(usage) where an array of `whole` elements does not hold `count` of them from `first` on.
void check_range(std::size_t first, std::size_t count, std::size_t whole);

/// Memory as an array of T: what the arrays below have in common. Move-only.
template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// For kernels.
  [[nodiscard]] T* device() const { return memory_.as<T>(); }
  [[nodiscard]] std::size_t size() const { return memory_.bytes() / sizeof(T); }
  [[nodiscard]] DeviceSpan<T> span() const { return {device(), size()}; }
  [[nodiscard]] DeviceSpan<const T> view() const { return {device(), size()}; }
  [[nodiscard]] detail::Backend* backend() const { return memory_.backend(); }
  /// Moves its memory out.
  [[nodiscard]] Memory take() && { return std::move(memory_); }

  /// Copies to elements `first` and after, in the stream's order. `source` must stay until the stream is past the copy.
  void copy_from(std::span<const T> source, StreamRef stream, std::size_t first = 0) {
    check_range(first, source.size(), size());
    memory_.copy_from(std::as_bytes(source), stream, first * sizeof(T));
  }
  /// Nothing is copied from a temporary, which would be gone before the copy.
  template <Temporary Range>
  void copy_from(Range&& temporary, StreamRef, std::size_t = 0) = delete;
  /// Copies from elements `first` and after. `target` is filled once the stream is past the copy.
  void copy_to(std::span<T> target, StreamRef stream, std::size_t first = 0) const {
    check_range(first, target.size(), size());
    memory_.copy_to(std::as_writable_bytes(target), stream, first * sizeof(T));
  }

 protected:
  Array() = default;
  explicit Array(Memory memory) : memory_(std::move(memory)) {}
  [[nodiscard]] const Memory& memory() const { return memory_; }

 private:
  Memory memory_;
};

}  // namespace detail

/// `size` elements in device memory, not initialised. Releasing it waits for the device.
template <class T>
class DeviceBuffer : public detail::Array<T> {
 public:
  DeviceBuffer() = default;
  /// Throws Error: usage for a size that no memory has, as all of these, out_of_device_memory, device.
  DeviceBuffer(const Device& device, std::size_t size)
      : detail::Array<T>(Memory::on_device(device, detail::bytes_of<T>(size))) {}
};

/// The same out of the device's pool: see Memory::pooled.
template <class T>
class PooledBuffer : public detail::Array<T> {
 public:
  PooledBuffer(const Device& device, StreamRef stream, std::size_t size)
      : detail::Array<T>(Memory::pooled(device, stream, detail::bytes_of<T>(size))) {}
};

/// `size` elements in pinned host memory that kernels read over the link. Not initialised. The host writes at host();
/// where it is write-combined (the default) the host must never read it. Releasing it waits for the device.
template <class T>
class MappedBuffer : public detail::Array<T> {
 public:
  MappedBuffer() = default;
  /// Throws Error: out_of_host_memory, device.
  MappedBuffer(const Device& device, std::size_t size, PinnedFlags flags = {})
      : detail::Array<T>(Memory::mapped(device, detail::bytes_of<T>(size), flags)), flags_(flags) {}

  [[nodiscard]] std::span<T> host() const {
    return {reinterpret_cast<T*>(this->memory().host_part().data()), this->size()};
  }
  [[nodiscard]] PinnedFlags flags() const { return flags_; }

 private:
  PinnedFlags flags_;
};

/// `size` elements in one address range for kernels, the first of them in device memory, the rest in host memory. Only
/// where DeviceInfo::splits_arrays.
template <class T>
class SplitBuffer : public detail::Array<T> {
 public:
  SplitBuffer() = default;
  /// `device_bytes` is rounded down to whole pages. Throws what Memory::split does.
  SplitBuffer(const Device& device, std::size_t size, std::size_t device_bytes)
      : detail::Array<T>(Memory::split(device, detail::bytes_of<T>(size), device_bytes)) {}

  [[nodiscard]] std::size_t device_bytes() const { return this->memory().device_bytes(); }
  /// The part in host memory, for the CPU to write: the bytes after device_bytes().
  [[nodiscard]] std::span<std::byte> host_part() const { return this->memory().host_part(); }
};

/// Pins `values` in place, so that copies from them need no staging and kernels can read them: Memory::registered().
template <class T>
[[nodiscard]] Memory register_host_memory(const Device& device, std::span<T> values) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>);
  return Memory::registered(device, std::as_writable_bytes(values), {true, true, false});
}

}  // namespace raylift
