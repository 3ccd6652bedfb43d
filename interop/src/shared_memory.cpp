// SPDX-License-Identifier: Apache-2.0
#include <GL/glew.h>
#include <raylift/geometry/error.h>
#include <raylift/interop/gl_context.h>
#include <raylift/interop/support.h>

#include <utility>

#include "cuda_link.h"
#include "gl_error.h"
#include "shared_memory_impl.h"

namespace raylift::detail {
namespace {

MapFlags flags_of(SharedOptions::Access access) {
  return access == SharedOptions::Access::read_only       ? MapFlags::read_only
         : access == SharedOptions::Access::write_discard ? MapFlags::write_discard
                                                          : MapFlags::none;
}

[[noreturn]] void refuse(const std::string& problem, std::string_view advice) {
  throw Error(ErrorKind::device, problem, {}, advice);
}

}  // namespace

SharedMemory::Impl::Impl(const Device& on, std::size_t size, const SharedOptions& with)
    : device(on), options(with), context(require_current_context("sharing a buffer")) {
  choose_way();
  allocate(size);
  context->attach(this);
}

void SharedMemory::Impl::choose_way() {
  if (options.sharing == Sharing::copied) {
    why_not = "copies were asked for";
    return;
  }
  if (device.info().is_host) {
    const GlInfo gl = gl_info();
    way = gl.software ? Way::in_place : Way::copied;
    // A GPU's buffer in host memory is slow for the GPU, and often for the CPU too.
    if (way == Way::copied) why_not = "the geometry is on the host device, and OpenGL draws on '" + gl.renderer + "'";
  } else {
    const InteropSupport support = interop_support(device);
    way = support.available ? Way::cuda : Way::copied;
    why_not = support.why_not;
    if (support.other_gpu)
      refuse("a buffer can't be shared: " + why_not,
             "use device cuda:" + std::to_string(support.cuda_device) +
                 ", or an OpenGL context on the other one, or ask for copies (Sharing::copied)");
  }
  if (way == Way::copied && options.sharing == Sharing::required)
    refuse("a buffer can't be shared: " + why_not, "draw and compute on one NVIDIA GPU, or allow copies");
}

void SharedMemory::Impl::allocate(std::size_t size) {
  buffer = way == Way::in_place ? GlBuffer::in_host_memory(size) : GlBuffer(size);
  bytes = size;
  if (way == Way::copied) twin = DeviceBuffer<std::byte>(device, size);
  if (way == Way::cuda)
    resource =
        cuda_register(device.info().cuda_device, buffer.id(), frozen ? MapFlags::read_only : flags_of(options.access));
}

/// Lets go of everything. `current`: its context is; otherwise CUDA and OpenGL let go as soon as it is.
void SharedMemory::Impl::release(bool current) noexcept {
  if (resource != nullptr) {
    const bool was_mapped = serial != 0;
    if (was_mapped && !current) wait_for(stream);
    // The stream may be gone by the time the context is current.
    const auto let_go = [on = device, was_mapped, held = resource, last = current ? stream : nullptr] {
      const int ordinal = on.info().cuda_device;
      try {
        if (was_mapped) cuda_unmap(ordinal, {&held, 1}, last);
      } catch (const Error&) {
        // Then the driver unmaps it when it is unregistered.
      }
      cuda_unregister(ordinal, held);
    };
    if (current)
      let_go();
    else
      context->when_current(let_go);
  }
  serial = 0;
  resource = nullptr;
  buffer.close();
  twin = {};
  bytes = 0;
}

void SharedMemory::Impl::wait_for(StreamHandle on) const noexcept {
  try {
    device.backend()->synchronize(on);
  } catch (const Error&) {
    // The device is in trouble; whoever uses it next hears of it.
  }
}

void SharedMemory::Impl::context_goes(bool current) noexcept {
  release(current);
  closed = true;
}

void SharedMemory::Impl::close() noexcept {
  // Else the context has closed it, or another call; after detach() that is over.
  if (context->detach(this)) release(context->is_current());
  closed = true;
}

void SharedMemory::Impl::copy_in(StreamHandle on) {
  if (frozen || bytes == 0 || options.access == SharedOptions::Access::write_discard) return;
  clear_gl_errors();
  if (device.info().is_host) {
    glGetNamedBufferSubData(buffer.id(), 0, static_cast<GLsizeiptr>(bytes), twin.device());
  } else {
    const PinnedPool::Block block = staging();
    in_chunks([&](std::size_t first, std::size_t count) {
      glGetNamedBufferSubData(buffer.id(), static_cast<GLintptr>(first), static_cast<GLsizeiptr>(count),
                              block.host().data());
      device.backend()->copy_to_device(twin.device() + first, block.host().data(), count, on);
      device.backend()->synchronize(on);
    });
  }
  check_gl("reading a buffer back from OpenGL");
}

void SharedMemory::Impl::copy_out(StreamHandle on) {
  if (frozen || bytes == 0 || options.access == SharedOptions::Access::read_only) return;
  clear_gl_errors();
  if (device.info().is_host) {
    device.backend()->synchronize(on);
    glNamedBufferSubData(buffer.id(), 0, static_cast<GLsizeiptr>(bytes), twin.device());
  } else {
    const PinnedPool::Block block = staging();
    in_chunks([&](std::size_t first, std::size_t count) {
      device.backend()->copy_to_host(block.host().data(), twin.device() + first, count, on);
      device.backend()->synchronize(on);
      glNamedBufferSubData(buffer.id(), static_cast<GLintptr>(first), static_cast<GLsizeiptr>(count),
                           block.host().data());
    });
  }
  check_gl("handing a buffer to OpenGL");
}

SharedMemory::SharedMemory(const Device& device, std::size_t bytes, const SharedOptions& options)
    : impl_(std::make_shared<Impl>(device, bytes, options)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  SharedMemory taken(std::move(other));
  std::swap(impl_, taken.impl_);
  return *this;
}

unsigned SharedMemory::id() const {
  return impl_ == nullptr ? 0 : impl_->buffer.id();
}

std::size_t SharedMemory::bytes() const {
  return impl_ == nullptr ? 0 : impl_->bytes;
}

bool SharedMemory::shares() const {
  return impl_ != nullptr && impl_->way != Way::copied;
}

const std::string& SharedMemory::why_not() const {
  static const std::string empty;
  return impl_ == nullptr ? empty : impl_->why_not;
}

bool SharedMemory::mapped() const {
  return impl_ != nullptr && impl_->serial != 0;
}

const Device& SharedMemory::device() const {
  return impl_->device;
}

const SharedOptions& SharedMemory::options() const {
  return impl_->options;
}

void SharedMemory::resize(std::size_t bytes) {
  if (impl_ == nullptr || impl_->closed) throw Error(ErrorKind::usage, "resizing a shared buffer that is closed");
  impl_->context->require_current("resizing a shared buffer");
  if (impl_->serial != 0)
    throw Error(ErrorKind::usage, "resizing a shared buffer that is mapped", {}, "end its mapping first");
  impl_->release(true);
  try {
    impl_->allocate(bytes);
  } catch (const Error&) {
    impl_->close();
    throw;
  }
}

void SharedMemory::freeze() {
  if (impl_ == nullptr || impl_->closed || impl_->frozen) return;
  if (impl_->serial != 0)
    throw Error(ErrorKind::usage, "freezing a shared buffer that is mapped", {}, "end its mapping first");
  impl_->context->require_current("freezing a shared buffer");
  if (impl_->resource != nullptr)
    cuda_set_flags(impl_->device.info().cuda_device, impl_->resource, MapFlags::read_only);
  impl_->frozen = true;
}

void SharedMemory::close() noexcept {
  if (impl_ != nullptr) impl_->close();
}

}  // namespace raylift::detail
