// SPDX-License-Identifier: Apache-2.0
#include "cache_scene.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/flatten.h>
#include <raylift/gpu/upload/optics_arrays.h>

#include <algorithm>

#include "geometry/src/scene/scene_bytes.h"
#include "geometry/src/scene/source_files.h"

namespace raylift {
namespace {

using detail::ByteReader;
using detail::ByteWriter;

constexpr std::uint32_t kFlattened = 1;
constexpr std::string_view kOptions = "options";
constexpr std::string_view kFiles = "files";

std::vector<std::byte> bytes_of(const ByteWriter& writer) {
  return {writer.bytes().begin(), writer.bytes().end()};
}

template <class Archive, class RasterOrConst>
void visit_raster(Archive& archive, RasterOrConst& raster) {
  archive.value(raster.start);
  archive.value(raster.step);
  archive.value(raster.count);
}

std::vector<std::byte> summary_bytes(const Scene& scene, const Double3& origin, bool flattened, const Raster& raster) {
  ByteWriter writer;
  detail::SceneCounts counts = detail::counts_of(scene);
  writer.value(flattened ? kFlattened : 0U);
  detail::visit_vector(writer, origin);
  visit_raster(writer, raster);
  detail::visit_facts(writer, scene, counts);
  return bytes_of(writer);
}

std::vector<std::byte> tree_bytes(const Scene& scene) {
  ByteWriter writer;
  std::vector<detail::MeshSizes> sizes = detail::sizes_of(scene);
  detail::visit_tree(writer, scene, sizes);
  return bytes_of(writer);
}

detail::ByteFailure failure_of(const CacheFile& file) {
  return [file](const std::string& what) {
    throw Error(ErrorKind::malformed, "the cache file's description of its scene makes no sense: " + what,
                {file.path().string(), ""}, "remove it; it will be made again");
  };
}

/// Calls read(reader) on a section, all of which it must read.
template <class Read>
void read_section(const CacheFile& file, std::string_view name, const Read& read) {
  const std::vector<char> bytes = file.read_all<char>(name);
  ByteReader reader({bytes.data(), bytes.size()}, failure_of(file));
  read(reader);
  reader.expect_end();
}

/// Both the summary and the parts of the scene that the same bytes describe.
void read_summary(const CacheFile& file, CacheSummary& summary, Scene& scene) {
  detail::SceneCounts counts;
  read_section(file, "scene", [&](ByteReader& reader) {
    const auto flags = reader.get<std::uint32_t>();
    if (flags > kFlattened) reader.fail("unknown flags");
    summary.flattened = flags == kFlattened;
    detail::visit_vector(reader, summary.origin);
    visit_raster(reader, summary.raster);
    detail::visit_facts(reader, scene, counts);
  });
  const detail::ByteFailure failure = failure_of(file);
  if (!to_eigen(summary.origin).allFinite()) failure("its origin is no place");
  if (!valid(summary.raster)) failure("its raster has no wavelengths");
  detail::check_scene(scene, {}, failure);
  summary.source = scene.source;
  summary.format = scene.format;
  summary.triangles = counts.triangles;
  summary.vertices = counts.vertices;
  summary.meshes = counts.meshes;
  summary.instances = counts.instances;
  summary.bounds = scene.bounds;
  summary.report = scene.report;
}

std::vector<detail::MeshSizes> read_tree(const CacheFile& file, Scene& scene) {
  std::vector<detail::MeshSizes> sizes;
  read_section(file, "scene_tree", [&](ByteReader& reader) { detail::visit_tree(reader, scene, sizes); });
  detail::check_scene(scene, sizes, failure_of(file));
  return sizes;
}

[[noreturn]] void inconsistent(const CacheFile& file, ViewArray array) {
  throw Error(ErrorKind::malformed, "the cache file's arrays are not those of its scene",
              {file.path().string(), "section '" + std::string(info(array).name) + "'"},
              "remove it; it will be made again");
}

/// The per-triangle attributes of a scene whose meshes have their triangles.
void read_attributes(const CacheFile& file, Scene& scene) {
  detail::for_each_triangle_attribute([&]<class T>(const detail::TriangleAttribute<T>& attribute) {
    if (!file.has(attribute.name)) return;
    const std::vector<T> values = file.read_all<T>(attribute.name);
    if (values.size() != scene.unique_triangles())
      throw Error(ErrorKind::malformed, "the cache file's arrays are not those of its scene",
                  {file.path().string(), "section '" + std::string(attribute.name) + "'"},
                  "remove it; it will be made again");
    auto next = values.begin();
    for (Mesh& mesh : scene.meshes) {
      const auto end = next + static_cast<std::ptrdiff_t>(mesh.triangles.size());
      (mesh.*attribute.mesh).assign(next, end);
      next = end;
    }
  });
}

}  // namespace

namespace detail {

std::vector<CacheMetadata> scene_metadata(const Scene& scene, const Double3& origin, bool flattened,
                                          const Raster& raster, const Progress& progress) {
  ByteWriter hashes;
  const std::vector<Hash256> of_files = file_hashes(scene.source, scene.files, progress);
  hashes.list(of_files, 0, [&](const Hash256& hash) { hashes.value(hash); });
  return {{"scene", summary_bytes(scene, origin, flattened, raster)},
          {"scene_tree", tree_bytes(scene)},
          {std::string(kFiles), bytes_of(hashes)}};
}

std::optional<std::vector<Scene::SourceFile>> same_files(const CacheFile& file, const std::filesystem::path& source,
                                                         const Progress& progress) {
  CacheSummary summary;
  Scene scene;
  read_summary(file, summary, scene);
  std::vector<Hash256> hashes;
  read_section(file, kFiles, [&](ByteReader& reader) {
    reader.list(hashes, sizeof(Hash256), [&](Hash256& hash) { reader.value(hash); });
  });
  for (Scene::SourceFile& one : scene.files) one = source_file(source.parent_path() / one.path, one.path);
  try {
    if (file_hashes(source, scene.files, progress) != hashes) return std::nullopt;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::io) throw;
    return std::nullopt;
  }
  return std::move(scene.files);
}

CacheMetadata options_metadata(const std::string& options) {
  ByteWriter writer;
  writer.text(options);
  return {std::string(kOptions), bytes_of(writer)};
}

}  // namespace detail

