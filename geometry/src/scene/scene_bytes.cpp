// SPDX-License-Identifier: Apache-2.0
#include "scene/scene_bytes.h"
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/flatten.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "base/descriptor.h"
#include "for_each_mesh.h"

namespace raylift::detail {
namespace {

void hand_over(int descriptor, std::string_view bytes) {
  const int code = base::write_all(descriptor, bytes);
  // The scene is handed over in memory that is a file to the kernel.
  if (code == EFBIG)
    throw Error(ErrorKind::limit, "the imported scene is larger than the import's memory, or than files may be", {},
                "raise it with LoadLimits::isolate_bytes, or with ulimit -f");
  if (code != 0) throw Error(ErrorKind::io, std::string("can't hand the scene over: ") + std::strerror(code));
}

bool covered_by_parts(const Mesh& mesh, std::uint64_t triangles) {
  std::uint64_t next = 0;
  for (const Mesh::Part& part : mesh.parts) {
    if (part.first_triangle != next) return false;
    next += part.triangle_count;
  }
  return next == triangles;
}

}  // namespace

void ByteWriter::for_each_piece(const std::function<void(std::string_view)>& use) const {
  std::size_t done = 0;
  const std::string_view own = own_;
  for (const Piece& piece : pieces_) {
    use(own.substr(done, piece.own_before - done));
    use(piece.outside);
    done = piece.own_before;
  }
  use(own.substr(done));
}

void ByteWriter::write_to(int descriptor) const {
  for_each_piece([descriptor](std::string_view piece) { hand_over(descriptor, piece); });
}

void ByteReader::text(std::string& text) {
  const std::size_t size = count(1);
  spend(size);
  text.assign(take(size), size);
}

std::size_t ByteReader::count(std::size_t size) {
  const auto count = get<std::uint64_t>();
  if (count > bytes_.size() / size) fail("a count is larger than what follows");
  return static_cast<std::size_t>(count);
}

void ByteReader::spend(std::uint64_t bytes) {
  if (bytes > allowed_)
    throw Error(ErrorKind::limit, "the scene and the result that holds it take more memory than the import may", {},
                "raise that with LoadLimits::isolate_bytes");
  allowed_ -= bytes;
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

void refuse_scene(const Scene& scene, const std::string& what, const std::string& element) {
  throw Error(ErrorKind::usage, "the scene does not hold together: " + what, {scene.source, element});
}

void check_scene(const Scene& scene, std::span<const MeshSizes> sizes, const ByteFailure& failure) {
  // what() makes the text only where something is wrong.
  const auto expect = [&](bool sound, const auto& what) {
    if (!sound) failure(what());
  };
  const auto expect_index = [&](std::uint32_t index, std::size_t count, const char* of, const auto& whose) {
    expect(index < count || index == kNone, [&] {
      return whose() + " refers to " + of + " " + std::to_string(index) + ", and the scene has " +
             std::to_string(count);
    });
  };
  const auto expect_text = [&](bool sound, const char* what) { expect(sound, [&] { return std::string(what); }); };
  expect_text(scene.up_axis <= UpAxis::z && scene.unit_from <= Scene::Provenance::option &&
                  scene.up_from <= Scene::Provenance::option,
              "an enumeration is out of range");
  expect_text(
      scene.bounds.empty() || (to_eigen(scene.bounds.min).allFinite() && to_eigen(scene.bounds.max).allFinite()),
      "its bounds are not finite");
  expect_text(std::isfinite(scene.unit_mm) && scene.unit_mm > 0, "its unit is no length");
  for (std::size_t i = 0; i != sizes.size(); ++i) {
    const auto mesh = [&] { return "mesh " + std::to_string(i) + " '" + scene.meshes[i].name + "'"; };
    expect(std::max(sizes[i].vertices, sizes[i].triangles) < kNone, [&] { return mesh() + " is too large"; });
    expect(scene.meshes[i].rests.empty() || scene.meshes[i].rests.size() == sizes[i].vertices,
           [&] { return mesh() + " has not one rest for each vertex"; });
    const Mesh::Deviation& deviation = scene.meshes[i].deviation;
    expect(std::isfinite(deviation.outward + deviation.inward) && deviation.outward >= 0 && deviation.inward >= 0,
           [&] { return "the deviation of " + mesh() + " is no distance"; });
    expect(covered_by_parts(scene.meshes[i], sizes[i].triangles),
           [&] { return "the parts of " + mesh() + " do not cover its triangles one after the other"; });
    for_each_triangle_attribute([&](const auto& attribute) {
      const std::size_t values = (scene.meshes[i].*attribute.mesh).size();
      expect(values == 0 || values == sizes[i].triangles, [&] {
        return mesh() + " has " + std::to_string(values) + " values of '" + std::string(attribute.name) + "' for " +
               std::to_string(sizes[i].triangles) + " triangles";
      });
    });
  }
  for (std::size_t i = 0; i != scene.bindings.size(); ++i)
    for (const std::uint32_t material : scene.bindings[i])
      expect_index(material, scene.materials.size(), "material", [&] { return "binding " + std::to_string(i); });
  for (std::size_t i = 0; i != scene.nodes.size(); ++i) {
    const auto node = [&] { return "node " + std::to_string(i) + " '" + scene.nodes[i].name + "'"; };
    expect(scene.nodes[i].parent < i || scene.nodes[i].parent == kNone,
           [&] { return "the parent of " + node() + " does not stand before it"; });
    expect_index(scene.nodes[i].volume, scene.volumes.size(), "volume", node);
  }
  for (std::size_t i = 0; i != scene.instances.size(); ++i) {
    const Instance& instance = scene.instances[i];
    const auto solid = [&] { return "solid " + std::to_string(i); };
    expect(instance.mesh != kNone && instance.binding != kNone, [&] { return solid() + " has no mesh or no binding"; });
    expect_index(instance.mesh, scene.meshes.size(), "mesh", solid);
    expect_index(instance.node, scene.nodes.size(), "node", solid);
    expect_index(instance.binding, scene.bindings.size(), "binding", solid);
    expect_index(instance.outside, scene.materials.size(), "material", solid);
    expect(to_eigen(instance.transform).matrix().allFinite(),
           [&] { return "the transform of " + solid() + " is not finite"; });
    expect(scene.bindings[instance.binding].size() >= scene.meshes[instance.mesh].parts.size(), [&] {
      return "binding " + std::to_string(instance.binding) + " has fewer materials than the mesh of " + solid() +
             " has parts";
    });
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
    for (std::size_t i = range.begin(); i != range.end() && !mesh.rests.empty(); ++i)
      sum += 0 * mesh.rests[i].x + 0 * mesh.rests[i].y + 0 * mesh.rests[i].z;
    if (std::isnan(sum)) sound = false;
  });
  if (!sound) failure("a mesh holds broken indices or coordinates");
}

void put_scene(ByteWriter& writer, const Scene& scene) {
  SceneCounts counts = counts_of(scene);
  std::vector<MeshSizes> sizes = sizes_of(scene);
  visit_facts(writer, scene, counts);
  visit_tree(writer, scene, sizes);
  for (const Mesh& mesh : scene.meshes) {
    writer.array(mesh.vertices, mesh.vertices.size());
    writer.array(mesh.triangles, mesh.triangles.size());
    writer.value(std::uint64_t{mesh.rests.size()});
    writer.array(mesh.rests, mesh.rests.size());
    for_each_triangle_attribute([&](const auto& attribute) {
      const auto& values = mesh.*attribute.mesh;
      writer.value(std::uint64_t{values.size()});
      writer.array(values, values.size());
    });
  }
}

Scene get_scene(ByteReader& reader) {
  Scene scene;
  SceneCounts counts;
  std::vector<MeshSizes> sizes;
  visit_facts(reader, scene, counts);
  visit_tree(reader, scene, sizes);
  const auto failure = [&reader](const std::string& what) { reader.fail(what); };
  check_scene(scene, sizes, failure);
  struct Arrays {
    std::string_view vertices, triangles, rests;
    std::array<std::string_view, std::tuple_size_v<decltype(kTriangleAttributes)>> attributes;
  };
  std::vector<Arrays> arrays;
  for (const MeshSizes& size : sizes) {
    const std::string_view vertices = reader.elements<Float3>(size.vertices);
    const std::string_view triangles = reader.elements<UInt3>(size.triangles);
    const auto rests = reader.get<std::uint64_t>();
    if (rests != 0 && rests != size.vertices) reader.fail("an array has not one value for each vertex");
    arrays.push_back({vertices, triangles, reader.elements<Float3>(rests), {}});
    auto* elements = arrays.back().attributes.data();
    for_each_triangle_attribute([&]<class T>(const TriangleAttribute<T>&) {
      const auto count = reader.get<std::uint64_t>();
      if (count != 0 && count != size.triangles) reader.fail("an array has not one value for each triangle");
      *elements++ = reader.elements<T>(count);
    });
  }
  for_each_mesh(0, arrays.size(), [&](std::size_t i) {
    Mesh& mesh = scene.meshes[i];
    ByteReader::copy(arrays[i].vertices, mesh.vertices);
    ByteReader::copy(arrays[i].triangles, mesh.triangles);
    ByteReader::copy(arrays[i].rests, mesh.rests);
    const auto* elements = arrays[i].attributes.data();
    for_each_triangle_attribute([&](const auto& attribute) { ByteReader::copy(*elements++, mesh.*attribute.mesh); });
    check_mesh(mesh, failure);
  });
  return scene;
}

}  // namespace raylift::detail
