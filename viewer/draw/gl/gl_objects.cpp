// SPDX-License-Identifier: Apache-2.0
#include "draw/gl/gl_objects.h"

#include <raylift/geometry/error.h>
#include <raylift/gpu/memory/residency.h>

#include <algorithm>
#include <array>

namespace raylift::viewer {
namespace {

template <class ReadLog>
[[noreturn]] void refuse(const std::string& work, GLuint name, const ReadLog& read_log) {
  std::array<char, 2048> log{};
  read_log(name, static_cast<GLsizei>(log.size()), nullptr, log.data());
  throw Error(ErrorKind::device, "the OpenGL driver does not " + work + ": " + log.data(), {},
              "try --gl software, or another driver");
}

void compile(GLuint program, GLenum kind, std::string_view defines, std::string_view source) {
  const GLuint shader = glCreateShader(kind);
  constexpr std::string_view kVersion = "#version 450 core\n";
  const std::array<const char*, 3> texts{kVersion.data(), defines.data(), source.data()};
  const std::array<GLint, 3> lengths{static_cast<GLint>(kVersion.size()), static_cast<GLint>(defines.size()),
                                     static_cast<GLint>(source.size())};
  glShaderSource(shader, 3, texts.data(), lengths.data());
  glCompileShader(shader);
  glAttachShader(program, shader);
  glDeleteShader(shader);  // deferred until the program is deleted
  GLint good = GL_FALSE;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
  if (good != GL_TRUE) refuse("compile a shader", shader, glGetShaderInfoLog);
}

void link(GLuint program) {
  glLinkProgram(program);
  GLint good = GL_FALSE;
  glGetProgramiv(program, GL_LINK_STATUS, &good);
  if (good != GL_TRUE) refuse("link a program", program, glGetProgramInfoLog);
}

}  // namespace

Buffer make_buffer(const void* data, std::size_t bytes, GLbitfield flags) {
  GLuint name = 0;
  glCreateBuffers(1, &name);
  Buffer buffer(name);
  glNamedBufferStorage(name, static_cast<GLsizeiptr>(std::max<std::size_t>(bytes, 16)), bytes < 16 ? nullptr : data,
                       flags | (bytes < 16 ? GLbitfield{GL_DYNAMIC_STORAGE_BIT} : GLbitfield{0}));
  if (bytes > 0 && bytes < 16 && data != nullptr) glNamedBufferSubData(name, 0, static_cast<GLsizeiptr>(bytes), data);
  check_gl("putting " + human_bytes(bytes) + " into an OpenGL buffer");
  return buffer;
}

Buffer make_stream_buffer() {
  GLuint name = 0;
  glCreateBuffers(1, &name);
  return Buffer(name);
}

void refill(const Buffer& buffer, const void* data, std::size_t bytes) {
  // New storage each time: the driver need not wait for images that still read the old one.
  glNamedBufferData(buffer.name(), static_cast<GLsizeiptr>(std::max<std::size_t>(bytes, 16)),
                    bytes < 16 ? nullptr : data, GL_STREAM_DRAW);
  if (bytes > 0 && bytes < 16) glNamedBufferSubData(buffer.name(), 0, static_cast<GLsizeiptr>(bytes), data);
}

VertexArray make_vertex_array() {
  GLuint name = 0;
  glCreateVertexArrays(1, &name);
  return VertexArray(name);
}

Texture make_texture(GLenum target) {
  GLuint name = 0;
  glCreateTextures(target, 1, &name);
  return Texture(name);
}

Renderbuffer make_renderbuffer(GLenum format, int width, int height, int samples) {
  GLuint name = 0;
  glCreateRenderbuffers(1, &name);
  Renderbuffer buffer(name);
  glNamedRenderbufferStorageMultisample(name, samples, format, width, height);
  check_gl("making an image of " + std::to_string(width) + " x " + std::to_string(height) + " pixels");
  return buffer;
}

Framebuffer make_framebuffer() {
  GLuint name = 0;
  glCreateFramebuffers(1, &name);
  return Framebuffer(name);
}

void check_complete(const Framebuffer& framebuffer) {
  const GLenum status = glCheckNamedFramebufferStatus(framebuffer.name(), GL_FRAMEBUFFER);
  if (status == GL_FRAMEBUFFER_COMPLETE) return;
  throw Error(ErrorKind::device,
              "the OpenGL driver does not support this framebuffer (status " + std::to_string(status) + ")", {},
              "try fewer --samples, or --gl software");
}

Program make_program(std::string_view vertex, std::string_view fragment, std::string_view defines) {
  Program program(glCreateProgram());
  compile(program.name(), GL_VERTEX_SHADER, defines, vertex);
  compile(program.name(), GL_FRAGMENT_SHADER, defines, fragment);
  link(program.name());
  return program;
}

Program make_compute_program(std::string_view source, std::string_view defines) {
  Program program(glCreateProgram());
  compile(program.name(), GL_COMPUTE_SHADER, defines, source);
  link(program.name());
  return program;
}

void check_gl(std::string_view what) {
  const GLenum code = glGetError();
  if (code == GL_NO_ERROR) return;
  // Later errors follow from the first. A lost context may report them without end.
  for (int i = 0; i < 16 && glGetError() != GL_NO_ERROR; ++i) {
  }
  if (code == GL_OUT_OF_MEMORY)
    throw Error(ErrorKind::out_of_device_memory, "OpenGL's memory ran out while " + std::string(what), {},
                "draw a smaller scene or image");
  throw Error(ErrorKind::device, "OpenGL error " + std::to_string(code) + " while " + std::string(what));
}

}  // namespace raylift::viewer
