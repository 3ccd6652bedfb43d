// SPDX-License-Identifier: Apache-2.0
// A buffer that OpenGL draws from and kernels read and write. On an NVIDIA GPU that does both it is one piece of
// memory, registered with CUDA once and mapped for as long as kernels use it:
//
//   raylift::SharedBuffer<raylift::Float3> points(device, 1'000'000);
//   {
//     const auto mapping = points.map(stream);
//     kernel<<<blocks, threads, 0, cuda_stream>>>(mapping.span());   // on the stream that it was mapped with
//   }                                                                // unmapped: OpenGL waits for the kernel
//   glVertexArrayVertexBuffer(array, 0, points.id(), 0, sizeof(raylift::Float3));
//
// The host device and a context that draws on the CPU share memory too. Everything else is done by copies, behind the
// same class: mapping brings the bytes to the device, unmapping takes them back.
#pragma once

#include <raylift/gpu/memory/buffer.h>
#include <raylift/interop/shared_memory.h>

#include <array>
#include <tuple>
#include <type_traits>

namespace raylift::inline v0_1 {

template <class T>
class SharedBuffer;

/// Buffers mapped for kernels, until its end. A device address may be another one at the next map, so spans are handed
/// out by a mapping with a name alone, and must not be used after it. Ends on the thread on which the context is
/// current; elsewhere the buffer stays mapped until something else is done with it there. The stream must outlive it.
/// Move-only.
template <class... T>
class Mapping {
  template <std::size_t I>
  using Element = std::tuple_element_t<I, std::tuple<T...>>;

 public:
  /// Of the `I`-th buffer.
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

/// `size` elements that both OpenGL and kernels of a device reach. Not initialised. Move-only. Made, mapped and resized
/// where the OpenGL context is current; goes anywhere, also after its context.
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
  /// Whether it is one memory for both. Otherwise why_not() says why it is two.
  [[nodiscard]] bool shares() const { return memory_.shares(); }
  [[nodiscard]] const std::string& why_not() const { return memory_.why_not(); }

  /// Another size, with nothing of the old elements; OpenGL's name changes. Throws Error(usage) while it is mapped.
  void resize(std::size_t size) {
    memory_.resize(detail::bytes_of<T>(size));
    size_ = size;
  }
  /// Says that neither side writes any more. Mapping then copies nothing.
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

}  // namespace raylift::inline v0_1
