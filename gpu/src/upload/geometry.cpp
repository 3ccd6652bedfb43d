// SPDX-License-Identifier: Apache-2.0
// From a scene to the arrays of a GeometryView.
#include "geometry_sources.h"

#include <raylift/geometry/bvh/scene_bvh.h>
#include <raylift/geometry/error.h>
#include <raylift/geometry/scene/solids.h>
#include <raylift/gpu/bvh/bvh_build.h>
#include <raylift/gpu/upload/broadcast.h>
#include <raylift/gpu/upload/upload.h>

#include <algorithm>
#include <string>

namespace raylift {
namespace {

constexpr std::uint64_t kMost = 0xFFFFFFFEU;

void set(Affine& affine, const Transform& transform) {
  for (int row = 0; row != 3; ++row)
    for (int column = 0; column != 4; ++column) affine.m[row * 4 + column] = static_cast<float>(transform(row, column));
}

/// The parts of a mesh follow each other and cover all its triangles: what is built on that would run off otherwise.
void check_parts(const Scene& scene, const Mesh& mesh) {
  std::uint64_t next = 0;
  for (const MeshPart& part : mesh.parts) {
    if (part.first_triangle != next) break;
    next += part.triangle_count;
  }
  if (next != mesh.triangles.size())
    throw Error(ErrorKind::usage, "the mesh's parts do not cover its triangles one after the other",
                {scene.source, "mesh '" + mesh.name + "'"});
}

/// Where each mesh begins in the arrays over all meshes.
std::vector<MeshView> mesh_views(const Scene& scene) {
  std::vector<MeshView> views;
  std::uint64_t vertices = 0;
  std::uint64_t triangles = 0;
  for (const Mesh& mesh : scene.meshes) {
    check_parts(scene, mesh);
    views.push_back({static_cast<std::uint32_t>(vertices), static_cast<std::uint32_t>(mesh.vertices.size()),
                     static_cast<std::uint32_t>(triangles), static_cast<std::uint32_t>(mesh.triangles.size())});
    vertices += mesh.vertices.size();
    triangles += mesh.triangles.size();
    if (std::max(vertices, triangles) > kMost)
      throw Error(ErrorKind::limit,
                  "the scene's unique meshes have more than " + std::to_string(kMost) + " vertices or triangles",
                  {scene.source, "mesh '" + mesh.name + "'"}, "load it in parts");
    if (mesh.parts.size() > MaterialCode::none)
      throw Error(ErrorKind::limit,
                  "the mesh has " + std::to_string(mesh.parts.size()) + " parts, and 65535 are told apart",
                  {scene.source, "mesh '" + mesh.name + "'"}, "merge parts of one material before exporting");
  }
  return views;
}

/// Calls use(mesh number, first element in the mesh, count, elements before it) for each mesh that the range
/// [first, first + count) of an array over all meshes touches. `begin_of` is a member of MeshView.
template <class Use>
void for_each_mesh(const std::vector<MeshView>& meshes, std::uint32_t MeshView::*begin_of,
                   std::uint32_t MeshView::*count_of, std::size_t first, std::size_t count, const Use& use) {
  auto mesh = std::upper_bound(meshes.begin(), meshes.end(), first,
                               [begin_of](std::size_t at, const MeshView& view) { return at < view.*begin_of; });
  --mesh;
  for (std::size_t done = 0; done != count; ++mesh) {
    const std::size_t inside = first + done - (*mesh).*begin_of;
    const std::size_t here = std::min<std::size_t>(count - done, (*mesh).*count_of - inside);
    if (here != 0) use(static_cast<std::size_t>(mesh - meshes.begin()), inside, here, done);
    done += here;
  }
}

/// The hierarchy of solids as kernels see it.
struct Solids {
  std::vector<SolidView> views;
  std::vector<std::uint32_t> daughters;
};

Solids make_solids(const Scene& scene) {
  SolidTree tree = solid_tree(scene);
  Solids solids;
  solids.views.reserve(tree.size());
  for (std::uint32_t i = 0; i != tree.size(); ++i) {
    const std::uint32_t begin = tree.daughter_begin[i];
    const std::uint32_t material = scene.material(scene.instances[i], 0);
    const auto parts = static_cast<std::uint32_t>(scene.meshes[scene.instances[i].mesh].parts.size());
    solids.views.push_back({tree.mother[i], tree.depth[i], begin, tree.daughter_begin[i + 1] - begin,
                            MaterialCode::pack(material), parts});
  }
  solids.daughters = std::move(tree.daughters);
  return solids;
}

struct Tables {
  Solids solids;
  std::vector<MeshView> meshes;
  std::vector<InstanceView> instances;
  std::vector<std::uint32_t> material_colors;
  std::vector<std::uint16_t> part_materials;
  SceneBvh bvh;
};

std::vector<std::uint32_t> packed_colors(const Scene& scene) {
  std::vector<std::uint32_t> colors;
  for (std::uint32_t i = 0; i != scene.materials.size(); ++i) colors.push_back(packed_color(scene, i));
  return colors;
}

Tables make_tables(const Scene& scene, const Eigen::Vector3d& origin) {
  Tables tables;
  tables.meshes = mesh_views(scene);
  tables.material_colors = packed_colors(scene);
  std::vector<std::uint32_t> first_material;
  for (const std::vector<std::uint32_t>& binding : scene.bindings) {
    first_material.push_back(static_cast<std::uint32_t>(tables.part_materials.size()));
    for (const std::uint32_t material : binding) tables.part_materials.push_back(MaterialCode::pack(material));
  }
  tables.instances.reserve(scene.instances.size());
  for (const Instance& instance : scene.instances) {
    if (instance.mesh >= scene.meshes.size() || instance.binding >= scene.bindings.size() ||
        scene.bindings[instance.binding].size() < scene.meshes[instance.mesh].parts.size())
      throw Error(ErrorKind::usage, "an instance refers to a mesh or a binding that the scene does not have",
                  {scene.source, "instance " + std::to_string(tables.instances.size())});
    Transform to_world = instance.transform;
    to_world.translation() -= origin;
    InstanceView view{};
    set(view.to_world, to_world);
    const double determinant = to_world.linear().determinant();
    if (determinant != 0) set(view.to_mesh, to_world.inverse());
    view.mesh = instance.mesh;
    view.solid_id = static_cast<std::uint32_t>(tables.instances.size());
    view.first_material = first_material[instance.binding];
    view.outside = MaterialCode::pack(instance.outside);
    view.mirrored = determinant < 0 ? 1 : 0;
    tables.instances.push_back(view);
  }
  tables.solids = make_solids(scene);
  return tables;
}

template <class T, class Allocator>
std::span<const T> view_of(const std::vector<T, Allocator>& values) {
  return values;
}

/// The hierarchy's arrays, before all others of their rank: rays touch the others only where they hit.
void add_hierarchy(std::vector<ArraySource>& arrays, const SceneBvh& bvh) {
  arrays.push_back(view_source(ViewArray::nodes, view_of(bvh.nodes)));
  arrays.push_back(view_source(ViewArray::pairs, view_of(bvh.pairs)));
  arrays.push_back(view_source(ViewArray::pair_ids, view_of(bvh.ids)));
}

void add_solids(std::vector<ArraySource>& arrays, const Solids& solids) {
  arrays.push_back(view_source(ViewArray::solids, view_of(solids.views)));
  arrays.push_back(view_source(ViewArray::daughters, view_of(solids.daughters)));
}

/// A view of arrays by their names in the table; those that are not there are null in it.
GeometryView make_view(const ResidentArrays& resident, const detail::GeometrySources& sources) {
  GeometryView view{};
  for (std::size_t i = 0; i != resident.arrays.size(); ++i) {
    const ArrayResidency& row = resident.report.arrays[i];
    if (const ViewArrayInfo* known = find_view_array(row.name))
      known->set(view, resident.arrays[i].device(), static_cast<std::uint32_t>(row.bytes / known->element_bytes));
  }
  view.bvh_levels = view.bvh.node_count == 0 ? 0 : view.solid_ids != nullptr ? 1 : 2;
  for (int axis = 0; axis != 3; ++axis) view.origin[axis] = sources.origin[axis];
  view.reach = sources.reach;
  return view;
}

}  // namespace

namespace detail {

float reach_of(const Bounds& bounds, const Eigen::Vector3d& origin) {
  if (bounds.empty()) return 0;
  const double reach =
      std::max((bounds.min - origin).cwiseAbs().maxCoeff(), (bounds.max - origin).cwiseAbs().maxCoeff());
  return std::nextafter(static_cast<float>(reach), std::numeric_limits<float>::max());
}

MeshBuilder builder_on(const Device& device, const UploadOptions& options) {
  if (options.bvh_builder == BvhBuilder::host || device.info().is_host) return {};
  return [&device, &options](std::span<const float3> vertices, std::span<const uint3> triangles) {
    try {
      UploadOptions whole;
      whole.policy = PlacementPolicy::device;
      whole.reserve = 0;
      const std::vector<ArraySource> sources{view_source(ViewArray::vertices, vertices),
                                             view_source(ViewArray::triangles, triangles)};
      const ResidentArrays mesh = upload(sources, device, whole);
      const Stream stream(device);
      return build_bvh(device, mesh.arrays[0].as<const float3>(), vertices.size(), mesh.arrays[1].as<const uint3>(),
                       triangles.size(), options.bvh_options, stream)
          .to_host(stream);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::out_of_device_memory) throw;
      return build_bvh(vertices, triangles, options.bvh_options);
    }
  };
}

GeometrySources geometry_sources(const Scene& scene, const UploadOptions& options, const Progress& progress,
                                 const MeshBuilder& large) {
  check_material_count(scene);
  const Eigen::Vector3d origin = options.origin.value_or(default_origin(scene.bounds));
  if (options.flatten) {
    struct Flat {
      FlatScene scene;
      std::vector<std::uint32_t> colors;
      Solids solids;
    };
    const auto flat =
        std::make_shared<const Flat>(Flat{flatten(scene, origin, progress), packed_colors(scene), make_solids(scene)});
    GeometrySources sources = geometry_sources(flat->scene, flat->colors, options, progress, large);
    sources.reach = reach_of(scene.bounds, origin);
    add_solids(sources.arrays, flat->solids);
    sources.tables =
        std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(flat, sources.tables);
    return sources;
  }

  const auto tables = std::make_shared<Tables>(make_tables(scene, origin));
  const std::vector<MeshView>& meshes = tables->meshes;
  std::vector<ArraySource> arrays;
  if (options.bvh) add_hierarchy(arrays, tables->bvh = build_bvh(scene, origin, options.bvh_options, progress, large));
  arrays.push_back(view_source(ViewArray::triangles, sizeof(uint3), scene.unique_triangles(),
                               [&scene, &meshes](std::size_t first, std::size_t count, std::byte* target, Target kind) {
                                 for_each_mesh(
                                     meshes, &MeshView::first_triangle, &MeshView::triangle_count, first, count,
                                     [&](std::size_t mesh, std::size_t inside, std::size_t here, std::size_t done) {
                                       convert_rows(std::span<const uint3>(scene.meshes[mesh].triangles), inside,
                                                    std::span(reinterpret_cast<uint3*>(target) + done, here), kind,
                                                    meshes[mesh].first_vertex);
                                     });
                               }));
  arrays.push_back(view_source(ViewArray::vertices, sizeof(float3), scene.unique_vertices(),
                               [&scene, &meshes](std::size_t first, std::size_t count, std::byte* target, Target kind) {
                                 for_each_mesh(
                                     meshes, &MeshView::first_vertex, &MeshView::vertex_count, first, count,
                                     [&](std::size_t mesh, std::size_t inside, std::size_t here, std::size_t done) {
                                       copy_bytes(scene.meshes[mesh].vertices.data() + inside,
                                                  target + done * sizeof(float3), here * sizeof(float3), kind);
                                     });
                               }));
  arrays.push_back(view_source(ViewArray::meshes, view_of(meshes)));
  arrays.push_back(view_source(ViewArray::instances, view_of(tables->instances)));
  arrays.push_back(view_source(ViewArray::material_colors, view_of(tables->material_colors)));
  arrays.push_back(view_source(ViewArray::triangle_parts, sizeof(std::uint16_t), scene.unique_triangles(),
                               [&scene, &meshes](std::size_t first, std::size_t count, std::byte* target, Target) {
                                 auto* out = reinterpret_cast<std::uint16_t*>(target);
                                 for_each_mesh(
                                     meshes, &MeshView::first_triangle, &MeshView::triangle_count, first, count,
                                     [&](std::size_t mesh, std::size_t inside, std::size_t here, std::size_t done) {
                                       const std::vector<MeshPart>& parts = scene.meshes[mesh].parts;
                                       auto part = std::upper_bound(
                                           parts.begin(), parts.end(), inside,
                                           [](std::size_t at, const MeshPart& p) { return at < p.first_triangle; });
                                       --part;
                                       for (std::size_t i = 0; i != here; ++i) {
                                         while (inside + i >= std::size_t{part->first_triangle} + part->triangle_count)
                                           ++part;
                                         out[done + i] = static_cast<std::uint16_t>(part - parts.begin());
                                       }
                                     });
                               }));
  arrays.push_back(view_source(ViewArray::part_materials, view_of(tables->part_materials)));
  add_solids(arrays, tables->solids);

  return {std::move(arrays), origin, reach_of(scene.bounds, origin), tables};
}

GeometrySources geometry_sources(const FlatScene& flat, std::span<const std::uint32_t> material_colors,
                                 const UploadOptions& options, const Progress& progress, const MeshBuilder& large) {
  const auto tables = std::make_shared<Tables>();
  tables->meshes.push_back(
      {0, static_cast<std::uint32_t>(flat.vertices.size()), 0, static_cast<std::uint32_t>(flat.triangles.size())});
  InstanceView& instance = tables->instances.emplace_back();
  set(instance.to_world, Transform::Identity());
  set(instance.to_mesh, Transform::Identity());
  instance.outside = MaterialCode::none;

  std::vector<ArraySource> arrays;
  if (options.bvh) add_hierarchy(arrays, tables->bvh = build_bvh(flat, options.bvh_options, progress, large));
  arrays.push_back(view_source(ViewArray::triangles, view_of(flat.triangles)));
  arrays.push_back(view_source(ViewArray::vertices, view_of(flat.vertices)));
  arrays.push_back(view_source(ViewArray::meshes, view_of(tables->meshes)));
  arrays.push_back(view_source(ViewArray::instances, view_of(tables->instances)));
  arrays.push_back(view_source(ViewArray::material_colors, material_colors));
  arrays.push_back(view_source(ViewArray::material_codes, view_of(flat.material_codes)));
  arrays.push_back(view_source(ViewArray::solid_ids, view_of(flat.solid_ids)));
  arrays.push_back(view_source(ViewArray::colors, view_of(flat.colors)));

  return {std::move(arrays), flat.origin, 0, tables};
}

GpuGeometry upload_geometry(const GeometrySources& sources, const Device& device, const UploadOptions& options,
                            const Progress& progress) {
  GpuGeometry geometry(device, upload(sources.arrays, device, options, progress));
  geometry.view_ = make_view(geometry.resident_, sources);
  return geometry;
}

std::vector<GpuGeometry> broadcast_geometry(const GeometrySources& sources, std::span<const Device> devices,
                                            const UploadOptions& options, const Progress& progress) {
  std::vector<ResidentArrays> resident = broadcast(sources.arrays, devices, options, progress);
  std::vector<GpuGeometry> geometries;
  for (std::size_t i = 0; i != devices.size(); ++i) {
    geometries.push_back(GpuGeometry(devices[i], std::move(resident[i])));
    geometries.back().view_ = make_view(geometries.back().resident_, sources);
  }
  return geometries;
}

}  // namespace detail

