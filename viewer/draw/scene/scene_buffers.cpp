// SPDX-License-Identifier: Apache-2.0
#include "draw/scene/scene_buffers.h"

#include <raylift/geometry/scene/eigen.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "meshes/smooth_normals.h"
#include "model/colors/palette.h"

namespace raylift::viewer {
namespace {

constexpr std::array<Look, 5> kDrawnLooks{Look::solid, Look::faint, Look::lines, Look::edged, Look::glass};

void upload_mesh_arrays(const Scene& scene, const MeshOffsets& offsets, const Buffer& vertices,
                        const Buffer& triangles) {
  std::vector<UInt3> shifted;
  for (std::size_t m = 0; m != scene.meshes.size(); ++m) {
    const Mesh& mesh = scene.meshes[m];
    if (!mesh.vertices.empty())
      glNamedBufferSubData(vertices.name(), static_cast<GLintptr>(offsets.first_vertex[m] * sizeof(Float3)),
                           static_cast<GLsizeiptr>(mesh.vertices.size() * sizeof(Float3)), mesh.vertices.data());
    const std::uint32_t first = offsets.first_vertex[m];
    // In pieces, which keeps the shifted copy small.
    constexpr std::size_t kAtATime = std::size_t{1} << 18;
    for (std::size_t begin = 0; begin < mesh.triangles.size(); begin += kAtATime) {
      const std::size_t count = std::min(kAtATime, mesh.triangles.size() - begin);
      const UInt3* source = mesh.triangles.data() + begin;
      if (first != 0) {
        shifted.resize(count);
        std::transform(source, source + count, shifted.begin(), [&](const UInt3& t) {
          return UInt3{t.x + first, t.y + first, t.z + first};
        });
        source = shifted.data();
      }
      glNamedBufferSubData(triangles.name(), static_cast<GLintptr>((offsets.first_triangle[m] + begin) * sizeof(UInt3)),
                           static_cast<GLsizeiptr>(count * sizeof(UInt3)), source);
    }
  }
}

Buffer color_buffer(std::span<const std::uint32_t> packed) {
  const std::vector<LinearColor> linear = linear_colors(packed);
  return make_buffer(std::span<const LinearColor>(linear));
}

/// Draws records of the bound indirect buffer, whose offset is passed as a pointer.
void draw_indirect(GLenum mode, std::size_t first, std::size_t count) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  const auto* const place = reinterpret_cast<const void*>(first * sizeof(DrawCommand));
  glMultiDrawElementsIndirect(mode, GL_UNSIGNED_INT, place, static_cast<GLsizei>(count), 0);
}

/// Draws commands by draw(begin, end), in pieces where the pace has a limit.
template <class Draw>
void for_pieces(std::span<const DrawCommand> commands, Pace& pace, const Draw& draw) {
  if (!pace.limited()) return draw(std::size_t{0}, commands.size());
  for (std::size_t begin = 0, end = 0; begin != commands.size(); begin = end) {
    std::uint64_t indices = 0;
    do indices += std::uint64_t{commands[end].index_count} * commands[end].instance_count;
    while (++end != commands.size() && indices < std::uint64_t{3} * SeenList::kMaxTriangles);
    pace.piece([&] { draw(begin, end); });
  }
}

std::vector<std::uint32_t> meshes_of(const Scene& scene, const DrawList& list) {
  std::vector<std::uint32_t> meshes;
  for (const DrawCommand& command : list.commands)
    meshes.push_back(scene.instances[list.slots[command.base_instance].instance].mesh);
  return meshes;
}

/// The commands of meshes with few triangles and few instances, whose edges take little time to find and to draw.
DrawList with_few_edges(const Scene& scene, DrawList list) {
  constexpr std::size_t kMaxTriangles = 100000, kMaxInstances = 64;
  std::size_t kept = 0;
  for (std::size_t c = 0; c != list.commands.size(); ++c) {
    const std::uint32_t m = scene.instances[list.slots[list.commands[c].base_instance].instance].mesh;
    if (scene.meshes[m].triangles.size() > kMaxTriangles || list.commands[c].instance_count > kMaxInstances) continue;
    list.commands[kept] = list.commands[c];
    list.parts[kept++] = list.parts[c];
  }
  list.commands.resize(kept);
  list.parts.resize(kept);
  return list;
}

}  // namespace

