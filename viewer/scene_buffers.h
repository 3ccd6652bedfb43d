// SPDX-License-Identifier: Apache-2.0
// A scene in OpenGL buffers, drawn by one indirect call. Needs a current context.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <cstdint>
#include <optional>
#include <span>

#include "draw_list.h"
#include "gl_objects.h"

namespace raylift::viewer {

/// Buffers that hold a scene's vertices and triangles already. The triangles index the vertices of all meshes.
struct SharedGeometryBuffers {
  GLuint vertices;
  GLuint triangles;
};

/// The triangle under a pixel.
struct Picked {
  std::uint32_t instance;  ///< index in Scene::instances
  std::uint32_t triangle;  ///< over all meshes: minus MeshOffsets::first_triangle, the triangle in its mesh
};

class SceneBuffers {
 public:
  SceneBuffers() : geometry_(make_vertex_array()) {}

  /// Fills the buffers. The scene must outlive its use. With `shared`, vertices and triangles are not copied.
  void set_scene(const Scene& scene, std::optional<SharedGeometryBuffers> shared);
  /// One value per instance, 0: hidden; empty: all are visible.
  void set_visible(std::span<const std::uint8_t> visible);
  /// Makes the vertex normals of smooth shading, once for a scene.
  void ensure_normals();
  /// Draws the visible instances with the current program.
  void draw() const;

  [[nodiscard]] bool has_scene() const { return scene_ != nullptr; }
  [[nodiscard]] bool draws_nothing() const { return command_count_ == 0; }
  [[nodiscard]] const Bounds& bounds() const { return bounds_; }
  /// Entries of the colour table: of materials, and for things without a colour of their own.
  [[nodiscard]] std::uint32_t material_entries() const { return material_entries_; }
  [[nodiscard]] std::uint32_t distinct_entries() const { return distinct_entries_; }
  /// Triangles that draw() draws, those of each instance counted.
  [[nodiscard]] std::uint64_t drawn_triangles() const { return drawn_triangles_; }
  /// Bytes of all buffers, shared ones included.
  [[nodiscard]] std::uint64_t bytes() const { return buffer_bytes_; }

 private:
  const Scene* scene_ = nullptr;
  MeshOffsets offsets_;
  std::vector<std::uint32_t> surfaces_;
  Bounds bounds_;
  Buffer vertices_, triangles_, normals_, smooth_, instances_, colors_, slots_, commands_;
  std::optional<SharedGeometryBuffers> shared_;
  VertexArray geometry_;
  std::uint32_t command_count_ = 0;
  std::uint64_t drawn_triangles_ = 0;
  std::uint64_t buffer_bytes_ = 0;
  std::uint32_t material_entries_ = 1;
  std::uint32_t distinct_entries_ = 1;
};

}  // namespace raylift::viewer