bool GpuGeometry::has(ViewArray array) const {
  return std::any_of(resident_.report.arrays.begin(), resident_.report.arrays.end(),
                     [name = info(array).name](const ArrayResidency& row) { return row.name == name; });
}

const Memory& GpuGeometry::array(ViewArray array) const {
  const std::string_view name = info(array).name;
  for (std::size_t i = 0; i != resident_.arrays.size(); ++i)
    if (resident_.report.arrays[i].name == name) return resident_.arrays[i];
  throw Error(ErrorKind::usage, "the geometry has no array '" + std::string(name) + "'");
}

GpuGeometry upload(const Scene& scene, const Device& device, const UploadOptions& options, const Progress& progress) {
  return detail::upload_geometry(
      detail::geometry_sources(scene, options, progress, detail::builder_on(device, options)), device, options,
      progress);
}

GpuGeometry upload(const FlatScene& flat, std::span<const std::uint32_t> material_colors, const Device& device,
                   const UploadOptions& options, const Progress& progress) {
  return detail::upload_geometry(
      detail::geometry_sources(flat, material_colors, options, progress, detail::builder_on(device, options)), device,
      options, progress);
}

std::vector<GpuGeometry> broadcast(const Scene& scene, std::span<const Device> devices, const UploadOptions& options,
                                   const Progress& progress) {
  return detail::broadcast_geometry(
      detail::geometry_sources(scene, options, progress,
                               devices.empty() ? MeshBuilder() : detail::builder_on(devices[0], options)),
      devices, options, progress);
}

}  // namespace raylift
