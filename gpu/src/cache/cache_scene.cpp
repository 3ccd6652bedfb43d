// SPDX-License-Identifier: Apache-2.0
#include "cache_scene.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "byte_stream.h"

namespace raylift {
namespace {

using detail::ByteIn;
using detail::ByteOut;

constexpr std::uint32_t kFlattened = 1;

void put_vector(ByteOut& out, const Eigen::Vector3d& vector) {
  for (int axis = 0; axis != 3; ++axis) out.put(vector[axis]);
}

Eigen::Vector3d get_vector(ByteIn& in) {
  Eigen::Vector3d vector;
  for (int axis = 0; axis != 3; ++axis) vector[axis] = in.get<double>();
  return vector;
}

std::vector<std::byte> summary_bytes(const Scene& scene, const Eigen::Vector3d& origin, bool flattened) {
  ByteOut out;
  out.put(flattened ? kFlattened : 0U);
  put_vector(out, origin);
  for (const std::string* text : {&scene.source, &scene.format, &scene.generator}) out.put_text(*text);
  out.put(scene.unit_mm);
  out.put(scene.unit_from);
  out.put(scene.up_from);
  out.put(scene.up_axis);
  put_vector(out, scene.bounds.min);
  put_vector(out, scene.bounds.max);
  for (const std::uint64_t count :
       {scene.unique_triangles(), scene.unique_vertices(), std::uint64_t{scene.meshes.size()},
        std::uint64_t{scene.instances.size()}, scene.report.degenerate_triangles, scene.report.dropped_triangles,
        scene.report.repaired_vertices, scene.report.ignored_primitives, scene.report.vertices_before_weld})
    out.put(count);
  out.put_count(scene.report.warnings.size());
  for (const std::string& warning : scene.report.warnings) out.put_text(warning);
  return out.take();
}

/// Both the summary and the parts of the scene that the same bytes describe.
void read_summary(const CacheFile& file, CacheSummary& summary, Scene& scene) {
  const std::vector<std::byte> bytes = file.read_all<std::byte>("scene");
  ByteIn in(bytes, file.path().string());
  const auto flags = in.get<std::uint32_t>();
  if (flags > kFlattened) in.fail();
  summary.flattened = flags == kFlattened;
  summary.origin = get_vector(in);
  for (std::string* text : {&scene.source, &scene.format, &scene.generator}) *text = in.get_text();
  scene.unit_mm = in.get<double>();
  scene.unit_from = in.get_enum(Provenance::option);
  scene.up_from = in.get_enum(Provenance::option);
  scene.up_axis = in.get_enum(UpAxis::z);
  scene.bounds.min = get_vector(in);
  scene.bounds.max = get_vector(in);
  for (std::uint64_t* count :
       {&summary.triangles, &summary.vertices, &summary.meshes, &summary.instances, &scene.report.degenerate_triangles,
        &scene.report.dropped_triangles, &scene.report.repaired_vertices, &scene.report.ignored_primitives,
        &scene.report.vertices_before_weld})
    *count = in.get<std::uint64_t>();
  scene.report.warnings.resize(in.get_count(sizeof(std::uint64_t)));
  for (std::string& warning : scene.report.warnings) warning = in.get_text();
  in.expect_end();
  if (!summary.origin.allFinite() || !scene.bounds.min.allFinite() || !scene.bounds.max.allFinite() ||
      !std::isfinite(scene.unit_mm) || scene.unit_mm <= 0)
    in.fail();
  summary.source = scene.source;
  summary.format = scene.format;
  summary.bounds = scene.bounds;
  summary.report = scene.report;
}

std::vector<std::byte> tree_bytes(const Scene& scene) {
  ByteOut out;
  out.put_count(scene.meshes.size());
  for (const Mesh& mesh : scene.meshes) {
    out.put_text(mesh.name);
    out.put_count(mesh.vertices.size());
    out.put_count(mesh.triangles.size());
    out.put_count(mesh.parts.size());
    for (const MeshPart& part : mesh.parts) {
      out.put(part.first_triangle);
      out.put(part.triangle_count);
    }
  }
  out.put_count(scene.materials.size());
  for (const Material& material : scene.materials) {
    out.put_text(material.name);
    for (const float channel : material.color) out.put(channel);
  }
  out.put_count(scene.bindings.size());
  for (const std::vector<std::uint32_t>& binding : scene.bindings) {
    out.put_count(binding.size());
    for (const std::uint32_t material : binding) out.put(material);
  }
  out.put_count(scene.nodes.size());
  for (const Node& node : scene.nodes) {
    out.put_text(node.name);
    out.put(node.parent);
    out.put(std::uint32_t{node.copy_number ? 1U : 0U});
    out.put(node.copy_number.value_or(0));
  }
  out.put_count(scene.instances.size());
  for (const Instance& instance : scene.instances) {
    for (const std::uint32_t index : {instance.mesh, instance.node, instance.binding, instance.outside}) out.put(index);
    for (int k = 0; k != 12; ++k) out.put(instance.transform(k / 4, k % 4));
  }
  return out.take();
}

/// The sizes of a mesh's arrays, which an outline has not.
struct MeshSizes {
  std::size_t vertices;
  std::size_t triangles;
};

std::uint32_t get_index(ByteIn& in, std::size_t count, bool may_be_none) {
  const auto index = in.get<std::uint32_t>();
  if (index >= count && !(may_be_none && index == kNone)) in.fail();
  return index;
}

MeshSizes get_mesh(ByteIn& in, Mesh& mesh) {
  mesh.name = in.get_text();
  const auto vertices = in.get<std::uint64_t>();
  const auto triangles = in.get<std::uint64_t>();
  if (vertices >= kNone || triangles >= kNone) in.fail();
  std::uint64_t next = 0;
  mesh.parts.resize(in.get_count(2 * sizeof(std::uint32_t)));
  for (MeshPart& part : mesh.parts) {
    part.first_triangle = in.get<std::uint32_t>();
    part.triangle_count = in.get<std::uint32_t>();
    if (part.first_triangle != next) in.fail();
    next += part.triangle_count;
  }
  if (next != triangles) in.fail();
  return {static_cast<std::size_t>(vertices), static_cast<std::size_t>(triangles)};
}

std::vector<MeshSizes> read_tree(const CacheFile& file, Scene& scene) {
  const std::vector<std::byte> bytes = file.read_all<std::byte>("scene_tree");
  ByteIn in(bytes, file.path().string());
  std::vector<MeshSizes> sizes;
  scene.meshes.resize(in.get_count(4 * sizeof(std::uint64_t)));
  for (Mesh& mesh : scene.meshes) sizes.push_back(get_mesh(in, mesh));
  scene.materials.resize(in.get_count(sizeof(std::uint64_t) + 4 * sizeof(float)));
  for (Material& material : scene.materials) {
    material.name = in.get_text();
    for (float& channel : material.color) channel = in.get<float>();
  }
  scene.bindings.resize(in.get_count(sizeof(std::uint64_t)));
  for (std::vector<std::uint32_t>& binding : scene.bindings) {
    binding.resize(in.get_count(sizeof(std::uint32_t)));
    for (std::uint32_t& material : binding) material = get_index(in, scene.materials.size(), true);
  }
  scene.nodes.resize(in.get_count(sizeof(std::uint64_t) + 16));
  for (std::size_t i = 0; i != scene.nodes.size(); ++i) {
    scene.nodes[i].name = in.get_text();
    scene.nodes[i].parent = get_index(in, i, true);
    const auto has_copy_number = in.get<std::uint32_t>();
    const auto copy_number = in.get<std::int64_t>();
    if (has_copy_number != 0) scene.nodes[i].copy_number = copy_number;
  }
  scene.instances.resize(in.get_count(4 * sizeof(std::uint32_t) + 12 * sizeof(double)));
  for (Instance& instance : scene.instances) {
    instance.mesh = get_index(in, scene.meshes.size(), false);
    instance.node = get_index(in, scene.nodes.size(), true);
    instance.binding = get_index(in, scene.bindings.size(), false);
    instance.outside = get_index(in, scene.materials.size(), true);
    for (int k = 0; k != 12; ++k) instance.transform(k / 4, k % 4) = in.get<double>();
    if (!instance.transform.matrix().allFinite() ||
        scene.bindings[instance.binding].size() < scene.meshes[instance.mesh].parts.size())
      in.fail();
  }
  in.expect_end();
  return sizes;
}

[[noreturn]] void inconsistent(const CacheFile& file, ViewArray array) {
  throw Error(ErrorKind::malformed, "the cache file's arrays are not those of its scene",
              {file.path().string(), "section '" + std::string(info(array).name) + "'"},
              "remove it; it will be made again");
}

}  // namespace

namespace detail {

std::vector<CacheMetadata> scene_metadata(const Scene& scene, const Eigen::Vector3d& origin, bool flattened) {
  return {{"scene", summary_bytes(scene, origin, flattened)}, {"scene_tree", tree_bytes(scene)}};
}

}  // namespace detail

CacheSummary cache_summary(const CacheFile& file) {
  CacheSummary summary;
  Scene scene;
  read_summary(file, summary, scene);
  return summary;
}

Scene cached_outline(const CacheFile& file) {
  CacheSummary summary;
  Scene scene;
  read_summary(file, summary, scene);
  (void)read_tree(file, scene);
  return scene;
}

Scene cached_scene(const CacheFile& file) {
  CacheSummary summary;
  Scene scene;
  read_summary(file, summary, scene);
  if (summary.flattened)
    throw Error(ErrorKind::usage, "a scene that was cached flattened can't be had back", {file.path().string(), ""});
  const std::vector<MeshSizes> sizes = read_tree(file, scene);
  const std::vector<float3> vertices = file.read_all<float3>(info(ViewArray::vertices).name);
  const std::vector<uint3> triangles = file.read_all<uint3>(info(ViewArray::triangles).name);
  std::size_t first_vertex = 0;
  std::size_t first_triangle = 0;
  for (std::size_t i = 0; i != sizes.size(); ++i) {
    const auto [vertex_count, triangle_count] = sizes[i];
    if (vertex_count > vertices.size() - first_vertex) inconsistent(file, ViewArray::vertices);
    if (triangle_count > triangles.size() - first_triangle) inconsistent(file, ViewArray::triangles);
    Mesh& mesh = scene.meshes[i];
    const auto* const vertex = vertices.data() + first_vertex;
    mesh.vertices.assign(vertex, vertex + vertex_count);
    mesh.triangles.resize(triangle_count);
    const auto offset = static_cast<std::uint32_t>(first_vertex);
    for (std::size_t t = 0; t != triangle_count; ++t) {
      // Indices below the offset wrap around to large ones.
      const uint3 shared = triangles[first_triangle + t];
      const uint3 own{shared.x - offset, shared.y - offset, shared.z - offset};
      if (std::max({own.x, own.y, own.z}) >= vertex_count) inconsistent(file, ViewArray::triangles);
      mesh.triangles[t] = own;
    }
    first_vertex += vertex_count;
    first_triangle += triangle_count;
  }
  if (first_vertex != vertices.size()) inconsistent(file, ViewArray::vertices);
  if (first_triangle != triangles.size()) inconsistent(file, ViewArray::triangles);
  return scene;
}

}  // namespace raylift
