// SPDX-License-Identifier: Apache-2.0
#include "draw/scene/cap_layer.h"

#include <raylift/geometry/error.h>

#include <cstddef>
#include <limits>

namespace raylift::viewer {

CapLayer::CapLayer() : array_(make_vertex_array()) {
  const GLuint array = array_.name();
  const auto attribute = [&](GLuint place, GLint size, std::size_t offset, bool integers) {
    glEnableVertexArrayAttrib(array, place);
    if (integers)
      glVertexArrayAttribIFormat(array, place, size, GL_UNSIGNED_INT, static_cast<GLuint>(offset));
    else
      glVertexArrayAttribFormat(array, place, size, GL_FLOAT, GL_FALSE, static_cast<GLuint>(offset));
    glVertexArrayAttribBinding(array, place, 0);
  };
  attribute(0, 3, offsetof(CapVertex, high), false);
  attribute(1, 3, offsetof(CapVertex, low), false);
  attribute(2, 4, offsetof(CapVertex, solid), true);
  attribute(3, 2, offsetof(CapVertex, mesh), true);
}

void CapLayer::set_scene(const Scene* scene, const MeshOffsets* offsets, std::span<const SolidSurfaces> surfaces) {
  scene_ = scene;
  offsets_ = offsets;
  surfaces_ = surfaces;
  maker_.reset();
  looks_.clear();
  vertices_ = Buffer();
  count_ = 0;
  stale_ = true;
}

void CapLayer::set_looks(std::span<const std::uint8_t> looks) {
  looks_.assign(looks.begin(), looks.end());
  stale_ = true;
}

void CapLayer::set_planes(const std::vector<ClipPlane>& planes) {
  if (scene_ == nullptr || (!stale_ && planes == planes_)) return;
  count_ = 0;
  planes_ = planes;
  stale_ = false;
  if (planes.empty()) return;
  if (!maker_) maker_.emplace(*scene_, *offsets_);
  const std::vector<CapVertex> vertices = maker_->make(planes, looks_, surfaces_);
  if (vertices.size() > static_cast<std::size_t>(std::numeric_limits<GLsizei>::max()))
    throw Error(ErrorKind::limit, "the clipped solids have more outlines than can be filled", {}, "turn caps off");
  vertices_ = make_buffer(std::span<const CapVertex>(vertices));
  glVertexArrayVertexBuffer(array_.name(), 0, vertices_.name(), 0, sizeof(CapVertex));
  count_ = static_cast<std::uint32_t>(vertices.size());
}

void CapLayer::draw() const {
  if (empty()) return;
  glBindVertexArray(array_.name());
  glDrawArrays(GL_TRIANGLES, 0, static_cast<GLsizei>(count_));
}

}  // namespace raylift::viewer
