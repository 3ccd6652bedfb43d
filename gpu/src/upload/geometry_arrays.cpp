// SPDX-License-Identifier: Apache-2.0
// From a scene to the arrays of a GeometryView.
#include "geometry_arrays.h"

#include <raylift/geometry/checks/validate.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/eigen.h>
#include <raylift/geometry/scene/solids.h>
#include <raylift/gpu/upload/optics_arrays.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "array_on_device.h"
#include "bvh/bvh_build.h"
#include "geometry/src/scene/scene_bytes.h"
#include "geometry/src/scene/thin_layers.h"
#include "geometry/src/stage.h"
#include "prebuilt_bvh.h"
#include "upload_on.h"

namespace raylift {
namespace {

constexpr std::uint64_t kMax = 0xFFFFFFFEU;

void set(Affine& affine, const Transform& transform) {
  for (int row = 0; row != 3; ++row)
    for (int column = 0; column != 4; ++column) affine.m[row * 4 + column] = static_cast<float>(transform(row, column));
}

/// Where each mesh begins in the arrays over all meshes.
std::vector<MeshView> mesh_views(const Scene& scene) {
  std::vector<MeshView> views;
  std::uint64_t vertices = 0;
  std::uint64_t triangles = 0;
  for (const Mesh& mesh : scene.meshes) {
    views.push_back({static_cast<std::uint32_t>(vertices), static_cast<std::uint32_t>(mesh.vertices.size()),
                     static_cast<std::uint32_t>(triangles), static_cast<std::uint32_t>(mesh.triangles.size())});
    vertices += mesh.vertices.size();
    triangles += mesh.triangles.size();
    if (std::max(vertices, triangles) > kMax)
      throw Error(ErrorKind::limit,
                  "the scene's unique meshes have more than " + std::to_string(kMax) + " vertices or triangles",
                  {scene.source, "mesh '" + mesh.name + "'"}, "load it in parts");
    if (mesh.parts.size() > MaterialCode::none)
      throw Error(ErrorKind::limit,
                  "the mesh has " + std::to_string(mesh.parts.size()) + " parts, and the limit is 65535",
                  {scene.source, "mesh '" + mesh.name + "'"}, "merge parts of one material before exporting");
  }
  return views;
}

using MeshTable = std::shared_ptr<const std::vector<MeshView>>;

/// The members of MeshView that say where a mesh's elements lie in an array over all meshes.
struct MeshRange {
  std::uint32_t MeshView::*first;
  std::uint32_t MeshView::*count;
};
constexpr MeshRange kVertices{&MeshView::first_vertex, &MeshView::vertex_count};
constexpr MeshRange kTriangles{&MeshView::first_triangle, &MeshView::triangle_count};

/// An array over all meshes. write(mesh number, first element in the mesh, target, mode) writes what of one mesh is
/// wanted.
template <class T, class Write>
ArraySource mesh_source(ViewArray array, const MeshTable& meshes, MeshRange range, const Write& write) {
  const std::size_t whole = meshes->empty() ? 0 : meshes->back().*range.first + meshes->back().*range.count;
  return view_source(array, sizeof(T), whole,
                     [meshes, range, write](std::size_t first, std::size_t count, std::byte* target, StoreMode mode) {
                       auto mesh = std::upper_bound(
                           meshes->begin(), meshes->end(), first,
                           [range](std::size_t at, const MeshView& view) { return at < view.*range.first; });
                       --mesh;
                       for (std::size_t done = 0; done != count; ++mesh) {
                         const std::size_t inside = first + done - (*mesh).*range.first;
                         const std::size_t here = std::min<std::size_t>(count - done, (*mesh).*range.count - inside);
                         if (here != 0)
                           write(static_cast<std::size_t>(mesh - meshes->begin()), inside,
                                 std::span(reinterpret_cast<T*>(target) + done, here), mode);
                         done += here;
                       }
                     });
}

/// The number of each triangle's part in its mesh, from triangle `first` on.
void write_parts(const std::vector<Mesh::Part>& parts, std::size_t first, std::span<std::uint16_t> target) {
  auto part = std::upper_bound(parts.begin(), parts.end(), first,
                               [](std::size_t at, const Mesh::Part& p) { return at < p.first_triangle; });
  --part;
  for (std::size_t i = 0; i != target.size(); ++i) {
    while (first + i >= std::size_t{part->first_triangle} + part->triangle_count) ++part;
    target[i] = static_cast<std::uint16_t>(part - parts.begin());
  }
}

void add_mesh_arrays(std::vector<ArraySource>& arrays, const Scene& scene, const MeshTable& meshes) {
  arrays.push_back(mesh_source<UInt3>(
      ViewArray::triangles, meshes, kTriangles,
      [&scene, meshes](std::size_t mesh, std::size_t first, std::span<UInt3> target, StoreMode mode) {
        convert_rows(std::span<const UInt3>(scene.meshes[mesh].triangles), first, target, mode,
                     (*meshes)[mesh].first_vertex);
      }));
  arrays.push_back(mesh_source<Float3>(
      ViewArray::vertices, meshes, kVertices,
      [&scene](std::size_t mesh, std::size_t first, std::span<Float3> target, StoreMode mode) {
        copy_bytes(scene.meshes[mesh].vertices.data() + first, target.data(), target.size_bytes(), mode);
      }));
}

void add_rests(std::vector<ArraySource>& arrays, const Scene& scene, const MeshTable& meshes) {
  arrays.push_back(
      mesh_source<Float3>(ViewArray::vertex_rests, meshes, kVertices,
                          [&scene](std::size_t mesh, std::size_t first, std::span<Float3> target, StoreMode mode) {
                            const std::vector<Float3>& rests = scene.meshes[mesh].rests;
                            if (rests.empty())
                              std::fill(target.begin(), target.end(), Float3{0, 0, 0});
                            else
                              copy_bytes(rests.data() + first, target.data(), target.size_bytes(), mode);
                          }));
}

void add_attributes(std::vector<ArraySource>& arrays, const Scene& scene, const MeshTable& meshes) {
  detail::for_each_triangle_attribute([&]<class T>(const detail::TriangleAttribute<T>& attribute) {
    if (!detail::has_attribute(scene, attribute)) return;
    const auto member = attribute.mesh;
    arrays.push_back(
        mesh_source<T>(info(attribute.name).array, meshes, kTriangles,
                       [&scene, member](std::size_t mesh, std::size_t first, std::span<T> target, StoreMode mode) {
                         const std::vector<T>& values = scene.meshes[mesh].*member;
                         if (values.empty())
                           std::fill(target.begin(), target.end(), T{});
                         else
                           copy_bytes(values.data() + first, target.data(), target.size_bytes(), mode);
                       }));
  });
}

std::vector<std::uint32_t> packed_colors(const Scene& scene) {
  std::vector<std::uint32_t> colors;
  for (std::uint32_t i = 0; i != scene.materials.size(); ++i) colors.push_back(packed_color(scene, i));
  return colors;
}

/// The materials of all bindings, one binding after the other, and where each begins. Behind every begin come as many
/// materials as any mesh has parts: then no pair of an instance and a triangle leads out of the array.
struct PartMaterials {
  std::vector<std::uint16_t> materials;
  std::vector<std::uint32_t> first;
};

PartMaterials part_materials(const Scene& scene) {
  PartMaterials parts;
  std::size_t most_parts = 0;
  for (const Mesh& mesh : scene.meshes) most_parts = std::max(most_parts, mesh.parts.size());
  for (const std::vector<std::uint32_t>& binding : scene.bindings) {
    parts.first.push_back(static_cast<std::uint32_t>(parts.materials.size()));
    for (const std::uint32_t material : binding) parts.materials.push_back(MaterialCode::pack(material));
  }
  const std::size_t wanted = parts.first.empty() ? 0 : parts.first.back() + most_parts;
  if (parts.materials.size() < wanted) parts.materials.resize(wanted, MaterialCode::none);
  return parts;
}

/// `frames` gets the transforms into the meshes' frames in double; zero where there is none.
std::vector<InstanceView> instance_views(const Scene& scene, const Double3& origin,
                                         const std::vector<std::uint32_t>& first_material,
                                         std::vector<Transform>& frames) {
  std::vector<InstanceView> views;
  views.reserve(scene.instances.size());
  frames.reserve(scene.instances.size());
  for (const Instance& instance : scene.instances) {
    EigenTransform to_world = to_eigen(instance.transform);
    to_world.translation() -= to_eigen(origin);
    InstanceView view{};
    set(view.to_world, to_world);
    const double determinant = to_world.linear().determinant();
    Transform& frame = frames.emplace_back();
    if (determinant != 0)
      frame = to_world.inverse();
    else
      std::fill(std::begin(frame.m), std::end(frame.m), 0.0);
    set(view.to_mesh, frame);
    view.mesh = instance.mesh;
    view.solid_id = static_cast<std::uint32_t>(views.size());
    view.first_material = first_material[instance.binding];
    view.outside = MaterialCode::pack(instance.outside);
    view.mirrored = determinant < 0 ? 1 : 0;
    views.push_back(view);
  }
  return views;
}

/// The arrays of a BVH, before all others of their rank: rays touch the others only where they hit.
template <class TheBvh>
void add_bvh(std::vector<ArraySource>& arrays, TheBvh&& bvh) {
  arrays.push_back(view_source(ViewArray::nodes, std::forward<TheBvh>(bvh).nodes));
  arrays.push_back(view_source(ViewArray::pairs, std::forward<TheBvh>(bvh).pairs));
  arrays.push_back(view_source(ViewArray::pair_ids, std::forward<TheBvh>(bvh).ids));
}

/// The same of a BVH that stays on the device that built it.
void add_bvh(std::vector<ArraySource>& arrays, DeviceBvh bvh, const Device& builder) {
  const auto add = [&]<class T>(ViewArray array, DeviceBuffer<T>&& values) {
    arrays.push_back(detail::computed_source(array, sizeof(T), builder, std::move(values).take()));
  };
  add(ViewArray::nodes, std::move(bvh.nodes));
  add(ViewArray::pairs, std::move(bvh.pairs));
  add(ViewArray::pair_ids, std::move(bvh.ids));
}

/// A mesh, and its BVH, in the memory of the device that built it.
struct MeshOnDevice {
  Memory vertices, triangles;
  DeviceBvh bvh;
};

/// Nothing where the device's memory does not suffice.
std::optional<MeshOnDevice> build_on_device(const Device& device, std::span<const Float3> vertices,
                                            std::span<const UInt3> triangles, const UploadOptions& options) {
  try {
    UploadOptions whole;
    whole.policy = PlacementPolicy::device;
    whole.reserve = 0;
    const std::vector<ArraySource> sources{view_source(ViewArray::vertices, vertices),
                                           view_source(ViewArray::triangles, triangles)};
    ResidentArrays mesh = upload(sources, device, whole);
    const Stream stream(device);
    DeviceBvh bvh = build_bvh(device, mesh.arrays[0].as<const Float3>(), vertices.size(),
                              mesh.arrays[1].as<const UInt3>(), triangles.size(), options.bvh_options, stream);
    return MeshOnDevice{std::move(mesh.arrays[0]), std::move(mesh.arrays[1]), std::move(bvh)};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::out_of_device_memory) throw;
    return std::nullopt;
  }
}

/// For meshes whose BVHs are joined to one.
MeshBuilder mesh_builder(const Device* device, const UploadOptions& options) {
  if (device == nullptr) return {};
  return [device, &options](std::span<const Float3> vertices, std::span<const UInt3> triangles) {
    const std::optional<MeshOnDevice> mesh = build_on_device(*device, vertices, triangles, options);
    return mesh ? mesh->bvh.to_host(Stream(*device)) : build_bvh(vertices, triangles, options.bvh_options);
  };
}

/// The tree of solids, and the optics: those arrays are all there, or none.
void add_solids(std::vector<ArraySource>& arrays, const Scene& scene, const Raster& raster) {
  SolidTree tree = solid_tree(scene);
  OpticsArrays optics = optics_arrays(scene, tree, raster);
  arrays.push_back(view_source(ViewArray::solids, solid_views(scene, tree)));
  arrays.push_back(view_source(ViewArray::daughters, std::move(tree.daughters)));
  if (scene.optics.empty()) return;
  arrays.push_back(view_source(ViewArray::optical_rows, std::move(optics.rows)));
  arrays.push_back(view_source(ViewArray::optical_buckets, std::move(optics.buckets)));
  arrays.push_back(view_source(ViewArray::optical_materials, std::move(optics.materials)));
  arrays.push_back(view_source(ViewArray::optical_surfaces, std::move(optics.surfaces)));
  arrays.push_back(view_source(ViewArray::optical_points, std::move(optics.points)));
  arrays.push_back(view_source(ViewArray::border_surfaces, std::move(optics.borders)));
  arrays.push_back(view_source(ViewArray::channels, std::move(optics.channels)));
  arrays.push_back(view_source(ViewArray::channel_types, std::move(optics.channel_types)));
}

/// The sources keep what they are given by rvalue, and refer to the rest.
template <class Flat, class Colors>
std::vector<ArraySource> flat_arrays(Flat&& flat, Colors&& colors, const UploadOptions& options,
                                     const Progress& progress, const Device* builder) {
  std::vector<ArraySource> arrays;
  std::optional<MeshOnDevice> built;
  const auto add = [&]<class Values>(ViewArray array, Values&& values) {
    arrays.push_back(view_source(array, std::forward<Values>(values)));
  };
  InstanceView instance{};
  set(instance.to_world, Transform::Identity());
  set(instance.to_mesh, Transform::Identity());
  instance.outside = MaterialCode::none;
  const MeshView mesh{0, static_cast<std::uint32_t>(flat.vertices.size()), 0,
                      static_cast<std::uint32_t>(flat.triangles.size())};

  if (options.bvh && options.prebuilt_bvh != nullptr) {
    detail::check_prebuilt(*options.prebuilt_bvh, {&mesh, 1}, std::nullopt);
    detail::check_triangles(flat.vertices, flat.triangles);
    add_bvh(arrays, *options.prebuilt_bvh);
  } else if (options.bvh && builder != nullptr && flat.triangles.size() >= kLargeMesh) {
    const Stage stage(progress, "bvh", flat.triangles.size());
    built = build_on_device(*builder, flat.vertices, flat.triangles, options);
  }
  if (built) {
    add_bvh(arrays, std::move(built->bvh), *builder);
  } else if (options.bvh && options.prebuilt_bvh == nullptr) {
    add_bvh(arrays, build_bvh(flat, options.bvh_options, progress));
  }
  const auto stays = [&](Memory& memory) {
    arrays.back().on_device = std::make_shared<detail::ArrayOnDevice>(*builder, std::move(memory), false);
  };
  add(ViewArray::triangles, std::forward<Flat>(flat).triangles);
  if (built) stays(built->triangles);
  add(ViewArray::vertices, std::forward<Flat>(flat).vertices);
  if (built) stays(built->vertices);
  add(ViewArray::meshes, std::vector{mesh});
  add(ViewArray::instances, std::vector{instance});
  add(ViewArray::material_colors, std::forward<Colors>(colors));
  add(ViewArray::material_codes, std::forward<Flat>(flat).material_codes);
  add(ViewArray::solid_ids, std::forward<Flat>(flat).solid_ids);
  add(ViewArray::colors, std::forward<Flat>(flat).colors);
  detail::for_each_triangle_attribute([&](const auto& attribute) {
    if ((flat.*attribute.flat).empty()) return;
    add(info(attribute.name).array, std::forward<Flat>(flat).*attribute.flat);
  });
  return arrays;
}

/// validate(), but for what the builder of a BVH looks at anyway: vertices and triangles of each mesh. A flattened
/// scene has one array of vertices, in which an index that is out of its mesh's range is in that of another one.
void check(const Scene& scene, const UploadOptions& options) {
  if (!options.bvh || options.prebuilt_bvh != nullptr || options.flatten) return validate(scene);
  detail::check_scene(scene, detail::sizes_of(scene),
                      [&](const std::string& what) { detail::refuse_scene(scene, what); });
}

}  // namespace