SceneBuffers::SceneBuffers() : geometry_(make_vertex_array()), points_(make_vertex_array()) {
  const GLuint array = points_.name();
  for (const GLuint place : {0U, 2U, 3U}) {
    glEnableVertexArrayAttrib(array, place);
    glVertexArrayAttribBinding(array, place, 0);
  }
  glVertexArrayAttribFormat(array, 0, 3, GL_FLOAT, GL_FALSE, offsetof(SeenPoint, center));
  glVertexArrayAttribIFormat(array, 2, 4, GL_UNSIGNED_INT, offsetof(SeenPoint, slot));
  glVertexArrayAttribFormat(array, 3, 1, GL_FLOAT, GL_FALSE, offsetof(SeenPoint, radius));
}

void SceneBuffers::set_hit_colors(std::span<const std::uint32_t> colors) {
  hit_colors_ = color_buffer(colors);
}

void SceneBuffers::set_own_colors(std::span<const std::uint32_t> colors) {
  own_colors_ = Buffer();
  own_.assign(colors.begin(), colors.end());
  if (std::all_of(colors.begin(), colors.end(), [](std::uint32_t color) { return color == 0; })) return;
  std::vector<LinearColor> linear = linear_colors(colors);
  for (std::size_t i = 0; i != linear.size(); ++i) linear[i][3] = colors[i] == 0 ? 0.0F : 1.0F;
  own_colors_ = make_buffer(std::span<const LinearColor>(linear));
}

void SceneBuffers::set_opacities(std::span<const std::uint8_t> hundredths) {
  std::vector<float> opacities;
  opacities.reserve(hundredths.size());
  for (const std::uint8_t one : hundredths) opacities.push_back(static_cast<float>(one) / 100);
  opacities_ = make_buffer(std::span<const float>(opacities));
}

void SceneBuffers::set_scene(const Scene& scene, std::optional<SharedGeometryBuffers> shared) {
  // Frees the old scene first: two large ones may not fit together.
  for (Buffer* buffer : {&vertices_, &triangles_, &level_triangles_, &normals_, &smooth_, &instances_, &colors_})
    *buffer = Buffer();
  for (LookGroup& group : groups_) group = LookGroup();
  for (Marked& marked : marked_) marked = Marked();
  device_triangles_ = 0;
  scene_ = nullptr;  // until all buffers are filled
  caps_.set_scene(nullptr, nullptr, {});
  edge_vertices_ = Buffer();
  edge_triangles_ = Buffer();
  edges_ = FeatureEdges(scene);
  enclosed_ = Enclosed();
  offsets_ = mesh_offsets(scene);
  surfaces_ = surfaces_of_solids(scene);
  bounds_ = scene.bounds;
  shared_ = shared;
  const std::uint64_t mesh_bytes = offsets_.vertices * sizeof(Float3) + offsets_.triangles * sizeof(UInt3);
  if (!shared_) {
    vertices_ = make_buffer(nullptr, offsets_.vertices * sizeof(Float3), GL_DYNAMIC_STORAGE_BIT);
    triangles_ = make_buffer(nullptr, offsets_.triangles * sizeof(UInt3), GL_DYNAMIC_STORAGE_BIT);
    upload_mesh_arrays(scene, offsets_, vertices_, triangles_);
  }
  set_levels(make_levels(scene, offsets_, often_placed(scene)));
  const std::vector<DrawInstance> instances = draw_instances(scene);
  instances_ = make_buffer(std::span<const DrawInstance>(instances));

  const ColorTable table = color_table(scene);
  material_entries_ = table.materials;
  distinct_entries_ = table.distinct;
  colors_ = color_buffer(table.colors);

  const GLuint array = geometry_.name();
  glVertexArrayVertexBuffer(array, 0, shared_ ? shared_->vertices : vertices_.name(), 0, sizeof(Float3));
  glEnableVertexArrayAttrib(array, 0);
  glVertexArrayAttribFormat(array, 0, 3, GL_FLOAT, GL_FALSE, 0);
  glVertexArrayAttribBinding(array, 0, 0);
  glDisableVertexArrayAttrib(array, 1);
  buffer_bytes_ = mesh_bytes + instances.size() * sizeof(DrawInstance) + table.colors.size() * sizeof(LinearColor);
  // Before their hits are set, solids have the colour of none.
  set_hit_colors(std::vector<std::uint32_t>(scene.instances.size(), packed(kNoHitColor)));
  set_opacities(std::vector<std::uint8_t>(scene.instances.size(), 0));
  set_own_colors({});
  scene_ = &scene;
  caps_.set_scene(&scene, &offsets_, surfaces_);
  set_looks({});
  check_gl("putting the scene into OpenGL buffers");
}

