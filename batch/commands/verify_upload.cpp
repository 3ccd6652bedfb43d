// SPDX-License-Identifier: Apache-2.0
#include "verify_upload.h"

#include <fmt/format.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/flatten.h>
#include <raylift/geometry/scene/solids.h>
#include <raylift/gpu/upload/optics_arrays.h>

#include <algorithm>
#include <cstring>

namespace raylift::batch {
namespace {

// What is read back at a time: the host needs no second copy of everything.
constexpr std::size_t kChunkBytes = std::size_t{16} << 20;

class Verifier {
 public:
  explicit Verifier(const GpuGeometry& geometry) : geometry_(geometry), stream_(geometry.device()) {}

  /// Compares an array of `count` elements, `expected(i)` being what element i must be, in rising order of i.
  template <class T, class Expected>
  void compare(ViewArray array, std::size_t count, const Expected& expected) {
    const Memory& memory = geometry_.array(array);
    if (memory.bytes() != count * sizeof(T))
      fail(array, fmt::format("{} bytes instead of {}", memory.bytes(), count * sizeof(T)));
    std::vector<T> chunk(std::min(count, kChunkBytes / sizeof(T)));
    for (std::size_t first = 0; first != count;) {
      const std::size_t here = std::min(chunk.size(), count - first);
      memory.copy_to(std::as_writable_bytes(std::span(chunk.data(), here)), stream_, first * sizeof(T));
      stream_.synchronize();
      for (std::size_t i = 0; i != here; ++i) {
        const T wanted = expected(first + i);
        if (std::memcmp(&wanted, &chunk[i], sizeof(T)) != 0) fail(array, fmt::format("element {} differs", first + i));
      }
      first += here;
    }
    bytes_ += count * sizeof(T);
  }
  template <class T>
  void compare(ViewArray array, const std::vector<T>& expected) {
    compare<T>(array, expected.size(), [&](std::size_t i) -> const T& { return expected[i]; });
  }

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  [[noreturn]] static void fail(ViewArray array, const std::string& what) {
    throw Error(ErrorKind::device, fmt::format("what lies on the device is not what was uploaded: {}", what),
                {"", fmt::format("array '{}'", info(array).name)},
                "the device's memory or driver is at fault, or raylift: report it");
  }

  const GpuGeometry& geometry_;
  Stream stream_;
  std::uint64_t bytes_ = 0;
};

/// Walks over an array in all meshes; elements are asked for in rising order.
class Walk {
 public:
  Walk(const Scene& scene, std::size_t (*size)(const Mesh&)) : scene_(scene), size_(size) {}
  /// The mesh that element i belongs to, and its number there.
  std::pair<std::size_t, std::size_t> at(std::size_t i) {
    while (i - first_ >= size_(scene_.meshes[mesh_])) first_ += size_(scene_.meshes[mesh_++]);
    return {mesh_, i - first_};
  }

