// SPDX-License-Identifier: Apache-2.0
// A scene in OpenGL buffers, drawn by indirect calls. Needs a current context.
#pragma once

#include <raylift/geometry/scene/scene.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "draw/gl/gl_objects.h"
#include "draw/scene/cap_layer.h"
#include "draw/scene/pace.h"
#include "meshes/draw_list.h"
#include "meshes/enclosed.h"
#include "meshes/feature_edges.h"
#include "meshes/levels.h"
#include "meshes/seen_list.h"

namespace raylift::viewer {

/// Buffers that hold a scene's vertices and triangles already. The triangles index the vertices of all meshes.
struct SharedGeometryBuffers {
  GLuint vertices;
  GLuint triangles;
};

/// The triangle under a pixel.
struct Picked {
  std::uint32_t instance;  ///< index in Scene::instances
  /// Over all meshes: minus MeshOffsets::first_triangle, the triangle in its mesh. kNone: of a cap.
  std::uint32_t triangle;
};

/// Solids that have an outline over all others: those that a search finds, and the selected one.
enum class Mark : std::uint8_t { found, selected };

class SceneBuffers {
 public:
  SceneBuffers();

  /// Fills the buffers. The scene must outlive its use. With `shared`, vertices and triangles are not copied.
  void set_scene(const Scene& scene, std::optional<SharedGeometryBuffers> shared);
  /// The Look of each instance; empty: all are solid.
  void set_looks(std::span<const std::uint8_t> looks);
  /// Sets the opacity of each instance of glass, in hundredths; 0, also before the first call: the settings' own.
  void set_opacities(std::span<const std::uint8_t> hundredths);
  /// The colours that solids have of their own, sRGB 0xAABBGGRR; 0: none.
  void set_own_colors(std::span<const std::uint32_t> colors);
  [[nodiscard]] bool has_own_colors() const { return static_cast<bool>(own_colors_); }
  /// sRGB 0xAABBGGRR of each solid; 0: it has none of its own. Empty: none has.
  [[nodiscard]] std::span<const std::uint32_t> own_colors() const { return own_; }
  /// Colours of solids for ColorBy::hits and first_hit.
  void set_hit_colors(std::span<const std::uint32_t> colors);
  /// Makes the vertex normals of smooth shading, unless they are made already.
  void ensure_normals();
  /// Sets the solids that draw_marked() draws, whatever their looks.
  void set_marked(Mark mark, std::span<const std::uint32_t> instances);
  /// For ColorBy::residency: the first `count` triangles lie in device memory, the others in host memory.
  void set_device_triangles(std::uint64_t count) { device_triangles_ = count; }
  [[nodiscard]] std::uint64_t device_triangles() const { return device_triangles_; }
  [[nodiscard]] bool has_marked(Mark mark) const { return marked(mark).group.commands != 0; }
  [[nodiscard]] const Bounds& marked_bounds(Mark mark) const { return marked(mark).bounds; }
  void draw_marked(Mark mark) const;
  /// Sets levels of detail, normals and enclosing solids. Before, only meshes with many instances have levels, and no
  /// solid hides others.
  void set_detail(const Detail& detail);
  /// Sets the enclosing solids alone.
  void set_enclosing(std::span<const std::uint32_t> enclosing);
  /// Selects what draw() draws: visible solids, at the level of detail that the image shows.
  void look(const Sight& sight);
  /// Draws the instances of a look with the current program.
  void draw(Look look, Pace& pace) const;
  /// Draws those that are seen as points, where the sight allows too few triangles.
  [[nodiscard]] bool has_points(Look look) const { return !group(look).seen.points().empty(); }
  void draw_points(Look look) const;
  /// Finds the feature edges of solids with this look, once for each mesh. Faint solids have them already, except for
  /// meshes of very many triangles or instances.
  void ensure_feature_edges(Look look);
  /// Draws the feature edges of a look with the current program, as lines.
  void draw_feature_edges(Look look, Pace& pace) const;
  /// Makes caps of the solid instances at these planes, which draw_caps() draws.
  void cut_at(const std::vector<ClipPlane>& planes) { caps_.set_planes(planes); }
  [[nodiscard]] bool has_caps() const { return !caps_.empty(); }
  void draw_caps() const;