const char* to_string(UploadOptions::Positions positions) noexcept {
  return positions == UploadOptions::Positions::floats ? "floats"
         : positions == UploadOptions::Positions::fine ? "fine"
                                                       : "automatic";
}

UploadOptions::Positions positions_of(std::string_view name) {
  for (const UploadOptions::Positions one :
       {UploadOptions::Positions::automatic, UploadOptions::Positions::floats, UploadOptions::Positions::fine})
    if (name == to_string(one)) return one;
  throw Error(ErrorKind::usage, "positions are \"automatic\", \"floats\" or \"fine\", not '" + std::string(name) + "'");
}

bool is_fine(const Scene& scene, const UploadOptions& options) {
  if (options.flatten || options.positions == UploadOptions::Positions::floats) return false;
  if (options.positions == UploadOptions::Positions::fine) return true;
  return !scene.optics.empty() && has_thin_layers(scene, options.origin);
}

namespace detail {

float reach_of(const Bounds& bounds, const Double3& origin) {
  if (bounds.empty()) return 0;
  const Eigen::Vector3d low = to_eigen(bounds.min), high = to_eigen(bounds.max), from = to_eigen(origin);
  const double reach = std::max((low - from).cwiseAbs().maxCoeff(), (high - from).cwiseAbs().maxCoeff());
  return std::nextafter(static_cast<float>(reach), std::numeric_limits<float>::max());
}

const Device* builder_of(const Device& device, const UploadOptions& options) {
  return options.bvh_builder == UploadOptions::BvhBuilder::host || device.info().is_host ? nullptr : &device;
}

GeometryArrays geometry_arrays(const Scene& scene, const UploadOptions& options, const Progress& progress,
                               const Device* builder) {
  check(scene, options);
  check_material_count(scene);
  const Bounds bounds = scene.bounds.empty() ? world_bounds(scene) : scene.bounds;
  const Double3 origin = options.origin ? *options.origin : default_origin(bounds);
  std::vector<ArraySource> arrays;
  if (options.flatten) {
    arrays = flat_arrays(flatten(scene, origin, progress), packed_colors(scene), options, progress, builder);
  } else {
    const auto meshes = std::make_shared<const std::vector<MeshView>>(mesh_views(scene));
    PartMaterials parts = part_materials(scene);
    std::vector<Transform> frames;
    std::vector<InstanceView> instances = instance_views(scene, origin, parts.first, frames);
    if (options.bvh && options.prebuilt_bvh != nullptr) {
      check_prebuilt(*options.prebuilt_bvh, *meshes, instances);
      add_bvh(arrays, *options.prebuilt_bvh);
    } else if (options.bvh)
      add_bvh(arrays, build_bvh(scene, origin, options.bvh_options, progress, mesh_builder(builder, options)));
    add_mesh_arrays(arrays, scene, meshes);
    arrays.push_back(view_source(ViewArray::meshes, meshes));
    arrays.push_back(view_source(ViewArray::instances, std::move(instances)));
    arrays.push_back(view_source(ViewArray::material_colors, packed_colors(scene)));
    arrays.push_back(
        mesh_source<std::uint16_t>(ViewArray::triangle_parts, meshes, kTriangles,
                                   [&scene](std::size_t mesh, std::size_t first, std::span<std::uint16_t> target,
                                            StoreMode) { write_parts(scene.meshes[mesh].parts, first, target); }));
    arrays.push_back(view_source(ViewArray::part_materials, std::move(parts.materials)));
    if (is_fine(scene, options)) arrays.push_back(view_source(ViewArray::frames, std::move(frames)));
    if (has_rests(scene)) add_rests(arrays, scene, meshes);  // in any case, as a cache file's scene has them too
    add_attributes(arrays, scene, meshes);
    arrays.push_back(
        view_source(ViewArray::solid_colors, std::vector<std::uint32_t>(scene.instances.size(), kMaterialColor)));
  }
  add_solids(arrays, scene, options.raster);
  return {std::move(arrays), origin, reach_of(bounds, origin), options.raster};
}

GeometryArrays geometry_arrays(const FlatScene& flat, std::span<const std::uint32_t> material_colors,
                               const UploadOptions& options, const Progress& progress, const Device* builder) {
  return {flat_arrays(flat, material_colors, options, progress, builder), flat.origin, 0, kOwnPoints};
}

GpuGeometry upload_geometry(const GeometryArrays& arrays, std::optional<StreamRef> stream, const Device& device,
                            const UploadOptions& options, const Progress& progress) {
  return {device, upload_on(stream, arrays.arrays, device, options, progress), arrays.origin, arrays.reach,
          arrays.raster};
}

}  // namespace detail

}  // namespace raylift