std::uint64_t SceneBuffers::shown_triangles() const {
  std::uint64_t count = 0;
  for (const LookGroup& one : groups_) count += one.triangles;
  return count;
}

std::uint64_t SceneBuffers::drawn_triangles() const {
  std::uint64_t count = 0;
  for (const LookGroup& one : groups_) count += one.seen.triangles();
  return count;
}

double SceneBuffers::drawn_share() const {
  std::uint64_t all = 0;
  for (const LookGroup& one : groups_) all += one.seen.all_triangles();
  return all == 0 ? 1 : std::min(1.0, static_cast<double>(drawn_triangles()) / static_cast<double>(all));
}

bool SceneBuffers::draws_any() const {
  return std::any_of(kDrawnLooks.begin(), kDrawnLooks.end(), [this](Look look) { return draws(look); });
}

void SceneBuffers::fill(LookGroup& group, const DrawList& list) {
  group.slots = make_buffer(std::span<const DrawSlot>(list.slots));
  group.records = make_buffer(std::span<const DrawCommand>(list.commands));
  group.commands = static_cast<std::uint32_t>(list.commands.size());
  group.triangles = list.triangles;
}

void SceneBuffers::refill_seen(LookGroup& group) {
  if (!group.seen_slots) group.seen_slots = make_stream_buffer();
  if (!group.seen_records) group.seen_records = make_stream_buffer();
  refill(group.seen_slots, group.seen.slots());
  std::vector<DrawCommand> records(group.seen.from_scene().begin(), group.seen.from_scene().end());
  records.insert(records.end(), group.seen.from_levels().begin(), group.seen.from_levels().end());
  refill(group.seen_records, std::span<const DrawCommand>(records));
  if (group.seen.points().empty()) return;
  if (!group.seen_points) group.seen_points = make_stream_buffer();
  refill(group.seen_points, group.seen.points());
}

void SceneBuffers::set_levels(Levels levels) {
  levels_ = std::move(levels);
  level_triangles_ = Buffer();  // the old one goes first
  level_triangles_ = make_buffer(std::span<const UInt3>(levels_.triangles));
  normals_ = Buffer();
  smooth_ = Buffer();
  normal_bytes_ = 0;  // they have bits for these triangles
}

void SceneBuffers::set_detail(const Detail& detail) {
  if (scene_ == nullptr) return;
  set_levels(detail.levels);
  if (!detail.normals.vertices.empty()) set_normals(detail.normals);
  set_enclosing(detail.enclosing);
  set_looks(std::vector<std::uint8_t>(looks_));
  check_gl("putting levels of detail into OpenGL buffers");
}

void SceneBuffers::set_enclosing(std::span<const std::uint32_t> enclosing) {
  if (scene_ == nullptr) return;
  enclosed_ = Enclosed(*scene_, enclosing);
  sight_.reset();
}