  [[nodiscard]] bool has_scene() const { return scene_ != nullptr; }
  [[nodiscard]] const Scene* scene() const { return scene_; }
  /// The Look of each instance; empty: all are solid.
  [[nodiscard]] std::span<const std::uint8_t> looks() const { return looks_; }
  [[nodiscard]] bool draws(Look look) const { return group(look).commands != 0; }
  [[nodiscard]] bool draws_any() const;
  [[nodiscard]] const Bounds& bounds() const { return bounds_; }
  /// Entries of the colour table: of materials, and for things without a colour of their own.
  [[nodiscard]] std::uint32_t material_entries() const { return material_entries_; }
  [[nodiscard]] std::uint32_t distinct_entries() const { return distinct_entries_; }
  /// The triangles of all visible solids, those of each instance counted, and those of them that draw() draws.
  [[nodiscard]] std::uint64_t shown_triangles() const;
  [[nodiscard]] std::uint64_t drawn_triangles() const;
  /// The share of the triangles that would be drawn without the sight's limit.
  [[nodiscard]] double drawn_share() const;
  /// Bytes of all buffers, shared ones included.
  [[nodiscard]] std::uint64_t bytes() const {
    return buffer_bytes_ + normal_bytes_ + levels_.triangles.size() * sizeof(UInt3) + caps_.bytes() +
           edges_.vertices().size_bytes() + edges_.triangles().size_bytes();
  }

 private:
  /// The instances of one look.
  struct LookGroup {
    Buffer slots, records;
    std::uint32_t commands = 0;
    std::uint64_t triangles = 0;
    SeenList seen;
    Buffer seen_slots, seen_records, seen_points;
    Buffer line_slots, line_records;  // of feature edges
    std::vector<DrawCommand> lines;
    bool has_lines = false;
  };
  /// The group of a look: open solids are drawn with solid ones.
  [[nodiscard]] const LookGroup& group(Look look) const {
    return groups_[static_cast<std::size_t>(look == Look::open ? Look::solid : look)];
  }
  [[nodiscard]] LookGroup& group(Look look) {
    return groups_[static_cast<std::size_t>(look == Look::open ? Look::solid : look)];
  }
  [[nodiscard]] GLuint triangle_buffer() const { return shared_ ? shared_->triangles : triangles_.name(); }
  void set_levels(Levels levels);
  void set_normals(const SmoothNormals& normals);
  void fill(LookGroup& group, const DrawList& list);
  static void refill_seen(LookGroup& group);
  void set_lines(LookGroup& group, const DrawList& list);
  void bind_tables() const;
  void bind(const VertexArray& array, const Buffer& slots) const;
  void draw_records(GLuint triangles, std::size_t first, std::size_t count) const;

  const Scene* scene_ = nullptr;
  MeshOffsets offsets_;
  Levels levels_;
  Enclosed enclosed_;
  std::vector<std::uint8_t> looks_;
  std::optional<Sight> sight_;  // that the groups have
  std::vector<SolidSurfaces> surfaces_;
  Bounds bounds_;
  Buffer vertices_, triangles_, level_triangles_, normals_, smooth_, instances_, opacities_, colors_, hit_colors_,
      own_colors_;
  std::vector<std::uint32_t> own_;
  std::array<LookGroup, 7> groups_;  // by Look
  struct Marked {
    std::vector<std::uint32_t> instances;
    LookGroup group;
    Bounds bounds;
  };
  [[nodiscard]] const Marked& marked(Mark mark) const { return marked_[static_cast<std::size_t>(mark)]; }
  std::array<Marked, 2> marked_;
  CapLayer caps_;
  FeatureEdges edges_;
  Buffer edge_vertices_, edge_triangles_;
  std::optional<SharedGeometryBuffers> shared_;
  VertexArray geometry_, points_;
  std::uint64_t device_triangles_ = 0;
  std::uint64_t buffer_bytes_ = 0, normal_bytes_ = 0;  // without those of levels and caps
  std::uint32_t material_entries_ = 1;
  std::uint32_t distinct_entries_ = 1;
};

}  // namespace raylift::viewer
