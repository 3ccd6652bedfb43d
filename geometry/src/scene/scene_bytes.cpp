// SPDX-License-Identifier: Apache-2.0
#include <raylift/geometry/detail/descriptor.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/detail/scene_bytes.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdlib>

namespace raylift::inline v0_1::detail {
namespace {

void hand_over(int descriptor, std::string_view bytes) {
  const int code = write_all(descriptor, bytes);
  // The scene is handed over in memory that is a file to the kernel.
  if (code == EFBIG)
    throw Error(ErrorKind::limit, "the imported scene is larger than the import's memory, or than files may be", {},
                "raise it with --import-memory, or with ulimit -f");
  if (code != 0) throw Error(ErrorKind::io, std::string("can't hand the scene over: ") + std::strerror(code));
}

bool covered_by_parts(const Mesh& mesh, std::uint64_t triangles) {
  std::uint64_t next = 0;
  for (const MeshPart& part : mesh.parts) {
    if (part.first_triangle != next) return false;
    next += part.triangle_count;
  }
  return next == triangles;
}

}  // namespace

void ByteWriter::write_to(int descriptor) const {
  std::size_t done = 0;
  const std::string_view own = own_;
  for (const Piece& piece : pieces_) {
    hand_over(descriptor, own.substr(done, piece.own_before - done));
    hand_over(descriptor, piece.outside);
    done = piece.own_before;
  }
  hand_over(descriptor, own.substr(done));
}

void ByteReader::text(std::string& text) {
  const std::size_t size = count(1);
  text.assign(take(size), size);
}

std::size_t ByteReader::count(std::size_t size) {
  const auto count = get<std::uint64_t>();
  if (count > bytes_.size() / size) fail("a count is larger than what follows");
  return static_cast<std::size_t>(count);
}

const char* ByteReader::take(std::size_t size) {
  if (size > bytes_.size()) fail("it ends too early");
  const char* data = bytes_.data();
  bytes_.remove_prefix(size);
  return data;
}

void ByteReader::fail(const std::string& what) const {
  failure_(what);
  std::abort();  // not reached: a failure throws
}

SceneCounts counts_of(const Scene& scene) {
  return {scene.unique_triangles(), scene.unique_vertices(), scene.meshes.size(), scene.instances.size()};
}

std::vector<MeshSizes> sizes_of(const Scene& scene) {
  std::vector<MeshSizes> sizes;
  for (const Mesh& mesh : scene.meshes) sizes.push_back({mesh.vertices.size(), mesh.triangles.size()});
  return sizes;
}

void check_scene(const Scene& scene, std::span<const MeshSizes> sizes, const ByteFailure& failure) {
  const auto expect = [&](bool sound, const char* what) {
    if (!sound) failure(what);
  };
  const auto expect_index = [&](std::uint32_t index, std::size_t count, bool may_be_none = false) {
    expect(index < count || (may_be_none && index == kNone), "an index is out of range");
  };
  expect(scene.up_axis <= UpAxis::z && scene.unit_from <= Provenance::option && scene.up_from <= Provenance::option,
         "an enumeration is out of range");
  expect(
      scene.bounds.min.allFinite() && scene.bounds.max.allFinite() && std::isfinite(scene.unit_mm) && scene.unit_mm > 0,
      "its extent or unit is no length");
  for (std::size_t i = 0; i != sizes.size(); ++i) {
    expect(std::max(sizes[i].vertices, sizes[i].triangles) < kNone, "a mesh is too large");
    expect(covered_by_parts(scene.meshes[i], sizes[i].triangles), "parts do not cover a mesh one after the other");
  }
  for (const std::vector<std::uint32_t>& binding : scene.bindings)
    for (const std::uint32_t material : binding) expect_index(material, scene.materials.size(), true);
  for (std::size_t i = 0; i != scene.nodes.size(); ++i) {
    expect_index(scene.nodes[i].parent, i, true);
    expect_index(scene.nodes[i].volume, scene.volumes.size(), true);
  }
  for (const Instance& instance : scene.instances) {
    expect_index(instance.mesh, scene.meshes.size());
    expect_index(instance.node, scene.nodes.size(), true);
    expect_index(instance.binding, scene.bindings.size());
    expect_index(instance.outside, scene.materials.size(), true);
    expect(instance.transform.matrix().allFinite(), "a transform is not finite");
    expect(scene.bindings[instance.binding].size() >= scene.meshes[instance.mesh].parts.size(),
           "a part of a solid has no material");
  }
  check_optics(scene, failure);
}

void check_mesh(const Mesh& mesh, const ByteFailure& failure) {
  std::atomic<bool> sound{true};
  const std::size_t vertices = mesh.vertices.size();
  using Range = tbb::blocked_range<std::size_t>;
  tbb::parallel_for(Range(0, mesh.triangles.size(), 1U << 15), [&](const Range& range) {
    bool good = true;
    for (std::size_t i = range.begin(); i != range.end(); ++i) {
      const UInt3& t = mesh.triangles[i];
      good = good && t.x < vertices && t.y < vertices && t.z < vertices;
    }
    if (!good) sound = false;
  });
  tbb::parallel_for(Range(0, vertices, 1U << 15), [&](const Range& range) {
    float sum = 0;  // becomes NaN by any coordinate that is not finite
    for (std::size_t i = range.begin(); i != range.end(); ++i)
      sum += 0 * mesh.vertices[i].x + 0 * mesh.vertices[i].y + 0 * mesh.vertices[i].z;
    if (std::isnan(sum)) sound = false;
  });
  if (!sound) failure("a mesh holds broken indices or coordinates");
}

}  // namespace raylift::inline v0_1::detail
