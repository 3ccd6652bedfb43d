// SPDX-License-Identifier: Apache-2.0
// RAII owners of OpenGL objects, and programs compiled from source. Making and destroying them needs a current context.
#pragma once

#include <GL/glew.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace raylift::viewer {

/// Owns the name of a GL object. Move-only; 0 when empty.
template <class Kind>
class GlObject {
 public:
  GlObject() = default;
  explicit GlObject(GLuint name) : name_(name) {}
  ~GlObject() {
    if (name_ != 0) Kind::destroy(name_);
  }
  GlObject(GlObject&& other) noexcept : name_(std::exchange(other.name_, 0)) {}
  GlObject& operator=(GlObject&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }
  [[nodiscard]] GLuint name() const { return name_; }
  explicit operator bool() const { return name_ != 0; }

 private:
  GLuint name_ = 0;
};

struct BufferKind {
  static void destroy(GLuint name) { glDeleteBuffers(1, &name); }
};
struct VertexArrayKind {
  static void destroy(GLuint name) { glDeleteVertexArrays(1, &name); }
};
struct TextureKind {
  static void destroy(GLuint name) { glDeleteTextures(1, &name); }
};
struct RenderbufferKind {
  static void destroy(GLuint name) { glDeleteRenderbuffers(1, &name); }
};
struct FramebufferKind {
  static void destroy(GLuint name) { glDeleteFramebuffers(1, &name); }
};
struct ProgramKind {
  static void destroy(GLuint name) { glDeleteProgram(name); }
};
using Buffer = GlObject<BufferKind>;
using VertexArray = GlObject<VertexArrayKind>;
using Texture = GlObject<TextureKind>;
using Renderbuffer = GlObject<RenderbufferKind>;
using Framebuffer = GlObject<FramebufferKind>;
using Program = GlObject<ProgramKind>;

/// A buffer with these bytes, at least 16 bytes large: GL rejects size 0. Errors: out_of_device_memory.
[[nodiscard]] Buffer make_buffer(const void* data, std::size_t bytes, GLbitfield flags = 0);
template <class T>
[[nodiscard]] Buffer make_buffer(std::span<const T> values, GLbitfield flags = 0) {
  return make_buffer(values.data(), values.size_bytes(), flags);
}
/// A buffer whose contents come anew with each image, by refill().
[[nodiscard]] Buffer make_stream_buffer();
void refill(const Buffer& buffer, const void* data, std::size_t bytes);
template <class T>
void refill(const Buffer& buffer, std::span<const T> values) {
  refill(buffer, values.data(), values.size_bytes());
}
[[nodiscard]] VertexArray make_vertex_array();
[[nodiscard]] Texture make_texture(GLenum target);
[[nodiscard]] Renderbuffer make_renderbuffer(GLenum format, int width, int height, int samples);
[[nodiscard]] Framebuffer make_framebuffer();
/// Throws Error(device) with GL's status where the framebuffer is incomplete.
void check_complete(const Framebuffer& framebuffer);

/// Compiles and links a program. `defines`, such as "#define SMOOTH\n", follow #version. Throws Error(device) with the
/// compiler's log.
[[nodiscard]] Program make_program(std::string_view vertex, std::string_view fragment, std::string_view defines = "");
[[nodiscard]] Program make_compute_program(std::string_view source, std::string_view defines = "");

/// Throws GL's pending error, if any: out_of_device_memory or device. `what` names the operation.
void check_gl(std::string_view what);

}  // namespace raylift::viewer