CacheSummary cache_summary(const CacheFile& file) {
  CacheSummary summary;
  Scene scene;
  read_summary(file, summary, scene);
  if (file.has(kOptions))
    read_section(file, kOptions, [&](ByteReader& reader) { summary.options = reader.get_text(); });
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
  const std::vector<detail::MeshSizes> sizes = read_tree(file, scene);
  const std::vector<Float3> vertices = file.read_all<Float3>(info(ViewArray::vertices).name);
  const std::string_view rests_name = info(ViewArray::vertex_rests).name;
  std::vector<Float3> rests;
  if (file.has(rests_name)) rests = file.read_all<Float3>(rests_name);
  if (!rests.empty() && rests.size() != vertices.size()) inconsistent(file, ViewArray::vertex_rests);
  const std::vector<UInt3> triangles = file.read_all<UInt3>(info(ViewArray::triangles).name);
  std::size_t first_vertex = 0;
  std::size_t first_triangle = 0;
  for (std::size_t i = 0; i != sizes.size(); ++i) {
    const auto [vertex_count, triangle_count] = sizes[i];
    if (vertex_count > vertices.size() - first_vertex) inconsistent(file, ViewArray::vertices);
    if (triangle_count > triangles.size() - first_triangle) inconsistent(file, ViewArray::triangles);
    Mesh& mesh = scene.meshes[i];
    const auto* const vertex = vertices.data() + first_vertex;
    mesh.vertices.assign(vertex, vertex + vertex_count);
    if (!rests.empty()) mesh.rests.assign(rests.data() + first_vertex, rests.data() + first_vertex + vertex_count);
    mesh.triangles.resize(triangle_count);
    const auto offset = static_cast<std::uint32_t>(first_vertex);
    for (std::size_t t = 0; t != triangle_count; ++t) {
      // Indices below the offset wrap around to large ones.
      const UInt3 shared = triangles[first_triangle + t];
      mesh.triangles[t] = {shared.x - offset, shared.y - offset, shared.z - offset};
    }
    detail::check_mesh(mesh, [&file](const std::string&) { inconsistent(file, ViewArray::triangles); });
    first_vertex += vertex_count;
    first_triangle += triangle_count;
  }
  read_attributes(file, scene);
  if (first_vertex != vertices.size()) inconsistent(file, ViewArray::vertices);
  if (first_triangle != triangles.size()) inconsistent(file, ViewArray::triangles);
  return scene;
}

Scene cached_scene(const CacheFile& file, const std::filesystem::path& source, const Progress& progress) {
  auto files = detail::same_files(file, source, progress);
  if (!files) throw Error(ErrorKind::io, "a file that the scene refers to was changed", {source.string(), ""});
  Scene scene = cached_scene(file);
  scene.source = source.string();
  scene.files = std::move(*files);
  return scene;
}

}  // namespace raylift
