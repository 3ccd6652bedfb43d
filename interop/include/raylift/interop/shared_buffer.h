// SPDX-License-Identifier: Apache-2.0
// A buffer that OpenGL draws from and kernels read and write. If both run on the
// same NVIDIA GPU, it is one block of memory, registered with CUDA once and mapped for as long as kernels use it:
//
//   raylift::SharedBuffer<raylift::Float3> points(device, 1'000'000);
//   {
//     const auto mapping = points.map(stream);
//     kernel<<<blocks, threads, 0, cuda_stream>>>(mapping.span());   // on the stream that it was mapped with
//   }                                                                // unmapped: OpenGL waits for the kernel
//   glVertexArrayVertexBuffer(array, 0, points.id(), 0, sizeof(raylift::Float3));
//
// The host device and a context that draws on the CPU share memory too. Otherwise the same class copies: mapping copies
// the bytes to the device, unmapping copies them back.
#pragma once

#include <raylift/gpu/memory/buffer.h>
#include <raylift/interop/shared_memory.h>

#include <array>
#include <tuple>
#include <type_traits>

namespace raylift {

template <class T>
class SharedBuffer;

/// A scope in which buffers are mapped for kernels. Device addresses may change at the next map, so only a named
/// mapping returns spans, and they must not be used after it. Must end on the thread on which the context is current;
/// otherwise the buffer stays mapped until the next operation on it there. The stream must outlive it. Move-only.
template <class... T>
class Mapping {
  template <std::size_t I>
  using Element = std::tuple_element_t<I, std::tuple<T...>>;

 public:
  /// The elements of the `I`-th buffer.
  template <std::size_t I = 0>
  [[nodiscard]] DeviceSpan<Element<I>> span() const& {
    return {reinterpret_cast<Element<I>*>(memory_.device(I)), sizes_[I]};
  }
  /// A temporary mapping is over at the end of the statement, and its addresses with it.
  template <std::size_t I = 0>
  DeviceSpan<Element<I>> span() && = delete;

  /// Ends it now. Throws Error: usage on a wrong thread, device. Again does nothing.
  void unmap() { memory_.unmap(); }

 private:
  template <class... U>
  friend Mapping<U...> map_together(StreamRef, SharedBuffer<U>&...);
  Mapping(detail::MappedMemory memory, std::array<std::size_t, sizeof...(T)> sizes)
      : memory_(std::move(memory)), sizes_(sizes) {}

  detail::MappedMemory memory_;
  std::array<std::size_t, sizeof...(T)> sizes_;
};

/// Maps several buffers by one call to CUDA, which costs little more than one buffer does. All belong to one device and
/// one context. Throws Error: usage where one is mapped already or closed, or where the context that it was made in is
/// not current on this thread; device.
template <class... T>
[[nodiscard]] Mapping<T...> map_together(StreamRef stream, SharedBuffer<T>&... buffers) {
  const std::array<const detail::SharedMemory*, sizeof...(T)> memories{&buffers.memory_...};
  return Mapping<T...>(detail::MappedMemory(memories, stream), {buffers.size()...});
}

/// `size` elements that both OpenGL and kernels of a device access. Not initialised. Move-only. Created, mapped and
/// resized on the thread where the OpenGL context is current; may be destroyed on any thread, also after its context.
template <class T>
class SharedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SharedBuffer() = default;
  /// In the current context. Throws Error: no_display where there is none; device where it is on another GPU than the
  /// device, or where sharing is required and not possible; out_of_device_memory.
  SharedBuffer(const Device& device, std::size_t size, const SharedOptions& options = {})
      : memory_(device, detail::bytes_of<T>(size), options), size_(size) {}
  SharedBuffer(SharedBuffer&& other) noexcept
      : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
  SharedBuffer& operator=(SharedBuffer&& other) noexcept {
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  /// For kernels on `stream`. Errors as map_together's.
  [[nodiscard]] Mapping<T> map(StreamRef stream) { return map_together(stream, *this); }

  /// OpenGL's name of the buffer; 0 after close().
  [[nodiscard]] unsigned id() const { return memory_.id(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return memory_.bytes(); }
  /// Whether both share one block of memory; otherwise why_not() gives the reason.
  [[nodiscard]] bool shares() const { return memory_.shares(); }
  [[nodiscard]] const std::string& why_not() const { return memory_.why_not(); }

  /// Changes the size; the old elements are lost, and OpenGL's name changes. Throws Error(usage) while it is mapped.
  void resize(std::size_t size) {
    memory_.resize(detail::bytes_of<T>(size));
    size_ = size;
  }
  /// Declares that neither side writes any more. Mapping then copies nothing.
  void freeze() { memory_.freeze(); }
  /// Unmaps, unregisters and deletes it. Again, or after its context has gone, does nothing.
  void close() noexcept {
    memory_.close();
    size_ = 0;
  }

 private:
  template <class... U>
  friend Mapping<U...> map_together(StreamRef, SharedBuffer<U>&...);

  detail::SharedMemory memory_;
  std::size_t size_ = 0;
};

}  // namespace raylift
