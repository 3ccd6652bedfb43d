// SPDX-License-Identifier: Apache-2.0
#include "gl_buffer.h"
#include <GL/glew.h>
#include <raylift/geometry/error.h>
#include <raylift/interop/gl_context.h>

#include <string>
#include <utility>

#include "context_state.h"
#include "gl_error.h"

namespace raylift {

GlBuffer::GlBuffer(std::size_t bytes) : GlBuffer(bytes, false) {}

GlBuffer GlBuffer::in_host_memory(std::size_t bytes) {
  return GlBuffer(bytes, true);
}

GlBuffer::GlBuffer(std::size_t bytes, bool in_host_memory) : bytes_(bytes) {
  const std::string what = "making an OpenGL buffer of " + std::to_string(bytes) + " bytes";
  context_ = detail::require_current_context(what);
  if (glCreateBuffers == nullptr) (void)init_gl();  // in a context that raylift did not make
  // A buffer without memory can neither be mapped nor shared.
  const auto size = static_cast<GLsizeiptr>(bytes == 0 ? 1 : bytes);
  if (size < 0) throw Error(ErrorKind::out_of_device_memory, what + " failed: that is more than any memory");
  detail::clear_gl_errors();
  glCreateBuffers(1, &id_);
  try {
    if (in_host_memory) {
      const GLbitfield flags = GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
      glNamedBufferStorage(id_, size, nullptr, flags | GL_DYNAMIC_STORAGE_BIT);
      detail::check_gl(what);
      host_ = static_cast<std::byte*>(glMapNamedBufferRange(id_, 0, size, flags));
      detail::check_gl("mapping an OpenGL buffer of " + std::to_string(bytes) + " bytes");
      if (host_ == nullptr) throw Error(ErrorKind::device, what + " failed: OpenGL does not map it");
    } else {
      glNamedBufferData(id_, size, nullptr, GL_DYNAMIC_DRAW);
      detail::check_gl(what);
    }
  } catch (const Error&) {
    glDeleteBuffers(1, &id_);
    throw;
  }
}

GlBuffer::GlBuffer(GlBuffer&& other) noexcept
    : context_(std::move(other.context_)),
      id_(std::exchange(other.id_, 0)),
      bytes_(std::exchange(other.bytes_, 0)),
      host_(std::exchange(other.host_, nullptr)) {}

GlBuffer& GlBuffer::operator=(GlBuffer&& other) noexcept {
  GlBuffer taken(std::move(other));
  std::swap(context_, taken.context_);
  std::swap(id_, taken.id_);
  std::swap(bytes_, taken.bytes_);
  std::swap(host_, taken.host_);
  return *this;
}

void GlBuffer::close() noexcept {
  if (id_ != 0) context_->when_current([id = id_] { glDeleteBuffers(1, &id); });  // unmaps it too
  context_.reset();
  id_ = 0;
  bytes_ = 0;
  host_ = nullptr;
}

}  // namespace raylift