void SceneBuffers::look(const Sight& sight) {
  constexpr std::uint64_t kMin = 5000;  // triangles of a look
  if (sight_ == sight) return;
  enclosed_.look(sight, looks_);
  // Lines along triangles show those of the scene, not of a level.
  const std::uint64_t shown = shown_triangles();
  for (const Look look : kDrawnLooks) {
    LookGroup& drawn = group(look);
    if (drawn.commands == 0) continue;
    Sight own = sight;
    if (look == Look::lines || look == Look::edged) own.tolerance = 0;
    if (sight.most != kAllTriangles)
      own.most =
          std::max(kMin, static_cast<std::uint64_t>(static_cast<double>(sight.most) *
                                                    static_cast<double>(drawn.triangles) / static_cast<double>(shown)));
    drawn.seen.look(own, enclosed_.hidden());
    refill_seen(drawn);
  }
  sight_ = sight;
}

void SceneBuffers::set_looks(std::span<const std::uint8_t> looks) {
  if (scene_ == nullptr) return;
  caps_.set_looks(looks);
  looks_.assign(looks.begin(), looks.end());
  for (const Look look : kDrawnLooks) {
    const DrawList list = draw_list(*scene_, offsets_, looks, surfaces_, look);
    fill(group(look), list);
    group(look).seen = SeenList(*scene_, offsets_, levels_, list);
    group(look).has_lines = false;
    if (look == Look::faint) set_lines(group(look), with_few_edges(*scene_, list));
  }
  sight_.reset();
}

void SceneBuffers::ensure_feature_edges(Look look) {
  if (group(look).has_lines || scene_ == nullptr) return;
  set_lines(group(look), draw_list(*scene_, offsets_, looks_, surfaces_, look));
  check_gl("putting feature edges into OpenGL buffers");
}

void SceneBuffers::set_lines(LookGroup& group, const DrawList& list) {
  const std::size_t before = edges_.triangles().size();
  edges_.add(*scene_, offsets_, meshes_of(*scene_, list));
  if (edges_.triangles().size() != before) {
    edge_vertices_ = make_buffer(edges_.vertices());
    edge_triangles_ = make_buffer(edges_.triangles());
  }
  LineList lines = line_list(edges_, list);
  group.line_slots = make_buffer(std::span<const DrawSlot>(lines.slots));
  group.line_records = make_buffer(std::span<const DrawCommand>(lines.commands));
  group.lines = std::move(lines.commands);
  group.has_lines = true;
}

void SceneBuffers::ensure_normals() {
  if (normals_ || scene_ == nullptr) return;
  SmoothNormals normals = smooth_normals(*scene_, offsets_);
  add_smooth_triangles(*scene_, offsets_, levels_.triangles, levels_.triangle_meshes, normals);
  set_normals(normals);
}

void SceneBuffers::set_normals(const SmoothNormals& normals) {
  normals_ = make_buffer(std::span<const std::uint32_t>(normals.vertices));
  smooth_ = make_buffer(std::span<const std::uint32_t>(normals.smooth));
  normal_bytes_ = (normals.vertices.size() + normals.smooth.size()) * sizeof(std::uint32_t);
  const GLuint array = geometry_.name();
  glVertexArrayVertexBuffer(array, 1, normals_.name(), 0, sizeof(std::uint32_t));
  glEnableVertexArrayAttrib(array, 1);
  glVertexArrayAttribFormat(array, 1, 2, GL_SHORT, GL_TRUE, 0);
  glVertexArrayAttribBinding(array, 1, 1);
}

void SceneBuffers::bind_tables() const {
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 1, colors_.name());
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 3, hit_colors_.name());
  if (own_colors_) glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 7, own_colors_.name());
}

void SceneBuffers::draw_caps() const {
  bind_tables();
  caps_.draw();
}

void SceneBuffers::bind(const VertexArray& vertex_array, const Buffer& slots) const {
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, instances_.name());
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 5, slots.name());
  bind_tables();
  if (smooth_) glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 2, smooth_.name());
  const GLuint array = vertex_array.name();
  glVertexArrayVertexBuffer(array, 2, slots.name(), 0, sizeof(DrawSlot));
  glVertexArrayBindingDivisor(array, 2, 1);
  glEnableVertexArrayAttrib(array, 2);
  glVertexArrayAttribIFormat(array, 2, 4, GL_UNSIGNED_INT, 0);
  glVertexArrayAttribBinding(array, 2, 2);
  glBindVertexArray(array);
}

