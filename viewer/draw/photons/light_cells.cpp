// SPDX-License-Identifier: Apache-2.0
#include "draw/photons/light_cells.h"

#include <algorithm>
#include <array>

#include "draw/gl/shaders.h"

namespace raylift::viewer {
namespace {

constexpr std::uint32_t kGroup = 128;        // light_compute's local size
constexpr std::uint32_t kMaxGroups = 65535;  // along an axis, in any OpenGL

/// The size of the depths, and of the colours: whole tiles of 4 x 2 pixels.
std::size_t bytes_of(const LightCanvas& canvas) {
  const auto tiles = [](int pixels, int side) { return static_cast<std::size_t>((pixels + side - 1) / side); };
  return tiles(canvas.width, 4) * tiles(canvas.height, 2) * 8 * static_cast<std::size_t>(canvas.samples) *
         sizeof(std::uint32_t);
}

}  // namespace

bool LightCells::fit(const LightCanvas& canvas) {
  GLint64 most = 0;
  glGetInteger64v(GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &most);
  return bytes_of(canvas) <= static_cast<std::size_t>(most);
}

void LightCells::clear(const LightCanvas& canvas) {
  canvas_ = canvas;
  const std::size_t bytes = bytes_of(canvas);
  if (bytes > bytes_) {
    depths_ = Buffer();
    paints_ = Buffer();
    depths_ = make_buffer(nullptr, bytes);
    paints_ = make_buffer(nullptr, bytes);
    bytes_ = bytes;
  }
  for (const Buffer* buffer : {&depths_, &paints_})
    glClearNamedBufferSubData(buffer->name(), GL_R32UI, 0, static_cast<GLsizeiptr>(bytes), GL_RED_INTEGER,
                              GL_UNSIGNED_INT, nullptr);
}

std::string LightCells::defines() const {
  return "#define SAMPLES " + std::to_string(canvas_.samples) + "\n";
}

void LightCells::draw(std::uint32_t count, bool painting) const {
  if (count == 0) return;
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, depths_.name());
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 7, paints_.name());
  std::array<float, 2> place{0.5F, 0.5F};
  for (int s = 0; s != canvas_.samples; ++s) {
    if (canvas_.samples > 1) glGetMultisamplefv(GL_SAMPLE_POSITION, static_cast<GLuint>(s), place.data());
    glUniform2fv(10 + s, 1, place.data());
  }
  glUniform1ui(8, count);
  glUniform1i(9, painting ? 1 : 0);
  const std::uint32_t groups = (count + kGroup - 1) / kGroup;
  const std::uint32_t columns = std::min(groups, kMaxGroups);
  glDispatchCompute(columns, (groups + columns - 1) / columns, 1);
}

void LightCells::wait() {
  glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT);
}

void LightCells::lay_over() {
  if (over_samples_ != canvas_.samples) {
    over_ = make_program(shaders::screen_vertex, shaders::cells_fragment, defines() + std::string(shaders::cell_block));
    over_samples_ = canvas_.samples;
  }
  if (!empty_) empty_ = make_vertex_array();
  glUseProgram(over_.name());
  glUniform2i(0, canvas_.width, canvas_.height);
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, depths_.name());
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 7, paints_.name());
  glBindVertexArray(empty_.name());
  glDisable(GL_FRAMEBUFFER_SRGB);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glEnable(GL_FRAMEBUFFER_SRGB);
}

}  // namespace raylift::viewer
