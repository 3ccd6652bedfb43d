// SPDX-License-Identifier: Apache-2.0
// A picture out of a vertex buffer, as a viewer draws it, but small.
#include "fixture.h"

namespace raylift::test {
namespace {

const char* const kVertexShader = R"(#version 450 core
layout(location = 0) in vec3 position;
layout(location = 0) uniform float scale;
void main() { gl_Position = vec4(position.xy * scale, 0.0, 1.0); }
)";

const char* const kFragmentShader = R"(#version 450 core
layout(location = 0) out vec4 color;
void main() { color = vec4(1.0); }
)";

GLuint make_program() {
  const GLuint program = glCreateProgram();
  for (const auto& [type, source] :
       {std::pair(GL_VERTEX_SHADER, kVertexShader), std::pair(GL_FRAGMENT_SHADER, kFragmentShader)}) {
    const GLuint shader = glCreateShader(static_cast<GLenum>(type));
    glShaderSource(shader, 1, &source, nullptr);
    glCompileShader(shader);
    glAttachShader(program, shader);
    glDeleteShader(shader);
  }
  glLinkProgram(program);
  GLint linked = 0;
  glGetProgramiv(program, GL_LINK_STATUS, &linked);
  EXPECT_EQ(linked, GL_TRUE);
  return program;
}

}  // namespace

std::vector<std::uint32_t> draw(unsigned vertex_buffer, std::size_t vertices, unsigned triangle_buffer,
                                std::size_t triangles, int side, float scale) {
  const GLuint program = make_program();
  GLuint texture = 0;
  GLuint framebuffer = 0;
  GLuint array = 0;
  glCreateTextures(GL_TEXTURE_2D, 1, &texture);
  glTextureStorage2D(texture, 1, GL_RGBA8, side, side);
  glCreateFramebuffers(1, &framebuffer);
  glNamedFramebufferTexture(framebuffer, GL_COLOR_ATTACHMENT0, texture, 0);
  glCreateVertexArrays(1, &array);
  glEnableVertexArrayAttrib(array, 0);
  glVertexArrayAttribFormat(array, 0, 3, GL_FLOAT, GL_FALSE, 0);
  glVertexArrayAttribBinding(array, 0, 0);
  glVertexArrayVertexBuffer(array, 0, vertex_buffer, 0, 12);

  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  glViewport(0, 0, side, side);
  glClearColor(0, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  glUseProgram(program);
  glUniform1f(0, scale);
  glBindVertexArray(array);
  if (triangle_buffer == 0) {
    glDrawArrays(GL_TRIANGLES, 0, static_cast<GLsizei>(vertices));
  } else {
    glVertexArrayElementBuffer(array, triangle_buffer);
    glDrawElements(GL_TRIANGLES, static_cast<GLsizei>(3 * triangles), GL_UNSIGNED_INT, nullptr);
  }
  std::vector<std::uint32_t> pixels(static_cast<std::size_t>(side) * static_cast<std::size_t>(side));
  glGetTextureImage(texture, 0, GL_RGBA, GL_UNSIGNED_BYTE, static_cast<GLsizei>(pixels.size() * 4), pixels.data());
  EXPECT_EQ(glGetError(), GLenum{GL_NO_ERROR});
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  glBindVertexArray(0);
  glUseProgram(0);
  glDeleteVertexArrays(1, &array);
  glDeleteFramebuffers(1, &framebuffer);
  glDeleteTextures(1, &texture);
  glDeleteProgram(program);
  return pixels;
}

}  // namespace raylift::test