void SceneBuffers::set_marked(Mark mark, std::span<const std::uint32_t> instances) {
  Marked& marked = marked_[static_cast<std::size_t>(mark)];
  if (std::equal(instances.begin(), instances.end(), marked.instances.begin(), marked.instances.end())) return;
  marked = Marked();
  if (scene_ == nullptr || instances.empty()) return;
  marked.instances.assign(instances.begin(), instances.end());
  std::vector<std::uint8_t> looks(scene_->instances.size(), static_cast<std::uint8_t>(Look::hidden));
  for (const std::uint32_t instance : instances) {
    looks[instance] = static_cast<std::uint8_t>(Look::solid);
    const Instance& placed = scene_->instances[instance];
    const EigenTransform to_world = to_eigen(placed.transform);
    for (const Float3& v : scene_->meshes[placed.mesh].vertices)
      marked.bounds.add(Eigen::Vector3d(to_world * to_eigen(v)));
  }
  fill(marked.group, draw_list(*scene_, offsets_, looks, surfaces_));
}

void SceneBuffers::draw(Look look, Pace& pace) const {
  const LookGroup& drawn = group(look);
  if (drawn.commands == 0) return;
  bind(geometry_, drawn.seen_slots);
  if (look == Look::glass) glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 4, opacities_.name());
  glBindBuffer(GL_DRAW_INDIRECT_BUFFER, drawn.seen_records.name());
  std::size_t first = 0;
  for (const auto& [commands, triangles] :
       {std::pair(drawn.seen.from_scene(), triangle_buffer()), {drawn.seen.from_levels(), level_triangles_.name()}}) {
    for_pieces(commands, pace, [&, buffer = triangles](std::size_t begin, std::size_t end) {
      draw_records(buffer, first + begin, end - begin);
    });
    first += commands.size();
  }
}

void SceneBuffers::draw_records(GLuint triangles, std::size_t first, std::size_t count) const {
  if (count == 0) return;
  glVertexArrayElementBuffer(geometry_.name(), triangles);
  draw_indirect(GL_TRIANGLES, first, count);
}

void SceneBuffers::draw_points(Look look) const {
  const LookGroup& drawn = group(look);
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, instances_.name());
  bind_tables();
  if (look == Look::glass) glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 4, opacities_.name());
  glVertexArrayVertexBuffer(points_.name(), 0, drawn.seen_points.name(), 0, sizeof(SeenPoint));
  glBindVertexArray(points_.name());
  glEnable(GL_PROGRAM_POINT_SIZE);
  glDrawArrays(GL_POINTS, 0, static_cast<GLsizei>(drawn.seen.points().size()));
  glDisable(GL_PROGRAM_POINT_SIZE);
}

void SceneBuffers::draw_marked(Mark mark) const {
  const LookGroup& drawn = marked(mark).group;
  if (drawn.commands == 0) return;
  bind(geometry_, drawn.slots);
  glBindBuffer(GL_DRAW_INDIRECT_BUFFER, drawn.records.name());
  draw_records(triangle_buffer(), 0, drawn.commands);
}

void SceneBuffers::draw_feature_edges(Look look, Pace& pace) const {
  const LookGroup& drawn = group(look);
  if (drawn.lines.empty()) return;
  bind(geometry_, drawn.line_slots);
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 6, edge_triangles_.name());
  glBindBuffer(GL_DRAW_INDIRECT_BUFFER, drawn.line_records.name());
  glVertexArrayElementBuffer(geometry_.name(), edge_vertices_.name());
  for_pieces(drawn.lines, pace,
             [](std::size_t begin, std::size_t end) { draw_indirect(GL_LINES, begin, end - begin); });
}

}  // namespace raylift::viewer