 private:
  const Scene& scene_;
  std::size_t (*size_)(const Mesh&);
  std::size_t mesh_ = 0;
  std::size_t first_ = 0;
};

std::size_t vertices_of(const Mesh& mesh) {
  return mesh.vertices.size();
}
std::size_t triangles_of(const Mesh& mesh) {
  return mesh.triangles.size();
}

/// The values that kernels get by another way than by a copy of a scene's array: compared field by field.
void verify_instances(const Scene& scene, const GpuGeometry& geometry, Verifier& verifier) {
  const GeometryView& view = geometry.view();
  const Eigen::Vector3d origin(view.origin[0], view.origin[1], view.origin[2]);
  std::vector<std::uint32_t> first_material;
  std::vector<std::uint16_t> part_materials;
  for (const auto& binding : scene.bindings) {
    first_material.push_back(static_cast<std::uint32_t>(part_materials.size()));
    for (const std::uint32_t material : binding) part_materials.push_back(MaterialCode::pack(material));
  }
  std::size_t most_parts = 0;
  for (const Mesh& mesh : scene.meshes) most_parts = std::max(most_parts, mesh.parts.size());
  if (!first_material.empty() && part_materials.size() < first_material.back() + most_parts)
    part_materials.resize(first_material.back() + most_parts, MaterialCode::none);
  verifier.compare(ViewArray::part_materials, part_materials);
  verifier.compare<InstanceView>(ViewArray::instances, scene.instances.size(), [&](std::size_t i) {
    const Instance& instance = scene.instances[i];
    Transform to_world = instance.transform;
    to_world.translation() -= origin;
    InstanceView wanted{};
    const double determinant = to_world.linear().determinant();
    const auto set = [](Affine& affine, const Transform& transform) {
      for (int k = 0; k != 12; ++k) affine.m[k] = static_cast<float>(transform(k / 4, k % 4));
    };
    set(wanted.to_world, to_world);
    if (determinant != 0) set(wanted.to_mesh, to_world.inverse());
    wanted.mesh = instance.mesh;
    wanted.solid_id = static_cast<std::uint32_t>(i);
    wanted.first_material = first_material[instance.binding];
    wanted.outside = MaterialCode::pack(instance.outside);
    wanted.mirrored = determinant < 0 ? 1 : 0;
    return wanted;
  });
}

void verify_solids(const Scene& scene, const GpuGeometry& geometry, Verifier& verifier) {
  const SolidTree tree = solid_tree(scene);
  verifier.compare(ViewArray::daughters, tree.daughters);
  verifier.compare(ViewArray::solids, solid_views(scene, tree));
  if (scene.optics.empty()) return;
  const OpticsArrays optics = optics_arrays(scene, tree, geometry.view().optics.raster);
  verifier.compare(ViewArray::optical_tables, optics.tables);
  verifier.compare(ViewArray::optical_materials, optics.materials);
  verifier.compare(ViewArray::optical_surfaces, optics.surfaces);
  verifier.compare(ViewArray::optical_points, optics.points);
  verifier.compare(ViewArray::border_surfaces, optics.borders);
  verifier.compare(ViewArray::channels, optics.channels);
  verifier.compare(ViewArray::channel_types, optics.channel_types);
}

void verify_two_levels(const Scene& scene, const GpuGeometry& geometry, Verifier& verifier) {
  std::vector<MeshView> meshes;
  MeshView next{};
  for (const Mesh& mesh : scene.meshes) {
    next.vertex_count = static_cast<std::uint32_t>(mesh.vertices.size());
    next.triangle_count = static_cast<std::uint32_t>(mesh.triangles.size());
    meshes.push_back(next);
    next.first_vertex += next.vertex_count;
    next.first_triangle += next.triangle_count;
  }
  verifier.compare(ViewArray::meshes, meshes);
  Walk vertices(scene, vertices_of);
  verifier.compare<Float3>(ViewArray::vertices, scene.unique_vertices(), [&](std::size_t i) {
    const auto [mesh, inside] = vertices.at(i);
    return scene.meshes[mesh].vertices[inside];
  });
  Walk triangles(scene, triangles_of);
  verifier.compare<UInt3>(ViewArray::triangles, scene.unique_triangles(), [&](std::size_t i) {
    const auto [mesh, inside] = triangles.at(i);
    const UInt3 t = scene.meshes[mesh].triangles[inside];
    const std::uint32_t offset = meshes[mesh].first_vertex;
    return UInt3{t.x + offset, t.y + offset, t.z + offset};
  });
  Walk parts(scene, triangles_of);
  verifier.compare<std::uint16_t>(ViewArray::triangle_parts, scene.unique_triangles(), [&](std::size_t i) {
    const auto [mesh, inside] = parts.at(i);
    const std::vector<MeshPart>& all = scene.meshes[mesh].parts;
    std::size_t part = 0;
    while (inside >= std::size_t{all[part].first_triangle} + all[part].triangle_count) ++part;
    return static_cast<std::uint16_t>(part);
  });
  verify_instances(scene, geometry, verifier);
  verifier.compare(ViewArray::solid_colors, std::vector<std::uint32_t>(scene.instances.size(), kMaterialColor));
}

void verify_flat(const Scene& scene, const GpuGeometry& geometry, Verifier& verifier) {
  const GeometryView& view = geometry.view();
  const FlatScene flat = flatten(scene, Eigen::Vector3d(view.origin[0], view.origin[1], view.origin[2]));
  verifier.compare(ViewArray::vertices, flat.vertices);
  verifier.compare(ViewArray::triangles, flat.triangles);
  verifier.compare(ViewArray::solid_ids, flat.solid_ids);
  verifier.compare(ViewArray::material_codes, flat.material_codes);
  verifier.compare(ViewArray::colors, flat.colors);
}

}  // namespace

std::uint64_t verify_upload(const Scene& scene, const GpuGeometry& geometry, bool flattened) {
  Verifier verifier(geometry);
  std::vector<std::uint32_t> colors;
  for (std::uint32_t i = 0; i != scene.materials.size(); ++i) colors.push_back(packed_color(scene, i));
  verifier.compare(ViewArray::material_colors, colors);
  verify_solids(scene, geometry, verifier);
  (flattened ? verify_flat : verify_two_levels)(scene, geometry, verifier);
  return verifier.bytes();
}

}  // namespace raylift::batch
